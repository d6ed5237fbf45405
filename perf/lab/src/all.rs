//! `lab all`: every class of the table, one after the other, into one result set.
//!
//! Each class is a call of the lab itself with its own scenario and options, so what a row's
//! command says is what was run. What is finished is in the file before the next class begins: the
//! call goes on with a file that is there, in parts if asked for, and may be interrupted at any time.
//!
//! **Invariants**
//! - A class is never left out silently: one that was not measured has a row that says why.
//! - A set holds rows of one commit; a file of another is refused before anything runs.
//! - The class under way gets one signal and ends its own children; nothing of it is kept.

pub(crate) mod child;
pub(crate) mod class;
pub(crate) mod figures;
pub(crate) mod part;
pub(crate) mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::measure::machine;
use crate::output;
use crate::scenario::options::Common;
use crate::set::{ClassRow, Conditions, Profile, SCHEMA, Set, State};
use crate::stop;
use child::Call;
use class::Class;
use part::Part;

/// Options of `lab all`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    lab all --profile quick --json quick.json          every class, short\n  \
    lab all --profile full --part 1/4 --json full.json    today's part\n  \
    lab all --profile full --part 2/4 --json full.json    goes on in the same file\n  \
    lab all --profile full --part ingest,kill --json full.json --again    these anew\n  \
    lab all --profile quick --list                     the classes, their parts and their time\n\n\
    Interrupt it with Ctrl-C: what is finished stays in the file, and the same call goes on. \
    Exit code 1: something was lost or doubled, or a class did not come to an end.")]
pub(crate) struct AllOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How much is measured.
    #[arg(long, value_enum, default_value_t = Profile::Quick)]
    pub(crate) profile: Profile,
    /// One of M parts of about equal time (N/M), or classes and groups by name.
    #[arg(long, value_name = "N/M or NAME,...", value_parser = part::parse)]
    pub(crate) part: Option<Part>,
    /// Measure classes anew that the file has already.
    #[arg(long)]
    pub(crate) again: bool,
    /// Only list the classes.
    #[arg(long)]
    pub(crate) list: bool,
    /// Folder with `node_modules/node-red`, for the class that compares with it.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) node_red: Option<PathBuf>,
}

/// Runs it.
pub(crate) fn run(options: &AllOptions) -> Result<ExitCode> {
    let classes = chosen(options)?;
    if options.list {
        output::say(&list(options.profile, &classes));
        return Ok(ExitCode::SUCCESS);
    }
    let mut set = begin(options)?;
    let left: Vec<&Class> = classes
        .iter()
        .copied()
        .filter(|class| options.again || !set.row(class.name).is_some_and(|row| is_done(row.state)))
        .collect();
    let kept = classes.len() - left.len();
    if kept > 0 {
        output::complain(&format!("lab: {kept} classes are in the file already"));
    }
    let mut clock = Clock::new(options.profile, &left);
    for class in left {
        stop::check().with_context(|| kept_words(options))?;
        clock.begin(class);
        let call = Call { options, class, set: &set };
        let row = call.run(&mut |seconds| clock.tick(seconds));
        let row = row.with_context(|| kept_words(options))?;
        clock.end(&row);
        set.put(row);
        // In the table's order, whatever the order of the parts was.
        set.rows.sort_by_key(|row| table::place(&row.class));
        if let Some(file) = &options.common.json {
            set.write(file)?;
        }
    }
    clock.bar.finish_and_clear();
    output::say(&summary(&set));
    let named = |name: &str| classes.iter().any(|class| class.name == name);
    let is_bad = set.rows.iter().any(|row| named(&row.class) && row.state == State::Failed);
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A row that another call need not measure again.
fn is_done(state: State) -> bool {
    !matches!(state, State::Failed | State::NoValidRow)
}

fn kept_words(options: &AllOptions) -> String {
    match &options.common.json {
        Some(file) => {
            format!("what is finished is in {}; the same call goes on with it", file.display())
        }
        None => "nothing is kept without --json FILE".to_owned(),
    }
}

/// The classes of this call.
fn chosen(options: &AllOptions) -> Result<Vec<&'static Class>> {
    let all: Vec<&Class> = table::all().collect();
    match &options.part {
        None => Ok(all),
        Some(part) => part.of(&all, options.profile),
    }
}

