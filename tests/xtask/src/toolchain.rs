//! A compiler for another target, on machines where `rustup target add` may not be possible.
//!
//! In this order: the target that rustup already has; `rustup target add`; and on Debian the
//! compiler that its security suite carries for rebuilding browsers (`rustc-web` and the matching
//! standard library and sources). Those packages are downloaded by apt-get from the machine's own
//! sources, unpacked (not installed) into a private folder, and the standard library of the target is
//! compiled once from the matching source and laid into that folder's sysroot.
//!
//! **Invariants**
//! - The machine's own tool chain is never changed except by `rustup target add`.
//! - A half-prepared folder is never used: each stage ends by writing its mark.
//! - Two preparations at once wait for each other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::place::Place;
use crate::process;

pub(crate) const WASM: &str = "wasm32-unknown-unknown";
pub(crate) const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Debian's package of the compiler; the versioned packages it needs are read off its dependencies.
const COMPILER_PACKAGE: &str = "rustc-web";
const SOURCE_PACKAGE: &str = "rust-web-src";

/// A server that cannot be reached may keep rustup trying for long.
const RUSTUP_MAX: Duration = Duration::from_secs(120);

/// A compiler that can build for `target`.
pub(crate) struct Toolchain {
    target: &'static str,
    /// The private compiler's `bin` folder; none when rustup's own will do.
    private: Option<PathBuf>,
    linker: Option<PathBuf>,
    /// What compiles C for the target.
    c_compiler: Option<PathBuf>,
}

impl Toolchain {
    /// Makes a cargo command compile for the target, into a folder of its own when the compiler is
    /// another one (its products do not mix with the host's).
    pub(crate) fn apply(&self, cargo: &mut Command, place: &Place) {
        cargo.args(["--target", self.target]).env("CARGO_TARGET_DIR", self.products(place));
        if let Some(bin) = &self.private {
            cargo.env("RUSTC", bin.join("rustc")).env("RUSTDOC", bin.join("rustdoc"));
        }
        let lower = self.target.replace('-', "_");
        if let Some(linker) = &self.linker {
            cargo.env(format!("CARGO_TARGET_{}_LINKER", lower.to_uppercase()), linker);
        }
        if let Some(compiler) = &self.c_compiler {
            cargo.env(format!("CC_{lower}"), compiler);
        }
    }

    /// Cargo's build folder for this compiler.
    pub(crate) fn products(&self, place: &Place) -> PathBuf {
        match self.private {
            Some(_) => place.target().join("cross"),
            None => place.target().to_path_buf(),
        }
    }

    /// One word for a person.
    pub(crate) fn shown(&self) -> String {
        match &self.private {
            Some(bin) => bin.display().to_string(),
            None => "rustup's own".to_owned(),
        }
    }
}

/// The compiler for a target if one is there already; nothing is downloaded or compiled.
pub(crate) fn find(place: &Place, target: &'static str) -> Result<Option<Toolchain>> {
    if has_std(&host_sysroot()?, target) {
        return Ok(Some(Toolchain {
            target,
            private: None,
            linker: linker(target, None)?,
            c_compiler: mingw(target),
        }));
    }
    let root = place.toolchain();
    if !std_mark(&root, target).exists() {
        return Ok(None);
    }
    Ok(Some(Toolchain {
        target,
        linker: linker(target, Some(&host_sysroot()?))?,
        private: Some(root.join("bin")),
        c_compiler: mingw(target),
    }))
}

/// The compiler for a target, made ready if need be (minutes the first time).
pub(crate) fn prepare(place: &Place, target: &'static str) -> Result<Toolchain> {
    if let Some(ready) = find(place, target)? {
        return Ok(ready);
    }
    if process::has("rustup") {
        println!("Trying `rustup target add {target}`");
        if process::within(Command::new("rustup").args(["target", "add", target]), RUSTUP_MAX)? {
            return find(place, target)?.context("rustup added a target without its std");
        }
        println!("rustup cannot add it here.");
    }
    from_debian(&place.toolchain(), target)?;
    find(place, target)?.context("the prepared compiler has no std")
}

fn from_debian(root: &Path, target: &str) -> Result<()> {
    for program in ["apt-get", "apt-cache", "dpkg-deb", "tar"] {
        if !process::has(program) {
            bail!(
                "no compiler for {target}: `rustup target add {target}` failed, and this is not a \
                 Debian machine from whose packages one could be made ({program} is missing)"
            );
        }
    }
    if std::env::consts::ARCH != "x86_64" {
        bail!("no compiler for {target}: Debian's packages are used on x86_64 only");
    }
    fs::create_dir_all(root).with_context(|| format!("create {}", root.display()))?;
    let lock = File::create(root.join(".lock")).context("create the toolchain folder's lock")?;
    lock.lock().context("lock the toolchain folder")?;
    if !root.join(".compiler-done").exists() {
        unpack_compiler(root)?;
    }
    if !std_mark(root, target).exists() {
        compile_std(root, target)?;
    }
    Ok(())
}

