//! A target outside of the appliance that is down, and comes back: HTTP or MQTT, in the lab itself.
//!
//! Its port is bound from the beginning and not listened on, so that a connection is refused and
//! nobody else can take the port. A *silent* one listens from the beginning and answers nothing.
//!
//! **Invariants**
//! - What is counted was answered: a request to a silent target is not.
//! - At most [`CONNECTIONS_MAX`] connections at once; more are closed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

use crate::floor::answer_all;

/// Connections at once.
const CONNECTIONS_MAX: usize = 64;
const BACKLOG: i32 = 128;
const READ_BYTES: usize = 16 * 1024;
/// The longest body that is read.
const BODY_BYTES_MAX: usize = 1 << 20;

/// What it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Mqtt,
}

/// How a target is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Down {
    /// Connections are refused, as by a machine whose program does not run.
    Refused,
    /// Connections are taken and nothing is answered, as by a program that hangs.
    Silent,
}

/// The target.
pub(crate) struct Outside {
    protocol: Protocol,
    socket: TcpListener,
    address: SocketAddr,
    is_listening: bool,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    is_up: AtomicBool,
    answered: AtomicU64,
    connections: AtomicUsize,
}

impl Outside {
    /// Takes a port; the target is down.
    pub(crate) fn reserve(protocol: Protocol, down: Down) -> Result<Self> {
        // Not for the children: the appliance would hold its own target's port.
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).context("take a port")?;
        let socket = TcpListener::from(socket);
        let address = socket.local_addr().context("look for the port")?;
        let mut target =
            Self { protocol, socket, address, is_listening: false, state: Arc::default() };
        if down == Down::Silent {
            target.listen()?;
        }
        Ok(target)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Requests or messages that were answered.
    pub(crate) fn answered(&self) -> u64 {
        self.state.answered.load(Ordering::Relaxed)
    }

    /// From now on it answers.
    pub(crate) fn come_up(&mut self) -> Result<()> {
        self.state.is_up.store(true, Ordering::Relaxed);
        self.listen()
    }

    fn listen(&mut self) -> Result<()> {
        if self.is_listening {
            return Ok(());
        }
        self.is_listening = true;
        listen(&self.socket, BACKLOG).context("listen as the target")?;
        let listener = self.socket.try_clone().context("listen as the target")?;
        let (protocol, state) = (self.protocol, Arc::clone(&self.state));
        thread::Builder::new().name("target".into()).spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                take(stream, protocol, &state);
            }
        })?;
        Ok(())
    }
}

fn take(stream: TcpStream, protocol: Protocol, state: &Arc<State>) {
    if state.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
        state.connections.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let own = Arc::clone(state);
    let serve = move || {
        // A connection that ends, ends: the appliance makes another.
        let _ended = match protocol {
            Protocol::Http => serve_http(stream, &own),
            Protocol::Mqtt => serve_mqtt(stream, &own),
        };
        own.connections.fetch_sub(1, Ordering::Relaxed);
    };
    if thread::Builder::new().name("target-client".into()).spawn(serve).is_err() {
        state.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve_http(stream: TcpStream, state: &State) -> Result<()> {
    let mut answers = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(length) = read_head(&mut reader)? {
        let mut body = vec![0; length.min(BODY_BYTES_MAX)];
        reader.read_exact(&mut body)?;
        if state.is_up.load(Ordering::Relaxed) {
            answers.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
            state.answered.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// The length of the body behind a request's head; none at the end.
fn read_head(reader: &mut BufReader<TcpStream>) -> Result<Option<usize>> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.by_ref().take(READ_BYTES as u64).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim_end();
        if header.is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().context("read the length of a request")?;
        }
    }
}

fn serve_mqtt(mut stream: TcpStream, state: &State) -> Result<()> {
    let (mut level, mut waiting, mut answer) = (5, Vec::new(), Vec::new());
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let got = stream.read(&mut buffer)?;
        if got == 0 {
            return Ok(());
        }
        waiting.extend_from_slice(buffer.get(..got).unwrap_or_default());
        if !state.is_up.load(Ordering::Relaxed) {
            waiting.clear();
            continue;
        }
        answer.clear();
        let Ok((used, open)) = answer_all(&waiting, &mut level, &mut answer) else { return Ok(()) };
        waiting.drain(..used);
        stream.write_all(&answer)?;
        state.answered.fetch_add(acknowledged(&answer), Ordering::Relaxed);
        if !open {
            return Ok(());
        }
    }
}

/// Acknowledgements of messages among the answers.
fn acknowledged(mut answer: &[u8]) -> u64 {
    let mut count = 0;
    // All answers are shorter than 128 bytes: their length is one byte.
    while let [first, length, rest @ ..] = answer {
        count += u64::from(*first == 0x40);
        answer = rest.get(usize::from(*length)..).unwrap_or_default();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::frame::{self, Message};

    fn request(target: &Outside) -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(target.address())?;
        stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi")?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn refuses_or_stays_silent_until_it_comes_up() {
        let mut refused = Outside::reserve(Protocol::Http, Down::Refused).unwrap();
        let error = request(&refused).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        let mut silent = Outside::reserve(Protocol::Http, Down::Silent).unwrap();
        assert_eq!(request(&silent).unwrap(), b"");
        for target in [&mut refused, &mut silent] {
            target.come_up().unwrap();
            assert!(request(target).unwrap().starts_with(b"HTTP/1.1 200 OK"));
            assert_eq!(target.answered(), 1);
        }
    }

    #[test]
    fn counts_the_messages_that_it_acknowledged() {
        let mut target = Outside::reserve(Protocol::Mqtt, Down::Refused).unwrap();
        target.come_up().unwrap();
        let mut stream = TcpStream::connect(target.address()).unwrap();
        let mut bytes = Vec::new();
        frame::connect(&mut bytes, "d", None);
        let message = Message {
            topic: b"a/b",
            packet_id: 7,
            counter: 1,
            fingerprint: 1,
            ..Message::default()
        };
        frame::publish(&mut bytes, &message);
        stream.write_all(&bytes).unwrap();
        let mut answer = [0; 9];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, *b"\x20\x03\0\0\0\x40\x02\0\x07");
        drop(stream);
        while target.state.connections.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(target.answered(), 1);
    }
}
