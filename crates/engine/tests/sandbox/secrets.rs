//! Keys and tokens cannot be read.

use bashtion::Outcome;

use crate::scene::{SECRET, VICTIM_SECRET, accepted};
use crate::{Hold, Scene};

fn told(_: &mut Scene, outcome: &Outcome) -> bool {
    outcome.output.stdout().contains(SECRET)
}

fn told_of_the_victim(_: &mut Scene, outcome: &Outcome) -> bool {
    outcome.output.stdout().contains(VICTIM_SECRET)
}

escapes! {
    t06_a_key: "cat ~/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_a_file: "cat ~/.netrc", told, [Workspace, Plain, ReadOnly];
    t06_a_token_deeper_down: "cat ~/.config/gh/hosts.yml", told, [Workspace, Plain, ReadOnly];
    t06_through_a_link: "ln -s {home}/.ssh/id_ed25519 $TMPDIR/link; cat $TMPDIR/link {home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_a_hard_link: "ln {home}/.ssh/id_ed25519 hard; cat hard", told, [Workspace, Plain, ReadOnly];
    t06_by_moving_the_directory: "mv {home}/.ssh {work}/taken; cat {work}/taken/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_another_process: "cat /proc/{victim}/root/{home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_the_shell_that_started_it: "cat /proc/$PPID/root/{home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_with_python: "python3 -c 'import os;print(open(os.path.expanduser(\"~/.aws/credentials\")).read())'", told, [Workspace, Plain, ReadOnly];
    t06_passwords_of_the_system: "{probe} open_read /etc/shadow", accepted, [Workspace, Plain, ReadOnly];
    t07_environment_of_another_process: "tr '\\0' '\\n' < /proc/{victim}/environ", told_of_the_victim, [Workspace, Plain, ReadOnly];
    t07_memory_of_another_process: "{probe} vm_read {victim}", accepted, [Workspace, Plain, ReadOnly];
    t07_open_files_of_another_process: "ls -l /proc/{victim}/fd/0 > /dev/null && echo ok", accepted, [Workspace, Plain, ReadOnly];
    t07_environment_of_the_host_process: "head -c1 /proc/{self}/environ > /dev/null && echo ok", accepted, [Workspace, Plain, ReadOnly];
}

#[test]
fn t07_command_lines_of_others_are_hidden_where_root_can_hide_them() {
    let scene = Scene::new();
    let outcome = scene.run(Hold::Workspace, "cat /proc/{victim}/cmdline; ls /proc | grep -c '^[0-9]'");
    assert!(outcome.output.stderr().contains("No such file"), "{}", outcome.output.stderr());
    let visible: usize = outcome.output.stdout().trim().parse().unwrap();
    assert!(visible < 8, "{visible} processes are visible");
}

#[test]
fn what_is_no_secret_can_be_read() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        let outcome =
            scene.run(hold, "cat {outside}/file ~/.bashrc /etc/passwd /proc/self/stat /proc/meminfo > /dev/null && ls / ~ /etc /sys > /dev/null");
        assert!(outcome.success(), "{hold:?} {}", outcome.output.stderr());
    }
}

#[test]
fn a_secret_can_be_allowed_and_another_be_named() {
    let scene = Scene::new();
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let mut settings = crate::scene::settings(hold);
        settings.readable.push("~/.ssh".into());
        settings.secrets.push(scene.path("outside/file"));
        let outcome = scene.run_with(settings, "cat ~/.ssh/id_ed25519; cat {outside}/file");
        assert_eq!(outcome.output.stdout(), SECRET, "{hold:?}");
    }
}

/// A mount over a file goes when the file is replaced; the rules do not.
#[test]
fn t06_a_secret_replaced_while_the_command_runs() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        let (secret, new) = (scene.path("home/.netrc"), scene.path("home/new"));
        let replace = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            std::fs::write(&new, SECRET).unwrap();
            std::fs::rename(&new, &secret).unwrap();
        });
        let outcome = scene.run(hold, "for i in $(seq 12); do cat ~/.netrc; sleep 0.1; done");
        replace.join().unwrap();
        assert!(!outcome.output.stdout().contains(SECRET), "{hold:?}");
    }
}

#[test]
fn t06_a_secret_in_the_workspace_moved_in_two_steps() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("work/dotfiles/ssh")).unwrap();
    std::fs::write(scene.path("work/dotfiles/ssh/id"), SECRET).unwrap();
    std::fs::remove_dir_all(scene.path("home/.ssh")).unwrap();
    std::os::unix::fs::symlink(scene.path("work/dotfiles/ssh"), scene.path("home/.ssh")).unwrap();
    scene.run(Hold::Workspace, "mv dotfiles moved");
    let outcome = scene.run(Hold::Workspace, "cat */ssh/id; cat ~/.ssh/id");
    assert!(!outcome.output.stdout().contains(SECRET));
}

