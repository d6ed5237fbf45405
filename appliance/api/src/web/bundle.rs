//! Files of a bundle: which name stands for which file, read in one go.
//!
//! **Invariants**
//! - A name is made of plain characters: no `..`, no hidden file, no `%`, no other folder.
//! - A file larger than [`FILE_BYTES_MAX`] is not there.

use axum::http::{HeaderMap, header};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest file that is served: a development build of the studio is some ten megabytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Segments of an asset's address at most.
const SEGMENTS_MAX: usize = 8;
/// Characters of one segment at most.
const SEGMENT_CHARACTERS_MAX: usize = 128;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// `index.html`.
    Page,
    /// A file below `assets`.
    Asset(PathBuf),
}

impl Lookup {
    /// The file that an address below `assets` stands for; `None` when it stands for none.
    pub(super) fn asset(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').collect();
        let [folder, version, rest @ ..] = segments.as_slice() else { return None };
        let fits = *folder == "assets" && !rest.is_empty() && segments.len() <= SEGMENTS_MAX;
        (fits && is_plain(version) && rest.iter().all(|segment| is_plain(segment)))
            .then(|| Self::Asset(segments.iter().collect()))
    }
}

fn is_plain(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !segment.is_empty()
        && segment.len() <= SEGMENT_CHARACTERS_MAX
        && !segment.starts_with('.')
        && segment.bytes().all(plain)
}

/// A compression that was done beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gz",
        }
    }

    /// What the browser takes, the smaller first.
    pub(super) fn accepted(headers: &HeaderMap) -> Vec<Self> {
        let mut accepted = Vec::new();
        let lists = headers.get_all(header::ACCEPT_ENCODING);
        let text: Vec<&str> = lists.iter().filter_map(|value| value.to_str().ok()).collect();
        let text = text.join(",");
        for encoding in [Self::Brotli, Self::Gzip] {
            let takes = text.split(',').any(|entry| {
                let (name, quality) = entry.split_once(';').unwrap_or((entry, ""));
                let refused = quality
                    .trim()
                    .strip_prefix("q=")
                    .and_then(|quality| quality.parse::<f32>().ok())
                    .is_some_and(|quality| quality <= 0.0);
                name.trim().eq_ignore_ascii_case(encoding.name()) && !refused
            });
            if takes {
                accepted.push(encoding);
            }
        }
        accepted
    }
}

/// One file, read.
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    pub(super) media_type: &'static str,
    pub(super) encoding: Option<Encoding>,
    /// Whether it never changes under its name.
    pub(super) immutable: bool,
    /// Its entity tag, in quotes.
    pub(super) tag: String,
}

/// Reads the file; `None` when there is none. Blocks.
pub(super) fn find(folder: &Path, lookup: &Lookup, encodings: &[Encoding]) -> Option<File> {
    let (below, immutable) = match lookup {
        Lookup::Page => (Path::new("index.html"), false),
        Lookup::Asset(below) => (below.as_path(), true),
    };
    let folder = folder.canonicalize().ok()?;
    let path = folder.join(below);
    // The file itself has to be there: a compressed one is only another form of it.
    let media_type = media_type(&path);
    let plain = inside(&folder, &path)?;
    let compressed = encodings.iter().find_map(|encoding| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(encoding.ending());
        Some((*encoding, read(&inside(&folder, Path::new(&name))?)?))
    });
    let (encoding, bytes) = match compressed {
        Some((encoding, bytes)) => (Some(encoding), bytes),
        None => (None, read(&plain)?),
    };
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let hex: String = digest.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Some(File { bytes, media_type, encoding, immutable, tag: format!("\"{hex}\"") })
}

/// The file that a path stands for, links followed, if it lies in the folder.
fn inside(folder: &Path, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    real.starts_with(folder).then_some(real)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).ok()?);
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|end| end.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn looks_up_plain_names_below_assets_only() {
        assert!(Lookup::asset("assets/0123/app_bg.wasm").is_some());
        assert!(Lookup::asset("assets/0123/islands/trend.js").is_some());
        for path in [
            "assets",
            "assets/",
            "assets/0123",
            "assets/0123/",
            "assets//x",
            "assets/../secret.key",
            "assets/0123/../../secret.key",
            "assets/0123/..",
            "assets/0123/.hidden",
            "assets/0123/%2e%2e/x",
            "assets/0123/a b",
            "assets/0123/a\\b",
            "assets/0123/a\0b",
            "index.html",
            "other/0123/x",
            "assets/1/2/3/4/5/6/7/8",
        ] {
            assert_eq!(Lookup::asset(path), None, "{path}");
        }
    }

    #[test]
    fn prefers_the_smaller_of_what_is_taken() {
        let accepted = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_str(text).unwrap());
            Encoding::accepted(&headers)
        };
        assert_eq!(accepted("gzip, deflate, br, zstd"), [Encoding::Brotli, Encoding::Gzip]);
        assert_eq!(accepted("gzip;q=1.0, br;q=0"), [Encoding::Gzip]);
        assert_eq!(accepted("identity"), []);
    }
}
