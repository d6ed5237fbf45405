//! `cargo xtask test`: everything that can be checked on this machine, cheap things first.
//!
//! Each step is a child process with a name; its duration and its test counts go into the closing
//! table. What cannot be done here (no wasm compiler, no lab) is skipped with the reason in that table.
//!
//! **Invariants**
//! - The exit code is 0 only if no step failed; a step that failed without a failed test counts as one.
//! - No step asserts a speed: figures belong to `lab`.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use crate::place::Place;
use crate::tally::Tally;
use crate::{process, setup, studio, toolchain, ui};

/// The packages that only the second half of the steps compiles.
const HEAVY: &[&str] = &[
    "millrace-service",
    "millrace-client",
    "millrace-lab",
    "millrace-harness",
    "millrace-studio-core",
    "millrace-xtask",
];
/// The lab's shortest profile: kills with pipelines, hostile scripts, a load at QoS 1 and 0, over
/// TLS and with objects; small enough for a development build on a busy machine.
const LAB_SMOKE: &str = "all --profile smoke";
/// What has to build for a browser.
const SHARED: &[&str] =
    &["millrace-model", "millrace-contract", "millrace-flow", "millrace-sizing"];

/// Check everything, cheap things first: format, house rules, lints, the light packages' tests; then
/// the real binary end to end, a short run of the lab that asserts no speed, and the shared crates
/// for a browser. Stops at the first step that fails.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  cargo xtask test\n  cargo xtask test --light       the first half: no service, no end to end\n  \
    cargo xtask test --keep-going  all steps, even after a failure\n\nBuilds in the dev profile. On two cores: under 45 minutes from nothing, under 6 when warm."
)]
pub(crate) struct Options {
    /// Only format, house rules, lints and tests of the light packages
    #[arg(long)]
    light: bool,
    /// Go on after a step that failed
    #[arg(long)]
    keep_going: bool,
}

enum Outcome {
    Passed,
    Failed,
    Skipped(String),
}

struct Step {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
    tally: Tally,
}

/// Runs steps and keeps what came of them.
struct Session<'a> {
    place: &'a Place,
    keep_going: bool,
    steps: Vec<Step>,
}

pub(crate) fn test(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    let started = Instant::now();
    let mut session = Session { place, keep_going: options.keep_going, steps: Vec::new() };
    session.cheap();
    if !options.light {
        session.heavy();
    }
    session.close(started.elapsed())
}

/// `cargo xtask tidy`: the house rules alone.
pub(crate) fn tidy(place: &Place) -> Result<()> {
    let started = Instant::now();
    let mut session = Session { place, keep_going: false, steps: Vec::new() };
    session.tidy();
    session.close(started.elapsed())
}

