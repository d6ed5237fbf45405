//! `millrace sizing`: what a plan takes of a machine, as lines, JSON, a worksheet or a page.
//!
//! All but `set`, `show`, `compare` and `clear` works with no appliance and no network.

mod plan_file;
mod shown;
mod stored;

use super::output::{Output, json_line};
use super::{Place, check};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use millrace_sizing::{Problem, Profile, calibration, profile};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A plan to begin with.
const EXAMPLE: &str = include_str!("../../../../docs/examples/sizing-plan.toml");
/// Where a calibration keeps what this machine costs.
pub(crate) const BOX_PROFILE: &str = "sizing-profile.json";

const EXAMPLES: &str = "\
A plan says what a plant sends and what is done with it; the answer is the CPU by item, whether it
fits the machine under the three-quarter line, memory, disk, network, each limit that has to be
raised, the smallest machine that fits, and the room to grow.

Examples:
  millrace sizing example > plan.toml
  millrace sizing --input plan.toml
  millrace sizing --input plan.toml --profile reference --json
  millrace sizing --input plan.toml --out sizing.xlsx
  millrace sizing --input plan.toml --out sizing.html
  millrace sizing set plan.toml
  millrace sizing compare

The worksheet recalculates in Excel and LibreOffice without Millrace: change its marked cells.
Profiles: `millrace` (the lab's figures), `reference` (published figures of another product on a
named machine), `box` (what `millrace calibrate` measured here), or a file.";

/// What to size, and how to tell it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct SizingArgs {
    #[command(subcommand)]
    verb: Option<SizingVerb>,
    /// The plan, TOML or JSON; `-` reads TOML from standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The costs to estimate with: millrace, reference, box, or a profile's file.
    #[arg(long, value_name = "PROFILE", default_value = "millrace")]
    profile: String,
    /// Also writes a worksheet (a name that ends in .xlsx) or a page to print (.html).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum SizingVerb {
    /// Writes a plan to begin with: the published worked example.
    Example,
    /// Lists the profiles that there are, or writes one with all its figures and sources.
    Profile {
        /// Its name; without one all are listed.
        name: Option<String>,
        /// Makes one out of the lab's result sets (`lab peers` and `lab pipelines`) and writes it.
        #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "name")]
        from_lab: Vec<PathBuf>,
    },
    /// Stores a plan in the appliance, which compares the live load with it from then on.
    Set {
        /// The plan, TOML or JSON.
        plan: PathBuf,
    },
    /// Shows the plan that the appliance has stored, as JSON.
    Show,
    /// Compares the stored plan with the load now.
    Compare {
        #[command(flatten)]
        output: Output,
    },
    /// Removes the stored plan.
    Clear,
}

pub(super) fn run(place: &Place, args: &SizingArgs) -> anyhow::Result<()> {
    match &args.verb {
        None => estimate(place, args),
        Some(SizingVerb::Example) => {
            std::io::stdout().write_all(EXAMPLE.as_bytes())?;
            Ok(())
        }
        Some(SizingVerb::Profile { from_lab, .. }) if !from_lab.is_empty() => {
            writeln!(std::io::stdout(), "{}", lab_profile(from_lab)?.to_json())?;
            Ok(())
        }
        Some(SizingVerb::Profile { name: Some(name), .. }) => {
            writeln!(std::io::stdout(), "{}", find_profile(place, name)?.to_json())?;
            Ok(())
        }
        Some(SizingVerb::Profile { name: None, .. }) => list_profiles(place),
        Some(SizingVerb::Set { plan }) => stored::set(place, &plan_file::read(plan)?),
        Some(SizingVerb::Show) => stored::show(place),
        Some(SizingVerb::Compare { output }) => stored::compare(place, *output),
        Some(SizingVerb::Clear) => stored::clear(place),
    }
}

