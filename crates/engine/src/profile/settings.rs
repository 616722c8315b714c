//! From what is written to what is meant: every value checked, defaults filled in.

use std::time::Duration;

use bashtion_guard::{PermissionLayer, PermissionSettings, Permissions};

use super::layer::{
    AuditLayer, EnvLayer, GuardLayer, Layer, LeftoversWord, LimitsLayer, ModeWord, OutputLayer,
    PermissionsLayer, Quantity, ResourcesLayer, RoomLayer, SandboxLayer, StreamsWord, Switch, TasksLayer,
};
use super::{AuditSettings, Profile, ProfileError, ToolSettings, Wording};
use crate::engine::USUAL_DEADLINE;
use crate::quantities::{parse_count, parse_duration, parse_seconds, parse_size};
use crate::{
    ApprovalLimits, Captures, Cut, Decision, Ends, EnvSettings, GuardSettings, Leftovers, Limits, Namespaces,
    Network, OutputSettings, Policy, Requirement, ResourceLimits, RoomSettings, SandboxMode, SandboxSettings,
    Streams, TaskLimits,
};

type Checked<T> = Result<T, String>;

impl Profile {
    pub(super) fn from_layer(layer: Layer, origin: &str) -> Result<Self, ProfileError> {
        let wrong = |problem| ProfileError::Value { origin: origin.to_owned(), problem };
        let limits =
            layer.limits.settings().and_then(|limits| layer.output.limits(&limits)).map_err(wrong)?;
        let output = layer.output.settings().map_err(wrong)?;
        let judge_within = layer.guard.deadline().map_err(wrong)?.unwrap_or(USUAL_DEADLINE);
        let mut guard = layer.guard.settings();
        guard.questions = guard.questions.filter(|answer| *answer != Decision::Ask);
        let policy = Policy::new(&guard)
            .map_err(|source| ProfileError::Policy { origin: origin.to_owned(), source })?;
        let approvals = layer.permissions.approvals().map_err(wrong)?;
        let permissions = Permissions::new(&layer.permissions.settings())
            .map_err(|source| ProfileError::Permission { origin: origin.to_owned(), source })?;
        Ok(Self {
            limits,
            leftovers: layer.limits.leftovers.map_or_else(Leftovers::default, LeftoversWord::value),
            wording: Wording::from_layer(layer.wording, &output.cut).map_err(wrong)?,
            output,
            env: layer.env.settings().map_err(wrong)?,
            policy: policy.permissions(permissions),
            judge_within,
            approvals,
            sandbox: SandboxSettings {
                room: layer.room.settings().map_err(wrong)?,
                ..layer.sandbox.settings().map_err(wrong)?
            },
            tasks: layer.tasks.settings().map_err(wrong)?,
            audit: layer.audit.settings().map_err(wrong)?,
            tool: ToolSettings::from_layer(layer.tool).map_err(wrong)?,
        })
    }
}

/// That a template names only what there is.
pub(super) fn check_names(key: &str, template: Option<&str>, known: &[&str]) -> Checked<()> {
    for part in template.unwrap_or_default().split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else { continue };
        if !known.contains(&name) {
            let known: Vec<_> = known.iter().map(|name| format!("{{{name}}}")).collect();
            return Err(format!("{key} names {{{name}}}; there are {}", known.join(" ")));
        }
    }
    Ok(())
}

/// A value that was written, or the one that holds otherwise.
pub(super) fn or<T>(quantity: Option<&Quantity>, parse: fn(&str) -> Checked<T>, usual: T) -> Checked<T> {
    quantity.map_or(Ok(usual), |quantity| parse(&quantity.text()))
}

impl LimitsLayer {
    fn settings(&self) -> Checked<Limits> {
        let usual = Limits::default();
        let limits = Limits {
            timeout: or(self.timeout.as_ref(), parse_duration, usual.timeout)?,
            slow_timeout: or(self.slow_timeout.as_ref(), parse_duration, usual.slow_timeout)?,
            shortest_timeout: or(self.shortest_timeout.as_ref(), parse_duration, usual.shortest_timeout)?,
            longest_timeout: or(self.longest_timeout.as_ref(), parse_duration, usual.longest_timeout)?,
            beyond: self.beyond.unwrap_or_default(),
            grace: or(self.grace.as_ref(), parse_duration, usual.grace)?,
            ..usual
        };
        let (shortest, longest) = (limits.shortest_timeout, limits.longest_timeout);
        for (name, time) in [("timeout", limits.timeout), ("slow-timeout", limits.slow_timeout)] {
            if time.is_zero() || time < shortest {
                return Err(format!(
                    "limits.{name} is {time:?}: it must be more than zero, and at least {shortest:?}"
                ));
            }
            if time > longest {
                return Err(format!(
                    "limits.{name} is {time:?}, more than limits.longest-timeout, {longest:?}"
                ));
            }
        }
        if limits.grace > Duration::from_secs(600) {
            return Err(format!(
                "limits.grace is {:?}: ten minutes are enough for any process to end",
                limits.grace
            ));
        }
        Ok(limits)
    }
}

