//! `bashtion rooms`

use std::path::PathBuf;
use std::process::ExitCode;

use bashtion::{KeptRoom, KeptRooms, RoomError, TaskState, Tasks};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::state_dir::state_dir;
use crate::ui::{self, Format};

/// Show the rooms that are kept: the worlds that the confined commands of a workspace share.
///
/// A room has its own /tmp, loopback and processes. It is made when it is first needed, and ends when nothing has run in it
/// for a while; its /tmp is kept for the next one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// Print them as a JSON array.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    End(End),
    Expose(Expose),
}

/// End a room with everything that runs in it, and remove its /tmp.
#[derive(Debug, clap::Args)]
struct End {
    /// Its name. [default: those of the working directory]
    room: Option<String>,

    /// End all of them.
    #[arg(long, conflicts_with = "room")]
    all: bool,

    /// Print what was ended as a JSON array.
    #[arg(long)]
    json: bool,
}

/// Make a port of a room reachable on this machine's loopback, for as long as the room is kept.
#[derive(Debug, clap::Args)]
struct Expose {
    /// The port inside the room.
    port: u16,

    /// The port on this machine; 0 for any that is free. [default: the same]
    #[arg(long = "as", value_name = "PORT")]
    outside: Option<u16>,

    /// The room. [default: that of the working directory]
    #[arg(long, value_name = "NAME")]
    room: Option<String>,

    /// Print the two ports as a JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        let json = match &self.verb {
            None => self.json,
            Some(Verb::End(end)) => self.json || end.json,
            Some(Verb::Expose(expose)) => self.json || expose.json,
        };
        if json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let rooms = KeptRooms::new(state_dir().as_deref());
    let json = matches!(args.error_format(), Format::Json);
    match &args.verb {
        None => list(&rooms, json),
        Some(Verb::End(args)) => end(&rooms, args, json),
        Some(Verb::Expose(args)) => expose(&rooms, args, json),
    }
}

fn list(rooms: &KeptRooms, json: bool) -> Result<ExitCode, CliError> {
    let rooms = rooms.list()?;
    let tasks = running_tasks()?;
    let count = |room: &KeptRoom| tasks.iter().filter(|task| **task == room.name).count();
    if json {
        let told = |room: &KeptRoom| {
            let mut told = serde_json::to_value(room).unwrap_or_default();
            told["tasks"] = json!(count(room));
            told
        };
        return ui::print_json(&rooms.iter().map(told).collect::<Vec<Value>>());
    }
    ui::print(ui::room_table(&rooms, count).as_bytes())
}

/// The rooms that background tasks run in, one for each.
fn running_tasks() -> Result<Vec<String>, CliError> {
    let list = Tasks::new(state_dir().as_deref()).list()?;
    let running = list.tasks.into_iter().filter(|task| matches!(task.state, TaskState::Running(_)));
    Ok(running.filter_map(|task| task.room).collect())
}

fn end(rooms: &KeptRooms, args: &End, json: bool) -> Result<ExitCode, CliError> {
    let names = match &args.room {
        Some(name) => vec![name.clone()],
        None if args.all => rooms.names()?,
        None => names_here(rooms)?,
    };
    for name in &names {
        rooms.end(name)?;
    }
    if json {
        return ui::print_json(&names);
    }
    let told: String = names.iter().map(|name| format!("ended {name}\n")).collect();
    ui::print(if told.is_empty() { b"no rooms\n" } else { told.as_bytes() })
}

fn expose(rooms: &KeptRooms, args: &Expose, json: bool) -> Result<ExitCode, CliError> {
    let found = match &args.room {
        Some(name) => rooms.named(name)?,
        None => here(rooms)?,
    };
    let listens = |room: &&KeptRoom| room.status.ports.contains(&args.port);
    let room = found
        .iter()
        .find(listens)
        .or(found.first())
        .ok_or_else(|| RoomError::Unknown { name: args.room.clone().unwrap_or_default() })?;
    let outside = room.expose(args.port, args.outside.unwrap_or(args.port))?;
    if json {
        return ui::print_json(&json!({ "room": room.name, "port": args.port, "as": outside }));
    }
    ui::print(format!("http://127.0.0.1:{outside} leads to port {} of {}\n", args.port, room.name).as_bytes())
}

/// Those of the working directory.
fn here(rooms: &KeptRooms) -> Result<Vec<KeptRoom>, CliError> {
    let directory = working_directory()?;
    let found = rooms.of_directory(&directory)?;
    if found.is_empty() {
        return Err(RoomError::NoneHere { workspace: directory }.into());
    }
    Ok(found)
}

/// The names of those of the working directory, also if they do not answer.
fn names_here(rooms: &KeptRooms) -> Result<Vec<String>, CliError> {
    let directory = working_directory()?;
    let names = rooms.names_of_directory(&directory)?;
    if names.is_empty() {
        return Err(RoomError::NoneHere { workspace: directory }.into());
    }
    Ok(names)
}

fn working_directory() -> Result<PathBuf, CliError> {
    std::env::current_dir().map_err(|error| CliError::failed("cannot tell where we are", &error))
}
