//! The appliance as a process.

use crate::wait;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A running (or stopped) appliance and its folder.
#[derive(Debug)]
pub struct Appliance {
    folder: tempfile::TempDir,
    child: Option<Child>,
}

/// An API client's id and secret.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub id: String,
    pub secret: String,
}

/// The program under test: beside the test's own program, where cargo builds both.
fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this test's own path")?;
    let folder = own.parent().and_then(Path::parent).context("find the build folder")?;
    let program = folder.join(format!("millrace{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        bail!("{} is not built; `cargo build -p millrace-service` builds it", program.display());
    }
    Ok(program)
}

impl Appliance {
    /// Starts an appliance on an empty folder; `settings` are lines of its configuration, each
    /// with its section: `journal.bytes_max_mib = 16`.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start(settings: &[&str]) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("make a folder")?;
        let mut appliance = Self { folder, child: None };
        appliance.configure(settings)?;
        appliance.start_again()?;
        Ok(appliance)
    }

    /// Writes the configuration, without starting.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn configure(&self, settings: &[&str]) -> anyhow::Result<()> {
        let mut text = String::from(
            "broker.listen = \"127.0.0.1:0\"\nhttp.listen = \"127.0.0.1:0\"\n\
             journal.segment_mib = 4\njournal.bytes_max_mib = 64\n",
        );
        for line in settings {
            let key = line.split('=').next().unwrap_or_default();
            text = text.lines().filter(|old| !old.starts_with(key)).fold(
                String::new(),
                |mut kept, old| {
                    kept.push_str(old);
                    kept.push('\n');
                    kept
                },
            );
            text.push_str(line);
            text.push('\n');
        }
        let mut file = std::fs::File::create(self.config())?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(())
    }

    /// Starts the program on the folder as it is.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        let child = self
            .command(&["run"])?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("start millrace run")?;
        self.child = Some(child);
        wait::until("the appliance to be ready", || self.text("/health/ready").ok().map(|_| ()))
    }

    /// Kills the process as the power switch would (SIGKILL).
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let mut child = self.child.take().context("it does not run")?;
        child.kill().context("kill")?;
        child.wait().context("wait for the end")?;
        // The next start must not take the dead one's addresses for its own.
        std::fs::remove_file(self.data().join("running.json")).context("forget the addresses")
    }

    /// Stops in good order (SIGTERM) and gives whether the exit was clean.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(&mut self) -> anyhow::Result<bool> {
        let mut child = self.child.take().context("it does not run")?;
        let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
        if !ended.success() {
            bail!("cannot send SIGTERM");
        }
        let status = wait::until("the appliance to stop", || child.try_wait().ok().flatten());
        if status.is_err() {
            child.kill()?;
        }
        Ok(status?.success())
    }

    /// The process id.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Whether the process still runs.
    pub fn lives(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A scratch folder that goes with the test.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("millrace.toml")
    }

    fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(program()?);
        command.args(arguments).arg("--config").arg(self.config()).arg("--data").arg(self.data());
        Ok(command)
    }

    /// Runs a command of the program and gives its output whatever its exit code.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn output(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        self.command(arguments)?.output().context("run millrace")
    }

    /// Runs a command of the program and gives its standard output.
    ///
    /// # Errors
    /// When it fails; the error has its standard error.
    pub fn cli(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.output(arguments)?;
        if !output.status.success() {
            bail!("millrace {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        String::from_utf8(output.stdout).context("read the output")
    }

    /// Adds an API client with the given options of `millrace client add`.
    ///
    /// # Errors
    /// When the command fails.
    pub fn client(&self, name: &str, options: &[&str]) -> anyhow::Result<Credentials> {
        let mut arguments = vec!["client", "add", name, "--json"];
        arguments.extend_from_slice(options);
        let line: Value = serde_json::from_str(self.cli(&arguments)?.trim())?;
        let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(Credentials {
            id: text("id").context("an id")?,
            secret: text("secret").context("a secret")?,
        })
    }

    fn running(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&std::fs::read(self.data().join("running.json"))?)?)
    }

    /// Where MQTT listens.
    ///
    /// # Errors
    /// When it does not run.
    pub fn mqtt(&self) -> anyhow::Result<std::net::SocketAddr> {
        let running = self.running()?;
        let text = running.get("mqtt").and_then(Value::as_str).context("an MQTT address")?;
        text.parse().context("read the MQTT address")
    }

    fn http(
        &self,
        method: reqwest::Method,
        path: &str,
    ) -> anyhow::Result<reqwest::blocking::RequestBuilder> {
        let running = self.running()?;
        let address = running.get("http").and_then(Value::as_str).context("an HTTP address")?;
        let token = std::fs::read_to_string(self.data().join("local.token"))?;
        let url = format!("http://{address}{path}");
        Ok(reqwest::blocking::Client::new().request(method, url).bearer_auth(token.trim()))
    }

    /// Asks for a text with the local token.
    ///
    /// # Errors
    /// When the answer is no success.
    pub fn text(&self, path: &str) -> anyhow::Result<String> {
        let answer = self.http(reqwest::Method::GET, path)?.send()?.error_for_status()?;
        answer.text().context("read the answer")
    }

    /// Changes a tag; `change` is the JSON body.
    ///
    /// # Errors
    /// When the answer is no success.
    pub fn patch_tag(&self, workspace: &str, path: &str, change: &str) -> anyhow::Result<()> {
        let path = format!("/api/v1/workspaces/{workspace}/tag?path={path}");
        let request = self.http(reqwest::Method::PATCH, &path)?;
        let request = request.header("content-type", "application/json").body(change.to_owned());
        request.send()?.error_for_status()?;
        Ok(())
    }

    /// Asks the API with the local token.
    ///
    /// # Errors
    /// When it does not answer with success.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        serde_json::from_str(&self.text(path)?).context("read the answer")
    }

    /// The ledger's total counts.
    ///
    /// # Errors
    /// When it cannot be asked for.
    pub fn ledger(&self) -> anyhow::Result<Value> {
        self.get("/api/v1/ledger")?.get("total").cloned().context("a total")
    }

    /// Whether an issue with this key is open.
    ///
    /// # Errors
    /// When the issues cannot be asked for.
    pub fn has_issue(&self, key: &str) -> anyhow::Result<bool> {
        let issues = self.get("/api/v1/issues")?;
        let list = issues.get("items").unwrap_or(&issues).as_array().context("a list")?;
        Ok(list.iter().any(|issue| issue.get("key").and_then(Value::as_str) == Some(key)))
    }
}

impl Drop for Appliance {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Already ended is what is wanted.
            let _ended = child.kill().is_err() || child.wait().is_err();
        }
    }
}
