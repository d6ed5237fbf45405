//! A connection to PostgreSQL over its Unix socket: queries, COPY, and nothing else.
//!
//! Version 3 of the protocol: a letter, a length that counts itself, a body.
//!
//! **Invariants**
//! - A message has a limit; an error ends the call with the server's words.

use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const VERSION_3: i32 = 196_608;
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(60);

/// An open connection.
pub(super) struct Connection {
    stream: BufReader<UnixStream>,
}

/// One message of the server.
struct Message {
    kind: u8,
    body: Vec<u8>,
}

impl Connection {
    /// Connects and signs in as the database's own user, whom it trusts.
    pub(super) fn open(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("connect to PostgreSQL")?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut connection = Self { stream: BufReader::new(stream) };
        let mut body = VERSION_3.to_be_bytes().to_vec();
        body.extend_from_slice(b"user\0lab\0database\0postgres\0\0");
        let mut bytes = length_of(&body)?.to_vec();
        bytes.extend_from_slice(&body);
        connection.stream.get_mut().write_all(&bytes).context("sign in to PostgreSQL")?;
        connection.until_ready()?;
        Ok(connection)
    }

    /// Runs a statement.
    pub(super) fn run(&mut self, statement: &str) -> Result<()> {
        self.query(statement)?;
        self.until_ready().map(|_| ()).with_context(|| format!("run '{statement}'"))
    }

    /// Writes rows, tabs and line ends between, in one transaction.
    pub(super) fn copy(&mut self, table: &str, columns: &str, rows: &[u8]) -> Result<()> {
        self.query(&format!("copy {table} ({columns}) from stdin"))?;
        let answer = self.read()?;
        if answer.kind != b'G' {
            bail!("PostgreSQL takes no rows: {}", words(&answer.body));
        }
        let mut bytes = Vec::with_capacity(rows.len() + 64);
        for part in rows.chunks(MESSAGE_BYTES_MAX / 2) {
            push(&mut bytes, b'd', part)?;
        }
        push(&mut bytes, b'c', b"")?;
        self.stream.get_mut().write_all(&bytes).context("hand PostgreSQL its rows")?;
        self.until_ready().map(|_| ()).context("write rows")
    }

    /// How many rows a table has.
    pub(super) fn count(&mut self, table: &str) -> Result<u64> {
        self.query(&format!("select count(*) from {table}"))?;
        let row = self.until_ready()?.context("find the count in the answer")?;
        // Two bytes of columns, four of the first one's length, and the number as text.
        let text = String::from_utf8_lossy(row.get(6..).unwrap_or_default()).into_owned();
        text.parse().with_context(|| format!("read the count '{text}'"))
    }

    fn query(&mut self, statement: &str) -> Result<()> {
        let mut bytes = Vec::new();
        push(&mut bytes, b'Q', &[statement.as_bytes(), b"\0"].concat())?;
        self.stream.get_mut().write_all(&bytes).context("ask PostgreSQL")
    }

    /// Reads until the server is ready for the next question; the last row that came.
    fn until_ready(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut row, mut fault) = (None, None);
        loop {
            let message = self.read()?;
            match message.kind {
                b'D' => row = Some(message.body),
                b'E' => fault = Some(words(&message.body)),
                b'Z' => break,
                // Another way to sign in than trust.
                b'R' if message.body != 0_i32.to_be_bytes() => {
                    bail!("PostgreSQL asks for a password")
                }
                _ => {}
            }
            if let (true, Some(fault)) = (message.kind == b'E', &fault) {
                // A failed sign-in ends without being ready.
                if fault.starts_with("FATAL") {
                    bail!("PostgreSQL said: {fault}");
                }
            }
        }
        match fault {
            Some(fault) => bail!("PostgreSQL said: {fault}"),
            None => Ok(row),
        }
    }

    fn read(&mut self) -> Result<Message> {
        let (mut kind, mut length) = ([0; 1], [0; 4]);
        self.stream.read_exact(&mut kind).context("hear PostgreSQL")?;
        self.stream.read_exact(&mut length).context("hear PostgreSQL")?;
        let whole = usize::try_from(i32::from_be_bytes(length)).unwrap_or(0);
        let length = whole.checked_sub(4).context("read the length of a message")?;
        if length > MESSAGE_BYTES_MAX {
            bail!("a message of PostgreSQL has {length} bytes");
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).context("hear PostgreSQL")?;
        let [kind] = kind;
        Ok(Message { kind, body })
    }
}

/// Appends a message.
fn push(into: &mut Vec<u8>, kind: u8, body: &[u8]) -> Result<()> {
    into.push(kind);
    into.extend_from_slice(&length_of(body)?);
    into.extend_from_slice(body);
    Ok(())
}

/// The length field of a body; it counts itself.
fn length_of(body: &[u8]) -> Result<[u8; 4]> {
    let length = i32::try_from(body.len() + 4).context("measure a message")?;
    Ok(length.to_be_bytes())
}

/// Severity and text of an error: fields of a letter and a text, ended by zeros.
fn words(body: &[u8]) -> String {
    let fields: Vec<&[u8]> = body.split(|byte| *byte == 0).collect();
    let field = |kind: u8| {
        let found = fields.iter().find(|field| field.first() == Some(&kind));
        found.map_or_else(String::new, |field| {
            String::from_utf8_lossy(field.get(1..).unwrap_or_default()).into_owned()
        })
    };
    format!("{}: {}", field(b'S'), field(b'M'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(&mut bytes, kind, body).unwrap();
        bytes
    }

    /// A server that says `answers`, whatever it is asked.
    fn open(answers: Vec<u8>) -> Result<Connection> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&answers).unwrap();
            // Until the client goes: what it asks must find a reader.
            std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        });
        // The server's thread ends with the connection, which the caller drops.
        drop(server);
        Connection::open(&socket)
    }

    #[test]
    fn signs_in_counts_and_tells_errors() {
        let mut answers = message(b'R', &0_i32.to_be_bytes());
        answers.extend(message(b'Z', b"I"));
        answers.extend(message(b'D', b"\0\x01\0\0\0\x0242"));
        answers.extend(message(b'Z', b"I"));
        answers.extend(message(b'E', b"SERROR\0Mno such table\0\0"));
        answers.extend(message(b'Z', b"I"));
        let mut connection = open(answers).unwrap();
        assert_eq!(connection.count("t").unwrap(), 42);
        let why = format!("{:#}", connection.run("select 1").unwrap_err());
        assert!(why.ends_with("ERROR: no such table"), "{why}");
    }

    #[test]
    fn refuses_passwords_and_messages_without_end() {
        let why = open(message(b'R', &10_i32.to_be_bytes())).err().unwrap().to_string();
        assert!(why.contains("password"), "{why}");
        let why = open(b"R\x7f\xff\xff\xff".to_vec()).err().unwrap().to_string();
        assert!(why.contains("bytes"), "{why}");
        let why = open(message(b'E', b"SFATAL\0Mstarting up\0\0")).err().unwrap().to_string();
        assert!(why.contains("starting up"), "{why}");
    }
}
