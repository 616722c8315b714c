//! What the user can change.

use bashtion_guard::{CustomRule, Decision, Policy, PolicyError, Settings, Verdict, World, analyze};

fn world() -> World {
    World::new("/home/dev/project", "/home/dev")
}

fn judged(policy: &Policy, command: &str) -> Verdict {
    policy.judge(&analyze(command, &world()), &world())
}

fn severity(name: &str, decision: Decision) -> Settings {
    Settings { severity: [(name.to_owned(), decision)].into(), ..Settings::default() }
}

fn rule() -> CustomRule {
    CustomRule {
        name: "no-prod".to_owned(),
        severity: Decision::Deny,
        program: Some("kubectl".to_owned()),
        subcommand: vec!["apply".to_owned()],
        flags: vec!["--context=prod".to_owned()],
        paths: vec![],
        message: "production is changed by the pipeline only".to_owned(),
        help: "open a pull request".to_owned(),
        matching: vec!["sudo kubectl apply -f x.yml --context=prod".to_owned()],
        not_match: vec![
            "kubectl apply -f x.yml --context=dev".to_owned(),
            "echo kubectl apply --context=prod".to_owned(),
        ],
    }
}

#[test]
fn a_severity_can_be_changed() {
    let policy = Policy::new(&severity("git-history", Decision::Deny)).unwrap();
    assert_eq!(judged(&policy, "git reset --hard").decision, Decision::Deny);
    let policy = Policy::new(&severity("git-history", Decision::Allow)).unwrap();
    assert_eq!(judged(&policy, "git reset --hard").findings, []);
    assert_eq!(judged(&policy, "git reset --hard; rm -rf /").decision, Decision::Deny);
}