/// The set that is gone on with, or a new one.
fn begin(options: &AllOptions) -> Result<Set> {
    let common = &options.common;
    if !common.appliance.is_file() {
        bail!(
            "there is no appliance at {}: build it with `cargo build --release --package \
             millrace-service`, or name another with --appliance PATH",
            common.appliance.display()
        );
    }
    let folder = common.folder()?;
    let binary = machine::sum_of(&common.appliance).context("read the appliance's program")?;
    let cpus = match (common.cpus.server, common.cpus.load) {
        (Some(server), Some(load)) => format!("{server}:{load}"),
        _ => "none".to_owned(),
    };
    let new = Set {
        millrace_lab: SCHEMA,
        profile: options.profile,
        machine: machine::machine(),
        build: machine::Build { binary: Some(binary), ..machine::build(Some(&common.appliance)) },
        conditions: Conditions {
            cpus,
            realtime: common.realtime,
            realtime_load: common.realtime_load,
            data_in_memory: machine::lies_in_memory(folder.path()),
        },
        rows: Vec::new(),
    };
    let Some(file) = common.json.as_deref().filter(|file| file.exists()) else { return Ok(new) };
    let known = Set::read(file)?;
    if let Some(why) = known.differs(&new) {
        bail!(
            "{} cannot be gone on with (the file first, this call second): {why}. Name another \
             file, or check out and build what the file is of",
            file.display()
        );
    }
    Ok(known)
}

/// Progress by the time that classes are expected to take.
struct Clock {
    bar: ProgressBar,
    profile: Profile,
    /// Expected seconds of what has ended and of all.
    done: u64,
    number: usize,
    count: usize,
    class: Option<&'static Class>,
}

impl Clock {
    fn new(profile: Profile, left: &[&Class]) -> Self {
        let total = left.iter().map(|class| class.seconds(profile)).sum();
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {elapsed_precise} {msg}") {
            bar.set_style(style);
        }
        Self { bar, profile, done: 0, number: 0, count: left.len(), class: None }
    }

    fn begin(&mut self, class: &'static Class) {
        self.class = Some(class);
        self.number += 1;
        self.tick(0);
    }

    /// `seconds` into the class.
    fn tick(&mut self, seconds: u64) {
        let Some(class) = self.class else { return };
        let own = class.seconds(self.profile);
        let position = self.done + seconds.min(own);
        self.bar.set_position(position);
        let left = self.bar.length().unwrap_or(0).saturating_sub(position);
        let Self { number, count, .. } = self;
        self.bar.set_message(format!(
            "{number}/{count} {}, about {} left",
            class.name,
            part::duration(left)
        ));
    }

    fn end(&mut self, row: &ClassRow) {
        let Some(class) = self.class.take() else { return };
        self.done += class.seconds(self.profile);
        if row.state == State::NotAsked {
            return;
        }
        let Self { number, count, .. } = self;
        let mut line = format!("lab: {number}/{count} {}: {}", class.name, class::word(row.state));
        if row.state != State::Measured {
            line.push_str(&format!(": {}", row.notes.join("; ")));
        }
        self.bar.suspend(|| output::complain(&line));
    }
}

fn list(profile: Profile, classes: &[&Class]) -> String {
    let mut rows = vec![["class", "<group", "seconds", "<what"].map(str::to_owned).to_vec()];
    for class in classes {
        let what = match class.way(profile) {
            Ok(_) => class.title.to_owned(),
            Err((_, why)) => format!("{} ({why})", class.title),
        };
        rows.push(vec![
            class.name.to_owned(),
            class.group.word().to_owned(),
            class.seconds(profile).to_string(),
            what,
        ]);
    }
    let total: u64 = classes.iter().map(|class| class.seconds(profile)).sum();
    format!("{}\nAll together about {}.", output::table(&rows), part::duration(total))
}

fn summary(set: &Set) -> String {
    let head = ["class", "<state", "<figure", "median", "lowest", "highest", "lost", "<limited by"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in set.rows.iter().filter(|row| row.state != State::NotAsked) {
        let state = class::word(row.state).to_owned();
        let lost = row.lost.map_or("-".to_owned(), |lost| lost.to_string());
        let limit = row.limited_by.clone().unwrap_or_else(|| "-".to_owned());
        let mut line = vec![row.class.clone(), state];
        match row.figures.first() {
            Some(figure) => line.extend([
                format!("{}, {}", figure.name, figure.unit),
                figures::shown(figure.value),
                figures::shown(figure.lowest),
                figures::shown(figure.highest),
            ]),
            None => line.extend([
                row.notes.first().cloned().unwrap_or_default(),
                "-".into(),
                "-".into(),
                "-".into(),
            ]),
        }
        line.extend([lost, limit]);
        rows.push(line);
    }
    let left_out = set.rows.iter().filter(|row| row.state == State::NotAsked).count();
    let table = output::table(&rows);
    match left_out {
        0 => table,
        _ => format!("{table}\n{left_out} more classes belong to a longer profile."),
    }
}

#[cfg(test)]
mod tests;
