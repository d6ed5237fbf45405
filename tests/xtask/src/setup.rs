//! `cargo xtask setup`: what this machine has, what is missing, and what each thing is for.
//!
//! A thing is looked for by the program that proves it; where Debian's package manager is there and
//! the caller is root, `--install` installs the packages by name.
//!
//! **Invariants**
//! - Only a Rust tool chain and a C compiler are required; without anything else `run` and `test` work
//!   and say what they left out.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::{process, studio, toolchain};

/// Look whether this machine has what is needed, and say exactly what is missing and for what.
/// A Rust tool chain and a C compiler are enough for `run` and `test`.
#[derive(Args)]
#[command(after_help = "Examples:\n  cargo xtask setup\n  cargo xtask setup --install\n  \
    cargo xtask setup --compiler windows --compiler wasm")]
pub(crate) struct Options {
    /// Install what is missing, by package name (Debian and its relatives, as root)
    #[arg(long)]
    install: bool,
    /// Prepare the compiler for another target
    #[arg(long, value_name = "TARGET")]
    compiler: Vec<Compiler>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Compiler {
    /// wasm32-unknown-unknown: for the studio, and for its tests in `test`
    Wasm,
    /// x86_64-pc-windows-gnu: what `check-windows` needs
    Windows,
}

/// One thing that may be on the machine.
struct Thing {
    /// Any of these programs proves it.
    programs: &'static [&'static str],
    /// The package that brings it on Debian.
    package: &'static str,
    what_for: &'static str,
}

const REQUIRED: &[Thing] = &[
    Thing {
        programs: &["cargo"],
        package: "",
        what_for: "everything: install Rust 1.95 or newer with rustup",
    },
    Thing {
        programs: &["cc", "gcc", "clang"],
        package: "build-essential",
        what_for: "everything: links programs, compiles SQLite and zstd",
    },
];

const OPTIONAL: &[Thing] = &[
    Thing {
        programs: &["cargo-nextest"],
        package: "",
        what_for: "faster tests: `cargo install cargo-nextest --locked` (else `cargo test` is used)",
    },
    Thing {
        programs: &["mosquitto_pub"],
        package: "mosquitto-clients",
        what_for: "end-to-end tests with a client that is not ours, and the README's first screen",
    },
    Thing {
        programs: &["mosquitto"],
        package: "mosquitto",
        what_for: "`lab peers`, the comparison with another broker (stop its service: it takes port 1883)",
    },
    Thing {
        programs: &["rumqttd"],
        package: "",
        what_for: "the same with a broker in Rust: `cargo install rumqttd --locked --no-default-features`",
    },
    Thing {
        programs: &["initdb"],
        package: "postgresql",
        what_for: "the same with a database behind the broker (its service need not run)",
    },
    Thing {
        programs: &["chromium", "google-chrome"],
        package: "chromium",
        what_for: "the studio's browser tests",
    },
    Thing { programs: &["chromedriver"], package: "chromium-driver", what_for: "the same" },
    Thing {
        programs: &["npm"],
        package: "npm",
        what_for: "the studio's charts and script editor (two JavaScript packages in its bundle)",
    },
    Thing {
        programs: &["promtool"],
        package: "prometheus",
        what_for: "the test that /metrics is clean",
    },
    Thing {
        programs: &["WebKitWebDriver"],
        package: "webkit2gtk-driver",
        what_for: "the test of the desktop program's window",
    },
    Thing {
        programs: &["Xvfb"],
        package: "xvfb",
        what_for: "the same: a display that nobody sees",
    },
    Thing {
        programs: &["gnome-keyring-daemon"],
        package: "gnome-keyring",
        what_for: "the same: a keyring",
    },
    Thing {
        programs: &["dbus-daemon"],
        package: "dbus",
        what_for: "the same: the keyring's message bus",
    },
    Thing {
        programs: &["soffice", "libreoffice"],
        package: "libreoffice-calc",
        what_for: "the test that the sizing worksheet recalculates to the library's numbers",
    },
    Thing {
        programs: &["x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-gcc"],
        package: "gcc-mingw-w64-x86-64-posix",
        what_for: "`check-windows`, cross-compiling",
    },
    Thing {
        programs: &["wine64", "wine"],
        package: "wine64",
        what_for: "`check-windows`, starting what was compiled",
    },
];

