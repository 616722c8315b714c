//! A page in words, for people.

use super::page::{Case, Concern, Deed, Own, Page, Runs, Talks, Which};

impl Page {
    /// In Markdown.
    pub(crate) fn document(&self) -> String {
        let mut text = format!("{}\n\n", self.about);
        let mut line = |what: &str, words: &str| {
            if !words.is_empty() {
                text += &format!("- {what}: `{words}`\n");
            }
        };
        line("options with a value", self.values);
        for (verbs, values) in self.within {
            line(&format!("after `{verbs}`, also"), values);
        }
        line("does nothing with", self.dry_run);
        line("shows its use with", self.help);
        line("only reads", self.reads);
        line("starts in the directory of", self.enters);
        line("runs the value of", self.code);
        let runs = runs(self.runs);
        if !runs.is_empty() {
            text += &format!("- runs {runs}\n");
        }
        let talks = talks(self.talks);
        if !talks.is_empty() {
            text += &format!("- talks to {talks}\n");
        }
        for case in self.cases.iter().filter(|case| !case.deeds.is_empty()) {
            let deeds: Vec<String> = case.deeds.iter().map(deed).collect();
            text += &format!("- {}{}\n", circumstances(case), deeds.join(", "));
        }
        let listed = |examples: &[&str]| {
            examples.iter().map(|example| format!("`{example}`")).collect::<Vec<_>>().join(", ")
        };
        text + &format!("\nStopped: {}. Not: {}.\n", listed(self.stopped), listed(self.allowed))
    }
}

fn circumstances(case: &Case) -> String {
    let parts = [("", case.sub), ("with ", case.with), ("and ", case.and), ("without ", case.without)];
    let said = parts.iter().filter(|(_, words)| !words.is_empty());
    let said: Vec<String> = said.map(|(before, words)| format!("{before}`{words}`")).collect();
    if said.is_empty() { String::new() } else { format!("{}: ", said.join(", ")) }
}

fn deed(deed: &Deed) -> String {
    match deed {
        Deed::Writes(which) => format!("writes {}", words(which)),
        Deed::Copies(from, into) => format!("copies {} to {}", words(from), words(into)),
        Deed::Downloads(which) => format!("downloads {}", words(which)),
        Deed::Deletes(which) => format!("deletes {}", words(which)),
        Deed::DeletesTree(which) => format!("deletes {} with everything in it", words(which)),
        Deed::Mirrors(which) => format!("deletes in {} what the source does not have", words(which)),
        Deed::Moves(which) => format!("moves {} away", words(which)),
        Deed::Renames(which) => format!("renames {}", words(which)),
        Deed::ChangesPermissions(which) => format!("changes the permissions of {}", words(which)),
        Deed::ChangesPermissionsOfTree(which) => {
            format!("changes the permissions of {} with everything in it", words(which))
        }
        Deed::Executes(which) => format!("executes {}", words(which)),
        Deed::Concerns(concern) => concerns(*concern),
    }
}

fn words(which: &Which) -> String {
    match which {
        Which::All => "its operands".to_owned(),
        Which::First => "the first operand".to_owned(),
        Which::Last => "the last operand".to_owned(),
        Which::LastHere => "the last operand, if it is here".to_owned(),
        Which::AllButLast => "all operands but the last".to_owned(),
        Which::From(at) => format!("its operands from number {} on", at + 1),
        Which::Only(at) => format!("operand number {}", at + 1),
        Which::Value(options) => format!("the value of `{options}`"),
        Which::After(beginnings) => format!("what follows `{}`", beginnings.join(" ")),
        Which::Fixed(path) => format!("`{path}`"),
        Which::Variable(beginning) => format!("the value of `{beginning}…`"),
        Which::By(_) => "the files that its words name".to_owned(),
    }
}

fn concerns(concern: Concern) -> String {
    match concern {
        Concern::Machine(what) => format!("changes {what}"),
        Concern::Essential(what) => format!("takes away {what}"),
        Concern::Accounts => "changes accounts".to_owned(),
        Concern::RemovesAccount => "deletes or locks an account".to_owned(),
        Concern::Disk => "destroys what is on a disk".to_owned(),
        Concern::MakesFileSystem => "makes a file system".to_owned(),
        Concern::Infrastructure => "deletes what others may be using".to_owned(),
        Concern::Data => "deletes data".to_owned(),
        Concern::Sql => "runs statements, which are looked into".to_owned(),
        Concern::Release => "makes a release to the public".to_owned(),
        Concern::Processes => "ends processes by name".to_owned(),
        Concern::History(what) => what.to_owned(),
        Concern::Hijacks(what) => what.to_owned(),
        Concern::Stages => "takes files into the next commit".to_owned(),
        Concern::ForcedPush => "overwrites what others have pushed".to_owned(),
        Concern::Contents(what, _) => what.to_owned(),
        Concern::Sweeps => "goes from file to file".to_owned(),
        Concern::Looks => "only looks".to_owned(),
    }
}

fn runs(runs: Runs) -> String {
    match runs {
        Runs::Nothing => String::new(),
        Runs::Rest(start) => {
            let skipped = match start.skip {
                0 => String::new(),
                1 => " and one word".to_owned(),
                more => format!(" and {more} words"),
            };
            let user = if start.elevates { " as another user" } else { "" };
            format!("the command after its options{skipped}{user}")
        }
        Runs::After(words, _) => format!("the command after `{words}`"),
        Runs::Own(Own::Marked(words)) => format!("the command after one of `{words}`"),
        Runs::Own(Own::Ssh) => "a command on another machine".to_owned(),
        Runs::Own(Own::Container | Own::Compose) => "a command in a container".to_owned(),
        Runs::Own(_) => "a command in its words".to_owned(),
    }
}

fn talks(talks: Talks) -> String {
    match talks {
        Talks::Never => String::new(),
        Talks::Urls => "the machines in its addresses".to_owned(),
        Talks::First => "the machine that its first operand names".to_owned(),
        Talks::Colon => "the machines before a colon".to_owned(),
        Talks::Cloud(words) => format!("a cloud with `{words}`"),
        Talks::Server(words) => format!("a server with `{words}`"),
    }
}
