//! A small HTTP/1.1 client over one kept connection: enough for the appliance's own API.
//!
//! Loopback only, no TLS, bodies by Content-Length or in chunks. The lab sees the appliance as a
//! black box, so it brings its own client rather than the appliance's.
//!
//! **Invariants**
//! - A body has a limit; a connection that ended is opened anew once per request.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

const BODY_BYTES_MAX: usize = 512 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A client of one server.
pub(crate) struct Http {
    address: SocketAddr,
    token: Option<String>,
    stream: Option<BufReader<TcpStream>>,
}

impl Http {
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> Self {
        Self { address, token, stream: None }
    }

    /// GET; any status is an answer.
    pub(crate) fn get(&mut self, path: &str) -> Result<Answer> {
        self.ask("GET", path, None)
    }

    /// GET of JSON; another status than 200 is an error with the server's words.
    pub(crate) fn get_json(&mut self, path: &str) -> Result<serde_json::Value> {
        let answer = self.get(path)?;
        expect_success("GET", path, &answer)?;
        serde_json::from_slice(&answer.body).with_context(|| format!("read the answer of {path}"))
    }

    /// POST of JSON.
    pub(crate) fn post_json(
        &mut self,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<serde_json::Value> {
        let answer = self.ask("POST", path, Some(body.to_string()))?;
        expect_success("POST", path, &answer)?;
        serde_json::from_slice(&answer.body).with_context(|| format!("read the answer of {path}"))
    }

    /// PUT of JSON.
    pub(crate) fn put_json(
        &mut self,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<serde_json::Value> {
        let answer = self.ask("PUT", path, Some(body.to_string()))?;
        expect_success("PUT", path, &answer)?;
        serde_json::from_slice(&answer.body).with_context(|| format!("read the answer of {path}"))
    }

    fn ask(&mut self, method: &str, path: &str, body: Option<String>) -> Result<Answer> {
        let was_kept = self.stream.is_some();
        match self.exchange(method, path, body.as_deref()) {
            Ok(answer) => Ok(answer),
            // The server may have closed the kept connection meanwhile.
            Err(_) if was_kept => {
                self.stream = None;
                self.exchange(method, path, body.as_deref())
            }
            Err(error) => Err(error),
        }
        .with_context(|| format!("{method} http://{}{path}", self.address))
    }

    fn exchange(&mut self, method: &str, path: &str, body: Option<&str>) -> Result<Answer> {
        let mut reader = match self.stream.take() {
            Some(reader) => reader,
            None => connect(self.address)?,
        };
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        if let Some(token) = &self.token {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if let Some(body) = body {
            let length = body.len();
            request.push_str("Content-Type: application/json\r\n");
            request.push_str(&format!("Content-Length: {length}\r\n"));
        }
        request.push_str("\r\n");
        request.push_str(body.unwrap_or_default());
        reader.get_mut().write_all(request.as_bytes()).context("send the request")?;
        let (answer, keeps) = read_answer(&mut reader)?;
        self.stream = keeps.then_some(reader);
        Ok(answer)
    }
}

/// Fails with the server's own words on anything but 2xx.
pub(crate) fn expect_success(method: &str, path: &str, answer: &Answer) -> Result<()> {
    if !(200..300).contains(&answer.status) {
        let said = String::from_utf8_lossy(answer.body.get(..2_000).unwrap_or(&answer.body));
        bail!("{method} {path} was answered with {}: {said}", answer.status);
    }
    Ok(())
}

/// Text as it may stand in a query string.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn connect(address: SocketAddr) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).context("connect")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(BufReader::with_capacity(64 * 1024, stream))
}

/// The answer, and whether the connection may be used again.
fn read_answer(reader: &mut impl BufRead) -> Result<(Answer, bool)> {
    let status_line = read_line(reader)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())
        .with_context(|| format!("read the status line '{status_line}'"))?;
    let (mut length, mut chunked, mut keeps) = (None, false, true);
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = Some(value.parse::<usize>().context("read the length")?),
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => keeps = !value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        while let size @ 1.. = read_chunk_size(reader)? {
            take(reader, size, &mut body)?;
            read_line(reader)?;
        }
        read_line(reader)?;
    } else if let Some(length) = length {
        take(reader, length, &mut body)?;
    } else if status != 204 && status != 304 {
        reader.take(BODY_BYTES_MAX as u64).read_to_end(&mut body).context("read the body")?;
        keeps = false;
    }
    Ok((Answer { status, body }, keeps))
}

fn take(reader: &mut impl BufRead, length: usize, body: &mut Vec<u8>) -> Result<()> {
    if body.len() + length > BODY_BYTES_MAX {
        bail!("the body is longer than {BODY_BYTES_MAX} bytes");
    }
    let got = reader.take(length as u64).read_to_end(body).context("read the body")?;
    if got < length {
        bail!("the body ended early");
    }
    Ok(())
}

fn read_chunk_size(reader: &mut impl BufRead) -> Result<usize> {
    let line = read_line(reader)?;
    let digits = line.split(';').next().unwrap_or_default().trim();
    usize::from_str_radix(digits, 16).with_context(|| format!("read the chunk size '{line}'"))
}

fn read_line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if reader.take(64 * 1024).read_line(&mut line).context("read the answer")? == 0 {
        bail!("the server closed the connection");
    }
    Ok(line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Answer, bool)> {
        read_answer(&mut text.as_bytes())
    }

    #[test]
    fn reads_bodies_by_length_and_in_chunks() {
        let (answer, keeps) = read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd").unwrap();
        assert_eq!(answer, Answer { status: 200, body: b"abc".to_vec() });
        assert!(keeps);
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                      3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let (answer, keeps) = read(chunks).unwrap();
        assert_eq!(answer.body, b"abcde");
        assert!(!keeps);
    }

    #[test]
    fn refuses_what_ends_early_or_is_no_http() {
        assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").is_err());
        assert!(read("garbage\r\n\r\n").is_err());
        assert!(read("").is_err());
        let answer = Answer { status: 403, body: b"no".to_vec() };
        let error = expect_success("GET", "/x", &answer).unwrap_err();
        assert_eq!(error.to_string(), "GET /x was answered with 403: no");
    }

    #[test]
    fn encodes_what_a_query_may_not_hold() {
        assert_eq!(encode("a b/ü+c"), "a%20b/%C3%BC%2Bc");
    }
}
