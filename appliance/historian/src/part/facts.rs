//! What is known of a part without opening it; the manifest holds these.
//!
//! A part's name is `<class>/<start of span>-<seal>-<tail checksum>.parquet`, for instance
//! `7d/20261130T14-0000002a-91c3f00d.parquet`.
//!
//! **Invariants**: the name is told by the other facts, so a renamed file is not a part.

use crate::error::{Error, Result};
use millrace_model::{Retention, Timestamp};
use serde::{Deserialize, Serialize};

/// Version of the part format; also in each file's metadata.
pub(crate) const PART_FORMAT: u32 = 1;

/// Facts of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartFacts {
    /// Folder and file name, joined by `/`.
    pub(crate) name: String,
    pub(crate) class: Retention,
    /// Number of the seal that wrote it; ascends over journals.
    pub(crate) seal: u64,
    /// Counts journals: one more each time the journal was found to have begun anew.
    pub(crate) epoch: u64,
    /// Records of the journal that the seal covered.
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    /// Source times in nanoseconds, both ends within.
    pub(crate) time_min: i64,
    pub(crate) time_max: i64,
    pub(crate) tag_min: u32,
    pub(crate) tag_max: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// Where the last row group ends.
    pub(crate) tail_start: u64,
    /// CRC-32C of the bytes from `tail_start` to the end.
    pub(crate) tail_crc: u32,
}

impl PartFacts {
    /// The name that these facts give for a span that starts here.
    pub(crate) fn name_for(class: Retention, start: i64, seal: u64, tail_crc: u32) -> String {
        // 2026-11-30T14 of 2026-11-30T14:05:37Z
        let text = Timestamp(start).to_rfc3339();
        let hour: String = text.chars().take(13).filter(|c| *c != '-').collect();
        format!("{}/{hour}-{seal:08x}-{tail_crc:08x}.parquet", class.name())
    }

    /// The class and tail checksum that a name tells.
    pub(crate) fn parse_name(name: &str) -> Result<(Retention, u32)> {
        let bad = || Error::damaged(name, "its name is not that of a part");
        let (class, file) = name.split_once('/').ok_or_else(bad)?;
        let class = Retention::from_name(class).ok_or_else(bad)?;
        let stem = file.strip_suffix(".parquet").ok_or_else(bad)?;
        let crc = stem.rsplit('-').next().filter(|crc| crc.len() == 8).ok_or_else(bad)?;
        Ok((class, u32::from_str_radix(crc, 16).map_err(|_not_hex| bad())?))
    }

    /// Whether samples of this window may be inside; `to` does not count any more.
    pub(crate) fn overlaps(&self, tag: u32, from: i64, to: i64) -> bool {
        self.time_max >= from && self.time_min < to && self.tag_min <= tag && tag <= self.tag_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_class_and_checksum() {
        let hour = Timestamp::from_rfc3339("2026-11-30T14:05:37Z").expect("a time");
        let name = PartFacts::name_for(Retention::Days7, hour.0, 42, 0x91c3_f00d);
        assert_eq!(name, "7d/20261130T14-0000002a-91c3f00d.parquet");
        let told = PartFacts::parse_name(&name).expect("a part's name");
        assert_eq!(told, (Retention::Days7, 0x91c3_f00d));
        for bad in ["x", "7d/x", "9d/20261130T14-1-91c3f00d.parquet", "7d/a-1-zzzzzzzz.parquet"] {
            assert!(matches!(PartFacts::parse_name(bad), Err(Error::Damaged { .. })), "{bad}");
        }
    }
}