impl Thing {
    fn found(&self) -> bool {
        self.programs.iter().any(|program| find(program))
    }

    fn name(&self) -> &'static str {
        self.programs.first().copied().unwrap_or_default()
    }
}

/// Also looks where Debian keeps servers, which an ordinary user's PATH leaves out.
fn find(program: &str) -> bool {
    let servers = ["/usr/sbin", "/usr/lib/wine"].map(std::path::PathBuf::from);
    // Debian keeps each version of the database in a folder of its own.
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let databases = versions.map(|version| version.path().join("bin"));
    process::has(program)
        || servers.into_iter().chain(databases).any(|folder| folder.join(program).is_file())
}

pub(crate) fn setup(place: &Place, options: &Options) -> Result<()> {
    let mut wanted: Vec<&str> = Vec::new();
    let mut lacking = 0;
    for (things, required) in [(REQUIRED, true), (OPTIONAL, false)] {
        println!("{}", if required { "Required" } else { "Optional" });
        for thing in things {
            let found = thing.found();
            let word = if found { "ok     " } else { "missing" };
            println!("  {word}  {:28} {}", thing.name(), thing.what_for);
            if found {
                continue;
            }
            lacking += u32::from(required);
            if !thing.package.is_empty() {
                wanted.push(thing.package);
            }
        }
    }
    for package in studio::missing() {
        println!("  missing  {package:28} `studio`: the desktop program's window");
        wanted.push(package);
    }
    println!("Build folder: {}", place.target().display());
    if options.install {
        install(&wanted)?;
    } else if !wanted.is_empty() {
        println!("\nTo install what is missing on Debian and its relatives, as root:");
        println!("  apt-get install {}", wanted.join(" "));
        println!(
            "(`cargo xtask setup --install` does that.) Elsewhere the packages have similar names."
        );
    }
    for compiler in &options.compiler {
        let target = match compiler {
            Compiler::Wasm => toolchain::WASM,
            Compiler::Windows => toolchain::WINDOWS,
        };
        let prepared = toolchain::prepare(place, target)?;
        println!("Compiler for {target}: {}", prepared.shown());
    }
    if lacking > 0 && !options.install {
        bail!("{lacking} required thing(s) missing");
    }
    Ok(())
}

/// Fails with the package's name when there is no C compiler.
pub(crate) fn need_compiler() -> Result<()> {
    if ["cc", "gcc", "clang", "cl"].iter().any(|program| process::has(program)) {
        return Ok(());
    }
    if can_install() {
        println!("There is no C compiler; installing build-essential.");
        return install(&["build-essential"]);
    }
    bail!(
        "there is no C compiler (cc), which links programs and compiles SQLite and zstd; \
         on Debian: apt-get install build-essential; on Fedora: dnf install gcc; elsewhere: gcc or clang"
    )
}

/// Whether packages can be installed by name here, without a question.
pub(crate) fn can_install() -> bool {
    process::has("apt-get")
        && process::read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Installs Debian packages by name.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    if !can_install() {
        bail!("installing needs root and apt-get; as root: apt-get install {}", packages.join(" "));
    }
    let mut first = apt_get();
    first.arg("install").args(packages);
    if process::must(&mut first).is_ok() {
        return Ok(());
    }
    // The package lists may be absent or old: fetch them once and try again.
    process::must(apt_get().arg("update"))?;
    let mut second = apt_get();
    second.arg("install").args(packages);
    process::must(&mut second)
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(["-q", "-y", "--no-install-recommends"])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null());
    command
}
