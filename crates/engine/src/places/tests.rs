//! Places on a host that is made up.

use super::*;

fn at(home: &Path) -> Whereabouts<'_> {
    Whereabouts { home: Some(home), moved: &[], own: &[], writable: &[] }
}

#[test]
fn a_secret_that_appears_is_found() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let places = Places::default();
    let settings = SandboxSettings::default();
    let secrets = || places.existing(at(&home), &settings).unwrap().secrets.clone();
    assert!(!secrets().iter().any(|path| path.starts_with(&home)));
    fs::create_dir_all(home.join(".config/gh")).unwrap();
    assert!(secrets().contains(&home.join(".config/gh")));
    fs::create_dir(home.join(".config/gcloud")).unwrap();
    assert!(secrets().contains(&home.join(".config/gcloud")));
}

#[test]
fn nothing_appears_in_a_fresh_home() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let settings = SandboxSettings::default();
    let found = Places::default().existing(at(&home), &settings).unwrap();
    assert!(found.caches.is_empty() && fs::read_dir(&home).unwrap().next().is_none());
    fs::create_dir(home.join(".cargo")).unwrap();
    let found = Places::default().existing(at(&home), &settings).unwrap();
    assert!(found.caches.contains(&home.join(".cargo/registry")));
}

#[test]
fn a_missing_cache_is_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let variables = |writable: &[PathBuf]| caches_elsewhere(Some(&home), writable, Path::new("/tmp"));
    let npm = (OsString::from("npm_config_cache"), OsString::from("/tmp/.cache/npm"));
    assert!(variables(&[]).contains(&npm));
    assert!(!variables(&[home.join(".npm")]).contains(&npm));
    let cargo = |variables: Vec<(OsString, OsString)>| variables.iter().any(|(name, _)| name == "CARGO_HOME");
    assert!(cargo(variables(&[])));
    fs::create_dir(home.join(".cargo")).unwrap();
    assert!(!cargo(variables(&[])), "what is in it would be hidden");
}

#[test]
fn a_secret_may_be_named_readable_and_another_named_secret() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    fs::create_dir(home.join(".aws")).unwrap();
    fs::write(home.join("mine"), "").unwrap();
    let settings = SandboxSettings {
        readable: vec!["~/.aws".into()],
        secrets: vec!["~/mine".into()],
        ..SandboxSettings::default()
    };
    let secrets = Places::default().existing(at(&home), &settings).unwrap().secrets.clone();
    assert!(secrets.contains(&home.join("mine")) && !secrets.contains(&home.join(".aws")));
}

#[test]
fn every_settings_file_is_on_the_list_of_secrets() {
    let known: Vec<&str> = in_home().map(|secret| secret.path).collect();
    assert!(SETTINGS.iter().all(|settings| known.contains(&settings.path)));
    for secret in in_home().filter(|secret| secret.kind == SecretKind::Settings) {
        assert!(SETTINGS.iter().any(|settings| settings.path == secret.path), "{}", secret.path);
    }
}

#[test]
fn every_place_of_the_list_is_found() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap();
    let places: Vec<PathBuf> = stored().map(|path| home.join(path.replace('*', "x"))).collect();
    for place in &places {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "").unwrap();
    }
    let found = Places::default().existing(at(&home), &SandboxSettings::default()).unwrap();
    for place in &places {
        assert!(found.secrets.contains(place), "{}", place.display());
    }
}

#[test]
fn variables_of_the_caller_are_followed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for directory in ["home", "config/gh", "cargo"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for file in ["one", "two", "cargo/credentials.toml", "cargo/config.toml"] {
        fs::write(root.join(file), "").unwrap();
    }
    let (one, two) = (root.join("one"), root.join("two"));
    let moved = bashtion_guard::secrets::moved_places(|name| match name {
        "KUBECONFIG" => std::env::join_paths([&one, &two]).ok(),
        "XDG_CONFIG_HOME" => Some(root.join("config").into()),
        "CARGO_HOME" => Some(root.join("cargo").into()),
        "GNUPGHOME" => Some(root.clone().into()),
        _ => None,
    });
    let home = root.join("home");
    let whereabouts = Whereabouts { moved: &moved, ..at(&home) };
    let found = Places::default().existing(whereabouts, &SandboxSettings::default()).unwrap();
    let found: Vec<&PathBuf> = found.secrets.iter().filter(|path| path.starts_with(&root)).collect();
    let expected = ["cargo/credentials.toml", "config/gh", "one", "two"].map(|name| root.join(name));
    assert_eq!(found, expected.iter().collect::<Vec<_>>(), "and not the directory that holds the home");
}

#[test]
fn env_files_of_other_projects_are_found_when_they_appear() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for directory in ["home", "projects/own", "projects/other"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let (home, own) = (root.join("home"), [root.join("projects/own")]);
    let whereabouts = Whereabouts { own: &own, ..at(&home) };
    let (places, settings) = (Places::default(), SandboxSettings::default());
    let found = || places.existing(whereabouts, &settings).unwrap().env_files.clone();
    fs::write(root.join("projects/own/.env"), "").unwrap();
    assert_eq!(found(), Vec::<PathBuf>::new());
    fs::write(root.join("projects/other/.env"), "").unwrap();
    assert_eq!(found(), [root.join("projects/other/.env")]);
}

#[test]
fn programs_in_caches_are_not_writable() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap();
    let lock = home.join(".gradle/wrapper/dists/gradle-8-bin/abc/gradle-8-bin.zip.lck");
    for directory in [".npm/_npx", ".cache/pre-commit", ".cache/pypoetry/virtualenvs", ".cache/pnpm/dlx"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let found = Places::default().existing(at(&home), &SandboxSettings::default()).unwrap();
    let expected = [
        lock,
        home.join(".npm/_cacache"),
        home.join(".npm/_logs"),
        home.join(".cache/pypoetry/cache"),
        home.join(".cache/pypoetry/artifacts"),
    ];
    assert_eq!(found.caches.iter().collect::<BTreeSet<_>>(), expected.iter().collect());
    let variables = caches_elsewhere(Some(&home), &found.caches, Path::new("/tmp"));
    let is_set = |wanted: &str| variables.iter().any(|(name, _)| name == wanted);
    assert!(!is_set("npm_config_cache") && !is_set("PRE_COMMIT_HOME"), "what is there can be used");
    assert!(is_set("COREPACK_HOME") && is_set("GEM_HOME"));
}
