//! The floor server as a child process.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};

use anyhow::{Context, Result};

use super::{Target, nobodies};
use crate::launch::{Child, Speech, own_program};

/// A running floor server.
pub(crate) struct Floor {
    child: Child,
    target: Target,
}

impl Floor {
    pub(crate) fn start(core: Option<usize>, clients: usize) -> Result<Self> {
        let arguments = ["floor", "--listen", "127.0.0.1:0"].map(OsString::from);
        let mut child =
            Child::start("the floor server", &own_program()?, &arguments, core, Speech::Pipes)?;
        let mut line = String::new();
        BufReader::new(child.take_stdout()?)
            .read_line(&mut line)
            .context("hear where the floor server listens")?;
        let address = line.trim().parse().context("hear where the floor server listens")?;
        let target = Target {
            address,
            pid: child.pid(),
            beside: Vec::new(),
            clients: nobodies(clients),
            has_verdicts: false,
        };
        Ok(Self { child, target })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.child.check_alive()
    }
}
