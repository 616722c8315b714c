//! As much HTTP/1.1 as the agents use: one request, one reply, one connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// What was asked; the body is null if it is not JSON.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// What is answered.
#[derive(Debug)]
pub(super) struct Reply {
    content_type: &'static str,
    body: String,
}

impl Reply {
    pub(super) fn json(body: &Value) -> Self {
        Self { content_type: "application/json", body: body.to_string() }
    }

    /// Server-sent events: each a name, if it has one, and an object.
    pub(super) fn events<'a>(events: impl IntoIterator<Item = (Option<&'a str>, Value)>) -> Self {
        let lines = events.into_iter().map(|(name, data)| {
            let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
            format!("{name}data: {data}\n\n")
        });
        Self { content_type: "text/event-stream", body: lines.collect() }
    }

    /// With a last line that is no object.
    pub(super) fn and_last(mut self, line: &str) -> Self {
        self.body.push_str(line);
        self
    }
}

pub(super) fn serve(stream: &TcpStream, answer: impl FnOnce(Request) -> Reply) -> io::Result<()> {
    let reply = answer(read(&mut BufReader::new(stream))?);
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        reply.content_type,
        reply.body.len(),
        reply.body
    )
}

fn read(from: &mut impl BufRead) -> io::Result<Request> {
    let first = line(from)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(from)?.to_ascii_lowercase();
        match header.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
            Some(("transfer-encoding", value)) => chunked = value == "chunked",
            Some(_) => {}
            None => break,
        }
    }
    let body = if chunked { chunks(from)? } else { exactly(from, length)? };
    Ok(Request { method, path, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

fn chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = vec![];
    loop {
        let length = usize::from_str_radix(&line(from)?, 16).map_err(io::Error::other)?;
        body.extend(exactly(from, length)?);
        line(from)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

fn exactly(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
