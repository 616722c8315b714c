use super::*;

const SHARED: [Agent; 4] = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Cursor];

fn entry(agent: Agent, program: &str) -> Entry {
    Entry { words: [program, "hook", agent.name(), "--confine"].map(str::to_owned).into() }
}

fn ours(agent: Agent) -> Entry {
    entry(agent, "/opt/my $tools/it's/bashtion")
}

#[test]
fn a_hook_s_line_is_quoted_and_refuses_if_it_fails() {
    assert_eq!(
        ours(Agent::Codex).line(),
        r"'/opt/my $tools/it'\''s/bashtion' hook codex --confine || exit 2"
    );
}

#[test]
fn a_hook_is_installed_once_and_found_again() {
    for agent in Agent::ALL {
        let first = installed(agent, "", &ours(agent)).unwrap().unwrap();
        assert_eq!(first, snippet(agent, &ours(agent)));
        assert_eq!(installed(agent, &first, &ours(agent)).unwrap(), None, "{agent}");
        let [found] = &found(agent, &first).unwrap()[..] else { panic!("{first}") };
        assert_eq!(found.words, ours(agent).words);
        assert_eq!(found.line, ours(agent).line());
        let moved = installed(agent, &first, &entry(agent, "/usr/bin/bashtion")).unwrap().unwrap();
        assert_eq!(moved, snippet(agent, &entry(agent, "/usr/bin/bashtion")), "{agent}");
    }
}

#[test]
fn a_hook_says_how_long_the_agent_waits() {
    for agent in Agent::ALL {
        let text = snippet(agent, &ours(agent));
        let [found] = &found(agent, &text).unwrap()[..] else { panic!("{text}") };
        assert!(found.has_timeout, "{agent}");
    }
    let hook = |agent: Agent| -> Value { serde_json::from_str(&snippet(agent, &ours(agent))).unwrap() };
    assert_eq!(hook(Agent::ClaudeCode)["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"], 30);
    assert_eq!(hook(Agent::Gemini)["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"], 30_000, "milliseconds");
    // One that was installed before gets it, too.
    let line = ours(Agent::ClaudeCode).line();
    let old = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": line }] }] } });
    let new = installed(Agent::ClaudeCode, &old.to_string(), &ours(Agent::ClaudeCode)).unwrap().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), hook(Agent::ClaudeCode));
}

/// Texts with a list, an object or nothing where the entry goes, each formatted in its own way.
fn texts(agent: Agent) -> Vec<String> {
    let event = event(agent);
    vec![
        "{}".to_owned(),
        "{ }\n".to_owned(),
        "{\"version\":1,\"b\":[1.0,1e5,\"\\u00e9\"],\"a\":{}}".to_owned(),
        "{\n    \"version\": 1,\n    \"model\": \"x\",\n    \"list\": [1,   2]\n}\n".to_owned(),
        "{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"Stop\": [{\"command\": \"beep, } ] \\\" \\\\\"}]\n\t},\n\t\"z\": 0.10\n}".to_owned(),
        format!(
            "{{\r\n  \"version\": 1,\r\n  \"hooks\": {{\r\n    \"{event}\": [\r\n      {{\"matcher\": \"Bash\", \"hooks\": [{{\"command\": \"mine\"}}]}}\r\n    ]\r\n  }}\r\n}}\r\n"
        ),
        format!("{{\"version\":1,\"hooks\":{{\"{event}\":[{{\"command\":\"rtk hook {agent}\"}}]}}}}"),
    ]
}

#[test]
fn a_hook_s_neighbours_keep_every_byte() {
    for agent in SHARED {
        for text in texts(agent) {
            let with = installed(agent, &text, &ours(agent)).unwrap().unwrap();
            assert_eq!(found(agent, &with).unwrap().len(), 1, "{with}");
            let mut value: Value = serde_json::from_str(&with).unwrap();
            assert_eq!(installed(agent, &with, &ours(agent)).unwrap(), None, "{with}");
            let without = uninstalled(agent, &with).unwrap().unwrap();
            assert_eq!(uninstalled(agent, &without).unwrap(), None);
            if agent == Agent::Cursor && !text.contains("version") {
                value.as_object_mut().unwrap().remove("hooks");
                assert_eq!(serde_json::from_str::<Value>(&without).unwrap(), value);
            } else {
                // A space between brackets is not worth keeping.
                assert_eq!(without.trim_end(), text.replace("{ }", "{}").trim_end(), "{with}");
            }
        }
    }
}

#[test]
fn a_hook_that_the_user_has_put_beside_ours_stays() {
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"a"},{"command":"/b/bashtion hook claude-code"},{"command":"c"}]},{"hooks":[{"command":"bashtion hook claude-code --allow || exit 2"}]}]}}"#;
    let without = uninstalled(Agent::ClaudeCode, text).unwrap().unwrap();
    assert_eq!(
        without,
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"a"},{"command":"c"}]}]}}"#
    );
    let with = installed(Agent::ClaudeCode, text, &ours(Agent::ClaudeCode)).unwrap().unwrap();
    assert_eq!(found(Agent::ClaudeCode, &with).unwrap().len(), 1);
}

#[test]
fn a_hook_s_own_file_goes_and_a_stranger_s_stays() {
    for agent in [Agent::Copilot, Agent::Opencode] {
        let text = snippet(agent, &ours(agent));
        assert_eq!(uninstalled(agent, &text).unwrap().as_deref(), Some(""));
    }
    let error = installed(Agent::Opencode, "export const Mine = 1", &ours(Agent::Opencode)).unwrap_err();
    assert!(matches!(error, EditError::NotOurs));
    assert_eq!(uninstalled(Agent::Opencode, "export const Mine = 1").unwrap(), None);
}

#[test]
fn a_hook_is_not_put_into_what_is_not_understood() {
    let odd = [
        "{ // comment\n}", "{\"a\": 1,}", "[", "\u{feff}{}", "[]", "3", "\"hooks\"", r#"{"hooks": []}"#,
        r#"{"hooks": 3}"#, r#"{"hooks": null}"#,
    ];
    for agent in SHARED {
        for text in odd {
            assert!(installed(agent, text, &ours(agent)).is_err(), "{agent} {text}");
        }
        for value in ["{}", "3", "null", "\"x\""] {
            let text = format!(r#"{{"hooks": {{"{}": {value}}}}}"#, event(agent));
            assert!(installed(agent, &text, &ours(agent)).is_err(), "{agent} {text}");
        }
    }
}

#[test]
fn a_hook_of_another_program_is_not_ours() {
    for line in [
        "rtk hook claude-code", "bashtion hook codex", "bashtion check x", "$(bashtion hook claude-code)",
        "", "bashtion hook", "'bashtion hook claude-code'", "echo bashtion hook claude-code", "'unclosed",
        "bashtion hook claude-code; true",
    ] {
        assert_eq!(ours_of(Agent::ClaudeCode, line), None, "{line}");
    }
    assert!(ours_of(Agent::ClaudeCode, r"/a\ b/bashtion-0.1 hook claude-code --allow").is_some());
}
