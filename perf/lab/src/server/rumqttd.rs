//! rumqttd as a child process: a broker in Rust, from crates.io.
//!
//! Its configuration lets everyone in and persists nothing. It keeps what was published in memory,
//! and acknowledges without storing.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::{Target, find_in_path, free_address, listens, nobodies};
use crate::launch::{Child, Speech};
use crate::stop;

const START_LIMIT: Duration = Duration::from_secs(10);

/// A running rumqttd.
pub(crate) struct Rumqttd {
    child: Child,
    target: Target,
    _folder: TempDir,
}

/// The installed program, or what to do.
pub(crate) fn find() -> Result<PathBuf> {
    find_in_path("rumqttd").context(
        "rumqttd is not installed: `cargo install rumqttd --locked --no-default-features` \
         (`cargo xtask setup` says what else is missing)",
    )
}

/// The version it says it has.
pub(crate) fn version(program: &PathBuf) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next()?.strip_prefix("rumqttd ").map(str::to_owned)
}

impl Rumqttd {
    pub(crate) fn start(core: Option<usize>, clients: usize) -> Result<Self> {
        let program = find()?;
        let folder = tempfile::Builder::new().prefix("millrace-lab-").tempdir()?;
        let address = free_address()?;
        let file = folder.path().join("rumqttd.toml");
        let config = format!(
            "id = 0\n\
             [router]\nid = 0\nmax_connections = {}\nmax_outgoing_packet_count = 200\n\
             max_segment_size = 1048576\nmax_segment_count = 2\n\
             [v5.1]\nname = \"lab\"\nlisten = \"{address}\"\nnext_connection_delay_ms = 0\n\
             [v5.1.connections]\nconnection_timeout_ms = 60000\nmax_payload_size = 20480\n\
             max_inflight_count = 1000\n",
            clients + 10
        );
        File::create(&file)?.write_all(config.as_bytes()).context("write rumqttd.toml")?;
        let arguments: Vec<OsString> = vec!["--quiet".into(), "--config".into(), file.into()];
        let said = Speech::ErrorsTo(File::create(folder.path().join("said"))?);
        let mut child = Child::start("rumqttd", &program, &arguments, core, said)?;
        stop::wait_for("rumqttd to listen", START_LIMIT, Duration::from_millis(10), || {
            child.check_alive()?;
            Ok(listens(address).then_some(()))
        })?;
        let target = Target {
            address,
            pid: child.pid(),
            beside: Vec::new(),
            clients: nobodies(clients),
            has_verdicts: false,
        };
        Ok(Self { child, target, _folder: folder })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.child.check_alive()
    }
}
