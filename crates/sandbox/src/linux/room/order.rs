//! Questions to a room, and its answers.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::time::Duration;

use crate::exit::Exit;
use crate::room::{read_limits, write_limits};
use crate::spec::Step;
use crate::wire::{Reader, Writer};
use crate::{Network, Piping, ResourceLimits, Signal, Usage};

/// The longest command that a shell which has waited can be given.
pub(super) const LONGEST_TEXT: usize = 4096;

/// A request to the room. With an order come descriptors: standard output, standard error, working directory, and where
/// to send what asks about connections, if somebody answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Start a command.
    Order(Box<Order>),
    /// Give a command to the shell that waits for it, if one does.
    Take(Box<Take>),
    /// Say what goes on.
    Status,
    /// End, if nothing runs.
    EndIfIdle,
    /// End.
    End,
    /// Make sockets for datagrams in the room's network.
    Datagrams,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) network: Network,
    /// True if another shell is to wait for the next command like it, and with which pipes.
    pub(super) again: Option<Piping>,
    /// Who answers for its connections.
    pub(super) answering: Answering,
    /// Unix sockets of the host that it may connect to, if the keeper answers.
    pub(super) sockets: Vec<PathBuf>,
    pub(super) limits: ResourceLimits,
    /// The limits of whoever runs it, which it has unless others are named: resource, now, at most.
    pub(super) inherited: Vec<(u32, u64, u64)>,
    pub(super) umask: u32,
    /// The tag that marks it where there is no control group.
    pub(super) tag: Option<u64>,
    pub(super) program: CString,
    pub(super) cwd: CString,
    pub(super) args: Vec<CString>,
    pub(super) env: Vec<CString>,
}

/// A command for a shell that was started before it was known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Take {
    /// The order that such a shell is started with, as [`Order::waiting`] writes it.
    pub(super) order: Vec<u8>,
    /// Device and number of the working directory.
    pub(super) directory: (u64, u64),
    /// The command.
    pub(super) text: CString,
    /// The script that bash reads first.
    pub(super) script: Vec<u8>,
}

/// Makes the script that puts everything as it is when `bash -c` begins. The prelude is what bash would read first otherwise.
pub(super) fn waiting_script(text: &CStr, prelude: Option<&[u8]>) -> Vec<u8> {
    let mut script = b"exec </dev/null\nBASH_EXECUTION_STRING='".to_vec();
    for byte in text.to_bytes() {
        match byte {
            b'\'' => script.extend(b"'\\''"),
            byte => script.push(*byte),
        }
    }
    script.extend(b"'\n");
    script.extend(prelude.unwrap_or(b"unset BASH_ENV\n"));
    script.extend(b"SECONDS=0\n: bash\n");
    script
}

/// Who answers for a command's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Answering {
    /// Whoever runs it.
    Caller = b'c',
    /// The keeper, for what outlives whoever runs it.
    Keeper = b'k',
}

/// An answer of the room.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The command runs. Descriptors of the process and of its groups come with this.
    Started(Started),
    /// No shell waits for such a command. Nothing was run.
    NoneWaits,
    /// The command could not be started.
    Failed { step: i32, errno: i32 },
    /// Nothing was run, and the same order may succeed in a moment: here, or in the next room if this one ends.
    NotRun,
    /// The shell has ended, and is not reaped yet. Nothing else of the command is left if it is clear.
    Ended { exit: Exit, usage: Usage, ports: Vec<u16>, is_clear: bool },
    /// The status of the room.
    Status(Vec<u8>),
    /// Done, or not.
    Done(bool),
}

#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Started {
    /// Its id in the room.
    pub(super) room_pid: i32,
    /// The tag that it carries.
    pub(super) tag: Option<u64>,
    /// Its control group, if it has one: then three descriptors follow that of the process.
    pub(super) group: Option<PathBuf>,
    /// True if memory, and processes, are counted for the whole tree: a counter's descriptor comes for each.
    pub(super) memory: bool,
    pub(super) processes: bool,
    /// True if a new repository cannot be protected before other commands have ended.
    pub(super) unprotected: bool,
    /// True if the keeper was to answer for its connections, and the kernel does not let it.
    pub(super) unheard: bool,
}

/// The farewell of whoever ran a command. One who was killed sends none. Another command may follow on the same connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Farewell {
    /// Its group is as it was.
    Clean = b'c',
    /// Somebody was killed in it, or is still there.
    Used = b'u',
}

impl Farewell {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Clean, Self::Used].into_iter().find(|known| *known as u8 == byte)
    }
}

impl Question {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Order(order) => {
                writer.byte(b'O');
                order.write(&mut writer);
            }
            Self::Take(take) => {
                writer.byte(b'T');
                writer.bytes(&take.order);
                [take.directory.0, take.directory.1].into_iter().for_each(|value| writer.number(value));
                writer.bytes(take.text.as_bytes());
                writer.bytes(&take.script);
            }
            Self::Status => writer.byte(b'S'),
            Self::EndIfIdle => writer.byte(b'I'),
            Self::End => writer.byte(b'E'),
            Self::Datagrams => writer.byte(b'D'),
        }
        writer.into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(match reader.byte()? {
            b'O' => Self::Order(Box::new(Order::read(&mut reader)?)),
            b'T' => Self::Take(Box::new(Take {
                order: reader.bytes()?.to_vec(),
                directory: (reader.number()?, reader.number()?),
                text: reader.string()?,
                script: reader.bytes()?.to_vec(),
            })),
            b'S' => Self::Status,
            b'I' => Self::EndIfIdle,
            b'E' => Self::End,
            b'D' => Self::Datagrams,
            _ => return None,
        })
    }
}

