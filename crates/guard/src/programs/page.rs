//! The form of a page.

use super::usage::Usage;
use crate::text::Text;

/// What is known about a program, or about several that are used alike.
///
/// Options are written as they are typed, with their dashes, and separated by blanks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// The names. `mkfs.*` stands for all that begin so.
    pub(crate) names: &'static [&'static str],
    /// A line about what it is for.
    pub(crate) about: &'static str,
    pub(crate) style: Style,
    /// Options that take a value.
    pub(crate) values: &'static str,
    /// More of them after a subcommand.
    pub(crate) within: &'static [(&'static str, &'static str)],
    /// Options with which it only says what it would do, or shows something else.
    pub(crate) dry_run: &'static str,
    /// Words with which it only shows how it is used: an option, `help` in the first place, `help$` in the last one.
    pub(crate) help: &'static str,
    /// Subcommands that change nothing.
    pub(crate) reads: &'static str,
    /// Options for the directory that its paths start from.
    pub(crate) enters: &'static str,
    pub(crate) cases: &'static [Case],
    pub(crate) talks: Talks,
    pub(crate) runs: Runs,
    /// Options whose value is a command.
    pub(crate) code: &'static str,
    /// Commands that are stopped because of this page.
    pub(crate) stopped: &'static [&'static str],
    /// Commands that are not.
    pub(crate) allowed: &'static [&'static str],
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `-xo FILE` is `-x -o FILE`.
    Clustered,
    /// The same, and the first word needs no dash: `tar xf`.
    FirstCluster,
    /// Options are words: `-out` is one.
    Words,
}

/// What a program does if it is used in this way. All cases that fit count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// The first operands: `s3 rb|rm`. `*` is any word, `list-*` a beginning, `!a|b` any word but these.
    pub(crate) sub: &'static str,
    /// One of these is given: an option `-f`, with a value `--scale=0`, a beginning `--vacuum*`, an operand `down` or `+*`.
    pub(crate) with: &'static str,
    /// And one of these.
    pub(crate) and: &'static str,
    /// None of these is.
    pub(crate) without: &'static str,
    pub(crate) deeds: &'static [Deed],
}

/// Something that a program does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Deed {
    Writes(Which),
    /// Writes the second from the first.
    Copies(Which, Which),
    /// Writes what comes from another machine.
    Downloads(Which),
    Deletes(Which),
    /// With everything in it.
    DeletesTree(Which),
    /// Deletes there what is not here.
    Mirrors(Which),
    Moves(Which),
    /// Gives other names in the same directory.
    Renames(Which),
    ChangesPermissions(Which),
    /// With everything in it.
    ChangesPermissionsOfTree(Which),
    Executes(Which),
    /// A matter for a rule.
    Concerns(Concern),
}

