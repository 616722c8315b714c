//! A model that follows a script: it calls one tool, and when it is shown the result it says that it is done.
//!
//! It listens on loopback, speaks what the agents speak, and keeps all that it was asked.

mod chat;
mod gemini;
mod http;
mod responses;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use http::Reply;
pub(crate) use http::Request;

/// The call that the model makes. A tool of a namespace is `namespace.tool`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

/// A model that listens until the test ends.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Model {
    pub(crate) fn that_calls(tool: &'static str, arguments: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let model = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let asked = Arc::clone(&model.asked);
        let call = Call { tool, arguments };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, call) = (Arc::clone(&asked), call.clone());
                thread::spawn(move || {
                    // One that hangs up has changed its mind.
                    let _ = http::serve(&stream, |request| {
                        let reply = answer(&request, &call);
                        asked.lock().unwrap().push(request);
                        reply
                    });
                });
            }
        });
        model
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The tools that it was offered, each once.
    pub(crate) fn tools(&self) -> Vec<String> {
        let mut tools = self.collect(|dialect, request| dialect.tools(&request.body)).concat();
        tools.sort();
        tools.dedup();
        tools
    }

    /// The result of the call, as it was shown to the model.
    pub(crate) fn result(&self) -> Option<String> {
        self.collect(|dialect, request| dialect.result(&request.body)).into_iter().flatten().next()
    }

    /// All that it was asked, for a person who looks for the reason of a failure. The tools are known by name.
    pub(crate) fn log(&self) -> String {
        const WIDEST: usize = 4000;
        let asked = self.asked.lock().unwrap();
        let lines = asked.iter().map(|request| {
            let mut body = request.body.clone();
            body.as_object_mut()
                .map(|body| ["tools", "instructions", "systemInstruction"].map(|long| body.remove(long)));
            let body: Vec<char> = body.to_string().chars().collect();
            let tail = body[body.len().saturating_sub(WIDEST)..].iter().collect::<String>();
            format!("{} {}\n  …{tail}\n", request.method, request.path)
        });
        lines.collect()
    }

    fn collect<T>(&self, of: impl Fn(&dyn Dialect, &Request) -> T) -> Vec<T> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter_map(|request| Some(of(dialect_of(request)?, request))).collect()
    }
}

/// How an agent asks for the next turn, and how it is told.
trait Dialect: Sync {
    fn is_spoken_by(&self, request: &Request) -> bool;
    /// The tools that the request offers.
    fn tools(&self, body: &Value) -> Vec<String>;
    /// The result of a tool that the request shows.
    fn result(&self, body: &Value) -> Option<String>;
    fn call(&self, request: &Request, call: &Call) -> Reply;
    fn say(&self, request: &Request, text: &str) -> Reply;
}

fn dialect_of(request: &Request) -> Option<&'static dyn Dialect> {
    let dialects: [&'static dyn Dialect; 3] = [&responses::Responses, &gemini::Gemini, &chat::Chat];
    dialects.into_iter().find(|dialect| dialect.is_spoken_by(request))
}

fn answer(request: &Request, call: &Call) -> Reply {
    // Lists of models, counts of tokens and the like: an agent goes on without.
    let Some(dialect) = dialect_of(request) else { return Reply::json(&serde_json::json!({ "data": [] })) };
    let offered = dialect.tools(&request.body).iter().any(|tool| tool == call.tool);
    match dialect.result(&request.body) {
        Some(_) => dialect.say(request, "I am done."),
        None if offered => dialect.call(request, call),
        // Titles and summaries are asked for without tools.
        None => dialect.say(request, "nothing"),
    }
}
