//! What a command sees of the caller's environment.

use std::collections::BTreeMap;

use bashtion::{Base, Engine, EnvSettings, Outcome, Request, SandboxMode, SandboxSettings, ToolContext};

use crate::World;

fn variables(outcome: &Outcome) -> BTreeMap<String, String> {
    let lines = outcome.output.stdout().lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn caller(world: &World) -> ToolContext {
    ToolContext::new(world.path())
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/home/agent")
        .env("LANG", "C.UTF-8")
        .env("OPENAI_API_KEY", "sk-secret")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("DISCORD_TOKEN", "secret")
        .env("BASH_ENV", "/tmp/evil")
        .env("LD_PRELOAD", "/tmp/evil.so")
        .env("BASH_FUNC_ls%%", "() { echo evil; }")
}

#[tokio::test]
async fn only_the_allow_list_and_the_non_interactive_variables() {
    let world = World::new();
    // A sandbox adds a few of its own.
    let off = SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
    let outcome = world.engine.run(Request::new("env").sandbox(off), &caller(&world)).await.unwrap();
    let mut seen = variables(&outcome);
    for own in ["PWD", "SHLVL", "_"] {
        seen.remove(own);
    }
    insta::assert_debug_snapshot!(seen, @r#"
    {
        "AI_AGENT": "bashtion",
        "DEBIAN_FRONTEND": "noninteractive",
        "GCM_INTERACTIVE": "never",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "MANPAGER": "cat",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "PATH": "/usr/bin:/bin",
        "PIP_NO_INPUT": "1",
        "PYTHONUNBUFFERED": "1",
        "SSH_ASKPASS_REQUIRE": "never",
        "SYSTEMD_PAGER": "cat",
        "TERM": "dumb",
        "npm_config_yes": "true",
    }
    "#);
}

/// Programs get what they need to work as in the user's own shell, and nothing that holds a secret.
#[tokio::test]
async fn proxies_certificates_and_toolchains_pass() {
    let world = World::new();
    let passing = [
        ("HTTPS_PROXY", "http://proxy.example:3128"),
        ("no_proxy", "localhost,.example"),
        ("SSL_CERT_FILE", "/etc/company.pem"),
        ("NODE_EXTRA_CA_CERTS", "/etc/company.pem"),
        ("JAVA_HOME", "/opt/jdk"),
        ("VIRTUAL_ENV", "/w/.venv"),
        ("CONDA_PREFIX", "/opt/conda"),
        ("NVM_DIR", "/home/agent/.nvm"),
        ("RUSTUP_HOME", "/opt/rustup"),
        ("LC_TIME", "de_DE.UTF-8"),
        ("TZ", "Europe/Berlin"),
    ];
    let mut context = passing.iter().fold(caller(&world), |context, (name, value)| context.env(name, value));
    for withheld in
        ["PIP_INDEX_URL", "NPM_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "KUBECONFIG", "NODE_OPTIONS"]
    {
        context = context.env(withheld, "withheld");
    }
    let seen = variables(&world.engine.run(Request::new("env"), &context).await.unwrap());
    for (name, value) in passing {
        assert_eq!(seen.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert!(!seen.values().any(|value| value == "withheld"), "{seen:?}");
}

#[tokio::test]
async fn a_proxy_passes_without_its_password_unless_it_is_set() {
    let world = World::new();
    let secret = "http://me:hunter2@proxy.example:3128";
    let context = caller(&world).env("HTTPS_PROXY", secret).env("http_proxy", secret);
    let request = || Request::new("echo $HTTPS_PROXY $http_proxy");
    let outcome = world.engine.run(request(), &context).await.unwrap();
    assert_eq!(outcome.output.stdout(), "http://proxy.example:3128 http://proxy.example:3128\n");
    let outcome = world.engine.run(request().env("HTTPS_PROXY", secret), &context).await.unwrap();
    assert_eq!(outcome.output.stdout(), format!("{secret} http://proxy.example:3128\n"));
    let everything = EnvSettings { base: Base::Inherit, ..EnvSettings::default() };
    let engine = Engine::builder().env(everything).state_dir(world.path().join("state")).build();
    let outcome = engine.run(request(), &context).await.unwrap();
    assert_eq!(outcome.output.stdout(), format!("{secret} {secret}\n"));
}

#[tokio::test]
async fn the_request_comes_on_top() {
    let world = World::new();
    let request =
        Request::new("echo $PAGER:$MINE:$HOME").env("PAGER", "less").envs([("MINE", "1"), ("MINE", "2")]);
    let outcome = world.engine.run(request, &caller(&world)).await.unwrap();
    assert_eq!(outcome.output.stdout(), "less:2:/home/agent\n");
}

#[tokio::test]
async fn a_cleared_environment_has_only_what_the_request_sets() {
    let world = World::new();
    let request = Request::new("/usr/bin/env").clear_env().env("MINE", "a b=c");
    let outcome = world.engine.run(request, &caller(&world)).await.unwrap();
    let mut seen = variables(&outcome);
    for own in ["PWD", "SHLVL", "_"] {
        seen.remove(own);
    }
    assert_eq!(seen, BTreeMap::from([("MINE".to_owned(), "a b=c".to_owned())]));
}

#[tokio::test]
async fn values_that_are_not_utf8_pass() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    let value = std::ffi::OsString::from_vec(b"\xff\xfe".to_vec());
    let request = Request::new("printf %s \"$RAW\" | od -An -tx1").env("RAW", value);
    assert_eq!(world.run(request).await.output.stdout(), " ff fe\n");
}
