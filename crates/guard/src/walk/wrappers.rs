//! Programs that start another program with the rest of their arguments.

use crate::analysis::{Machine, Setting, Stream};
use crate::paths::locate;
use crate::scope::{Scope, Value};
use crate::text::Text;

use super::Walker;
use super::simple::Call;

/// Variables and their values.
type Environment = Vec<(String, Text)>;

/// How to find the command in the arguments of a wrapper.
struct Wrapper {
    names: &'static [&'static str],
    /// Short options that take a value.
    short: &'static str,
    /// Long options that take a value as the next argument.
    long: &'static [&'static str],
    /// Arguments before the command.
    skip: usize,
    /// Whether `NAME=value` may stand before the command.
    sets: bool,
    elevates: bool,
}

const fn plain(names: &'static [&'static str], short: &'static str) -> Wrapper {
    Wrapper { names, short, long: &[], skip: 0, sets: false, elevates: false }
}

const fn skipping(names: &'static [&'static str], short: &'static str, skip: usize) -> Wrapper {
    Wrapper { names, short, long: &[], skip, sets: false, elevates: false }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        short: "ugphrtCDRTU",
        long: &[
            "user", "group", "prompt", "host", "role", "type", "chdir", "chroot", "close-from", "other-user",
            "command-timeout",
        ],
        skip: 0,
        sets: true,
        elevates: true,
    },
    Wrapper {
        names: &["doas", "pkexec", "sudo-rs", "run0"],
        short: "uC",
        long: &["user"],
        skip: 0,
        sets: false,
        elevates: true,
    },
    Wrapper { names: &["env"], short: "uC", long: &["unset", "chdir"], skip: 0, sets: true, elevates: false },
    Wrapper {
        names: &["timeout", "gtimeout"],
        short: "ks",
        long: &["kill-after", "signal"],
        skip: 1,
        sets: false,
        elevates: false,
    },
    Wrapper { names: &["nice"], short: "n", long: &["adjustment"], skip: 0, sets: false, elevates: false },
    Wrapper {
        names: &["ionice"],
        short: "cnpPu",
        long: &["class", "classdata", "pid"],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["stdbuf"],
        short: "ioe",
        long: &["input", "output", "error"],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["time"],
        short: "fo",
        long: &["format", "output"],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["strace", "ltrace"],
        short: "oeEpPsuISaXObn",
        long: &["output", "trace", "expr"],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["nsenter", "unshare"],
        short: "tSGRw",
        long: &["target", "setuid", "setgid", "root", "wd", "map-user", "map-group"],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["systemd-run"],
        short: "pMuHE",
        long: &[
            "unit", "property", "description", "slice", "uid", "gid", "setenv", "on-active", "on-calendar",
        ],
        skip: 0,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["cross-env", "cross-env-shell"],
        short: "",
        long: &[],
        skip: 0,
        sets: true,
        elevates: false,
    },
    Wrapper {
        names: &["op", "doppler", "infisical", "dotenvx"],
        short: "",
        long: &[],
        skip: 1,
        sets: false,
        elevates: false,
    },
    Wrapper {
        names: &["runuser"],
        short: "ugG",
        long: &["user", "group"],
        skip: 0,
        sets: false,
        elevates: true,
    },
    plain(
        &["nohup", "setsid", "builtin", "unbuffer", "chronic", "busybox", "toybox", "noglob", "nocorrect"],
        "",
    ),
    plain(
        &["command", "exec", "catchsegv", "eatmydata", "fakeroot", "dbus-run-session", "torsocks", "shx"],
        "a",
    ),
    plain(&["caffeinate"], "tw"),
    plain(&["choom"], "np"),
    plain(&["systemd-cat"], "tp"),
    plain(&["sem"], "j"),
    plain(&["xvfb-run"], "nefpsw"),
    plain(&["proxychains", "proxychains4"], "f"),
    plain(&["cpulimit"], "lpe"),
    plain(&["entr", "ts", "linux32", "linux64", "i386", "x86_64"], ""),
    plain(&["firejail", "valgrind", "numactl", "setarch"], ""),
    Wrapper { names: &["prlimit"], short: "p", long: &["pid"], skip: 0, sets: false, elevates: false },
    plain(
        &[
            "setpriv", "tini", "dumb-init", "eatmydata", "proot", "fakechroot", "heaptrack", "nq", "tsp",
            "watchexec", "env-cmd",
        ],
        "",
    ),
    plain(
        &[
            "dotenv", "onchange", "trickle", "softlimit", "chpst", "cgexec", "retry", "daemonize",
            "flatpak-spawn",
        ],
        "gufdoenmlrtp",
    ),
    skipping(
        &[
            "gosu", "su-exec", "setuidgid", "s6-setuidgid", "rr", "perf", "lerna", "toolbox",
            "distrobox-enter",
        ],
        "eoFpn",
        1,
    ),
    plain(&["sshpass"], "pfdPe"),
    skipping(&["chroot", "faketime", "taskset", "chrt"], "", 1),
    skipping(&["ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"], "", 0),
    skipping(&["direnv", "aws-vault", "chamber"], "", 2),
];

