//! Opening a connection to the server under test.
//!
//! **Invariants**
//! - A connection that is connected to itself is refused: with nobody listening, a port of the
//!   range for outgoing connections can be given to the very connection that asks for it, and TCP
//!   then connects it to itself.

use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Connects within `limit`. [`ErrorKind::ConnectionRefused`] when nobody listens.
pub(crate) fn dial(address: SocketAddr, limit: Duration) -> Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, limit)?;
    if is_own(&stream)? {
        return Err(Error::new(ErrorKind::ConnectionRefused, "nobody listens there"));
    }
    Ok(stream)
}

/// Whether nobody took the connection, or whoever took it was on the way out.
pub(crate) fn is_nobody(error: &Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, TimedOut};
    matches!(error.kind(), ConnectionRefused | ConnectionReset | ConnectionAborted | TimedOut)
}

fn is_own(stream: &TcpStream) -> Result<bool> {
    Ok(stream.local_addr()? == stream.peer_addr()?)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(2);

    #[test]
    fn tells_a_listener_from_nobody() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        assert!(dial(address, LIMIT).is_ok());
        drop(listener);
        assert!(is_nobody(&dial(address, LIMIT).unwrap_err()));
        assert!(!is_nobody(&ErrorKind::PermissionDenied.into()));
    }

    #[test]
    fn recognizes_a_connection_to_itself() {
        // Given a socket on a free port that connects to that very port
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let stream = TcpStream::from(socket);
        connect(&stream, &stream.local_addr().unwrap()).unwrap();
        // Then it is connected, to nobody
        assert!(is_own(&stream).unwrap());
    }
}