#[test]
fn an_unknown_rule_is_an_error_that_names_the_nearest() {
    let error = Policy::new(&severity("remove-root", Decision::Ask)).unwrap_err();
    assert_eq!(error.to_string(), r#"there is no rule "remove-root"; did you mean "removes-root"?"#);
}

#[test]
fn blocked_text_is_refused_wherever_it_stands() {
    let policy =
        Policy::new(&Settings { block: vec!["rm -rf /".to_owned()], ..Settings::default() }).unwrap();
    let verdict = judged(&policy, r#"echo "rm -rf /""#);
    assert_eq!(verdict.decision, Decision::Deny);
    assert_eq!((verdict.findings[0].rule.as_str(), verdict.findings[0].span.start), ("block", 6));
    let empty = Settings { block: vec![" ".to_owned()], ..Settings::default() };
    assert_eq!(Policy::new(&empty).unwrap_err(), PolicyError::EmptyBlock);
}

#[test]
fn blocked_text_speaks_first_wherever_it_stands() {
    let policy = Policy::new(&Settings { block: vec!["/tmp/b".to_owned()], ..Settings::default() }).unwrap();
    let verdict = judged(&policy, "rm -rf ~; rm -rf /tmp/b");
    let rules: Vec<_> = verdict.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["block", "removes-root"]);
}

#[test]
fn an_allowed_command_is_that_command_and_no_other() {
    let policy =
        Policy::new(&Settings { allow: vec!["git reset --hard".to_owned()], ..Settings::default() }).unwrap();
    assert_eq!(judged(&policy, "git reset --hard").decision, Decision::Allow);
    assert_eq!(judged(&policy, "git reset --hard HEAD~9").decision, Decision::Ask);
    assert_eq!(judged(&policy, "git reset --hard && git stash clear").decision, Decision::Ask);
}

#[test]
fn what_is_denied_cannot_be_allowed_by_name() {
    let policy =
        Policy::new(&Settings { allow: vec!["rm -rf /".to_owned()], ..Settings::default() }).unwrap();
    assert_eq!(judged(&policy, "rm -rf /").decision, Decision::Deny);
}

#[test]
fn own_rules_see_through_wrappers_and_not_into_text() {
    let policy = Policy::new(&Settings { rules: vec![rule()], ..Settings::default() }).unwrap();
    let verdict = judged(&policy, "cd k8s && timeout 60 kubectl apply -f . --context=prod");
    assert_eq!((verdict.decision, verdict.findings[0].rule.as_str()), (Decision::Deny, "no-prod"));
    assert_eq!(judged(&policy, "kubectl apply -f . --context=dev").decision, Decision::Allow);
}

#[test]
fn own_rules_can_be_about_paths() {
    let mut rule = rule();
    (rule.program, rule.subcommand, rule.flags) = (None, vec![], vec![]);
    (rule.matching, rule.not_match) = (vec![], vec![]);
    rule.paths = vec!["*/migrations/*".to_owned()];
    let policy = Policy::new(&Settings { rules: vec![rule], ..Settings::default() }).unwrap();
    assert_eq!(judged(&policy, "echo x > db/migrations/1.sql").decision, Decision::Deny);
    assert_eq!(judged(&policy, "echo x > db/schema.sql").decision, Decision::Allow);
}

#[test]
fn an_example_that_disagrees_is_an_error() {
    let mut wrong = rule();
    wrong.matching.push("kubectl get pods".to_owned());
    let error = Policy::new(&Settings { rules: vec![wrong], ..Settings::default() }).unwrap_err();
    assert_eq!(error.to_string(), r#"the rule "no-prod" does not find its example "kubectl get pods""#);
    let mut wrong = rule();
    wrong.not_match.push("kubectl apply --context=prod".to_owned());
    let error = Policy::new(&Settings { rules: vec![wrong], ..Settings::default() }).unwrap_err();
    assert_eq!(error.to_string(), r#"the rule "no-prod" finds its example "kubectl apply --context=prod""#);
}

#[test]
fn a_rule_needs_a_name_of_its_own_and_something_to_look_for() {
    let mut taken = rule();
    taken.name = "removes-root".to_owned();
    assert!(matches!(
        Policy::new(&Settings { rules: vec![taken], ..Settings::default() }),
        Err(PolicyError::RuleName { .. })
    ));
    let mut empty = rule();
    empty.program = None;
    assert!(matches!(
        Policy::new(&Settings { rules: vec![empty], ..Settings::default() }),
        Err(PolicyError::EmptyRule { .. })
    ));
}

#[test]
fn a_project_can_only_narrow() {
    let widen = |settings: &Settings| Policy::default().narrow(settings).unwrap_err().to_string();
    assert_eq!(
        widen(&severity("removes-root", Decision::Ask)),
        "a project may only make judging stricter, but it sets removes-root to ask"
    );
    assert_eq!(
        widen(&Settings { allow: vec!["npm publish".to_owned()], ..Settings::default() }),
        r#"a project may only make judging stricter, but it allows "npm publish""#
    );
    let mut allowing = rule();
    allowing.severity = Decision::Allow;
    assert!(widen(&Settings { rules: vec![allowing], ..Settings::default() }).contains("allows something"));
    let stricter = Policy::default().narrow(&severity("git-history", Decision::Deny)).unwrap();
    assert_eq!(judged(&stricter, "git stash clear").decision, Decision::Deny);
}

#[test]
fn the_smallest_permission_is_enough() {
    let command = "git stash clear && npm publish && ls";
    let analysis = analyze(command, &world());
    let verdict = Policy::default().judge(&analysis, &world());
    let permission = Policy::permission(&analysis, &verdict).unwrap();
    assert_eq!(permission, ["git stash clear", "npm publish"]);
    let policy = Policy::new(&Settings { allow: permission, ..Settings::default() }).unwrap();
    assert_eq!(judged(&policy, command).decision, Decision::Allow);
}

#[test]
fn nothing_permits_what_is_denied_or_not_understood() {
    for command in ["rm -rf /", "$CMD", "git stash clear; eval \"$X\""] {
        let analysis = analyze(command, &world());
        let verdict = Policy::default().judge(&analysis, &world());
        assert_eq!(Policy::permission(&analysis, &verdict), None, "{command}");
    }
}

#[test]
fn an_allowed_command_is_not_allowed_as_somebody_else_or_elsewhere() {
    let world = World::new("/home/dev/project", "/home/dev");
    let decided = |allow: &[String], command: &str| {
        let settings = Settings { allow: allow.to_vec(), ..Settings::default() };
        let policy = Policy::new(&settings).unwrap();
        policy.judge(&analyze(command, &world), &world).decision
    };
    let plain = ["pkill node".to_owned()];
    assert_eq!(decided(&plain, "timeout 5 pkill node"), Decision::Allow);
    for command in
        ["sudo pkill node", "ssh host pkill node", "su -c 'pkill node'", "docker exec app pkill node"]
    {
        let judged = analyze(command, &world);
        let verdict = Policy::default().judge(&judged, &world);
        assert_eq!(decided(&plain, command), verdict.decision, "{command}");
        // What is proposed is enough, and allows nothing else.
        if verdict.decision == Decision::Ask {
            let proposed = Policy::permission(&judged, &verdict).unwrap();
            assert_eq!(decided(&proposed, command), Decision::Allow, "{proposed:?}");
            assert_eq!(decided(&proposed, "pkill node"), Decision::Ask, "{proposed:?}");
        }
    }
}