/// `poetry run cmd`: only after this word.
const RUNNERS: [(&str, &str); 17] = [
    ("pyenv", "exec"),
    ("rbenv", "exec"),
    ("nodenv", "exec"),
    ("jenv", "exec"),
    ("goenv", "exec"),
    ("poetry", "run"),
    ("uv", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("conda", "run"),
    ("mise", "exec"),
    ("asdf", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
];

impl Walker<'_> {
    /// None if it is no wrapper, or is not used as one.
    pub(super) fn wrapper(
        &mut self,
        name: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        if RUNNERS.iter().any(|(program, _)| *program == name) {
            return self.runner(name, arguments, call, scope);
        }
        let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))?;
        // These only tell about a command.
        let asks = |flags: &[&str]| {
            arguments.first().and_then(Text::value).is_some_and(|first| flags.contains(&first))
        };
        match name {
            "command" if asks(&["-v", "-V", "-pv"]) => return None,
            "sudo" if asks(&["-l", "-v", "-K", "-V", "--list", "--version", "-h", "--help"]) => {
                return None;
            }
            "direnv" if !asks(&["exec"]) => return None,
            "op" | "doppler" | "infisical" | "dotenvx" if !asks(&["run"]) => return None,
            "aws-vault" | "chamber" if !asks(&["exec"]) => return None,
            _ => {}
        }
        if name == "sudo" && asks(&["-e", "--edit"]) {
            let setting = Setting { elevated: true, ..call.setting.through(name) };
            let argv = [vec![Text::known("sudoedit")], arguments[1..].to_vec()].concat();
            return Some(self.run(&Call { arguments: argv, setting, ..call.clone() }, scope));
        }
        // Without a command, `exec` redirects this shell itself.
        if name == "exec" && arguments.is_empty() {
            scope.connected |= call.redirected.connected;
            scope.descriptors.extend(call.redirected.descriptors.clone());
        }
        let (rest, environment) = Self::rest(wrapper, arguments)?;
        let mut setting = call.setting.through(name);
        setting.elevated |= wrapper.elevates;
        // Out of the container again.
        if matches!(name, "chroot" | "nsenter") && setting.machine == Machine::Container {
            setting.machine = Machine::Here;
        }
        let mut inner = scope.clone();
        if let Some(directory) = directory_option(name, arguments) {
            let paths = locate(&directory, &scope.cwds, self.world).into_iter();
            let paths = paths.map(|path| path.why.map_or_else(|| Text::known(path.name), Text::unknown));
            inner.change_directory(paths.collect());
        }
        for (name, value) in &environment {
            inner.set(name, vec![Value::Scalar(value.clone())]);
        }
        let environment = [call.environment.clone(), environment].concat();
        let call = Call { arguments: rest, setting, environment, redirected: call.redirected.clone() };
        // `exec` and `command` run in this shell, so what they change stays.
        if matches!(name, "command" | "builtin") {
            return Some(self.run(&call, scope));
        }
        let stream = self.run(&call, &mut inner);
        scope.share_files(&inner);
        Some(stream)
    }

    /// The command in the arguments, and the variables set for it. None if there is no command.
    fn rest(wrapper: &Wrapper, arguments: &[Text]) -> Option<(Vec<Text>, Environment)> {
        let mut at = 0;
        let mut environment = vec![];
        while let Some(argument) = arguments.get(at) {
            let text = argument.rough();
            if text == "--" {
                at += 1;
                break;
            }
            // `env $(cat .env) program`: variables that are not known.
            let program_follows = arguments.get(at + 1).is_some_and(|next| next.value().is_some());
            if text.is_empty() && argument.why().is_some() && program_follows {
                at += 1;
                continue;
            }
            if wrapper.names == ["env"]
                && let Some(code) = split_string(argument, arguments.get(at + 1))
            {
                // `env -S "rm -rf /"` splits its argument into words.
                let words = code.rough().split_whitespace().map(Text::known).collect::<Vec<_>>();
                let after = if argument.rough().len() > 2 { at + 1 } else { at + 2 };
                return Self::rest(wrapper, &[words, arguments.get(after..)?.to_vec()].concat());
            }
            if let Some(long) = text.strip_prefix("--") {
                at += if wrapper.long.contains(&long) { 2 } else { 1 };
            } else if text == "-" && wrapper.names == ["env"] {
                at += 1;
            } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
                let value = short.find(|flag| wrapper.short.contains(flag));
                at += if value.is_some_and(|value| value + 1 == short.len()) { 2 } else { 1 };
            } else if let Some((name, value)) = wrapper.sets.then(|| assignment(argument)).flatten() {
                environment.push((name, value));
                at += 1;
            } else {
                break;
            }
        }
        // `timeout ${T:-10}` may be either.
        let is_time = |argument: &Text| {
            argument.why().is_some() || argument.rough().starts_with(|c: char| c.is_ascii_digit())
        };
        while wrapper.skip == 1
            && wrapper.names.contains(&"timeout")
            && arguments.get(at + 1).is_some_and(is_time)
        {
            at += 1;
        }
        at += wrapper.skip;
        while wrapper.skip > 0 && arguments.get(at).and_then(Text::value) == Some("--") {
            at += 1;
        }
        let rest = arguments.get(at..).filter(|rest| !rest.is_empty())?;
        Some((rest.to_vec(), environment))
    }

    fn runner(&mut self, name: &str, arguments: &[Text], call: &Call, scope: &mut Scope) -> Option<Stream> {
        let (_, word) = RUNNERS.iter().find(|(program, _)| *program == name)?;
        let at = arguments.iter().take(3).position(|argument| argument.value() == Some(word))?;
        if arguments[..at].iter().any(|argument| !argument.prefix().starts_with('-')) {
            return None;
        }
        let wrapper = Wrapper {
            names: &[],
            short: "np",
            long: &["with", "name", "python"],
            skip: 0,
            sets: false,
            elevates: false,
        };
        let (rest, _) = Self::rest(&wrapper, &arguments[at + 1..])?;
        let setting = call.setting.through(name);
        let call = Call { arguments: rest, setting, ..call.clone() };
        Some(self.run(&call, &mut scope.clone()))
    }
}

