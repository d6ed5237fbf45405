//! The style sheet: one file out of the kit's and the app's, so that a page loads once.
//!
//! Each widget and page has its `.css` beside its `.rs`; nothing has to be registered. The order is
//! `tokens.css`, `base.css`, the kit's others, then the app's, each group by path.
//!
//! **Invariants**
//! - No sheet reaches outside of the bundle: `@import` and foreign addresses are refused.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// What comes before everything else.
const FIRST: [&str; 2] = ["tokens.css", "base.css"];
/// What a style sheet must not contain: the security policy of the page would refuse it anyway.
const REFUSED: [&str; 4] = ["@import", "http:", "https:", "url(//"];

/// All style sheets in one text.
pub(crate) fn gather(checkout: &Path) -> Result<String> {
    let mut text = String::new();
    for room in ["ui/kit/src", "ui/app/src"] {
        let mut sheets: Vec<PathBuf> = crate::files(&checkout.join(room))?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "css"))
            .collect();
        sheets.sort_by_key(|path| (rank(path), path.clone()));
        for sheet in sheets {
            let css =
                fs::read_to_string(&sheet).with_context(|| format!("read {}", sheet.display()))?;
            judge(&css).with_context(|| format!("take in {}", sheet.display()))?;
            text.push_str(&css);
            text.push('\n');
        }
    }
    Ok(text)
}

fn rank(path: &Path) -> usize {
    let name = path.file_name().unwrap_or_default();
    FIRST.iter().position(|first| name == *first).unwrap_or(FIRST.len())
}

fn judge(css: &str) -> Result<()> {
    match REFUSED.iter().find(|word| css.contains(**word)) {
        Some(word) => bail!("a style sheet must not contain `{word}`"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_tokens_before_everything() {
        let mut paths = ["a/button.css", "a/base.css", "a/tokens.css"].map(PathBuf::from);
        paths.sort_by_key(|path| (rank(path), path.clone()));
        assert_eq!(paths, ["a/tokens.css", "a/base.css", "a/button.css"].map(PathBuf::from));
    }

    #[test]
    fn refuses_what_reaches_outside() {
        let error = judge("@import 'x.css';").expect_err("an import");
        assert!(error.to_string().contains("@import"), "{error}");
        judge(".a { background: url(\"data:image/svg+xml,x\"); }").expect("inside of the bundle");
    }
}
