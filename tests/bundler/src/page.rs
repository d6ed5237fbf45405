//! The page: `index.html` with the version of the assets filled in.
//!
//! **Invariants**
//! - The version changes when any byte of any asset changes.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// What stands in the page for the folder of the assets.
const MARK: &str = "{assets}";
/// Characters of a version: 64 bits of the hash.
const VERSION_CHARACTERS: usize = 16;

/// The version of everything in a folder.
pub(crate) fn version(folder: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for path in crate::files(folder)? {
        let below = path.strip_prefix(folder).context("stay in the folder")?;
        let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let name = below.to_string_lossy().replace('\\', "/");
        hasher.update(name.as_bytes()).update(&[0]);
        hasher.update(&u64::try_from(bytes.len()).context("a length")?.to_le_bytes());
        hasher.update(&bytes);
    }
    Ok(hasher.finalize().to_hex().chars().take(VERSION_CHARACTERS).collect())
}

/// The page that loads this version.
pub(crate) fn fill(text: &str, version: &str) -> Result<String> {
    if !text.contains(MARK) {
        bail!("index.html has no {MARK} in it");
    }
    Ok(text.replace(MARK, &format!("/assets/{version}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_the_folder_of_the_assets() {
        let page = fill("<script src=\"{assets}/start.js\">", "0123").expect("a mark");
        assert_eq!(page, "<script src=\"/assets/0123/start.js\">");
    }

    #[test]
    fn refuses_a_page_that_loads_nothing() {
        let error = fill("<p>", "0123").expect_err("no mark");
        assert!(error.to_string().contains("no {assets}"), "{error}");
    }
}
