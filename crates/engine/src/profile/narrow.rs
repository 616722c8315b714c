//! What a project's file may do: make things stricter. The agent can write it, so anything else is an error that says so.

use bashtion_guard::PermissionLayer;

use super::layer::{
    AuditLayer, EnvLayer, GuardLayer, Layer, LimitsLayer, OutputLayer, RoomLayer, SandboxLayer, TasksLayer,
    ToolLayer, WordingLayer,
};
use super::{AuditMode, Profile, ProfileError};
use crate::environment::Base;
use crate::quantities::parse_duration;
use crate::{GuardSettings, Leftovers, Namespaces, Network, PermissionError, PolicyError, Requirement};

/// What it would widen, or what is wrong with it.
enum Problem {
    Widens(String),
    Value(String),
}

type Narrowed = Result<(), Problem>;

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::Value(problem)
    }
}

fn widens(what: impl std::fmt::Display) -> Narrowed {
    Err(Problem::Widens(format!("it {what}")))
}

impl Profile {
    pub(super) fn narrow(&mut self, origin: &str, layer: Layer) -> Result<(), ProfileError> {
        let told = |problem| {
            let origin = origin.to_owned();
            match problem {
                Problem::Widens(what) => ProfileError::Widens { origin, what },
                Problem::Value(problem) => ProfileError::Value { origin, problem },
            }
        };
        if layer.inherits.is_some() {
            return Err(told(Problem::Widens("it chooses a profile".to_owned())));
        }
        self.narrow_limits(&layer.limits).map_err(told)?;
        self.narrow_output(&layer.output).map_err(told)?;
        self.narrow_env(&layer.env).map_err(told)?;
        self.narrow_sandbox(layer.sandbox).map_err(told)?;
        self.narrow_audit(&layer.audit).map_err(told)?;
        only_the_users("[room]", &layer.room, &RoomLayer::default()).map_err(told)?;
        only_the_users("[tasks]", &layer.tasks, &TasksLayer::default()).map_err(told)?;
        only_the_users("[wording]", &layer.wording, &WordingLayer::default()).map_err(told)?;
        let tool = ToolLayer { require_description: None, ..layer.tool.clone() };
        only_the_users("[tool]", &tool, &ToolLayer::default()).map_err(told)?;
        match layer.tool.require_description {
            Some(false) if self.tool.require_description => {
                return Err(told(Problem::Widens("it sets tool.require-description to false".to_owned())));
            }
            Some(required) => self.tool.require_description = required,
            None => {}
        }
        let times = (&layer.permissions.answer_within, &layer.permissions.use_within);
        only_the_users("how long approvals hold", &times, &(&None, &None)).map_err(told)?;
        self.narrow_permissions(&layer.permissions.narrowing()).map_err(|source| match source {
            PermissionError::Widens { what } => told(Problem::Widens(what)),
            source @ PermissionError::Entry { .. } => {
                ProfileError::Permission { origin: origin.to_owned(), source }
            }
        })?;
        self.narrow_deadline(&layer.guard).map_err(told)?;
        self.narrow_policy(&layer.guard.settings()).map_err(|source| match source {
            PolicyError::Widens { what } => told(Problem::Widens(what)),
            source => ProfileError::Policy { origin: origin.to_owned(), source },
        })
    }

    fn narrow_permissions(&mut self, layer: &PermissionLayer) -> Result<(), PermissionError> {
        self.policy = std::mem::take(&mut self.policy).narrow_permissions(layer)?;
        Ok(())
    }

    fn narrow_deadline(&mut self, guard: &GuardLayer) -> Narrowed {
        let Some(wanted) = guard.deadline()? else { return Ok(()) };
        if wanted > self.judge_within {
            return widens(format!("raises guard.deadline from {:?} to {wanted:?}", self.judge_within));
        }
        self.judge_within = wanted;
        Ok(())
    }

    fn narrow_policy(&mut self, guard: &GuardSettings) -> Result<(), PolicyError> {
        self.policy = std::mem::take(&mut self.policy).narrow(guard)?;
        Ok(())
    }

