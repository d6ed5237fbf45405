//! The live WebSocket of the API, as a page would use it (RFC 6455, text frames only).

use crate::wait::LIMIT;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

/// Longest frame that is read.
const FRAME_BYTES_MAX: u64 = 1 << 20;

/// A connection for live values.
#[derive(Debug)]
pub struct Live {
    stream: TcpStream,
}

impl Live {
    /// Connects.
    ///
    /// # Errors
    /// When the connection is not upgraded; the error has the answer's head.
    pub fn connect(address: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address).context("connect")?;
        stream.set_read_timeout(Some(LIMIT))?;
        let request = format!(
            "GET /api/v1/live HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: bWlsbHJhY2UtaGFybmVzcw==\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).context("read the answer's head")?;
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        if !head.starts_with("HTTP/1.1 101 ") {
            bail!("not upgraded: {head}");
        }
        Ok(Self { stream })
    }

    /// Sends a text frame.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn say(&mut self, frame: &Value) -> anyhow::Result<()> {
        let text = frame.to_string();
        // A mask of zeros is a mask; the length is always written in its two-byte form.
        let length = u16::try_from(text.len())?.to_be_bytes();
        let mut bytes = vec![0x81, 0x80 | 126, length[0], length[1], 0, 0, 0, 0];
        bytes.extend_from_slice(text.as_bytes());
        self.stream.write_all(&bytes).context("send a frame")
    }

    /// The next text frame.
    ///
    /// # Errors
    /// When the connection ends, or nothing comes in time.
    pub fn frame(&mut self) -> anyhow::Result<Value> {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).context("read a frame")?;
            let length = match head[1] & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes()?)),
                127 => u64::from_be_bytes(self.bytes()?),
                short => u64::from(short),
            };
            if length > FRAME_BYTES_MAX {
                bail!("a frame of {length} bytes");
            }
            let mut body = vec![0; usize::try_from(length)?];
            self.stream.read_exact(&mut body)?;
            match head[0] & 0x0f {
                1 => return serde_json::from_slice(&body).context("read a frame's JSON"),
                8 => bail!("closed by the other side"),
                // Pings and pongs.
                _ => {}
            }
        }
    }

    fn bytes<const COUNT: usize>(&mut self) -> anyhow::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