impl Session<'_> {
    fn tidy(&mut self) {
        self.tests("house rules", |cargo| {
            cargo.args(["test", "--locked", "-p", "millrace-tidy"]);
        });
    }

    fn cheap(&mut self) {
        self.cargo("format", &["fmt", "--all", "--check"]);
        self.tidy();
        // The desktop program needs its pages and WebKitGTK: it has a step of its own.
        let lints = ["clippy", "--locked", "--workspace", "--exclude", "millrace-studio"];
        let strict = ["--all-targets", "--", "-D", "warnings"];
        self.cargo("lints", &[lints.as_slice(), &strict].concat());
        // The house rules ran already; `cargo test` cannot leave them out and runs them again.
        let nextest = process::has("cargo-nextest");
        self.tests("light tests", |cargo| {
            if nextest {
                cargo.args(["nextest", "run", "--locked", "--no-fail-fast", "--status-level=slow"]);
                cargo.args(["-E", "not package(millrace-tidy)"]);
            } else {
                cargo.args(["test", "--locked", "--no-fail-fast", "-q"]);
            }
        });
    }

    fn heavy(&mut self) {
        // One selection of packages for build and test, so that nothing is compiled twice.
        let selection: Vec<&str> = HEAVY.iter().flat_map(|package| ["-p", package]).collect();
        let build: Vec<&str> = ["build", "--locked"].into_iter().chain(selection.clone()).collect();
        self.cargo("build the appliance", &build);
        self.bundle();
        let nextest = process::has("cargo-nextest");
        let binary = self.place.binary("debug", "millrace");
        self.tests("end to end", |cargo| {
            if nextest {
                cargo.args(["nextest", "run", "--locked", "--no-fail-fast", "--status-level=slow"]);
            } else {
                cargo.args(["test", "--locked", "--no-fail-fast"]);
            }
            cargo.args(selection);
        });
        self.lab_smoke(&binary);
        self.browser();
        self.desktop();
    }

    /// The desktop program: lints, its own tests, and its window under a virtual display.
    fn desktop(&mut self) {
        let name = "desktop program";
        if !self.go_on() {
            return;
        }
        let missing = studio::missing();
        if !missing.is_empty() {
            let packages = missing.join(" ");
            return self.skip(name, format!("packages that its window needs: {packages}"));
        }
        let Some(bundle) = studio::bundle_if_built(self.place) else {
            return self.skip(name, "its pages are not built: `cargo xtask ui`".to_owned());
        };
        let package = ["--locked", "-p", "millrace-studio"];
        let mut clippy = self.place.cargo();
        clippy.arg("clippy").args(package).args(["--all-targets", "--", "-D", "warnings"]);
        self.step("desktop program: lints", clippy.env("STUDIO_BUNDLE", &bundle));
        let mut build = self.place.cargo();
        self.step(name, build.arg("build").args(package).env("STUDIO_BUNDLE", &bundle));
        let window = "desktop program: window";
        let missing = studio::missing_for_tests();
        if !missing.is_empty() {
            return self.skip(window, format!("packages that are not here: {}", missing.join(" ")));
        }
        self.tests(window, |cargo| {
            cargo.args([
                "test",
                "--locked",
                "-p",
                "millrace-studio",
                "-p",
                "millrace-studio-harness",
            ]);
            cargo.args(["--no-fail-fast", "--", "--test-threads=1", "--nocapture"]);
            cargo.env("STUDIO_BUNDLE", &bundle);
        });
    }

    /// A short run of the lab: is anything lost? No speed is looked at.
    fn lab_smoke(&mut self, appliance: &Path) {
        let lab = self.place.binary("debug", "millrace-lab");
        let name = "lab: smoke";
        if !self.go_on() {
            return;
        }
        let offered = process::read(Command::new(&lab).arg("--help"));
        if !offered.is_ok_and(|help| offers(&help, "all")) {
            self.skip(name, "`millrace-lab` has no scenario `all` here".to_owned());
            return;
        }
        let mut command = Command::new(&lab);
        command.current_dir(self.place.root()).args(LAB_SMOKE.split(' '));
        command.args(["--cpus", "none", "--appliance"]).arg(appliance);
        self.step(name, &mut command);
    }

    /// The studio's bundle, which the browser tests of the next step then look at.
    fn bundle(&mut self) {
        let name = "the studio's bundle";
        if !self.go_on() {
            return;
        }
        match toolchain::find(self.place, toolchain::WASM) {
            Ok(Some(compiler)) => {
                println!("\n== {name}");
                let started = Instant::now();
                let built = ui::build(self.place, &compiler, false);
                let outcome = self.judge(built.map(|_| true));
                let took = started.elapsed();
                self.steps.push(Step { name, outcome, took, tally: Tally::default() });
            }
            Ok(None) => self.skip(
                name,
                "no compiler for it here: `cargo xtask ui` makes one; the browser tests are \
                 skipped too"
                    .to_owned(),
            ),
            Err(error) => self.skip(name, format!("{error:#}")),
        }
    }

    /// The shared crates have to build for a browser.
    fn browser(&mut self) {
        let name = "shared crates for wasm32";
        if !self.go_on() {
            return;
        }
        match toolchain::find(self.place, toolchain::WASM) {
            Ok(Some(compiler)) => {
                let mut cargo = self.place.cargo();
                cargo.args(["check", "--locked"]);
                cargo.args(SHARED.iter().flat_map(|package| ["-p", package]));
                compiler.apply(&mut cargo, self.place);
                self.step(name, &mut cargo);
            }
            Ok(None) => self.skip(
                name,
                "no compiler for it here: `cargo xtask setup --compiler wasm` makes one".to_owned(),
            ),
            Err(error) => self.skip(name, format!("{error:#}")),
        }
    }

    fn cargo(&mut self, name: &'static str, arguments: &[&str]) {
        let mut cargo = self.place.cargo();
        cargo.args(arguments);
        self.step(name, &mut cargo);
    }

    /// A step on this terminal that passes or fails as a whole.
    fn step(&mut self, name: &'static str, command: &mut Command) {
        if !self.go_on() {
            return;
        }
        self.announce(name, command);
        let started = Instant::now();
        let outcome = self.judge(process::must(command).map(|()| true));
        self.steps.push(Step { name, outcome, took: started.elapsed(), tally: Tally::default() });
    }

    /// A step whose tests are counted.
    fn tests(&mut self, name: &'static str, arrange: impl FnOnce(&mut Command)) {
        if !self.go_on() {
            return;
        }
        let mut cargo = self.place.cargo();
        arrange(&mut cargo);
        if std::io::stdout().is_terminal() {
            cargo.env("CARGO_TERM_COLOR", "always");
        }
        self.announce(name, &cargo);
        let started = Instant::now();
        let mut tally = Tally::default();
        let outcome = process::read_along(&mut cargo, |line| tally.see(line));
        let outcome = self.judge(outcome);
        self.steps.push(Step { name, outcome, took: started.elapsed(), tally });
    }

    fn skip(&mut self, name: &'static str, reason: String) {
        println!("\n== {name}: skipped: {reason}");
        let outcome = Outcome::Skipped(reason);
        self.steps.push(Step { name, outcome, took: Duration::ZERO, tally: Tally::default() });
    }

    fn announce(&self, name: &str, command: &Command) {
        println!("\n== {name}: {}", process::shown(command));
    }

    fn judge(&self, outcome: Result<bool>) -> Outcome {
        match outcome {
            Ok(true) => Outcome::Passed,
            Ok(false) => Outcome::Failed,
            Err(error) => {
                println!("{error:#}");
                Outcome::Failed
            }
        }
    }

    fn go_on(&self) -> bool {
        self.keep_going || !self.steps.iter().any(Step::failed)
    }

    /// Prints the table and the closing line.
    fn close(&self, took: Duration) -> Result<()> {
        println!();
        for step in &self.steps {
            println!("{}", step.shown());
        }
        let sum = total(&self.steps);
        let line = format!("{} passed, {} failed", sum.passed, sum.failed);
        if let Some(step) = self.steps.iter().find(|step| step.failed()) {
            if !self.keep_going {
                println!("Stopped after `{}`; what comes after it was not tried.", step.name);
            }
            println!("test: {line} in {}", process::spoken(took));
            bail!("{} failed", step.name);
        }
        println!("test: {line} in {}", process::spoken(took));
        Ok(())
    }
}

