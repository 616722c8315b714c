//! `bashtion config` and `bashtion schema`, and what layers may do to each other.

use std::fs;

use bashtion_testkit::{Finished, World};
use serde_json::Value;

use crate::world;

fn with_user(world: &World, text: &str) -> String {
    let path = world.work().join("../config.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn config(world: &World, user: &str, args: &[&str]) -> Finished {
    let user = with_user(world, user);
    world.bashtion().env("BASHTION_CONFIG", &user).arg("config").args(args).finish()
}

fn setting(shown: &Value, key: &str) -> (Value, String) {
    let found = shown.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap();
    (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let world = world();
    fs::write(
        world.work().join(".bashtion.toml"),
        "[limits]\ntimeout = '10s'\n[permissions]\ndeny = ['b']\n",
    )
    .unwrap();
    let shown =
        config(&world, "inherits = 'phoenix'\n[permissions]\ndeny = ['a']\n", &["show", "--json"]).json();
    let project = world.work().join(".bashtion.toml").display().to_string();
    let user = world.work().join("../config.toml").display().to_string();
    assert_eq!(setting(&shown, "limits.timeout"), ("10s".into(), project.clone()));
    assert_eq!(setting(&shown, "limits.slow-timeout").1, "profile phoenix");
    assert_eq!(setting(&shown, "limits.grace").1, "profile default");
    let both = (serde_json::json!(["a", "b"]), format!("{user}, {project}"));
    assert_eq!(setting(&shown, "permissions.deny"), both);
}

#[test]
fn what_is_shown_is_a_configuration_with_the_same_values() {
    let world = world();
    for profile in [
        "default", "chorus", "tachikoma", "tunacode", "tunacode-local", "mycode", "phoenix",
        "phoenix-restricted",
    ] {
        let shown = config(&world, "", &["show", "--profile", profile]).stdout();
        let copy = config(&world, &shown, &["show"]);
        assert_eq!(copy.code(), Some(0), "{profile}: {}", copy.stderr());
        let values = |text: &str| -> Vec<String> {
            let without =
                |line: &str| line.rsplit_once("# ").map_or(line, |(value, _)| value).trim_end().to_owned();
            text.lines().map(without).collect()
        };
        assert_eq!(values(&shown), values(&copy.stdout()), "{profile}");
    }
}

#[test]
fn one_value_or_one_section_is_shown() {
    let world = world();
    assert_eq!(config(&world, "", &["show", "limits.grace", "--json"]).json().as_array().unwrap().len(), 1);
    let section = config(&world, "", &["show", "env"]).stdout();
    assert!(section.starts_with("[env]\n") && !section.contains("[limits]"), "{section}");
    let wrong = config(&world, "", &["show", "limits.timout"]);
    assert_eq!(wrong.code(), Some(1));
    assert!(wrong.stderr().contains("did you mean limits.timeout?"), "{}", wrong.stderr());
}

#[test]
fn a_file_is_checked_for_editors_and_ci() {
    let world = world();
    let file = world.work().join("my.toml");
    for (text, problem) in [
        ("[limits]\ntimeout = '1m'\n", None),
        ("[limits]\ntimout = '1m'\n", Some("did you mean `timeout`?")),
        ("[limits]\ntimeout = 'soon'\n", Some("\"soon\" is not a time")),
        ("[limits]\ntimeout = true\n", Some("line 2")),
        (
            "[limits]\nlongest-timeout = '1s'\n",
            Some("limits.timeout is 120s, more than limits.longest-timeout, 1s"),
        ),
        ("[output]\nmax = 10\nhead = 9\ntail = 9\n", Some("more than output.max, 10")),
        ("[permissions]\nallow = ['tool:bash:(']\n", Some("tool:bash:(")),
        ("[permissions]\nallow = ['bash *']\n", Some("bash *")),
        ("[wording]\nfailed = '{exitcode}'\n", Some("did you mean {exit_code}?")),
        ("[tool]\ninput = 'pheonix'\n", Some("did you mean \"phoenix\"?")),
        ("[output]\nmarker = '{cute}'\n", Some("output.marker names {cute}")),
        ("[tool]\ndescription = '{dir}'\n", Some("tool.description names {dir}")),
        ("[env.set]\n'A B' = '1'\n", Some("env.set has \"A B\"")),
        ("[limits]\ngrace = '5M'\n", Some("could be minutes or months")),
        ("[limits]\ngrace = []\n", Some("expected a number, or a text such as")),
        ("limits = 3\n", Some("expected a table")),
        ("inherits = 'nobody'\n", Some("there is no profile \"nobody\"")),
        ("[[guard.texts]]\nname = 'x'\nregex = '['\nmessage = ''\n", Some("unclosed character class")),
    ] {
        fs::write(&file, text).unwrap();
        let checked = config(&world, "", &["check", "my.toml"]);
        let as_json = config(&world, "", &["check", "my.toml", "--json"]).json();
        assert_eq!(as_json["valid"], problem.is_none(), "{text}: {as_json}");
        match problem {
            None => assert_eq!((checked.code(), checked.stdout().as_str()), (Some(0), "my.toml is valid\n")),
            Some(problem) => {
                assert_eq!(checked.code(), Some(1), "{text}");
                assert!(checked.stderr().contains(problem), "{text}: {}", checked.stderr());
                assert!(as_json["error"].as_str().unwrap().contains(problem), "{as_json}");
            }
        }
    }
}

#[test]
fn a_project_can_narrow_everything_and_widen_nothing() {
    let world = world();
    let user = "[limits]\nlongest-timeout = '5m'\nslow-timeout = '5m'\n[sandbox.limits]\nmemory = '1G'\n[env]\nallow = ['PATH', 'LANG']\n[audit]\nmode = 'required'\n";
    for narrower in [
        "[limits]\ntimeout = '30s'\nlongest-timeout = '1m'\nslow-timeout = '50s'\ngrace = '1s'\n",
        "[output]\nmax = 1000\n",
        "[env]\nbase = 'empty'\n",
        "[env]\nallow = ['PATH']\n",
        "[guard]\nblock = ['x']\nquestions = 'deny'\n[guard.severity]\ngit-history = 'deny'\n",
        "[permissions]\ndefault = 'ask'\nask = ['npm *']\ndeny = ['curl *']\n",
        "[sandbox]\nmode = 'read-only'\nrequired = true\nsecrets = ['~/x']\n[sandbox.limits]\nmemory = '100M'\nprocesses = 5\n",
        "[tool]\nrequire-description = true\n",
        "[audit]\nmode = 'required'\n",
    ] {
        fs::write(world.work().join(".bashtion.toml"), narrower).unwrap();
        let checked = config(&world, user, &["check", ".bashtion.toml"]);
        assert_eq!(checked.code(), Some(0), "{narrower}: {}", checked.stderr());
    }
    for wider in [
        "inherits = 'phoenix'\n",
        "[limits]\ntimeout = '3m'\n",
        "[limits]\nlongest-timeout = '1h'\n",
        "[limits]\nbeyond = 'clamp'\n",
        "[limits]\nleftovers = 'keep'\n",
        "[output]\nmax = 30001\n",
        "[output]\nmarker = ''\n",
        "[output]\ncapture = false\n",
        "[env]\nbase = 'inherit'\n",
        "[env]\nallow = ['PATH', 'AWS_SECRET_ACCESS_KEY']\n",
        "[env]\nhome = 'workspace'\n",
        "[env.set]\nLD_PRELOAD = 'x'\n",
        "[guard]\nallow = ['npm publish']\n",
        "[guard]\nquestions = 'allow'\n",
        "[guard.severity]\nremoves-root = 'ask'\n",
        "[[guard.texts]]\nname = 'x'\nseverity = 'allow'\nregex = 'x'\nmessage = ''\n",
        "[permissions]\nallow = ['ls']\n",
        "[permissions]\nuse-within = '1d'\n",
        "[sandbox]\nmode = 'off'\n",
        "[sandbox]\nnetwork = 'on'\n",
        "[sandbox]\nwritable = ['/']\n",
        "[sandbox]\nreadable = ['~/.ssh']\n",
        "[sandbox]\nsockets = ['/run']\n",
        "[sandbox.limits]\nmemory = '2G'\n",
        "[tasks]\nlimit = 1\n",
        "[audit]\nmode = 'on'\n",
        "[audit]\nkeep-for = '1s'\n",
        "[wording]\nrefused = 'ok'\n",
        "[tool]\nname = 'other'\n",
    ] {
        fs::write(world.work().join(".bashtion.toml"), wider).unwrap();
        let checked = config(&world, user, &["check", ".bashtion.toml"]);
        assert_eq!(checked.code(), Some(1), "{wider}");
        let said = checked.stderr();
        assert!(said.contains("a project may only make things stricter, but it"), "{wider}: {said}");
        let path = with_user(&world, user);
        let run = world.run("touch made").env("BASHTION_CONFIG", &path).finish();
        assert_eq!(run.code(), Some(125), "{wider}");
    }
    assert!(!world.work().join("made").exists());
}

#[test]
fn a_profile_can_be_a_file_or_a_name_beside_the_configuration() {
    let world = world();
    let profiles = world.work().join("../xdg/bashtion/profiles");
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("mine.toml"), "inherits = 'chorus'\n[limits]\ntimeout = '7s'\n").unwrap();
    fs::write(world.work().join("p.toml"), "inherits = 'mine'\n[limits]\ngrace = '1s'\n").unwrap();
    let xdg = world.work().join("../xdg").to_str().unwrap().to_owned();
    let show = |profile: &str| {
        let run = world.bashtion().env("XDG_CONFIG_HOME", &xdg);
        run.args(&["config", "show", "--profile", profile, "--json"]).finish()
    };
    assert_eq!(setting(&show("mine").json(), "limits.timeout").0, "7s");
    let shown = show("p.toml").json();
    assert_eq!(setting(&shown, "limits.grace"), ("1s".into(), "p.toml".to_owned()));
    assert_eq!(setting(&shown, "output.tail"), (50000.into(), "profile chorus".to_owned()));
    for (name, problem) in [
        ("missing", "there is no profile \"missing\""),
        ("./missing.toml", "there is no file ./missing.toml"),
        ("/", "is not a file"),
        ("", "there is no profile \"\""),
    ] {
        let finished = show(name);
        assert_eq!(finished.code(), Some(1), "{name}");
        assert!(finished.stderr().contains(problem), "{name}: {}", finished.stderr());
        assert_eq!(world.run_with(&["--profile", name], "true").finish().code(), Some(125));
    }
}

#[test]
fn the_schema_of_files_is_the_one_that_is_published() {
    let printed = config(&world(), "", &["schema"]).stdout();
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(published, &printed).unwrap();
    }
    let same = printed == fs::read_to_string(published).unwrap();
    assert!(same, "run `bashtion config schema > docs/config.schema.json`");
}

