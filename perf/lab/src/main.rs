//! `millrace-lab`: measures the appliance from outside, as a plant and a power cut would.
//!
//! A scenario starts the server under test and the load generator as processes of their own,
//! each pinned to its core, and judges by ratios to a floor measured in the same run: absolute
//! times say more about the machine than about the program.
//!
//! **Invariants**
//! - The appliance is a black box: binary, MQTT, HTTP, `/proc`. No crate of it is used here.
//! - Every child dies with the lab, whatever ends the lab (`launch`).
//! - A row whose load generator was late or full is marked invalid, never averaged in.

#[cfg(target_os = "linux")]
mod all;
#[cfg(target_os = "linux")]
mod cli;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod hog;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod readback;
#[cfg(target_os = "linux")]
mod scenario;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod set;
#[cfg(target_os = "linux")]
mod stop;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            output::complain(&format!("lab: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    use std::io::Write as _;
    // Nobody is left to tell when even standard error is closed.
    let _told = writeln!(
        std::io::stderr(),
        "lab: the measuring lab runs on Linux only (epoll, /proc, core pinning). \
         Run `cargo xtask lab` on a Linux machine, or in WSL 2 on Windows."
    );
    ExitCode::FAILURE
}