impl Order {
    /// The order for a shell that waits for this command, or for another that differs in its text alone: blanks for a text.
    pub(super) fn waiting(&self) -> Self {
        let mut order = Self { tag: None, ..self.clone() };
        order.env.retain(|variable| !variable.as_bytes().starts_with(b"BASH_ENV="));
        order.env.push(c"BASH_ENV=/proc/self/fd/0".into());
        if let Some(text) = order.args.last_mut() {
            *text = CString::new(vec![b' '; LONGEST_TEXT]).unwrap_or_default();
        }
        order
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.write(&mut writer);
        writer.into_bytes()
    }

    /// Returns how many descriptors come with it.
    pub(super) fn descriptors(&self) -> usize {
        const STREAMS_AND_DIRECTORY: usize = 3;
        match self.answering {
            Answering::Caller => STREAMS_AND_DIRECTORY + 1,
            Answering::Keeper => STREAMS_AND_DIRECTORY,
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.byte((self.network == Network::On).into());
        writer.byte(match self.again {
            None => 0,
            Some(Piping::Separate) => 1,
            Some(Piping::Combined) => 2,
        });
        writer.byte(self.answering as u8);
        writer.paths(&self.sockets);
        write_limits(writer, &self.limits);
        writer.list(&self.inherited, |writer, (resource, now, most)| {
            [u64::from(*resource), *now, *most].into_iter().for_each(|value| writer.number(value));
        });
        writer.number(self.umask.into());
        writer.optional(self.tag);
        writer.bytes(self.program.as_bytes());
        writer.bytes(self.cwd.as_bytes());
        writer.strings(&self.args);
        writer.strings(&self.env);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            network: if reader.flag()? { Network::On } else { Network::Off },
            again: match reader.byte()? {
                0 => None,
                1 => Some(Piping::Separate),
                2 => Some(Piping::Combined),
                _ => return None,
            },
            answering: match reader.byte()? {
                b'c' => Answering::Caller,
                b'k' => Answering::Keeper,
                _ => return None,
            },
            sockets: reader.paths()?,
            limits: read_limits(reader)?,
            inherited: reader.list(|reader| {
                Some((reader.number()?.try_into().ok()?, reader.number()?, reader.number()?))
            })?,
            umask: reader.number()?.try_into().ok()?,
            tag: reader.optional()?,
            program: reader.string()?,
            cwd: reader.string()?,
            args: reader.strings()?,
            env: reader.strings()?,
        })
    }
}

impl Reply {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Started(started) => {
                writer.byte(b'S');
                writer.signed(started.room_pid.into());
                writer.optional(started.tag);
                writer.byte(started.group.is_some().into());
                writer.path(started.group.as_deref().unwrap_or("".as_ref()));
                [started.memory, started.processes, started.unprotected, started.unheard]
                    .into_iter()
                    .for_each(|flag| writer.byte(flag.into()));
            }
            Self::NoneWaits => writer.byte(b'W'),
            Self::Failed { step, errno } => {
                writer.byte(b'F');
                writer.signed((*step).into());
                writer.signed((*errno).into());
            }
            Self::NotRun => writer.byte(b'N'),
            Self::Ended { exit, usage, ports, is_clear } => {
                writer.byte(b'E');
                let (by_signal, value) = match exit {
                    Exit::Code(code) => (false, *code),
                    Exit::Signal(signal) => (true, signal.as_raw()),
                };
                writer.byte(by_signal.into());
                writer.signed(value.into());
                writer.number(u64::try_from(usage.cpu.as_micros()).unwrap_or(u64::MAX));
                writer.number(usage.max_rss_kib);
                writer.list(ports, |writer, port| writer.number((*port).into()));
                writer.byte((*is_clear).into());
            }
            Self::Status(status) => {
                writer.byte(b'T');
                writer.bytes(status);
            }
            Self::Done(done) => {
                writer.byte(b'D');
                writer.byte((*done).into());
            }
        }
        writer.into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(match reader.byte()? {
            b'S' => {
                let (room_pid, tag) = (reader.int()?, reader.optional()?);
                let (has_group, group) = (reader.flag()?, reader.path()?);
                Self::Started(Started {
                    room_pid,
                    tag,
                    group: has_group.then_some(group),
                    memory: reader.flag()?,
                    processes: reader.flag()?,
                    unprotected: reader.flag()?,
                    unheard: reader.flag()?,
                })
            }
            b'W' => Self::NoneWaits,
            b'F' => Self::Failed { step: reader.int()?, errno: reader.int()? },
            b'N' => Self::NotRun,
            b'E' => {
                let (by_signal, value) = (reader.flag()?, reader.int()?);
                let exit = if by_signal { Exit::Signal(Signal::from_raw(value)) } else { Exit::Code(value) };
                let (cpu, max_rss_kib) = (Duration::from_micros(reader.number()?), reader.number()?);
                let ports = reader.list(|reader| reader.number()?.try_into().ok())?;
                Self::Ended { exit, usage: Usage { cpu, max_rss_kib }, ports, is_clear: reader.flag()? }
            }
            b'T' => Self::Status(reader.bytes()?.to_vec()),
            b'D' => Self::Done(reader.flag()?),
            _ => return None,
        })
    }
}

/// The step of that number; another version may have more.
pub(super) fn step_of(number: i32) -> Step {
    const ALL: [Step; 13] = [
        Step::Prepare,
        Step::Clone,
        Step::Session,
        Step::Mark,
        Step::Streams,
        Step::Limits,
        Step::Namespaces,
        Step::Mounts,
        Step::Cwd,
        Step::Privileges,
        Step::Landlock,
        Step::Filter,
        Step::Exec,
    ];
    ALL.into_iter().find(|step| *step as i32 == number).unwrap_or(Step::Prepare)
}
