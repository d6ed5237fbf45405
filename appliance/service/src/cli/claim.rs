//! `millrace claim`: the first admin, with the code that the appliance shows at its start.
//!
//! **Invariants**: the password is never an argument; it comes from a prompt or from standard input.

use super::Place;
use super::local::{self, Appliance};
use super::typed;
use anyhow::{Context as _, bail};
use clap::Args;
use millrace_client::Error;
use millrace_contract::v1;
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  millrace claim 7KQ2-9WDM-XA4B-H3TC anna
  printf %s \"$PASSWORD\" | millrace claim 7KQ2-9WDM-XA4B-H3TC anna

The appliance shows the code when it starts, as long as it has no admin; it is good for an hour, and
a restart shows a new one. The password is asked for, or read from standard input.";

/// Who becomes the first admin.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ClaimArgs {
    /// The claim code, as the appliance shows it.
    code: String,
    /// The name of the first admin.
    name: String,
}

pub(super) fn run(place: &Place, args: ClaimArgs) -> anyhow::Result<()> {
    let ClaimArgs { code, name } = args;
    let appliance = Appliance::connect(place)?;
    let state = local::block_on(async { Ok(appliance.api.claim_state().await?) });
    if !state.context("ask whether the appliance has an admin")?.open {
        bail!("this appliance has its first admin already, who adds further people");
    }
    let password = typed::new_password(&format!("Password for {name}: "))?;
    let claim = v1::Claim { code, name, password };
    let session = local::block_on(async { Ok(appliance.api.claim(&claim).await) })?;
    let session = session.map_err(|error| match error {
        Error::Refused { detail, .. } if detail.code == v1::ErrorCode::Unauthorized => {
            anyhow::anyhow!(
                "the code is not the one that the appliance showed last, or its hour is over; a \
                 restart of the appliance shows a new one"
            )
        }
        error => anyhow::Error::new(error).context("claim the appliance"),
    })?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} is the first admin now, and signs in with name and password.", session.name)?;
    Ok(())
}
