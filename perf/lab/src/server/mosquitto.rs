//! Debian's mosquitto as a child process: the broker that plants compare with.
//!
//! Its configuration is as light as it can be: everyone may come in, nothing is persisted, nothing
//! is logged. It acknowledges without storing, so it is compared on easier terms than the
//! appliance has.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::{Target, free_address, listens, nobodies};
use crate::launch::{Child, Speech};
use crate::stop;

const START_LIMIT: Duration = Duration::from_secs(10);
/// Where Debian puts daemons, which is not in every user's PATH.
const PLACES: [&str; 3] =
    ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"];

/// A running mosquitto.
pub(crate) struct Mosquitto {
    child: Child,
    target: Target,
    _folder: TempDir,
}

/// The installed program, or what to do.
pub(crate) fn find() -> Result<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file()).context(
        "mosquitto is not installed: install it with `apt-get install mosquitto` \
         (its service need not run)",
    )
}

/// The version it says it has.
pub(crate) fn version(program: &PathBuf) -> Option<String> {
    let output = Command::new(program).arg("-h").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next()?.strip_prefix("mosquitto version ").map(str::to_owned)
}

impl Mosquitto {
    pub(crate) fn start(core: Option<usize>, clients: usize) -> Result<Self> {
        let program = find()?;
        let folder = tempfile::Builder::new().prefix("millrace-lab-").tempdir()?;
        let address = free_address()?;
        let file = folder.path().join("mosquitto.conf");
        // Changing its user would clear the signal that ends it with the lab.
        let user = if rustix::process::geteuid().is_root() { "user root\n" } else { "" };
        let config = format!(
            "{user}listener {} {}\nallow_anonymous true\npersistence false\nlog_dest none\n\
             max_inflight_messages 0\nmax_queued_messages 0\nset_tcp_nodelay true\n",
            address.port(),
            address.ip()
        );
        File::create(&file)?.write_all(config.as_bytes()).context("write mosquitto.conf")?;
        let arguments = [OsString::from("-c"), file.into_os_string()];
        let mut child = Child::start("mosquitto", &program, &arguments, core, Speech::Silent)?;
        stop::wait_for("mosquitto to listen", START_LIMIT, Duration::from_millis(10), || {
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