/// Which of the words a deed is about, without the words of the subcommand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    All,
    First,
    Last,
    /// The last one, if it is no place on another machine.
    LastHere,
    AllButLast,
    From(usize),
    Only(usize),
    /// The values of these options.
    Value(&'static str),
    /// What follows these beginnings: `of=`.
    After(&'static [&'static str]),
    /// This path, whatever the words are.
    Fixed(&'static str),
    /// Values of variables that begin so, if they are paths.
    Variable(&'static str),
    /// Words that have to be looked into.
    By(fn(&Usage<'_>) -> Vec<Text>),
}

/// What a rule has to say about a use of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concern {
    /// Changes this of the machine.
    Machine(&'static str),
    /// Takes something away without which the machine does not work.
    Essential(&'static str),
    /// Changes accounts.
    Accounts,
    /// Deletes or locks an account.
    RemovesAccount,
    /// Destroys what is on a disk.
    Disk,
    /// Makes a file system, which may be one in a file.
    MakesFileSystem,
    /// Deletes what others may be using.
    Infrastructure,
    /// Deletes rows, tables or keys.
    Data,
    /// Runs statements in SQL, in the words or on standard input.
    Sql,
    /// Makes a release to the public.
    Release,
    /// Ends processes by their names.
    Processes,
    /// Throws away changes, branches or history.
    History(&'static str),
    /// Makes a program run something else later.
    Hijacks(&'static str),
    /// Takes files into the next commit unseen.
    Stages,
    /// Overwrites what others have pushed.
    ForcedPush,
    /// Makes the contents of files unreadable, or throws them away.
    Contents(&'static str, &'static str),
    /// Goes from file to file by itself.
    Sweeps,
    /// Only looks, so that nobody minds which user does.
    Looks,
}

/// Other machines that a program talks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talks {
    Never,
    /// Those in its addresses.
    Urls,
    /// The first operand, perhaps with a user.
    First,
    /// Those before a colon.
    Colon,
    /// A cloud, with one of these words.
    Cloud(&'static str),
    /// A server, with one of these subcommands.
    Server(&'static str),
}

/// How a program finds the command in its words that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    Nothing,
    /// What follows its options and so many operands.
    Rest(Start),
    /// What follows one of these words, which stands behind its options, and then so many operands.
    After(&'static str, usize),
    /// In a way of its own.
    Own(Own),
}

/// What stands before the command, and what changes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// Operands before the command.
    pub(crate) skip: usize,
    /// Only if this is the first of them.
    pub(crate) verb: &'static str,
    /// `NAME=value` may stand before the command.
    pub(crate) sets: bool,
    /// It runs as another user.
    pub(crate) elevates: bool,
    /// It runs outside of the container again.
    pub(crate) leaves: bool,
}

/// Ways of running a command that are looked into in `walk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Find,
    Fd,
    Xargs,
    Parallel,
    Ssh,
    Su,
    Bubblewrap,
    Daemon,
    Screen,
    Script,
    Flock,
    Package,
    Compose,
    Tmux,
    /// What follows one of these words.
    Marked(&'static str),
    /// In a container.
    Container,
}

pub(super) const fn page(names: &'static [&'static str], about: &'static str) -> Page {
    Page {
        names,
        about,
        style: Style::Clustered,
        values: "",
        within: &[],
        dry_run: "",
        help: "--help --version",
        reads: "",
        enters: "",
        cases: &[],
        talks: Talks::Never,
        runs: Runs::Nothing,
        code: "",
        stopped: &[],
        allowed: &[],
    }
}

pub(super) const fn start(skip: usize) -> Start {
    Start { skip, verb: "", sets: false, elevates: false, leaves: false }
}

impl Start {
    pub(super) const fn verb(mut self, verb: &'static str) -> Self {
        self.verb = verb;
        self
    }

    pub(super) const fn sets(mut self) -> Self {
        self.sets = true;
        self
    }

    pub(super) const fn elevates(mut self) -> Self {
        self.elevates = true;
        self
    }

    pub(super) const fn leaves(mut self) -> Self {
        self.leaves = true;
        self
    }
}

impl Page {
    pub(super) const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    pub(super) const fn values(mut self, values: &'static str) -> Self {
        self.values = values;
        self
    }

    pub(super) const fn within(mut self, within: &'static [(&'static str, &'static str)]) -> Self {
        self.within = within;
        self
    }

    pub(super) const fn dry_run(mut self, dry_run: &'static str) -> Self {
        self.dry_run = dry_run;
        self
    }

    pub(super) const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    pub(super) const fn reads(mut self, reads: &'static str) -> Self {
        self.reads = reads;
        self
    }

    pub(super) const fn enters(mut self, enters: &'static str) -> Self {
        self.enters = enters;
        self
    }

    pub(super) const fn cases(mut self, cases: &'static [Case]) -> Self {
        self.cases = cases;
        self
    }

    pub(super) const fn talks(mut self, talks: Talks) -> Self {
        self.talks = talks;
        self
    }

    pub(super) const fn runs(mut self, runs: Runs) -> Self {
        self.runs = runs;
        self
    }

    pub(super) const fn code(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }

    pub(super) const fn examples(
        mut self,
        stopped: &'static [&'static str],
        allowed: &'static [&'static str],
    ) -> Self {
        self.stopped = stopped;
        self.allowed = allowed;
        self
    }

    /// Returns true if its last operand is a place where something goes.
    pub(crate) fn ends_in_place(&self) -> bool {
        let last = |which: &Which| matches!(which, Which::Last | Which::LastHere);
        let in_place = |deed: &Deed| match deed {
            Deed::Copies(..) => true,
            Deed::Writes(which) | Deed::Mirrors(which) => last(which),
            _ => false,
        };
        self.cases.iter().any(|case| case.deeds.iter().any(in_place))
    }

    /// Returns true if it says which files the program writes, so that nothing is guessed.
    pub(crate) fn knows_files(&self) -> bool {
        let of_files = |deed: &Deed| !matches!(deed, Deed::Concerns(_));
        self.cases.iter().any(|case| case.deeds.iter().any(of_files))
    }
}

/// Whatever the words are.
pub(super) const fn always(deeds: &'static [Deed]) -> Case {
    Case { sub: "", with: "", and: "", without: "", deeds }
}

/// After a subcommand.
pub(super) const fn sub(sub: &'static str, deeds: &'static [Deed]) -> Case {
    Case { sub, with: "", and: "", without: "", deeds }
}

/// With one of these options or operands.
pub(super) const fn with(with: &'static str, deeds: &'static [Deed]) -> Case {
    Case { sub: "", with, and: "", without: "", deeds }
}

/// Without any of these options or operands.
pub(super) const fn without(without: &'static str, deeds: &'static [Deed]) -> Case {
    Case { sub: "", with: "", and: "", without, deeds }
}

impl Case {
    pub(super) const fn with(mut self, with: &'static str) -> Self {
        self.with = with;
        self
    }

    pub(super) const fn and(mut self, and: &'static str) -> Self {
        self.and = and;
        self
    }

    pub(super) const fn without(mut self, without: &'static str) -> Self {
        self.without = without;
        self
    }
}