#[test]
fn the_profiles_are_listed() {
    let listed = config(&world(), "", &["list", "--json"]).json();
    let names: Vec<_> =
        listed.as_array().unwrap().iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["default", "chorus"]);
    assert!(listed[1]["description"].as_str().unwrap().starts_with("Chorus:"), "{listed}");
}

#[test]
fn tools_are_defined_for_each_api() {
    let world = world();
    for (format, parameters) in [
        ("mcp", "inputSchema"),
        ("anthropic", "input_schema"),
        ("openai", "parameters"),
        ("gemini", "parametersJsonSchema"),
    ] {
        for profile in
            ["default", "chorus", "tachikoma", "tunacode", "mycode", "phoenix", "phoenix-restricted"]
        {
            let args = ["schema", "--format", format, "--profile", profile, "--json"];
            let tool = world.bashtion().args(&args).finish().json();
            let schema = &tool[parameters];
            assert_eq!(schema["type"], "object", "{format} {profile}: {tool}");
            assert_eq!(schema["additionalProperties"], false);
            assert!(schema["required"].as_array().unwrap().contains(&"command".into()), "{tool}");
            let description = tool["description"].as_str().unwrap();
            assert!(description.contains(world.work().to_str().unwrap()), "{profile}: {description}");
            assert!(!description.contains('{'), "{profile}: {description}");
        }
    }
    let phoenix = world.bashtion().args(&["schema", "--profile", "phoenix", "--json"]).finish().json();
    let names: Vec<_> = phoenix["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["command", "mode"]);
}
