//! `millrace check`: the configuration, all faults at once.

use super::Place;
use crate::config::{Config, Fault, Loaded, Origin};
use anyhow::bail;
use std::io::Write as _;

/// Reads the configuration that `place` names, with `--data` laid over it.
///
/// # Errors
/// All faults, one a line.
pub(crate) fn load(place: &Place) -> anyhow::Result<Loaded> {
    match Config::load(place.config.as_deref()) {
        Ok(mut loaded) => {
            if let Some(data) = &place.data {
                loaded.config.data_dir.clone_from(data);
            }
            Ok(loaded)
        }
        Err(faults) => bail!("the configuration has faults:{}", list(&faults)),
    }
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}

pub(super) fn run(place: &Place) -> anyhow::Result<()> {
    let loaded = load(place)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "The configuration is good. Settings that are not the default:")?;
    for (key, value, origin) in loaded.effective() {
        let from = match origin {
            Origin::Default => continue,
            Origin::File => "file",
            Origin::Override => "variable or command line",
        };
        writeln!(out, "  {key} = {value}  ({from})")?;
    }
    Ok(())
}
