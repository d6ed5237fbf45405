//! A broker and a database by hand: mosquitto, a program that subscribes to it, and PostgreSQL.
//!
//! What plants build themselves. The program (a child of the lab, [`writer`]) collects what comes
//! within a tenth of a second and writes it as rows of one table with COPY, one transaction a batch,
//! committed with a sync; then it acknowledges to the broker. PostgreSQL is Debian's with its
//! defaults, in a temporary folder, on a Unix socket only, started as an ordinary user.
//!
//! **Invariants**
//! - The devices' acknowledgement comes from the broker, before anything is stored: that is the
//!   arrangement's own weakness, and its advantage in every row.
//! - PostgreSQL is never started as root: it would refuse.

mod connection;
pub(crate) mod writer;

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::Target;
use super::mosquitto::Mosquitto;
use crate::launch::{Child, Speech, own_program};
use crate::measure::process;
use crate::stop;
use connection::Connection;

const START_LIMIT: Duration = Duration::from_secs(30);
const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);
/// Debian keeps each version in a folder of its own.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that Debian's package makes.
const USER: &str = "postgres";
pub(super) const TABLE: &str = "samples";

/// The three programs.
pub(crate) struct ByHand {
    // The writer first: it has connections to the others.
    _writer: Child,
    mosquitto: Mosquitto,
    database: Child,
    target: Target,
    socket: PathBuf,
    _folder: TempDir,
}

/// The folder of the newest installed version's programs, or what to do.
pub(crate) fn find() -> Result<PathBuf> {
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let number = entry.file_name().to_string_lossy().parse().ok()?;
            let programs = entry.path().join("bin");
            programs.join("initdb").is_file().then_some((number, programs))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, programs)| programs).context(
        "PostgreSQL is not installed: `apt-get install postgresql` (its service need not run)",
    )
}

/// The version that the server says it has.
pub(crate) fn version(programs: &Path) -> Option<String> {
    let output = Command::new(programs.join("postgres")).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().strip_prefix("postgres (PostgreSQL) ").map(str::to_owned)
}

impl ByHand {
    /// Starts all three on `core`; the database lies in `folder`.
    pub(crate) fn start(core: Option<usize>, clients: usize, folder: TempDir) -> Result<Self> {
        let programs = find()?;
        let mosquitto = Mosquitto::start(core, clients)?;
        give_away(folder.path())?;
        let data = folder.path().join("database");
        initialize(&programs, &data)?;
        let (program, mut arguments) =
            as_user(&programs.join("postgres"), &["--pdeathsig", "KILL"]);
        arguments.extend(["-D".into(), data.into(), "-k".into(), folder.path().into()]);
        for setting in [
            "listen_addresses=",
            // Nothing of it outlives a process that is killed.
            "shared_memory_type=mmap",
            "dynamic_shared_memory_type=mmap",
        ] {
            arguments.extend(["-c".into(), setting.into()]);
        }
        let said = Speech::ErrorsTo(File::create(folder.path().join("said"))?);
        let mut database = Child::start("PostgreSQL", &program, &arguments, core, said)?;
        let socket = folder.path().join(".s.PGSQL.5432");
        let mut first = stop::wait_for("PostgreSQL to answer", START_LIMIT, LOOK, || {
            database.check_alive()?;
            Ok(Connection::open(&socket).ok())
        })?;
        first.run(&format!(
            "create table {TABLE} (time timestamptz not null default clock_timestamp(), \
             topic text not null, value double precision not null)"
        ))?;
        first.run(&format!("create index on {TABLE} (topic, time)"))?;
        drop(first);
        let mut writer = start_writer(core, mosquitto.target(), &socket)?;
        writer.check_alive()?;
        let mut beside = vec![writer.pid(), database.pid()];
        beside.extend(process::children(database.pid()));
        let target = Target { beside, ..mosquitto.target().clone() };
        Ok(Self { _writer: writer, mosquitto, database, target, socket, _folder: folder })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.database.check_alive()?;
        self.mosquitto.check_alive()
    }

    /// Waits until so many values are stored; how long that took.
    pub(crate) fn catch_up(&self, values: u64) -> Result<Duration> {
        let began = Instant::now();
        let mut connection = Connection::open(&self.socket)?;
        stop::wait_for("PostgreSQL to store what was acknowledged", CATCH_UP_LIMIT, LOOK, || {
            Ok((connection.count(TABLE)? >= values).then_some(()))
        })?;
        Ok(began.elapsed())
    }
}

fn start_writer(core: Option<usize>, broker: &Target, socket: &Path) -> Result<Child> {
    let arguments: Vec<OsString> = vec![
        "database-writer".into(),
        "--broker".into(),
        broker.address.to_string().into(),
        "--socket".into(),
        socket.into(),
    ];
    let mut child =
        Child::start("the database's writer", &own_program()?, &arguments, core, Speech::Pipes)?;
    let mut line = String::new();
    BufReader::new(child.take_stdout()?)
        .read_line(&mut line)
        .context("hear that the database's writer is ready")?;
    if line.trim() != writer::READY {
        bail!("the database's writer did not become ready; it said '{}'", line.trim());
    }
    Ok(child)
}

/// An empty database whose only user may do everything, from this machine.
fn initialize(programs: &Path, data: &Path) -> Result<()> {
    let (program, arguments) = as_user(&programs.join("initdb"), &[]);
    let output = Command::new(program)
        .args(arguments)
        .arg("-D")
        .arg(data)
        .args(["-A", "trust", "-U", "lab", "--encoding", "UTF8", "--locale", "C"])
        .output()
        .context("run initdb")?;
    if !output.status.success() {
        bail!("initdb said: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// A program as an ordinary user: as this one, or as Debian's own when this one is root.
fn as_user(program: &Path, options: &[&str]) -> (PathBuf, Vec<OsString>) {
    if !rustix::process::geteuid().is_root() {
        return (program.to_path_buf(), Vec::new());
    }
    let mut arguments: Vec<OsString> =
        ["--reuid", USER, "--regid", USER, "--init-groups"].map(OsString::from).to_vec();
    arguments.extend(options.iter().map(OsString::from));
    arguments.push(program.into());
    ("/usr/bin/setpriv".into(), arguments)
}

/// Lets that user work in the folder.
fn give_away(folder: &Path) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let output = Command::new("chown").arg(USER).arg(folder).output().context("run chown")?;
    if !output.status.success() {
        bail!("chown said: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
