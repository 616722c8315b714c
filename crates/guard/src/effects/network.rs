//! Other machines: which are reached, and what is fetched from them.

use crate::analysis::{Effect, Found};
use crate::effects::targets;
use crate::options::Options;
use crate::text::Text;
use crate::world::World;

const CURL_SHORT: &str = "oHdXuAeFTbPUwxmKrcDEQYyCztz";
const CURL_LONG: [&str; 20] = [
    "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "output", "header", "data",
    "data-binary", "data-raw", "user", "request", "form", "upload-file", "output-dir", "url", "max-time",
    "retry", "user-agent",
];

pub(super) fn of(found: &Found, world: &World) -> Vec<Effect> {
    let mut effects: Vec<Effect> = hosts(found).into_iter().map(|host| Effect::Connect { host }).collect();
    for path in downloaded(found) {
        effects.extend(targets(&path, found, world).into_iter().map(|target| Effect::Write { target }));
    }
    effects
}

/// The machines that a program talks to.
pub(crate) fn hosts(found: &Found) -> Vec<String> {
    match found.program.as_str() {
        "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "lynx" | "w3m" => {
            let urls = found.arguments.iter().filter_map(|argument| host_of(&argument.rough()));
            let mut hosts: Vec<String> = urls.collect();
            if hosts.is_empty() && !found.has("--version") && !found.has("--help") {
                hosts.push("?".to_owned());
            }
            hosts
        }
        "nc" | "ncat" | "netcat" | "telnet" | "ftp" | "ping" => {
            let options = Options::parse(&found.arguments, "ecpswlqGIOXxTVm", &["exec", "sh-exec"]);
            options.operands.first().map(ToString::to_string).into_iter().collect()
        }
        "ssh" | "mosh" | "sftp" => {
            let options = Options::parse(&found.arguments, "BbcDEeFIiJLlmOopQRSWw", &[]);
            let host = options.operands.first().map(ToString::to_string);
            host.map(|host| host.rsplit('@').next().unwrap_or_default().to_owned()).into_iter().collect()
        }
        "scp" | "rsync" => found
            .arguments
            .iter()
            .filter_map(|argument| argument.rough().split_once(':').map(|(host, _)| host.to_owned()))
            .filter(|host| !host.starts_with('-') && !host.contains('/'))
            .map(|host| host.rsplit('@').next().unwrap_or_default().to_owned())
            .collect(),
        "aws" | "gsutil" | "rclone" | "az" | "gcloud"
            if found.has("cp") || found.has("sync") || found.has("copy") =>
        {
            vec!["cloud".to_owned()]
        }
        "git" if matches!(found.argument(0), Some("push" | "fetch" | "pull" | "clone" | "ls-remote")) => {
            vec![
                found
                    .arguments
                    .iter()
                    .find_map(|argument| host_of(&argument.rough()))
                    .unwrap_or_else(|| "remote".to_owned()),
            ]
        }
        _ => vec![],
    }
}

fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    Some(host.split(':').next()?.to_owned())
}

/// The files that a program makes of what it fetches.
pub(super) fn downloaded(found: &Found) -> Vec<Text> {
    let last_of = |url: &Text| {
        let url = url.rough();
        let name = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        Text::known(name)
    };
    let in_directory = |directory: Option<&Text>, name: Text| match directory {
        Some(directory) => {
            let mut path = directory.clone();
            path.push_str("/");
            path.append(&name);
            path
        }
        None => name,
    };
    let is_url = |argument: &&Text| argument.rough().contains("://");
    match found.program.as_str() {
        "curl" => {
            let options = Options::parse(&found.arguments, CURL_SHORT, &CURL_LONG);
            let directory = options.value(&["output-dir"]);
            let mut files: Vec<Text> = options
                .values(&["o", "output"])
                .filter(|file| file.value() != Some("-"))
                .map(|file| in_directory(directory, file.clone()))
                .collect();
            let beside = ["D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl"];
            files.extend(options.values(&beside).filter(|file| file.value() != Some("-")).cloned());
            if options.has(&["O", "remote-name", "remote-name-all"]) {
                files.extend(
                    options.operands.iter().filter(is_url).map(|url| in_directory(directory, last_of(url))),
                );
            }
            files
        }
        "wget" => {
            let options =
                Options::parse(&found.arguments, "OPoaeitTwQUlARD", &["output-document", "directory-prefix"]);
            match options.value(&["O", "output-document"]) {
                Some(file) if matches!(file.value(), Some("-" | "/dev/stdout")) => vec![],
                Some(file) => vec![file.clone()],
                None => {
                    let directory = options.value(&["P", "directory-prefix"]);
                    options
                        .operands
                        .iter()
                        .filter(is_url)
                        .map(|url| in_directory(directory, last_of(url)))
                        .collect()
                }
            }
        }
        "aria2c" => {
            let options = Options::parse(&found.arguments, "do", &["dir", "out"]);
            let name =
                options.value(&["o", "out"]).cloned().or_else(|| options.operands.first().map(last_of));
            name.map(|name| in_directory(options.value(&["d", "dir"]), name)).into_iter().collect()
        }
        _ => vec![],
    }
}
