//! Containers by podman, in a folder of the test: their root directory is a view of this machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A place where podman keeps everything that belongs to it.
pub(crate) struct Podman {
    place: TempDir,
}

/// Refuses namespaces and mounts in the way of Docker's own profile: `clone3` is unknown, so that programs use `clone`.
const NO_NAMESPACES: &str = r#"{
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        { "names": ["unshare", "setns", "mount", "umount2", "move_mount", "open_tree", "mount_setattr"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1 },
        { "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38 },
        { "names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
          "args": [{ "index": 0, "value": 2114060288, "valueTwo": 268435456, "op": "SCMP_CMP_MASKED_EQ" }] }
    ]
}"#;

impl Podman {
    pub(crate) fn new() -> Self {
        // Not in /tmp, which containers have of their own.
        let place = tempfile::tempdir_in("/var/tmp").expect("a folder of the test");
        let folder = place.path().display();
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{folder}/graph\"\nrunroot = \"{folder}/run\"\n"
        );
        // The limits are what this machine allows; podman would ask for more.
        let containers = "[containers]\nlog_driver = \"k8s-file\"\ndefault_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n\
                          [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\nruntime = \"runc\"\n";
        let files = [
            ("storage.conf", storage.as_str()),
            ("containers.conf", containers),
            ("profile.json", NO_NAMESPACES),
            ("gitconfig", "[safe]\n\tdirectory = *\n"),
        ];
        for (name, text) in files {
            fs::write(place.path().join(name), text).expect("the folder is ours");
        }
        Self { place }
    }

    /// A new folder on this machine.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = tempfile::Builder::new().prefix(name).tempdir_in(self.place.path());
        folder.expect("the folder is ours").keep()
    }

    /// Runs a script in a new container, in a directory of this machine. Returns what it printed.
    pub(crate) fn run(&self, options: &[&str], directory: &Path, script: &str) -> String {
        let place = self.place.path().display();
        let profile = format!("seccomp={place}/profile.json");
        let named = options.iter().map(|&option| if option == "seccomp=PROFILE" { &profile } else { option });
        let mut command = Command::new("podman");
        command
            .env("CONTAINERS_STORAGE_CONF", self.place.path().join("storage.conf"))
            .env("CONTAINERS_CONF", self.place.path().join("containers.conf"))
            .args(["run", "--rm", "--network", "none", "--env", "BASHTION_STATE_DIR=/var/tmp/state"])
            // The git that reads /etc/gitconfig; another one may come first on this machine.
            .args(["--env", "PATH=/usr/bin:/bin"])
            .args(named)
            .arg(format!("--volume={}:/bin/bashtion:ro", env!("CARGO_BIN_EXE_bashtion")))
            .arg(format!("--volume={place}/gitconfig:/etc/gitconfig:ro"))
            .arg(format!("--volume={}:/project", directory.display()))
            .args(["--workdir", "/project", "--rootfs", "/:O", "bash", "-c", script]);
        let output = command.stdin(Stdio::null()).output().expect("podman is installed");
        let (printed, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!printed.is_empty(), "{options:?}: {errors}");
        printed.into_owned()
    }
}