fn unpack_compiler(root: &Path) -> Result<()> {
    let debs = root.join("debs");
    let prefix = root.join("prefix");
    for folder in [&debs, &prefix] {
        fresh(folder)?;
    }
    let known = || process::read(Command::new("apt-cache").args(["show", COMPILER_PACKAGE]));
    if known().is_err() {
        process::must(Command::new("apt-get").args(["-q", "update"]))?;
        known().with_context(|| format!("find Debian's package {COMPILER_PACKAGE}"))?;
    }
    let std_dev = dependency(COMPILER_PACKAGE, "libstd-rust-web-dev")?;
    let std_so = dependency(&std_dev, "libstd-rust-web-")?;
    let llvm = dependency(&std_so, "libllvm")?;
    println!("Downloading {COMPILER_PACKAGE} {std_dev} {std_so} {llvm} {SOURCE_PACKAGE}");
    let mut download = Command::new("apt-get");
    // The sandbox user may not write into this folder.
    download.current_dir(&debs).args(["-q", "-o", "APT::Sandbox::User=root", "download"]);
    download.args([COMPILER_PACKAGE, &std_dev, &std_so, &llvm, SOURCE_PACKAGE]);
    process::must(&mut download)?;
    for entry in fs::read_dir(&debs).context("read the downloaded packages")? {
        let path = entry?.path();
        let is_source =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SOURCE_PACKAGE));
        // Of the source only the standard library; of the rest everything but the documentation.
        let selection: &[&str] = if is_source {
            &["--wildcards", "./usr/src/*/library", "./usr/lib/rustlib/src/*"]
        } else {
            &["--exclude", "./usr/share/*"]
        };
        unpack(&path, &prefix, selection)?;
    }
    fs::remove_dir_all(&debs).context("remove the downloaded packages")?;
    write_launchers(root, &prefix)?;
    println!("{}", process::read(Command::new(root.join("bin/rustc")).arg("--version"))?.trim());
    mark(&root.join(".compiler-done"))
}

/// The first dependency of a package whose name begins so.
fn dependency(package: &str, begins: &str) -> Result<String> {
    let listed =
        process::read(Command::new("apt-cache").args(["depends", "--important", package]))?;
    first_dependency(&listed, begins)
        .with_context(|| format!("find {begins}* among the dependencies of {package}"))
}

fn first_dependency(listed: &str, begins: &str) -> Option<String> {
    listed
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("Depends: "))
        .map(str::trim)
        .find(|name| name.starts_with(begins))
        .map(str::to_owned)
}

fn unpack(package: &Path, into: &Path, selection: &[&str]) -> Result<()> {
    let mut archive = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(Stdio::piped())
        .spawn()
        .context("start dpkg-deb")?;
    let stream = archive.stdout.take().context("read dpkg-deb")?;
    process::must(Command::new("tar").arg("-x").arg("-C").arg(into).args(selection).stdin(stream))?;
    if !archive.wait().context("wait for dpkg-deb")?.success() {
        bail!("dpkg-deb cannot read {}", package.display());
    }
    Ok(())
}

/// `bin/rustc` and `bin/rustdoc`: the unpacked programs with their own libraries.
fn write_launchers(root: &Path, prefix: &Path) -> Result<()> {
    let bin = root.join("bin");
    fresh(&bin)?;
    for name in ["rustc", "rustdoc"] {
        let path = bin.join(name);
        let usr = prefix.join("usr");
        let usr = usr.display();
        let text = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH=\"{usr}/lib/x86_64-linux-gnu${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\" \
             exec \"{usr}/bin/{name}\" \"$@\"\n"
        );
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        process::must(Command::new("chmod").arg("+x").arg(&path))?;
    }
    Ok(())
}