impl Step {
    fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed)
    }

    fn shown(&self) -> String {
        let took = process::spoken(self.took);
        let tests = match self.tally {
            Tally { passed: 0, failed: 0 } => String::new(),
            Tally { passed, failed } => format!("  {passed} passed, {failed} failed"),
        };
        match &self.outcome {
            Outcome::Passed => format!("  ok       {:26} {took:>12}{tests}", self.name),
            Outcome::Failed => format!("  FAILED   {:26} {took:>12}{tests}", self.name),
            Outcome::Skipped(reason) => format!("  skipped  {:26} {reason}", self.name),
        }
    }
}

/// All tests together; a step that failed without a failed test counts as one.
fn total(steps: &[Step]) -> Tally {
    steps.iter().fold(Tally::default(), |sum, step| {
        let silent = step.failed() && step.tally.failed == 0;
        sum.and(step.tally).and(Tally { passed: 0, failed: u64::from(silent) })
    })
}

/// Whether a program's help lists a subcommand.
fn offers(help: &str, subcommand: &str) -> bool {
    help.lines().any(|line| line.split_whitespace().next() == Some(subcommand))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(outcome: Outcome, passed: u64, failed: u64) -> Step {
        Step { name: "some", outcome, took: Duration::ZERO, tally: Tally { passed, failed } }
    }

    #[test]
    fn counts_a_failed_step_without_tests_as_one_failure() {
        let steps = [step(Outcome::Passed, 4, 0), step(Outcome::Failed, 0, 0)];
        assert_eq!(total(&steps), Tally { passed: 4, failed: 1 });
    }

    #[test]
    fn counts_the_failed_tests_of_a_failed_step_once() {
        let steps = [step(Outcome::Failed, 4, 2), step(Outcome::Skipped("why".to_owned()), 0, 0)];
        assert_eq!(total(&steps), Tally { passed: 4, failed: 2 });
    }

    #[test]
    fn finds_a_scenario_only_where_the_help_lists_it() {
        let help = "Measure.\n\nCommands:\n  ingest  the device workload, kill\n  help    this\n";
        assert!(offers(help, "ingest"));
        assert!(!offers(help, "kill"));
    }
}
