//! The pages, inside of the program: what `cargo xtask ui` built.

use std::borrow::Cow;
use tauri::Assets;
use tauri::Runtime;
use tauri::utils::assets::{AssetKey, AssetsIter, CspHash};

/// Name and content of each file.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

/// The embedded bundle.
pub(crate) struct Bundle;

impl<R: Runtime> Assets<R> for Bundle {
    fn get(&self, key: &AssetKey) -> Option<Cow<'_, [u8]>> {
        let found = FILES.iter().find(|(name, _)| *name == key.as_ref());
        found.map(|(_, bytes)| Cow::Borrowed(*bytes))
    }

    fn iter(&self) -> Box<AssetsIter<'_>> {
        let borrowed = |(name, bytes): &(&'static str, &'static [u8])| {
            (Cow::Borrowed(*name), Cow::Borrowed(*bytes))
        };
        Box::new(FILES.iter().map(borrowed))
    }

    fn csp_hashes(&self, _html_path: &AssetKey) -> Box<dyn Iterator<Item = CspHash<'_>> + '_> {
        // The pages have no script or style of their own in the HTML.
        Box::new(std::iter::empty())
    }
}
