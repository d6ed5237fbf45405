//! `millrace verify`: reads every file of a stopped appliance and checks its checksums.

use super::output::counted;
use super::{Place, check};
use crate::wiring;
use anyhow::{Context as _, bail};
use std::io::Write as _;

pub(super) fn run(place: &Place) -> anyhow::Result<()> {
    let loaded = check::load(place)?;
    let data = loaded.config.data_dir.clone();
    if !data.is_dir() {
        bail!("{} is not there; name the data folder with --data", data.display());
    }
    // Before the lock, which would leave its file in somebody else's folder.
    if !data.join("journal").is_dir() {
        bail!(
            "{} holds no journal, so it is no data folder; name the data folder with --data",
            data.display()
        );
    }
    // Holding the lock: files that an appliance writes meanwhile would look damaged.
    let _folder = wiring::claim_folder(&data).context("verify needs a stopped appliance")?;
    let mut out = std::io::stdout().lock();
    let mut faults = 0_u64;
    for wiring::Finding { part, summary, faults: found } in wiring::verify(&loaded.config)? {
        writeln!(out, "{part}: {summary}")?;
        for fault in found {
            faults += 1;
            writeln!(out, "  {fault}")?;
        }
    }
    if faults > 0 {
        bail!(
            "{} found; the appliance starts all the same and sets aside what is damaged",
            counted(faults, "fault")
        );
    }
    writeln!(out, "All files are good.")?;
    Ok(())
}