fn estimate(place: &Place, args: &SizingArgs) -> anyhow::Result<()> {
    let Some(input) = &args.input else {
        bail!(
            "name a plan with --input; `millrace sizing example > plan.toml` writes one to begin \
             with"
        );
    };
    let plan = plan_file::read(input)?;
    let profile = find_profile(place, &args.profile)?;
    let found = millrace_sizing::estimate(&plan, &profile)
        .map_err(|problems| told("the plan cannot be estimated", &problems))?;
    if let Some(out) = &args.out {
        write(out, &plan, &profile)?;
    }
    if args.output.is_json() {
        return json_line(&found);
    }
    std::io::stdout().write_all(shown::estimate(&found).as_bytes())?;
    if let Some(out) = &args.out {
        writeln!(std::io::stdout(), "\nWritten: {}", out.display())?;
    }
    Ok(())
}

/// Writes the worksheet or the page, as the name's ending says.
fn write(out: &Path, plan: &millrace_sizing::Plan, profile: &Profile) -> anyhow::Result<()> {
    let fault = |problems: Vec<Problem>| told("the plan cannot be written", &problems);
    let ending = out.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let bytes = match ending.to_ascii_lowercase().as_str() {
        "xlsx" => millrace_sizing::worksheet(plan, profile).map_err(fault)?,
        "html" | "htm" => {
            millrace_sizing::worksheet::html(plan, profile).map_err(fault)?.into_bytes()
        }
        _ => bail!(
            "'{}' ends in neither .xlsx (a worksheet) nor .html (a page to print)",
            out.display()
        ),
    };
    // Not as the data folder's files are, for their owner only: it is made to be handed on.
    let written = std::fs::File::create(out).and_then(|mut file| file.write_all(&bytes));
    written.with_context(|| format!("write {}", out.display()))
}

/// Faults, one a line.
fn told(what: &str, problems: &[Problem]) -> anyhow::Error {
    let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    anyhow::anyhow!("{what}:{lines}")
}

/// A profile by its name, this box's own, or a file's.
pub(crate) fn find_profile(place: &Place, name: &str) -> anyhow::Result<Profile> {
    if profile::BUILTIN.contains(&name) {
        return Profile::named(name).map_err(|problems| told("the profile is faulty", &problems));
    }
    let file = match name {
        "box" => check::load(place)?.config.data_dir.join(BOX_PROFILE),
        name => PathBuf::from(name),
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && name == "box" => bail!(
            "this box has no profile of its own yet; `millrace calibrate` measures one (looked \
             for {})",
            file.display()
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "there is no profile and no file '{name}'; take millrace, reference, box, or the name \
             of a profile's file"
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("read the profile {}", file.display()));
        }
    };
    Profile::from_json(&text)
        .map_err(|problems| told(&format!("the profile {} is faulty", file.display()), &problems))
}

/// A profile out of the lab's result sets, with what they do not tell taken over from `millrace`.
fn lab_profile(files: &[PathBuf]) -> anyhow::Result<Profile> {
    let mut results = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
        let result = serde_json::from_slice::<serde_json::Value>(&bytes);
        results.push(result.with_context(|| format!("read {}", file.display()))?);
    }
    let fault = |problems: Vec<Problem>| told("no profile can be made", &problems);
    let base = Profile::named("millrace").map_err(fault)?;
    let (all, about) = calibration::lab::observations(&results).map_err(fault)?;
    let mut profile = calibration::profile(&all, &base, &about).map_err(fault)?;
    profile.name = "lab".to_owned();
    profile.title = format!("Millrace {} by its own lab", about.version);
    Ok(profile)
}

fn list_profiles(place: &Place) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for name in profile::BUILTIN.into_iter().chain(["box"]) {
        let line = match find_profile(place, name) {
            Ok(profile) => format!("{}, measured {}", profile.title, profile.measured),
            Err(error) => format!("{error:#}"),
        };
        writeln!(out, "{name:<10} {line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLE, plan_file};
    use millrace_sizing::Plan;

    #[test]
    fn the_example_is_the_published_one() {
        assert_eq!(plan_file::parse(EXAMPLE, false).unwrap(), Plan::example());
    }
}
