//! A small agent with Bashtion in it: see `examples/README.md`.
//!
//! `BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 cargo run -p bashtion --example agent -- "which file here is the largest?"`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program, and shows what happens")]

use std::env;
use std::io::{self, Error, IsTerminal, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::ExitCode;

use bashtion::calls::{self, Vendor};
use bashtion::{Answer, Engine, Event, Events, Profile, Question, ToolContext, ToolFormat, approve_with};
use serde_json::{Value, json};

const MOST_TURNS: usize = 50;

fn main() -> ExitCode {
    // A background task is watched by this program, started once more. So this comes first of all.
    if let Some(code) = bashtion::supervise_if_asked() {
        return code;
    }
    let variable = |name, usual: &str| env::var(name).unwrap_or_else(|_| usual.to_owned());
    let model = Model {
        base_url: variable("BASE_URL", "http://127.0.0.1:11434/v1"),
        name: variable("MODEL", "qwen3"),
    };
    let task = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let said = runtime.block_on(async {
        let cwd = env::current_dir()?;
        tokio::select! {
            said = agent(&model, &task, &cwd) => said.map(Some),
            // The call that was being made is dropped, and that ends its command with all its processes.
            _ = tokio::signal::ctrl_c() => Ok(None),
        }
    });
    bashtion::wait_for_stopping();
    runtime.shutdown_background();
    match said {
        Ok(Some(said)) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::from(130),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Lets the model work on the task until it has no more calls to make. What it says then.
pub(crate) async fn agent(model: &Model, task: &str, cwd: &Path) -> io::Result<String> {
    let profile = Profile::default();
    let mut builder = Engine::builder().profile(&profile);
    if io::stdin().is_terminal() {
        builder = builder.approver(approve_with(ask_user));
    }
    let engine = builder.build();

    // The tool as the profile defines it: name, description and parameters fit what the engine does.
    let definition = profile.tool_definition(ToolFormat::Mcp, cwd);
    let function = json!({
        "name": definition["name"], "description": definition["description"], "parameters": definition["inputSchema"],
    });
    let tools = json!([{"type": "function", "function": function}]);
    let mut messages = vec![json!({"role": "user", "content": task})];
    for _ in 0..MOST_TURNS {
        let message = model.ask(&messages, &tools).await?;
        messages.push(message.clone());
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        }
        for call in calls {
            let result = run(&engine, profile.tool.input, &call["function"]["arguments"], cwd).await;
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result.to_string()}));
        }
    }
    Ok(format!("no end after {MOST_TURNS} turns"))
}

/// Makes one call of the model. What is wrong with it is for the model, too.
async fn run(engine: &Engine, vendor: Vendor, arguments: &Value, cwd: &Path) -> Value {
    let sent = serde_json::from_str(arguments.as_str().unwrap_or_default()).unwrap_or_default();
    let parsed = match calls::parse(vendor, sent) {
        Ok(parsed) => parsed,
        Err(error) => return calls::reject(vendor, arguments, &error),
    };
    let (sender, events) = Events::watching();
    let showing = tokio::spawn(show(events));
    let context = ToolContext::from_host(cwd).roots([cwd]).events(sender);
    // In the background, if the model wants that: it then gets the name of a task, which `Engine::tasks` finds again.
    let results = parsed.call().run(engine, &context).await;
    drop(context);
    let _ = showing.await;
    parsed.reply(&results)
}

/// Shows what a command prints while it runs, up to its end.
async fn show(mut events: Events) {
    while let Some(event) = events.recv().await {
        if let Event::Output { bytes, .. } = event {
            let _ = io::stderr().write_all(&bytes);
        }
    }
}

/// Somebody has to agree.
async fn ask_user(question: Question) -> Answer {
    let asked = tokio::task::spawn_blocking(move || {
        let reasons: Vec<&str> =
            question.verdict.findings.iter().map(|found| found.message.as_str()).collect();
        eprint!("{}\n{}\nRun it? [y/N] ", bashtion::visible(&question.command), reasons.join("\n"));
        io::stdin().lines().next()?.ok()
    });
    match asked.await {
        Ok(Some(said)) if said.trim() == "y" => Answer::Approved { by: "the user".to_owned() },
        _ => Answer::Denied { by: "the user".to_owned(), reason: String::new() },
    }
}

/// A model behind an endpoint that speaks OpenAI's chat completions, on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// `http://127.0.0.1:11434/v1`
    pub(crate) base_url: String,
    pub(crate) name: String,
}

impl Model {
    /// Its next message: what it says, or the calls it wants made.
    async fn ask(&self, messages: &[Value], tools: &Value) -> io::Result<Value> {
        let body = json!({"model": self.name, "messages": messages, "tools": tools}).to_string();
        let model = self.clone();
        let answer = tokio::task::spawn_blocking(move || model.post(&body)).await??;
        let mut answer: Value = serde_json::from_str(&answer)?;
        match answer["choices"][0]["message"].take() {
            Value::Null => Err(Error::other(format!("the model answered {answer}"))),
            message => Ok(message),
        }
    }

    fn post(&self, body: &str) -> io::Result<String> {
        let url = self.base_url.strip_prefix("http://").and_then(|url| url.split_once('/'));
        let (host, path) =
            url.ok_or_else(|| Error::other("BASE_URL is not of the form http://HOST:PORT/PATH"))?;
        let mut stream = TcpStream::connect(host)?;
        // In version 1.0 the answer comes in one piece and ends with the connection.
        write!(
            stream,
            "POST /{path}/chat/completions HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or_else(|| Error::other("that was no HTTP"))?;
        Ok(body.to_owned())
    }
}
