use bashtion_guard::{Decision, Policy, World, analyze};

#[test]
fn dev() {
    let mut shown = String::new();
    let mut n = [0; 3];
    for line in include_str!("../corpus/commands.tsv").lines().skip(1) {
        let columns: Vec<&str> = line.splitn(5, '\t').collect();
        let command = columns[4].replace("\\\\", "\u{1}").replace("\\n", "\n").replace("\\t", "\t").replace('\u{1}', "\\");
        let world = World::new(columns[3], "/home/dev");
        let verdict = Policy::default().judge(&analyze(&command, &world), &world);
        n[verdict.decision as usize] += 1;
        let expected = match columns[1] { "deny" => Decision::Deny, "ask" => Decision::Ask, _ => Decision::Allow };
        shown += if verdict.decision == expected {""} else {"!"};
        if verdict.decision != expected {
            shown += &format!("{} -> {}  {command:?}  {:?}\n", columns[1], verdict.decision, verdict.findings.first().map(|f| (&f.rule, &f.message)));
        }
    }
    eprintln!("{shown} {:?}", n);
}