fn compile_std(root: &Path, target: &str) -> Result<()> {
    println!("Compiling the standard library for {target} (once, one or two minutes)");
    let work = root.join(format!("build-{target}"));
    let into = std_folder(&root.join("prefix/usr"), target);
    fresh(&into)?;
    fresh(&work)?;
    fs::create_dir_all(work.join("src")).context("create the folder of the empty crate")?;
    fs::write(work.join("src/lib.rs"), "").context("write the empty crate")?;
    let manifest =
        "[package]\nname = \"stdbuild\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(work.join("Cargo.toml"), manifest).context("write the empty crate's manifest")?;
    let rustc = root.join("bin/rustc");
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(&work)
        .args(["build", "-q", "--release", "-Zbuild-std=std,panic_abort", "--target", target])
        // For this step alone: -Zbuild-std is not stable.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", &rustc)
        .env("CARGO_TARGET_DIR", work.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        // Without bitcode in the libraries a later `lto = true` does not link.
        .env("RUSTFLAGS", "-C embed-bitcode=yes")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTC_WRAPPER");
    process::must(&mut cargo)?;
    let built = work.join("target").join(target).join("release/deps");
    for entry in fs::read_dir(&built).with_context(|| format!("read {}", built.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            continue;
        };
        if name.ends_with(".rlib") && !name.starts_with("libstdbuild-") {
            fs::copy(&path, into.join(&name)).with_context(|| format!("copy {name}"))?;
        }
    }
    if target == WINDOWS {
        start_files(root, target, &into)?;
    }
    fs::remove_dir_all(&work).context("remove the std's build folder")?;
    mark(&std_mark(root, target))
}

/// The two object files that Rust's own build makes for MinGW.
fn start_files(root: &Path, target: &str, into: &Path) -> Result<()> {
    let sources = root.join("prefix/usr/src");
    let library = fs::read_dir(&sources)
        .with_context(|| format!("read {}", sources.display()))?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("library/rtstartup"))
        .find(|path| path.is_dir())
        .context("find library/rtstartup in the source package")?;
    for name in ["rsbegin", "rsend"] {
        let mut rustc = Command::new(root.join("bin/rustc"));
        rustc.env("RUSTC_BOOTSTRAP", "1").args(["--target", target, "--emit=obj", "-o"]);
        rustc.arg(into.join(format!("{name}.o"))).arg(library.join(format!("{name}.rs")));
        process::must(&mut rustc)?;
    }
    Ok(())
}

fn linker(target: &str, foreign: Option<&Path>) -> Result<Option<PathBuf>> {
    if target != WASM {
        return Ok(mingw(target));
    }
    // rustup's compiler knows where its own rust-lld is; Debian's has none.
    let Some(sysroot) = foreign else { return Ok(None) };
    let host =
        process::read(Command::new("rustc").env_remove("RUSTC").args(["--print", "host-tuple"]))?;
    let own = sysroot.join("lib/rustlib").join(host.trim()).join("bin/rust-lld");
    if own.exists() {
        return Ok(Some(own));
    }
    match process::find("wasm-ld") {
        Some(path) => Ok(Some(path)),
        None => bail!("no linker for {target}: on Debian: apt-get install lld"),
    }
}

/// MinGW's gcc, for linking and for C; the flavour with POSIX threads when there is a choice.
pub(crate) fn mingw(target: &str) -> Option<PathBuf> {
    if target != WINDOWS {
        return None;
    }
    ["x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-gcc"]
        .iter()
        .find_map(|program| process::find(program))
}

fn host_sysroot() -> Result<PathBuf> {
    let text =
        process::read(Command::new("rustc").env_remove("RUSTC").args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(text.trim()))
}

fn std_folder(sysroot: &Path, target: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(target).join("lib")
}

fn std_mark(root: &Path, target: &str) -> PathBuf {
    std_folder(&root.join("prefix/usr"), target).join(".done")
}

fn has_std(sysroot: &Path, target: &str) -> bool {
    fs::read_dir(std_folder(sysroot, target)).is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        })
    })
}

/// An empty folder in that place.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))
}

fn mark(path: &Path) -> Result<()> {
    File::create(path).map(drop).with_context(|| format!("mark {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "rustc-web\n  Depends: libc6\n |Depends: gcc\n  Depends: libstd-rust-web-dev\n  \
        Depends: libstd-rust-web-1.96\n  Suggests: libllvm99\n";

    #[test]
    fn reads_the_versioned_name_off_the_dependencies() {
        assert_eq!(
            first_dependency(LISTED, "libstd-rust-web-1").as_deref(),
            Some("libstd-rust-web-1.96")
        );
        assert_eq!(
            first_dependency(LISTED, "libstd-rust-web-dev").as_deref(),
            Some("libstd-rust-web-dev")
        );
    }

    #[test]
    fn takes_no_suggestion_for_a_dependency() {
        assert_eq!(first_dependency(LISTED, "libllvm"), None);
    }

    #[test]
    fn sees_no_std_in_an_empty_sysroot() {
        assert!(!has_std(Path::new("no-such-sysroot"), WASM));
    }
}
