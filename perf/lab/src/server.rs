//! The servers that take the load: the appliance, the floor, and other programs.
//!
//! **Invariants**
//! - All are started by the lab, on the same core, on loopback, and end with their guard.

pub(crate) mod appliance;
pub(crate) mod floor;
pub(crate) mod mosquitto;
pub(crate) mod node_red;
pub(crate) mod outside;
pub(crate) mod postgres;
pub(crate) mod rumqttd;
pub(crate) mod slow_disk;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::load::dial::dial;
use crate::load::spec::Credential;

/// What a load needs to know of a server.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    /// Further processes whose CPU counts as the server's.
    pub(crate) beside: Vec<u32>,
    /// Enough for every client of the run.
    pub(crate) clients: Vec<Credential>,
    /// Whether it answers with verdicts.
    pub(crate) has_verdicts: bool,
}

/// A free port of this machine. Another program may take it before the server does; then the
/// server says so and the run is started again by hand.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("look for a free port")?;
    listener.local_addr().context("look for a free port")
}

/// Clients of a server that lets everyone in.
pub(crate) fn nobodies(count: usize) -> Vec<Credential> {
    // As long as the appliance's own ids, so that packets have the same size.
    (0..count).map(|number| Credential { user: format!("c-{number:010}"), secret: None }).collect()
}

/// A program that is in PATH, or where cargo installs.
pub(crate) fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo = std::env::home_dir().map(|home| home.join(".cargo/bin"));
    std::env::split_paths(&path)
        .chain(cargo)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// Whether something listens there.
pub(crate) fn listens(address: SocketAddr) -> bool {
    dial(address, Duration::from_millis(200)).is_ok()
}
