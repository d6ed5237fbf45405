//! The manifest: which parts are live, and up to where the journal has been taken over.
//!
//! `manifest.json` is one line of JSON and one line `crc32c xxxxxxxx` over the first
//! (docs/formats/part.md). It is replaced as a whole; the one before stays as
//! `manifest.previous.json`. If neither can be read, the parts tell what they are.
//!
//! **Invariants**: a part is live only when a durable manifest names it; a manifest whose
//! checksum does not fit is never used.

use crate::config::MANIFEST_BYTES_MAX;
use crate::error::{Error, Result};
use crate::part::PartFacts;
use millrace_journal::Disk;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the manifest's format.
pub(crate) const MANIFEST_FORMAT: u32 = 1;
const CURRENT: &str = "manifest.json";
const PREVIOUS: &str = "manifest.previous.json";

/// The manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// Counts journals; see [`PartFacts::epoch`].
    pub(crate) epoch: u64,
    /// Number of the next seal.
    pub(crate) next_seal: u64,
    /// Samples of all records up to this seq are in parts.
    pub(crate) checkpoint: u64,
    /// The latest wall time that was believed, in nanoseconds.
    pub(crate) wall_time_max: i64,
    pub(crate) parts: Vec<PartFacts>,
    /// Parts whose files are being removed.
    pub(crate) removed: Vec<String>,
}

/// What was found.
#[derive(Debug)]
pub(crate) enum Loaded {
    /// The current manifest.
    Current(Manifest),
    /// None was ever written.
    Nothing,
    /// The current one cannot be used; perhaps the one before can.
    Damaged { why: String, previous: Option<Manifest> },
}

impl Manifest {
    pub(crate) fn empty() -> Self {
        Self {
            format: MANIFEST_FORMAT,
            epoch: 0,
            next_seal: 1,
            checkpoint: 0,
            wall_time_max: i64::MIN,
            parts: Vec::new(),
            removed: Vec::new(),
        }
    }

    pub(crate) fn load(disk: &dyn Disk, dir: &Path) -> Loaded {
        let current = read(disk, &dir.join(CURRENT));
        match current {
            Ok(Some(manifest)) => Loaded::Current(manifest),
            Ok(None) => match read(disk, &dir.join(PREVIOUS)) {
                Ok(None) => Loaded::Nothing,
                previous => Loaded::Damaged {
                    why: "it is missing".to_owned(),
                    previous: previous.ok().flatten(),
                },
            },
            Err(error) => Loaded::Damaged {
                why: crate::error::chain(&error),
                previous: read(disk, &dir.join(PREVIOUS)).ok().flatten(),
            },
        }
    }

    /// Writes this as the current manifest, durably, and keeps the one before.
    pub(crate) fn store(&self, disk: &dyn Disk, dir: &Path) -> Result<()> {
        let current = dir.join(CURRENT);
        let previous = dir.join(PREVIOUS);
        if let Ok(bytes) = disk.read(&current, MANIFEST_BYTES_MAX)
            && Self::decode(&current, &bytes).is_ok()
        {
            disk.durable_write(&previous, &bytes).map_err(Error::io("write", &previous))?;
        }
        disk.durable_write(&current, &self.encode()?).map_err(Error::io("write", &current))
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes =
            serde_json::to_vec(self).map_err(|error| Error::Encode(error.to_string()))?;
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(format!("\ncrc32c {crc:08x}\n").as_bytes());
        Ok(bytes)
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::str::from_utf8(bytes).map_err(|error| Error::damaged(&name, error))?;
        let (json, last) = text
            .strip_suffix('\n')
            .and_then(|text| text.rsplit_once('\n'))
            .ok_or_else(|| Error::damaged(&name, "it ends early"))?;
        let crc = last.strip_prefix("crc32c ").and_then(|crc| u32::from_str_radix(crc, 16).ok());
        if crc != Some(crc32c::crc32c(json.as_bytes())) {
            return Err(Error::damaged(&name, "its checksum is wrong"));
        }
        let manifest: Self =
            serde_json::from_str(json).map_err(|error| Error::damaged(&name, error))?;
        if manifest.format != MANIFEST_FORMAT {
            let what = format!("its format {} is not known to this version", manifest.format);
            return Err(Error::damaged(&name, what));
        }
        Ok(manifest)
    }
}

fn read(disk: &dyn Disk, path: &PathBuf) -> Result<Option<Manifest>> {
    if disk.len(path).map_err(Error::io("measure", path))?.is_none() {
        return Ok(None);
    }
    let bytes = disk.read(path, MANIFEST_BYTES_MAX).map_err(Error::io("read", path))?;
    Manifest::decode(path, &bytes).map(Some)
}
