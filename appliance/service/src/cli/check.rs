//! `millrace check`: the configuration, all faults at once.

use super::Place;
use crate::config::{Config, Fault, Loaded, Origin, Setting};
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
                loaded.use_data_folder(data);
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
    writeln!(out, "The configuration is good.")?;
    let mut given = 0;
    for Setting { key, value, origin, .. } in loaded.effective() {
        let from = match origin {
            Origin::Default => continue,
            Origin::File => "file",
            Origin::Override => "variable or command line",
        };
        given += 1;
        writeln!(out, "  {key} = {value}  ({from})")?;
    }
    let rest = if given == 0 {
        "Every setting has its default."
    } else {
        "The others have their default."
    };
    writeln!(out, "{rest}")?;
    Ok(())
}
