//! Compression beforehand, once, as hard as it goes: a server then only picks a file.
//!
//! **Invariants**
//! - `x.br` and `x.gz` beside `x` hold the same bytes as `x`; small files have none.
//! - The budget counts everything, also what is loaded only when it is needed, in brotli; gzip, for
//!   browsers that take brotli over TLS alone, has a limit of its own.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

/// What the whole bundle may take, in brotli.
const BUDGET_BYTES: u64 = 1_500_000;
/// What it may take in gzip, which packs such code a third worse.
const GZIP_BYTES_MAX: u64 = 2_000_000;
/// Below this a compressed file saves nothing worth a file.
const COMPRESSED_BYTES_MIN: usize = 512;

/// What the bundle takes.
#[derive(Default)]
pub(crate) struct Sizes {
    raw: u64,
    brotli: u64,
    gzip: u64,
    compressed: bool,
}

impl Sizes {
    /// For a person.
    pub(crate) fn shown(&self) -> String {
        let kilobytes = |bytes: u64| bytes.div_ceil(1_000);
        if self.compressed {
            format!(
                "{} kB; gzip {} kB, brotli {} kB of {} kB allowed",
                kilobytes(self.raw),
                kilobytes(self.gzip),
                kilobytes(self.brotli),
                kilobytes(BUDGET_BYTES)
            )
        } else {
            format!("{} kB, not compressed", kilobytes(self.raw))
        }
    }

    /// Refuses a bundle that is too large.
    pub(crate) fn hold_budget(&self) -> Result<()> {
        for (name, bytes, most) in
            [("brotli", self.brotli, BUDGET_BYTES), ("gzip", self.gzip, GZIP_BYTES_MAX)]
        {
            if bytes > most {
                bail!("the bundle takes {bytes} bytes in {name}; its budget is {most}");
            }
        }
        Ok(())
    }
}

/// Compresses all files of a bundle, or only measures them.
pub(crate) fn all(folder: &Path, compress: bool) -> Result<Sizes> {
    let mut sizes = Sizes { compressed: compress, ..Sizes::default() };
    for path in crate::files(folder)? {
        let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let raw = length(&bytes)?;
        sizes.raw += raw;
        if !compress || bytes.len() < COMPRESSED_BYTES_MIN {
            sizes.brotli += raw;
            sizes.gzip += raw;
            continue;
        }
        sizes.brotli += write(&ended(&path, "br"), &brotli(&bytes)?)?;
        sizes.gzip += write(&ended(&path, "gz"), &gzip(&bytes)?)?;
    }
    Ok(sizes)
}

fn ended(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    PathBuf::from(name)
}

fn write(path: &Path, bytes: &[u8]) -> Result<u64> {
    let mut file =
        BufWriter::new(File::create(path).with_context(|| format!("create {}", path.display()))?);
    file.write_all(bytes).and_then(|()| file.flush()).context("write a compressed file")?;
    length(bytes)
}

fn length(bytes: &[u8]) -> Result<u64> {
    u64::try_from(bytes.len()).context("a length")
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let parameters = BrotliEncoderParams { quality: 11, lgwin: 24, ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut compressed, &parameters).context("compress")?;
    Ok(compressed)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).context("compress")?;
    encoder.finish().context("compress")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn compressed_files_hold_the_same_bytes() {
        let text = "the same bytes ".repeat(100).into_bytes();
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(gzip(&text).expect("gzip").as_slice())
            .read_to_end(&mut back)
            .expect("it is gzip");
        assert_eq!(back, text);
        let mut back = Vec::new();
        brotli::BrotliDecompress(&mut brotli(&text).expect("brotli").as_slice(), &mut back)
            .expect("it is brotli");
        assert_eq!(back, text);
    }

    #[test]
    fn refuses_a_bundle_over_its_budget() {
        let at = Sizes { brotli: BUDGET_BYTES, gzip: GZIP_BYTES_MAX, ..Sizes::default() };
        at.hold_budget().expect("at the limits");
        let sizes = Sizes { brotli: BUDGET_BYTES + 1, ..Sizes::default() };
        let error = sizes.hold_budget().expect_err("over it");
        assert!(error.to_string().contains("in brotli; its budget is 1500000"), "{error}");
        let sizes = Sizes { gzip: GZIP_BYTES_MAX + 1, ..Sizes::default() };
        let error = sizes.hold_budget().expect_err("over it");
        assert!(error.to_string().contains("in gzip; its budget is 2000000"), "{error}");
    }

    #[test]
    fn appends_to_the_name() {
        assert_eq!(ended(Path::new("a/b.js"), "br"), Path::new("a/b.js.br"));
    }
}
