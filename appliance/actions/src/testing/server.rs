//! Servers on loopback: HTTP that answers as a test says, and one that speaks lines (SMTP).

use super::Notes;
use millrace_supervisor::spawn;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server that ends with its test.
pub(crate) struct Server<T> {
    pub(crate) port: u16,
    /// What it was told.
    pub(crate) notes: Notes<T>,
    task: JoinHandle<()>,
}

impl<T> Drop for Server<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A request: its head, and its body.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// An HTTP/1.1 server; `answer` gives the whole answer's bytes to a request's first line.
pub(crate) async fn http(
    answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> Server<Request> {
    http_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), answer)
}

/// The same on a listener that is there.
pub(crate) fn http_on(
    listener: TcpListener,
    answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> Server<Request> {
    let answer = Arc::new(answer);
    serve_on(listener, move |stream, notes| {
        let answer = Arc::clone(&answer);
        async move { http_connection(stream, notes, &*answer).await }
    })
}

/// A server of raw connections.
pub(crate) async fn serve<T, F>(
    connection: impl Fn(TcpStream, Notes<T>) -> F + Send + Sync + 'static,
) -> Server<T>
where
    T: Send + 'static,
    F: Future<Output = Option<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    serve_on(listener, connection)
}

/// The same on a listener that is there.
fn serve_on<T, F>(
    listener: TcpListener,
    connection: impl Fn(TcpStream, Notes<T>) -> F + Send + Sync + 'static,
) -> Server<T>
where
    T: Send + 'static,
    F: Future<Output = Option<()>> + Send + 'static,
{
    let port = listener.local_addr().unwrap().port();
    let notes: Notes<T> = Notes::default();
    let told = Arc::clone(&notes);
    let task = spawn::task("test-server", async move {
        while let Ok((stream, _)) = listener.accept().await {
            spawn::task("test-connection", connection(stream, Arc::clone(&told)));
        }
    });
    Server { port, notes, task }
}

pub(super) async fn http_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    notes: Notes<Request>,
    answer: &(dyn Fn(&str) -> Vec<u8> + Send + Sync),
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await.ok()?;
        let first = head.lines().next()?.to_owned();
        notes.lock().push(Request { head, body: String::from_utf8_lossy(&body).into() });
        stream.write_all(&answer(&first)).await.ok()?;
    }
}

/// An answer with a body.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// An SMTP server that takes everything; its notes are the lines that it was sent.
pub(crate) async fn smtp(extensions: &'static str) -> Server<String> {
    serve(move |stream: TcpStream, notes: Notes<String>| async move {
        mail_session(stream, &notes, extensions, true).await.map(drop)
    })
    .await
}

/// One SMTP session; gives the stream back at STARTTLS.
pub(super) async fn mail_session<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    notes: &Notes<String>,
    extensions: &str,
    greets: bool,
) -> Option<S> {
    let mut stream = BufReader::new(stream);
    if greets {
        stream.write_all(b"220 test ready\r\n").await.ok()?;
    }
    let mut is_data = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        notes.lock().push(line.clone());
        let answer = match (is_data, line.as_str()) {
            (true, ".") => {
                is_data = false;
                "250 taken\r\n".to_owned()
            }
            (true, _) => continue,
            (false, "DATA") => {
                is_data = true;
                "354 go on\r\n".to_owned()
            }
            (false, "STARTTLS") => {
                stream.write_all(b"220 go on\r\n").await.ok()?;
                return Some(stream.into_inner());
            }
            (false, command) if command.starts_with("EHLO") => {
                format!("250-test\r\n{extensions}250 8BITMIME\r\n")
            }
            (false, command) if command.starts_with("AUTH") => "235 welcome\r\n".to_owned(),
            (false, command) if command.contains("full@") => "452 mailbox full\r\n".to_owned(),
            (false, command) if command.contains("nobody@") => "550 no such user\r\n".to_owned(),
            (false, "QUIT") => "221 bye\r\n".to_owned(),
            (false, _) => "250 fine\r\n".to_owned(),
        };
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}
