//! Where things lie: the checkout, the build folder, the caches.
//!
//! **Invariants**
//! - The build folder is outside the checkout unless the caller names one, so that a fresh clone on
//!   the same machine finds its dependencies already compiled.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The folders that all commands share.
pub(crate) struct Place {
    root: PathBuf,
    target: PathBuf,
    cache: PathBuf,
    data: PathBuf,
}

impl Place {
    /// Finds the folders from the environment and from where this program was compiled.
    pub(crate) fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .nth(2)
            .context("find the workspace two folders above tests/xtask")?
            .to_path_buf();
        let home = env::var_os("HOME")
            .or_else(|| env::var_os("USERPROFILE"))
            .map(PathBuf::from)
            .context("find the home folder: HOME is not set")?;
        let cache = folder("XDG_CACHE_HOME", || home.join(".cache"));
        let data = folder("XDG_DATA_HOME", || home.join(".local/share"));
        let target = folder("CARGO_TARGET_DIR", || cache.join("millrace-target"));
        Ok(Self { root, target, cache, data })
    }

    /// The checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's build folder.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where prepared compilers are kept. (Variables that begin with MILLRACE_ are the appliance's.)
    pub(crate) fn toolchain(&self) -> PathBuf {
        folder("XTASK_TOOLCHAIN", || self.cache.join("millrace-toolchain"))
    }

    /// Where `run` keeps the demo's data.
    pub(crate) fn demo_data(&self) -> PathBuf {
        self.data.join("millrace-demo")
    }

    /// A build product: `profile` is `debug` or `release`.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// Cargo in the checkout, building into the shared folder.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // What `cargo run` set for this program must not reach the crates that are built next:
        // it would differ from a build by hand and recompile what reads it.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_BIN_") {
                cargo.env_remove(&name);
            }
        }
        cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
        cargo
    }
}

/// A folder that the environment may name; an empty or relative name of it is made absolute.
fn folder(variable: &str, otherwise: impl FnOnce() -> PathBuf) -> PathBuf {
    match env::var_os(variable).filter(|value| !value.is_empty()) {
        Some(value) => std::path::absolute(&value).unwrap_or_else(|_| PathBuf::from(value)),
        None => otherwise(),
    }
}