impl LeftoversWord {
    pub(super) fn value(self) -> Leftovers {
        match self {
            Self::End => Leftovers::End,
            Self::Keep => Leftovers::Keep,
        }
    }
}

impl OutputLayer {
    fn settings(&self) -> Checked<OutputSettings> {
        let usual = Cut::default();
        let max = self.max.unwrap_or(usual.max);
        let halves = usual.to(max);
        let (head, tail) = match (self.head, self.tail) {
            (Some(head), Some(tail)) => (head, tail),
            (Some(head), None) => (head, max.saturating_sub(head)),
            (None, Some(tail)) => (max.saturating_sub(tail), tail),
            (None, None) => (halves.head, halves.tail),
        };
        if head.checked_add(tail).is_none_or(|kept| kept > max) {
            return Err(format!(
                "output.head and output.tail are {head} and {tail}, more than output.max, {max}"
            ));
        }
        if max > crate::admit::LARGEST_OUTPUT {
            return Err(format!("output.max is {max}: at most {} can be kept", crate::admit::LARGEST_OUTPUT));
        }
        let marker = self.marker.clone().filter(|marker| !marker.is_empty());
        check_names(
            "output.marker",
            marker.as_deref(),
            &["cut", "cut,", "total", "total,", "max", "max,", "file"],
        )?;
        Ok(OutputSettings {
            streams: match self.streams {
                Some(StreamsWord::Combined) => Streams::Combined,
                Some(StreamsWord::Separate) | None => Streams::Separate,
            },
            cut: Cut { max, head, tail, unit: self.unit.unwrap_or_default(), marker },
            ends: if self.trim == Some(true) { Ends::Trimmed } else { Ends::Kept },
            capture: if self.capture == Some(false) { Captures::Nothing } else { Captures::Text },
        })
    }

    /// The files of what was cut.
    fn limits(&self, usual: &Limits) -> Checked<Limits> {
        Ok(Limits {
            file_size: or(self.file_size.as_ref(), parse_size, usual.file_size)?,
            keep_files_for: or(self.keep_for.as_ref(), parse_seconds, usual.keep_files_for)?,
            keep_files_size: or(self.keep_size.as_ref(), parse_size, usual.keep_files_size)?,
            ..usual.clone()
        })
    }
}

impl EnvLayer {
    fn settings(self) -> Checked<EnvSettings> {
        let usual = EnvSettings::default();
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        for (name, value) in self.set.iter().flatten() {
            if !is_name(name) || value.contains('\0') {
                return Err(format!(
                    "env.set has {name:?}, which no environment can hold: use letters, digits and underscores"
                ));
            }
        }
        Ok(EnvSettings {
            base: self.base.unwrap_or(usual.base),
            allow: self.allow.unwrap_or(usual.allow),
            withhold: self.withhold.unwrap_or_default(),
            home: self.home.unwrap_or(usual.home),
            non_interactive: self.non_interactive.unwrap_or(usual.non_interactive),
            set: self.set.unwrap_or_default(),
        })
    }
}

impl GuardLayer {
    /// How long judging may take.
    pub(super) fn deadline(&self) -> Checked<Option<Duration>> {
        let Some(deadline) = &self.deadline else { return Ok(None) };
        let time = parse_duration(&deadline.text())?;
        let possible = Duration::from_millis(1)..=Duration::from_secs(60);
        let wrong = || format!("guard.deadline is {time:?}, and must be between 1ms and 1m");
        if possible.contains(&time) { Ok(Some(time)) } else { Err(wrong()) }
    }

    pub(super) fn settings(self) -> GuardSettings {
        GuardSettings {
            severity: self.severity.unwrap_or_default(),
            block: self.block.unwrap_or_default(),
            block_message: self.block_message.filter(|message| !message.is_empty()),
            allow: self.allow.unwrap_or_default(),
            rules: self.rules.unwrap_or_default(),
            texts: self.texts.unwrap_or_default(),
            questions: self.questions,
        }
    }
}

