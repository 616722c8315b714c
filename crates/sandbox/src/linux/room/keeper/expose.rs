//! Ports of the host that lead into the room, for as long as it is kept.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::super::packet::{is_ours, receive, send};
use crate::wire::{Reader, Writer};

/// The socket on which the user asks for doors, and those that are open.
#[derive(Debug)]
pub(super) struct Doors {
    /// Can be read when somebody asks.
    events: OwnedFd,
    listener: OwnedFd,
    /// Those who have said nothing yet, oldest first.
    silent: VecDeque<(u64, OwnedFd)>,
    next: u64,
    /// To ask the spawner for sockets of the room's network.
    outside: Arc<Mutex<OwnedFd>>,
    /// Port of the room, port of the host.
    open: Vec<(u16, u16)>,
}

const LISTENER: u64 = 0;

impl Doors {
    pub(super) fn open(listener: OwnedFd, outside: OwnedFd) -> io::Result<Self> {
        let events = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&events, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let (silent, next) = (VecDeque::new(), LISTENER + 1);
        Ok(Self { events, listener, silent, next, outside: Arc::new(Mutex::new(outside)), open: vec![] })
    }

    /// Answers those who ask: for a list, or for a door. Whoever connects and says nothing holds up nobody.
    pub(super) fn answer(&mut self) {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut ready = Vec::with_capacity(16);
        if epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut ready), Some(&AT_ONCE)).is_err() {
            return;
        }
        for event in ready {
            match event.data.u64() {
                LISTENER => self.accept(),
                key => self.hear(key),
            }
        }
    }

    fn accept(&mut self) {
        const MOST_SILENT: usize = 64;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        loop {
            let socket = match rustix::net::accept_with(&self.listener, flags) {
                Err(Errno::MFILE | Errno::NFILE) if self.silent.pop_front().is_some() => continue,
                Err(_) => return,
                Ok(socket) => socket,
            };
            let key = self.next;
            self.next += 1;
            let event = EventData::new_u64(key);
            if !is_ours(&socket) || epoll::add(&self.events, &socket, event, EventFlags::IN).is_err() {
                continue;
            }
            self.silent.push_back((key, socket));
            if self.silent.len() > MOST_SILENT {
                self.silent.pop_front();
            }
            // Most have said all by now.
            self.hear(key);
        }
    }

    fn hear(&mut self, key: u64) {
        let Some(at) = self.silent.iter().position(|(known, _)| *known == key) else { return };
        let mut buffer = [0; 64];
        let received = receive(&self.silent[at].1, &mut buffer, &mut vec![]);
        if received.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            return;
        }
        if let (Some((_, socket)), Ok(1..)) = (self.silent.remove(at), &received) {
            self.reply(&socket, &buffer[..received.unwrap_or(0)]);
        }
    }

    fn reply(&mut self, socket: &OwnedFd, question: &[u8]) {
        let mut reader = Reader::new(question);
        let ports = reader.number().zip(reader.number());
        let ports =
            ports.and_then(|(inner, outer)| Some((u16::try_from(inner).ok()?, u16::try_from(outer).ok()?)));
        let mut writer = Writer::default();
        match ports.map(|(inner, outer)| self.add(inner, outer)) {
            None | Some(Ok(())) => writer.signed(0),
            Some(Err(error)) => writer.signed(error.raw_os_error().unwrap_or(libc::EIO).into()),
        }
        writer.list(&self.open, |writer, (inner, outer)| {
            writer.number((*inner).into());
            writer.number((*outer).into());
        });
        let _ = send(socket, &writer.into_bytes(), &[]);
    }

    fn add(&mut self, inner: u16, outer: u16) -> io::Result<()> {
        if self.open.contains(&(inner, outer)) {
            return Ok(());
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, outer))?;
        let outer = listener.local_addr()?.port();
        let outside = Arc::clone(&self.outside);
        thread::Builder::new().stack_size(STACK).spawn(move || lead_in(&listener, inner, &outside))?;
        self.open.push((inner, outer));
        Ok(())
    }
}

const STACK: usize = 128 << 10;

fn lead_in(listener: &TcpListener, port: u16, outside: &Arc<Mutex<OwnedFd>>) {
    const MOST: usize = 256;
    static OPEN: AtomicUsize = AtomicUsize::new(0);
    for client in listener.incoming() {
        let Ok(client) = client else { continue };
        if OPEN.load(Ordering::Relaxed) >= MOST {
            continue;
        }
        let outside = Arc::clone(outside);
        OPEN.fetch_add(1, Ordering::Relaxed);
        let relayed = thread::Builder::new().stack_size(STACK).spawn(move || {
            if let Ok(server) = connect(port, &outside) {
                relay(client, server);
            }
            OPEN.fetch_sub(1, Ordering::Relaxed);
        });
        if relayed.is_err() {
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A connection to a port of the room, by either protocol.
fn connect(port: u16, outside: &Mutex<OwnedFd>) -> io::Result<TcpStream> {
    let by = |is_v6: bool| -> io::Result<TcpStream> {
        let mut sent = vec![];
        {
            let outside = outside.lock().unwrap_or_else(PoisonError::into_inner);
            send(&*outside, &[u8::from(is_v6)], &[])?;
            receive(&*outside, &mut [0], &mut sent)?;
        }
        let socket = sent.pop().ok_or(io::ErrorKind::NotConnected)?;
        let address: SocketAddr =
            if is_v6 { (Ipv6Addr::LOCALHOST, port).into() } else { (Ipv4Addr::LOCALHOST, port).into() };
        rustix::net::connect(&socket, &address)?;
        Ok(TcpStream::from(socket))
    };
    by(false).or_else(|_| by(true))
}

/// Both ways, until both have ended.
fn relay(client: TcpStream, server: TcpStream) {
    let copies = client.try_clone().and_then(|to| Ok((server.try_clone()?, to)));
    let Ok((from, to)) = copies else { return };
    let back = thread::Builder::new().stack_size(STACK).spawn(move || copy(from, to));
    copy(client, server);
    if let Ok(back) = back {
        let _ = back.join();
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 32 << 10];
    while let Ok(count) = from.read(&mut buffer)
        && count > 0
        && to.write_all(&buffer[..count]).is_ok()
    {}
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

impl AsFd for Doors {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}
