//! MQTT over WebSocket: whether the appliance speaks it.
//!
//! **Invariants**
//! - The product is asked, not a list: the day that it answers, the row says that the lab is what
//!   is missing.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::super::options::{Common, Durability, merge};
use crate::output;
use crate::server::appliance::Appliance;

const LIMIT: Duration = Duration::from_secs(2);

/// Asks both listeners for MQTT over WebSocket and writes what they said.
pub(super) fn run(common: &Common) -> Result<ExitCode> {
    common.prepare()?;
    let folder = common.folder()?;
    let appliance = Appliance::start(common.setup(folder.path(), Durability::Sync)?)?;
    let (mqtt, http) = appliance.addresses();
    let speaks = [mqtt, http].into_iter().any(is_upgraded);
    let (is_built, why) = match speaks {
        true => {
            (true, "the appliance speaks MQTT over WebSocket, and this lab has no client for it")
        }
        false => (
            false,
            "the appliance has no MQTT over WebSocket: it answers no upgrade on its listeners",
        ),
    };
    let mut result = common.head("variant", None);
    merge(
        &mut result,
        json!({ "kind": "websocket", "skipped": true, "not_built": !is_built, "why": why }),
    );
    output::say(&format!("not measured: {why}"));
    output::save(&result, common.json.as_deref())?;
    appliance.stop()?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a listener takes up the protocol `mqtt`.
fn is_upgraded(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
        stream.set_read_timeout(Some(LIMIT))?;
        let request = format!(
            "GET /mqtt HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok(answer.starts_with(b"HTTP/1.1 101"))
    };
    ask().unwrap_or(false)
}
