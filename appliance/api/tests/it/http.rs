//! The smallest HTTP client: one request per connection, full control of every header.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One request.
pub(crate) struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Its answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its proper end.
    pub(crate) is_whole: bool,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &str) -> Self {
        self.body("application/json", body.as_bytes())
    }

    pub(crate) fn form(self, body: &str) -> Self {
        self.body("application/x-www-form-urlencoded", body.as_bytes())
    }

    pub(crate) fn body(mut self, kind: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", kind)
    }

    pub(crate) async fn send(self, address: SocketAddr) -> Answer {
        let mut text = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.target);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {address}\r\n"));
        }
        if !self.body.is_empty() || self.method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        exchange(address, &bytes).await
    }
}

/// Sends raw bytes and reads the answer to the end of the connection.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _sent = stream.write_all(bytes).await.is_ok();
    let mut answer = Vec::new();
    let _read = stream.read_to_end(&mut answer).await.is_ok();
    parse(&answer)
}

fn parse(answer: &[u8]) -> Answer {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(answer)));
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &answer[end + 4..];
    let mut parsed = Answer { status, head, body: rest.to_vec(), is_whole: true };
    if parsed.header("transfer-encoding") == Some("chunked") {
        (parsed.body, parsed.is_whole) = unchunk(rest);
    }
    parsed
}

fn unchunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let length = std::str::from_utf8(&rest[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return (body, true);
        }
        rest = &rest[end + 2..];
        if rest.len() < length + 2 {
            return (body, false);
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// The error's code and field.
    pub(crate) fn error(&self) -> (String, Option<String>) {
        let error = &self.value()["error"];
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        (text("code").unwrap(), text("field"))
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, String::from_utf8_lossy(&self.body));
        self
    }

    #[track_caller]
    pub(crate) fn expect_error(self, status: u16, code: &str, field: Option<&str>) -> Self {
        let answer = self.expect(status);
        assert_eq!(
            answer.error(),
            (code.to_owned(), field.map(str::to_owned)),
            "{}",
            answer.text()
        );
        answer
    }
}