/// Where the command runs, if the wrapper says so.
fn directory_option(name: &str, arguments: &[Text]) -> Option<Text> {
    let names: &[&str] = match name {
        "env" => &["-C", "--chdir"],
        "sudo" => &["-D", "--chdir"],
        "systemd-run" => &["--working-directory"],
        "nsenter" => &["--wd"],
        _ => return None,
    };
    let at =
        arguments.iter().position(|argument| names.iter().any(|name| argument.prefix().starts_with(name)))?;
    let given = &arguments[at];
    let attached = names
        .iter()
        .find_map(|name| given.strip_prefix(&format!("{name}=")).or_else(|| given.strip_prefix(name)));
    attached.filter(|value| !value.is_empty()).or_else(|| arguments.get(at + 1).cloned())
}

/// The value of `-S` or `--split-string`.
fn split_string(argument: &Text, next: Option<&Text>) -> Option<Text> {
    let text = argument.rough();
    if matches!(text.as_str(), "-S" | "--split-string" | "-vS" | "-iS") {
        return next.cloned();
    }
    argument.strip_prefix("--split-string=").or_else(|| argument.strip_prefix("-S"))
}

pub(super) fn assignment(argument: &Text) -> Option<(String, Text)> {
    let (name, _) = argument.prefix().split_once('=')?;
    let valid = !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' ']);
    valid.then(|| Some((name.to_owned(), argument.strip_prefix(&format!("{name}="))?)))?
}