/// Names that others have tried, and one of each kind.
const NAMES: &[&str] = &[
    "snap/firefox/common/.mozilla/profile",
    ".var/app/org.mozilla.firefox/data",
    ".config/mozilla/firefox/key4.db",
    ".config/github-copilot/apps.json",
    ".claude.json",
    ".claude/projects/p/session.jsonl",
    ".claude/history.jsonl",
    ".codex/history.jsonl",
    ".local/share/opencode/auth.json",
    ".continue/config.json",
    ".config/goose/secrets.yaml",
    ".config/Code/User/globalStorage/state.vscdb",
    ".vscode-server/data/User/globalStorage/x",
    ".local/share/fish/fish_history",
    ".sqlite_history",
    ".rediscli_history",
    ".viminfo",
    ".config/pypoetry/auth.toml",
    ".local/share/uv/credentials/x",
    ".gem/credentials",
    ".nuget/NuGet/NuGet.Config",
    ".ivy2/.credentials",
    ".sbt/.credentials",
    ".pulumi/credentials.json",
    ".config/stripe/config.toml",
    ".local/share/com.vercel.cli/auth.json",
    ".config/netlify/config.json",
    ".config/.wrangler/config/default.toml",
    ".supabase/access-token",
    ".railway/config.json",
    ".cloudflared/cert.pem",
    ".config/ngrok/ngrok.yml",
    ".config/argocd/config",
    ".config/helm/registry/config.json",
    ".mylogin.cnf",
    ".snowsql/config",
    ".local/share/DBeaverData/credentials",
    ".vnc/passwd",
    ".config/wireguard/wg0.conf",
    ".Xauthority",
    ".config/1Password/x",
    ".config/Bitwarden/data.json",
    ".config/keepassxc/x",
    ".local/share/kwalletd/x.kwl",
    ".subversion/auth/svn.simple/x",
    ".local/share/jupyter/runtime/jpserver.json",
];

#[test]
fn t06_each_of_the_names_that_others_have_tried() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        for name in NAMES {
            let path = scene.path("home").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{SECRET} {name}\n")).unwrap();
        }
        std::fs::write(scene.path("home/.gitconfig"), "[user]\nname = dev\n").unwrap();
        let read = "cd; cat .gitconfig; grep -rhs . $(ls -A)";
        assert_eq!(scene.run(Hold::Off, read).output.stdout().matches(SECRET).count(), NAMES.len() + 4);
        let outcome = scene.run(hold, read);
        assert!(outcome.output.stdout().starts_with("[user]"), "{hold:?} {}", outcome.output.stderr());
        assert!(!outcome.output.stdout().contains(SECRET), "{hold:?} {}", outcome.output.stdout());
    }
}

#[test]
fn t06_what_the_callers_variables_name() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        std::fs::create_dir_all(scene.path("moved/gh")).unwrap();
        for name in ["one", "two", "key.json", "moved/gh/hosts.yml"] {
            std::fs::write(scene.path(name), SECRET).unwrap();
        }
        std::fs::write(scene.path("moved/plain"), "plain").unwrap();
        let both = std::env::join_paths([scene.path("one"), scene.path("two")]).unwrap();
        let context = scene
            .context()
            .env("KUBECONFIG", both)
            .env("GOOGLE_APPLICATION_CREDENTIALS", scene.path("key.json"))
            .env("XDG_CONFIG_HOME", scene.path("moved"))
            .env("HISTFILE", "/dev/null");
        let read =
            "cd {root}; cat one two key.json moved/gh/hosts.yml moved/plain; echo > /dev/null && echo ok";
        let settings = crate::scene::settings(hold);
        let read = scene.run_as(&context, settings, read);
        assert_eq!(read.output.stdout(), "plainok\n", "{hold:?} {}", read.output.stderr());
    }
}

#[test]
fn t06_env_files_of_other_projects() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        for name in ["outside/.env", "outside/.env.local"] {
            std::fs::write(scene.path(name), SECRET).unwrap();
        }
        std::fs::write(scene.path("work/.env"), "own ").unwrap();
        std::fs::write(scene.path("outside/.env.example"), "example").unwrap();
        let outcome = scene.run(hold, "cat .env {outside}/.env {outside}/.env.local {outside}/.env.example");
        assert_eq!(outcome.output.stdout(), "own example", "{hold:?} {}", outcome.output.stderr());
    }
}
