//! Where a pipeline's file lies: `projects/<profile>/<workspace>/<pipeline>.json`.
//!
//! **Invariants**: a name from outside becomes one file name that means the same on every system
//! (no separators, no case, no reserved names) and reads back.

use crate::fault::{Fault, Result};
use crate::profile::ProfileId;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Longest name of a workspace or pipeline that is kept.
const NAME_BYTES_MAX: usize = 64;

/// A pipeline of a workspace of an appliance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) profile: ProfileId,
    pub(crate) workspace: String,
    pub(crate) name: String,
}

impl Place {
    pub(crate) fn new(profile: ProfileId, workspace: String, name: String) -> Result<Self> {
        check(&workspace, "workspace")?;
        check(&name, "name")?;
        Ok(Self { profile, workspace, name })
    }

    pub(super) fn file(&self, projects: &Path) -> PathBuf {
        let folder = folder(projects, &self.profile, &self.workspace);
        folder.join(format!("{}.json", file_name(&self.name)))
    }
}

pub(super) fn check(name: &str, field: &'static str) -> Result<()> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(Fault::invalid(field, format!("A name has 1 to {NAME_BYTES_MAX} bytes.")));
    }
    Ok(())
}

pub(super) fn folder(projects: &Path, profile: &ProfileId, workspace: &str) -> PathBuf {
    projects.join(profile.as_str()).join(file_name(workspace))
}

/// Lower-case letters, digits and hyphens stay; everything else becomes `=41`. The first letter is
/// ours, so that no system takes the name for a device.
fn file_name(name: &str) -> String {
    let mut file = String::from("p");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => file.push(char::from(byte)),
            // Writing to a String cannot fail.
            other => _ = write!(file, "={other:02X}"),
        }
    }
    file
}

/// The name that a file was made for; `None` when it is none of ours.
pub(super) fn read_name(file: &str) -> Option<String> {
    let mut bytes = file.strip_suffix(".json")?.strip_prefix('p')?.bytes();
    let mut name = Vec::new();
    while let Some(byte) = bytes.next() {
        name.push(match byte {
            b'=' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_one_harmless_file_name() {
        for (name, file) in [
            ("oee-counter", "poee-counter"),
            ("../../etc", "p=2E=2E=2F=2E=2E=2Fetc"),
            ("Con", "p=43on"),
            ("nul", "pnul"),
            ("a\0b", "pa=00b"),
            ("ü", "p=C3=BC"),
        ] {
            assert_eq!(file_name(name), file);
            assert_eq!(read_name(&format!("{file}.json")).as_deref(), Some(name));
        }
        assert_eq!(read_name("pa.json.new"), None);
        assert_eq!(read_name("pa.json.damaged-1"), None);
        assert_eq!(read_name("p=4.json"), None);
    }
}
