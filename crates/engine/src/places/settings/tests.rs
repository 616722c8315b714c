use std::fs;
use std::os::unix::fs::{chown, symlink};

use super::*;

const SECRET: &str = "hunter2hunter";

/// The part that is shown of a file in a home directory.
fn shown(name: &str, text: &str) -> Option<String> {
    let about = SETTINGS.iter().find(|about| about.path == name).unwrap();
    about.clean(text.strip_prefix('\u{feff}').unwrap_or(text)).ok().map(|(text, _)| text)
}

#[test]
fn settings_stay() {
    let cases = [
        (
            ".npmrc",
            "registry = https://me:hunter2hunter@npm.example/\n@a:registry=https://b.example\n//npm.example/:_authToken=hunter2hunter\nemail=a@b.example\n",
            "registry=https://npm.example/\n@a:registry=https://b.example\n",
        ),
        (
            ".config/pip/pip.conf",
            "[global]\nindex-url: https://me:hunter2hunter@pypi.example/simple\nextra-index-url =\n    https://a.example/simple\n    https://u:hunter2hunter@b.example/simple\n",
            "[global]\nindex-url = https://pypi.example/simple\nextra-index-url = \n    https://a.example/simple\n    https://b.example/simple\n",
        ),
        (
            ".pypirc",
            "[distutils]\nindex-servers =\n  mine\n[mine]\nrepository = https://pypi.example/\nusername = me\npassword = hunter2hunter\n",
            "[distutils]\nindex-servers = \n    mine\n[mine]\nrepository = https://pypi.example/\n",
        ),
        (
            ".yarnrc.yml",
            "npmRegistryServer: \"https://npm.example\"\nnpmAuthToken: hunter2hunter\nnpmScopes:\n  a:\n    npmRegistryServer: https://a.example\n    npmAuthToken: hunter2hunter\n  b:\n    npmAuthIdent: hunter2hunter\nnodeLinker: node-modules # why\n",
            "npmRegistryServer: \"https://npm.example\"\nnpmScopes:\n  a:\n    npmRegistryServer: https://a.example\nnodeLinker: node-modules\n",
        ),
        (
            ".gradle/gradle.properties",
            "org.gradle.parallel=true\nsystemProp.https.proxyHost proxy.example\nsystemProp.https.proxyPassword=hunter2hunter\nmine\\u0061=hunter2hunter\nsigning.password : hunter2\\\n   hunter\n",
            "org.gradle.parallel=true\nsystemProp.https.proxyHost=proxy.example\n",
        ),
        (
            ".config/uv/uv.toml",
            "[[index]]\nname = \"mine\"\nurl = 'https://me:hunter2hunter@pypi.example/simple'\npassword = \"\"\"hunter2hunter\"\"\"\n",
            "[[index]]\nname = \"mine\"\nurl = \"https://pypi.example/simple\"\n",
        ),
        (
            ".m2/settings.xml",
            "<?xml version=\"1.0\"?><!-- hunter2hunter --><settings xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\"><servers><server><id>x</id><password>hunter2hunter</password></server></servers><mirrors><mirror><id>x</id><url>https://maven.example/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>",
            "<settings><mirrors><mirror><id>x</id><url>https://maven.example/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>\n",
        ),
        (
            ".nuget/NuGet/NuGet.Config",
            "<configuration><packageSources><add key=\"mine\" value=\"https://nuget.example/v3/index.json\" /></packageSources><packageSourceCredentials><mine><add key=\"ClearTextPassword\" value=\"hunter2hunter\" /></mine></packageSourceCredentials></configuration>",
            "<configuration><packageSources><add key=\"mine\" value=\"https://nuget.example/v3/index.json\"/></packageSources></configuration>\n",
        ),
        (
            ".bundle/config",
            "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://me:hunter2hunter@gems.example/\"\nBUNDLE_GEMS__EXAMPLE__COM: \"me:hunter2hunter\"\n",
            "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.example/\"\n",
        ),
        (
            ".condarc",
            "channels:\n  - https://u:hunter2hunter@conda.example/main\n  - defaults\n",
            "channels:\n  - https://conda.example/main\n  - defaults\n",
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(shown(name, text).as_deref(), Some(expected), "{name}");
    }
}

/// However a secret is written, it is not in the copy: every spelling in every file, with every kind of line end.
#[test]
fn no_spelling_shows_a_secret() {
    let entries = [
        "//npm.example/:_authToken={}",
        "_auth = \"{}\"",
        "//x/:_password='{}'",
        "registry=https://{}@npm.example/",
        "registry=https://me:{}@npm.example/",
        "registry = me:{}@npm.example",
        "registry=https://npm.example/?t={}",
        "registry=https://npm.example ; {}",
        "# {}",
        "; {}",
        "[section]\nx={}",
        "x[] = {}",
        "[{}]",
        "{}",
        "index-url = https://me:{}@pypi.example\n  {}",
        "password =\n   {}\n\t{}",
        "password: {}",
        "password:{}",
        "[global]\nindex-url: https://{}:{}@a.example",
        "[a]\npassword = {}\nindex-url = {}",
        "npmAuthToken: \"{}\"",
        "npmAuthToken:\n  {}",
        "npmAuthToken: |\n  {}",
        "npmAuthToken: >-\n {}\n\n {}",
        "npmScopes:\n  a: {npmAuthToken: {}}",
        "npmScopes: {a: {npmAuthToken: \"{}\"}}",
        "a: &x {}\nnodeLinker: *x",
        "npmScopes:\n  a:\n    npmAuthToken: {}\n    npmAlwaysAuth: true",
        "npmRegistries:\n  \"//x\":\n    npmAuthIdent: me:{}",
        "nodeLinker: \"x\n  {}\"",
        "nodeLinker: x\n  {}",
        "- npmAuthToken: {}",
        "? npmAuthToken\n: {}",
        "---\na: b\n---\nc: {}",
        "token = \"{}\"",
        "[x]\ntoken = '''\n{}'''",
        "x = { url = \"https://a.example\", token = \"{}\" }",
        "x = [\"https://me:{}@a.example\"]",
        "org.gradle.x=\\\n{}\\\n",
        "pass\\u0077ord={}",
        "signing.password {}",
        "org.gradle.token={}",
        "artifactory_user={}",
        "artifactoryPassword = {}",
        "<settings><servers><server><password>{}</password></server></servers></settings>",
        "<settings><!-- {} --></settings>",
        "<settings><![CDATA[{}]]></settings>",
        "<settings a=\"{}\"/>",
        "<!DOCTYPE x [<!ENTITY e \"{}\">]><settings>&e;</settings>",
        "<settings><url>https://u:{}@a.example</url></settings>",
        "<configuration><apikeys><add key=\"{}\" value=\"{}\"/></apikeys></configuration>",
        "<settings><servers><settings><url>{}</url></settings></servers></settings>",
        "<settings><profiles>{}</profiles>",
    ];
    let around = [
        "",
        "registry=https://npm.example/\n",
        "[global]\n",
        "npmRegistryServer: https://npm.example\n",
        "\u{feff}",
    ];
    let mut shown = vec![];
    for about in SETTINGS {
        for entry in entries {
            for before in around {
                for (end, secret) in
                    [("\n", SECRET), ("\r\n", SECRET), ("\r", SECRET), ("\n", "s3cr3tS3cr3tS3cr3t")]
                {
                    let secretive = entry.contains("{}")
                        && !entry.starts_with("{}")
                        && !entry.contains("= {}\nindex-url");
                    let text = format!("{before}{entry}\n").replace("{}", secret).replace('\n', end);
                    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                    let copy = about.clean(text).map(|(copy, _)| copy).unwrap_or_default();
                    // A word alone, under a name that says nothing, is only known by its looks.
                    let may_stay = secret == SECRET && (!secretive || is_a_plain_setting(about, entry));
                    if !may_stay && copy.contains(secret) {
                        shown.push(format!("{} {text:?} → {copy:?}", about.path));
                    }
                }
            }
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

/// Returns true for entries that in this format are a setting like any other: `org.gradle.x`, the name of a section.
fn is_a_plain_setting(about: &SettingsFile, entry: &str) -> bool {
    let is_loose = matches!(about.keys, Keys::AllButSecret);
    let is_name = entry == "[{}]" && matches!(about.format, Format::Ini | Format::Toml);
    is_name
        || entry.starts_with("org.gradle.x")
        || (is_loose && ["x[] = {}", "[section]\nx={}"].contains(&entry))
}

#[test]
fn only_ordinary_files_of_ours_are_shown() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let npmrc = home.join(".npmrc");
    let look = || FoundSettings::look(|path| vec![home.join(path)], |_| false).pop();
    assert!(look().is_none());
    fs::write(&npmrc, "registry=https://npm.example/\n").unwrap();
    let found = look().unwrap();
    assert!(found.is_harmless && found.text.as_deref() == Some("registry=https://npm.example/\n"));
    assert!(
        FoundSettings::look(|path| vec![home.join(path)], |path| path == npmrc).is_empty(),
        "named as a secret, or readable"
    );

    for strange in [vec![0xff, 0xfe], b"registry=\0".to_vec(), vec![b'#'; (1 << 20) + 1]] {
        fs::write(&npmrc, strange).unwrap();
        assert_eq!(look().unwrap().text, None);
    }
    fs::remove_file(&npmrc).unwrap();
    fs::write(home.join("dotfile"), "registry=https://npm.example/\n").unwrap();
    symlink("dotfile", &npmrc).unwrap();
    let found = look().unwrap();
    assert!(found.real == home.join("dotfile") && found.text.is_some(), "a link is followed once");
    fs::create_dir_all(home.join(".config/pip")).unwrap();
    symlink(home.join("dotfile"), home.join(".config/pip/pip.conf")).unwrap();
    assert_eq!(look().unwrap().text, None, "one file in two formats");
    fs::remove_file(home.join(".config/pip/pip.conf")).unwrap();

    fs::remove_file(&npmrc).unwrap();
    fs::create_dir(&npmrc).unwrap();
    assert_eq!(look().unwrap().text, None, "a directory");
    fs::remove_dir(&npmrc).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &npmrc, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(look().unwrap().text, None, "a pipe, which is not waited for");
    fs::remove_file(&npmrc).unwrap();
    fs::write(&npmrc, "registry=https://npm.example/\n").unwrap();
    if chown(&npmrc, Some(12345), None).is_ok() {
        assert_eq!(look().unwrap().text, None, "somebody else's");
    }
}
