//! Telling a task's supervisor what to do: lines through a named pipe in the task's folder.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use bashtion_sandbox::Signal;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// What a supervisor can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// SIGTERM to the tree, a grace period, SIGKILL.
    Stop,
    /// This signal to the tree, a grace period, then the same as above.
    End(Signal),
    /// SIGKILL to the tree.
    Kill,
    /// This signal to the tree, and nothing else.
    Signal(Signal),
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop => f.write_str("stop"),
            Self::End(signal) => write!(f, "end {}", signal.as_raw()),
            Self::Kill => f.write_str("kill"),
            Self::Signal(signal) => write!(f, "signal {}", signal.as_raw()),
        }
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let signal = |number: &str| number.parse::<Signal>().map_err(drop);
        match line.split_once(' ') {
            None if line == "stop" => Ok(Self::Stop),
            None if line == "kill" => Ok(Self::Kill),
            Some(("end", number)) => signal(number).map(Self::End),
            Some(("signal", number)) => signal(number).map(Self::Signal),
            Some(_) | None => Err(()),
        }
    }
}

/// Gives an order. False if there is nobody to obey.
pub(super) fn give(path: &Path, order: Order) -> io::Result<bool> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    match OpenOptions::new().write(true).custom_flags(flags).open(path) {
        Ok(mut pipe) => pipe.write_all(format!("{order}\n").as_bytes()).map(|()| true),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The supervisor's end.
#[derive(Debug)]
pub(super) struct Orders {
    pipe: Receiver,
    /// Held open, so that a pipe that nobody writes to is empty and not at its end.
    _writer: OwnedFd,
    pending: Vec<u8>,
}

impl Orders {
    pub(super) fn listen(path: &Path) -> io::Result<Self> {
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let open = |flags| rustix::fs::open(path, flags | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let reader = open(OFlags::RDONLY)?;
        Ok(Self { _writer: open(OFlags::WRONLY)?, pipe: Receiver::from_owned_fd(reader)?, pending: vec![] })
    }

    /// The next order. Anything else is passed over.
    pub(super) async fn next(&mut self) -> io::Result<Order> {
        const LONGEST: usize = 4096;
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                if let Some(order) = std::str::from_utf8(&line[..end]).ok().and_then(|line| line.parse().ok())
                {
                    return Ok(order);
                }
                continue;
            }
            if self.pending.len() > LONGEST {
                self.pending.clear();
            }
            let mut buffer = [0; 256];
            let count = self.pipe.read(&mut buffer).await?;
            self.pending.extend_from_slice(&buffer[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_way() {
        for order in [Order::Stop, Order::Kill, Order::End(Signal::TERM), Order::Signal(Signal::from_raw(10))]
        {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for text in ["", "stop 1", "end", "end x", "signal 99", "dance"] {
            assert_eq!(text.parse::<Order>(), Err(()), "{text}");
        }
    }

    #[tokio::test]
    async fn they_arrive_in_order_and_nonsense_is_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("control");
        assert!(!give(&path, Order::Stop).unwrap(), "nobody listens");
        let mut orders = Orders::listen(&path).unwrap();
        std::fs::write(&path, b"\xff\n\nnonsense\n").unwrap();
        assert!(give(&path, Order::Signal(Signal::TERM)).unwrap());
        assert!(give(&path, Order::Stop).unwrap());
        assert_eq!(orders.next().await.unwrap(), Order::Signal(Signal::TERM));
        assert_eq!(orders.next().await.unwrap(), Order::Stop);
        drop(orders);
        assert!(!give(&path, Order::Stop).unwrap(), "it has gone");
    }
}
