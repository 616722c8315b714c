//! Package managers in a home that nothing was ever kept in.

use std::path::{Path, PathBuf};

use crate::place::{Place, fetched};

/// Runs a command that must leave the home as empty as before, and returns its output.
fn prints_in_a_fresh_home(place: &Place, files: &[(&str, &str)], command: &str) -> String {
    for (name, text) in files {
        place.write(name, text);
    }
    let out = place.prints(command);
    assert_eq!(place.found_in_home(), Vec::<PathBuf>::new(), "{command}");
    out
}

#[test]
fn a_command_leaves_a_fresh_home_empty() {
    for place in Place::both() {
        assert_eq!(prints_in_a_fresh_home(&place, &[], "echo hello"), "hello\n");
    }
}

#[test]
fn a_cache_that_is_there_is_used() {
    let place = Place::new();
    std::fs::create_dir_all(place.home().join(".cache/pip")).unwrap();
    place.prints("echo x > ~/.cache/pip/file; test -z \"$PIP_CACHE_DIR\"");
    let expected = [".cache", ".cache/pip", ".cache/pip/file"].map(|name| place.home().join(name));
    assert_eq!(place.found_in_home(), expected);
}

/// Programs that their user runs outside: those that are there, and those that are not yet.
#[test]
fn programs_in_caches_stay_as_they_are() {
    for place in Place::both() {
        let lock = ".gradle/wrapper/dists/gradle-8-bin/abc/gradle-8-bin.zip.lck";
        let there =
            [".npm", ".cache/pre-commit/env/bin", ".gradle/wrapper/dists/gradle-8-bin/abc", ".cache/pnpm"];
        for directory in there {
            std::fs::create_dir_all(place.home().join(directory)).unwrap();
        }
        std::fs::write(place.home().join(".cache/pre-commit/env/bin/tool"), "echo real").unwrap();
        std::fs::write(place.home().join(lock), "").unwrap();
        place.give_home();
        let out = place.prints(&format!(
            "cd; for path in .npm/_npx/x .cache/pre-commit/env/bin/tool .gradle/wrapper/dists/new .cache/pnpm/dlx \
             .cache/node/corepack .local/share/gem/x; do \
             mkdir -p $path 2> /dev/null; touch $path/evil 2> /dev/null; echo evil 2> /dev/null > $path; done; \
             echo x > {lock} && echo x > .npm/_cacache/x && sh .cache/pre-commit/env/bin/tool; \
             echo ${{npm_config_cache-none}} ${{PRE_COMMIT_HOME-none}}"
        ));
        assert_eq!(out, "real\nnone none\n");
        let evil = place.found_in_home().into_iter().filter(|path| {
            ["_npx", "new", "dlx", "corepack", "gem", "evil"].iter().any(|name| path.ends_with(name))
        });
        assert_eq!(evil.collect::<Vec<_>>(), Vec::<PathBuf>::new());
    }
}

#[test]
fn the_env_file_of_another_project_is_hidden_also_when_it_is_replaced() {
    let place = Place::new();
    // Of the host's own temporary directory a room shows nothing else.
    let projects = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (own, other) = (projects.path().join("own"), projects.path().join("other"));
    std::fs::create_dir_all(&other).unwrap();
    let made = std::process::Command::new("git").arg("init").arg("-q").arg(&own).status().unwrap();
    assert!(made.success());
    std::fs::write(other.join(".env"), "secret").unwrap();
    let cat = || {
        let options = ["--cwd", own.to_str().unwrap()];
        place.prints_with(&options, "cat ../other/.env ../other/new 2> /dev/null; true")
    };
    assert_eq!(cat(), "");
    // Rooms show what is new beside it, and find out that it has been replaced.
    std::fs::write(other.join("new"), "new").unwrap();
    assert_eq!(cat(), "new");
    std::fs::write(other.join("draft"), "secret again").unwrap();
    std::fs::rename(other.join("draft"), other.join(".env")).unwrap();
    assert_eq!(cat(), "new");
}