    fn narrow_limits(&mut self, layer: &LimitsLayer) -> Narrowed {
        let limits = &mut self.limits;
        let times = [
            ("timeout", &layer.timeout, &mut limits.timeout),
            ("slow-timeout", &layer.slow_timeout, &mut limits.slow_timeout),
            ("longest-timeout", &layer.longest_timeout, &mut limits.longest_timeout),
            ("grace", &layer.grace, &mut limits.grace),
        ];
        for (name, wanted, now) in times {
            let Some(wanted) = wanted else { continue };
            let time = parse_duration(&wanted.text())?;
            if time > *now {
                return widens(format!("raises limits.{name} from {now:?} to {time:?}"));
            }
            *now = time;
        }
        if layer.shortest_timeout.is_some() || layer.beyond.is_some() {
            return widens("sets what timeouts can be asked for; it can lower limits.longest-timeout");
        }
        limits.timeout = limits.timeout.min(limits.longest_timeout);
        limits.slow_timeout = limits.slow_timeout.min(limits.longest_timeout);
        if limits.timeout.is_zero() || limits.longest_timeout < limits.shortest_timeout {
            return Err(Problem::Value("limits.timeout leaves no time at all".to_owned()));
        }
        match layer.leftovers.map(super::layer::LeftoversWord::value) {
            Some(Leftovers::Keep) if self.leftovers == Leftovers::End => {
                widens("sets limits.leftovers to keep")
            }
            Some(leftovers) => {
                self.leftovers = leftovers;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn narrow_output(&mut self, layer: &OutputLayer) -> Narrowed {
        only_the_users(
            "[output], but max",
            &OutputLayer { max: None, ..layer.clone() },
            &OutputLayer::default(),
        )?;
        match layer.max {
            Some(max) if max > self.output.cut.max => {
                widens(format!("raises output.max from {} to {max}", self.output.cut.max))
            }
            Some(max) => {
                self.output.cut = self.output.cut.to(max);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn narrow_env(&mut self, layer: &EnvLayer) -> Narrowed {
        let before = self.env.clone();
        let env = &mut self.env;
        if let Some(base) = layer.base {
            if base < env.base {
                return widens("sets env.base to what lets more through");
            }
            env.base = base;
        }
        if let Some(allow) = &layer.allow {
            if let Some(more) = allow.iter().find(|name| !before.lets_through(name.as_ref())) {
                return widens(format!("lets the variable {more} through"));
            }
            env.allow.clone_from(allow);
        }
        env.allow.retain(|name| before.base == Base::Empty || before.lets_through(name.as_ref()));
        env.withhold.extend(layer.withhold.iter().flatten().cloned());
        // In a home that the agent can write lie the settings of git and others.
        if layer.home.is_some_and(|home| home != env.home) {
            return widens("sets env.home");
        }
        if layer.set.is_some() || layer.non_interactive.is_some() {
            return widens("sets variables for every command");
        }
        Ok(())
    }

    fn narrow_sandbox(&mut self, layer: SandboxLayer) -> Narrowed {
        let sandbox = &mut self.sandbox;
        if let Some(mode) = layer.mode.map(super::layer::ModeWord::value) {
            if mode < sandbox.mode {
                return widens(format!("sets sandbox.mode to {mode}"));
            }
            sandbox.mode = mode;
        }
        match layer.network.map(super::layer::Switch::value) {
            Some(Network::On) if sandbox.network == Network::Off => {
                return widens("sets sandbox.network to on");
            }
            Some(network) => sandbox.network = network,
            None => {}
        }
        match layer.required {
            Some(true) => sandbox.requirement = Requirement::Required,
            Some(false) if sandbox.requirement == Requirement::Required => {
                return widens("sets sandbox.required to false");
            }
            Some(false) | None => {}
        }
        match layer.namespaces {
            Some(false) if sandbox.namespaces != Namespaces::Never => {
                return widens("sets sandbox.namespaces to false");
            }
            Some(true) => sandbox.namespaces = Namespaces::WherePossible,
            Some(false) | None => {}
        }
        for (name, paths) in
            [("writable", &layer.writable), ("readable", &layer.readable), ("sockets", &layer.sockets)]
        {
            if paths.as_ref().is_some_and(|paths| !paths.is_empty()) {
                return widens(format!("names sandbox.{name}"));
            }
        }
        sandbox.secrets.extend(layer.secrets.unwrap_or_default());
        let (now, wanted, usual) = (&mut sandbox.limits, layer.limits.settings()?, crate::usual_limits());
        narrow_limit("memory", &mut now.memory, wanted.memory, usual.memory)?;
        narrow_limit("processes", &mut now.processes, wanted.processes, usual.processes)?;
        narrow_limit("cpu", &mut now.cpu, wanted.cpu, usual.cpu)?;
        narrow_limit("open-files", &mut now.open_files, wanted.open_files, usual.open_files)?;
        narrow_limit("file-size", &mut now.file_size, wanted.file_size, usual.file_size)
    }

    fn narrow_audit(&mut self, layer: &AuditLayer) -> Narrowed {
        only_the_users(
            "[audit], but mode",
            &AuditLayer { mode: None, ..layer.clone() },
            &AuditLayer::default(),
        )?;
        match (self.audit.mode, layer.mode) {
            (_, None) => {}
            (AuditMode::Off, Some(AuditMode::On | AuditMode::Required)) => {
                return Err(Problem::Value(
                    "the project demands an audit log, and the user has turned it off".to_owned(),
                ));
            }
            (now, Some(wanted)) if wanted < now => {
                return widens(format!("sets audit.mode to {wanted:?}").to_lowercase());
            }
            (_, Some(wanted)) => self.audit.mode = wanted,
        }
        Ok(())
    }
}

fn only_the_users<T: PartialEq>(what: &str, layer: &T, nothing: &T) -> Narrowed {
    if layer == nothing {
        Ok(())
    } else {
        widens(format!("sets {what}: only the user's own configuration can"))
    }
}

fn narrow_limit<T: Copy + Ord + std::fmt::Debug>(
    name: &str,
    now: &mut Option<T>,
    wanted: Option<T>,
    usual: Option<T>,
) -> Narrowed {
    let Some(wanted) = wanted else { return Ok(()) };
    if let Some(most) = now.filter(|most| wanted > *most) {
        return widens(format!("raises sandbox.limits.{name} from {most:?} to {wanted:?}"));
    }
    // What is usual depends on the machine: a project cannot know it, and does not get more.
    *now = Some(usual.map_or(wanted, |usual| wanted.min(usual)));
    Ok(())
}