impl PermissionsLayer {
    /// How long questions and answers hold.
    fn approvals(&self) -> Checked<ApprovalLimits> {
        let usual = ApprovalLimits::default();
        Ok(ApprovalLimits {
            answer_within: or(self.answer_within.as_ref(), parse_seconds, usual.answer_within)?,
            use_within: or(self.use_within.as_ref(), parse_seconds, usual.use_within)?,
            ..usual
        })
    }

    fn settings(self) -> PermissionSettings {
        PermissionSettings {
            default: self.default.unwrap_or(Decision::Allow),
            allow: self.allow.unwrap_or_default(),
            ask: self.ask.unwrap_or_default(),
            deny: self.deny.unwrap_or_default(),
        }
    }

    pub(super) fn narrowing(self) -> PermissionLayer {
        PermissionLayer {
            default: self.default,
            allow: self.allow.unwrap_or_default(),
            ask: self.ask.unwrap_or_default(),
            deny: self.deny.unwrap_or_default(),
        }
    }
}

impl SandboxLayer {
    fn settings(self) -> Checked<SandboxSettings> {
        Ok(SandboxSettings {
            mode: self.mode.map_or_else(SandboxMode::default, ModeWord::value),
            network: self.network.map_or_else(Network::default, Switch::value),
            writable: self.writable.unwrap_or_default(),
            kept: vec![],
            secrets: self.secrets.unwrap_or_default(),
            readable: self.readable.unwrap_or_default(),
            sockets: self.sockets.unwrap_or_default(),
            limits: self.limits.settings()?,
            namespaces: if self.namespaces == Some(false) {
                Namespaces::Never
            } else {
                Namespaces::WherePossible
            },
            requirement: if self.required == Some(true) {
                Requirement::Required
            } else {
                Requirement::BestEffort
            },
            room: RoomSettings::default(),
        })
    }
}

impl RoomLayer {
    fn settings(&self) -> Checked<RoomSettings> {
        let usual = RoomSettings::default();
        Ok(RoomSettings {
            idle: or(self.idle.as_ref(), parse_seconds, usual.idle)?,
            keep_tmp: or(self.keep_tmp.as_ref(), parse_seconds, usual.keep_tmp)?,
            keep_tmp_size: or(self.keep_tmp_size.as_ref(), parse_size, usual.keep_tmp_size)?,
            pool: self.pool.map_or(usual.pool, usize::from),
            expose: self.expose.clone().unwrap_or_default(),
            choice: usual.choice,
        })
    }
}

impl ResourcesLayer {
    /// Those that are written.
    pub(super) fn settings(&self) -> Checked<ResourceLimits> {
        let parsed = |quantity: &Option<Quantity>, parse: fn(&str) -> Checked<u64>| {
            quantity.as_ref().map(|quantity| parse(&quantity.text())).transpose()
        };
        Ok(ResourceLimits {
            memory: parsed(&self.memory, parse_size)?,
            processes: parsed(&self.processes, parse_count)?,
            cpu: self.cpu.as_ref().map(|quantity| parse_seconds(&quantity.text())).transpose()?,
            open_files: parsed(&self.open_files, parse_count)?,
            file_size: parsed(&self.file_size, parse_size)?,
        })
    }
}

impl ModeWord {
    pub(super) fn value(self) -> SandboxMode {
        match self {
            Self::Off => SandboxMode::Off,
            Self::Workspace => SandboxMode::Workspace,
            Self::ReadOnly => SandboxMode::ReadOnly,
        }
    }
}

impl Switch {
    pub(super) fn value(self) -> Network {
        match self {
            Self::On => Network::On,
            Self::Off => Network::Off,
        }
    }
}

impl TasksLayer {
    fn settings(&self) -> Checked<TaskLimits> {
        let usual = TaskLimits::default();
        let most = or(self.limit.as_ref(), parse_count, usual.most as u64)?;
        Ok(TaskLimits {
            most: usize::try_from(most).unwrap_or(usize::MAX),
            output_size: or(self.output_size.as_ref(), parse_size, usual.output_size)?,
            keep_for: or(self.keep_for.as_ref(), parse_seconds, usual.keep_for)?,
            keep_size: or(self.keep_size.as_ref(), parse_size, usual.keep_size)?,
        })
    }
}

impl AuditLayer {
    fn settings(&self) -> Checked<AuditSettings> {
        let usual = AuditSettings::default();
        Ok(AuditSettings {
            mode: self.mode.unwrap_or(usual.mode),
            keep_for: or(self.keep_for.as_ref(), parse_seconds, usual.keep_for)?,
            keep_size: or(self.keep_size.as_ref(), parse_size, usual.keep_size)?,
        })
    }
}