/// Builds without anything from elsewhere.
const PROJECT: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n\
         [project]\nname = 'local'\nversion = '1'\n",
    ),
    (
        "backend.py",
        "import zipfile
def build_wheel(directory, *_):
    name = 'local-1-py3-none-any.whl'
    with zipfile.ZipFile(f'{directory}/{name}', 'w') as wheel:
        wheel.write('local.py')
        about = 'local-1.dist-info'
        wheel.writestr(f'{about}/METADATA', 'Metadata-Version: 2.1\\nName: local\\nVersion: 1\\n')
        wheel.writestr(f'{about}/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(f'{about}/RECORD', '')
    return name
",
    ),
    ("local.py", "print('local')"),
];

#[test]
fn pip_installs_a_local_project() {
    let out = prints_in_a_fresh_home(
        &Place::ordinary(),
        PROJECT,
        "/usr/bin/python3 -m venv venv && venv/bin/pip install -q --no-index . && cd / && \
         $OLDPWD/venv/bin/python -m local",
    );
    assert_eq!(out, "local\n");
}

#[test]
fn uv_installs_a_local_project() {
    for place in Place::both() {
        // Where the room shows it, wherever it was fetched to.
        let uv = place.work().join("uv");
        std::fs::copy(fetched("python/bin/uv"), &uv).unwrap();
        let uv = uv.display();
        let out = prints_in_a_fresh_home(
            &place,
            PROJECT,
            &format!(
                "{uv} venv -q --python /usr/bin/python3 venv && \
                 {uv} pip install -q --python venv/bin/python --no-index . && cd / && \
                 $OLDPWD/venv/bin/python -m local"
            ),
        );
        assert_eq!(out, "local\n");
    }
}

#[test]
fn npm_installs_a_local_package() {
    let out = prints_in_a_fresh_home(
        &Place::ordinary(),
        &[
            ("package.json", "{\"name\": \"local\", \"version\": \"1.0.0\", \"main\": \"main.js\"}"),
            ("main.js", "module.exports = 'local'"),
        ],
        "npm pack -s && mkdir user && cd user && echo '{}' > package.json && npm install -s ../local-1.0.0.tgz && \
         node -p 'require(\"local\")'",
    );
    assert_eq!(out, "local-1.0.0.tgz\nlocal\n");
}

#[test]
fn cargo_builds_and_runs() {
    let programs = Path::new(env!("CARGO")).parent().unwrap().display();
    let place = Place::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = 'local'\nversion = '1.0.0'\nedition = '2024'\n\
         [[bin]]\nname = 'local'\npath = 'main.rs'\n",
    );
    place.write("main.rs", "fn main() { println!(\"local\") }");
    assert_eq!(place.prints(&format!("PATH={programs}:$PATH; cargo run -q")), "local\n");
    assert_eq!(place.found_in_home(), Vec::<PathBuf>::new());
}

#[test]
fn go_builds_and_tests() {
    let out = prints_in_a_fresh_home(
        &Place::ordinary(),
        &[
            ("go.mod", "module local\n"),
            ("main.go", "package main\n\nfunc main() { print(\"local\\n\") }\n"),
            ("main_test.go", "package main\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {}\n"),
        ],
        "go build -o program . && ./program 2>&1 && go test . | cut -c1-2",
    );
    assert_eq!(out, "local\nok\n");
}

#[test]
fn maven_reads_a_project() {
    let out = prints_in_a_fresh_home(
        &Place::ordinary(),
        &[(
            "pom.xml",
            "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId>\
            <version>1</version><packaging>pom</packaging></project>",
        )],
        "mvn -o -B validate",
    );
    assert!(out.contains("BUILD SUCCESS"), "{out}");
}

#[test]
fn gem_installs_a_local_gem() {
    let out = prints_in_a_fresh_home(
        &Place::ordinary(),
        &[(
            "local.gemspec",
            "Gem::Specification.new { |s| s.name = 'local'; s.version = '1'; s.summary = 's'; \
            s.authors = ['a']; s.files = ['lib/local.rb'] }",
        )],
        "mkdir lib; echo 'puts :local' > lib/local.rb; gem build -q local.gemspec 2> /dev/null && \
         gem install -q --local --no-document local-1.gem && cd / && ruby -e 'require \"local\"'",
    );
    assert!(out.ends_with("local\n"), "{out}");
}
