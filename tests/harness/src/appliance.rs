//! The appliance as a process.

use crate::wait;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A running (or stopped) appliance and its folder.
#[derive(Debug)]
pub struct Appliance {
    folder: tempfile::TempDir,
    child: Option<Child>,
    /// The limit of open files that it is started with.
    open_files: Option<u32>,
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
        let mut appliance = Self::prepare(settings)?;
        appliance.start_again()?;
        Ok(appliance)
    }

    /// As [`Appliance::start`], without starting: for what has to be there before.
    ///
    /// # Errors
    /// When the configuration cannot be written.
    pub fn prepare(settings: &[&str]) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("make a folder")?;
        let appliance = Self { folder, child: None, open_files: None };
        appliance.configure(settings)?;
        Ok(appliance)
    }

    /// From the next start on the system gives it so many open files, and more when it asks.
    pub fn limit_open_files(&mut self, count: u32) {
        self.open_files = Some(count);
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
        self.launch()?;
        let is_ready = wait::until("the appliance to be ready", || match self.lives() {
            true => self.text("/health/ready").ok().map(|_| true),
            false => Some(false),
        })?;
        if !is_ready {
            bail!("the appliance ended instead of starting: {}", self.said());
        }
        Ok(())
    }

    /// Starts the program and does not wait for anything.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn launch(&mut self) -> anyhow::Result<()> {
        let mut command = self.command(&["run"])?;
        if let Some(count) = self.open_files {
            let mut limited = Command::new("sh");
            limited.args([
                "-c",
                "ulimit -S -n \"$1\"; shift; exec \"$@\"",
                "sh",
                &count.to_string(),
            ]);
            limited.arg(command.get_program()).args(command.get_args());
            command = limited;
        }
        let log = std::fs::File::create(self.log()).context("make a file for what it says")?;
        let announced = std::fs::File::create(self.folder.path().join("stdout.log"))
            .context("make a file for what it announces")?;
        let child = command
            .stdin(Stdio::null())
            .stdout(announced)
            .stderr(log)
            .spawn()
            .context("start millrace run")?;
        self.child = Some(child);
        Ok(())
    }

    /// Starts the program, which must end with an error, and gives what it says.
    ///
    /// # Errors
    /// When it goes on running, or ends as if all were well.
    pub fn start_refused(&mut self) -> anyhow::Result<String> {
        self.launch()?;
        let mut child = self.child.take().context("it was started")?;
        let status = wait::until("the start to be refused", || child.try_wait().ok().flatten());
        if status.is_err() {
            child.kill()?;
        }
        if status?.success() {
            bail!("it ended as if all were well");
        }
        Ok(self.said())
    }

    /// What it has said on standard error since its start.
    #[must_use]
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// What it has announced on standard output since its start: addresses, the claim code.
    #[must_use]
    pub fn announced(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stdout.log")).unwrap_or_default()
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("stderr.log")
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

    /// Stops in good order and starts with other settings.
    ///
    /// # Errors
    /// When it does not stop, or does not become ready.
    pub fn restart_with(&mut self, settings: &[&str]) -> anyhow::Result<()> {
        self.stop()?;
        self.configure(settings)?;
        self.start_again()
    }

    /// Memory that the process has in use, in bytes (Linux).
    ///
    /// # Errors
    /// When it does not run.
    pub fn memory_bytes(&self) -> anyhow::Result<u64> {
        let id = self.process_id().context("it does not run")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).context("VmRSS")?;
        Ok(kib.parse::<u64>()? * 1024)
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

    /// Starts a command of the program that goes on by itself; whoever starts it ends it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&self, arguments: &[&str]) -> anyhow::Result<Child> {
        let mut command = self.command(arguments)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().context("start millrace")
    }

    /// Runs a command of the program with this on its standard input, and gives its output whatever
    /// its exit code.
    ///
    /// # Errors
    /// When it cannot be started or told.
    pub fn output_of(&self, arguments: &[&str], input: &str) -> anyhow::Result<Output> {
        let mut command = self.command(arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("start millrace")?;
        // Dropped when it is written: the command reads to the end.
        let mut stdin = child.stdin.take().context("reach its standard input")?;
        // A command that refuses at once reads nothing.
        let _unread = stdin.write_all(input.as_bytes()).is_err();
        drop(stdin);
        child.wait_with_output().context("run millrace")
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

    /// Where HTTP listens.
    ///
    /// # Errors
    /// When it does not run.
    pub fn http_address(&self) -> anyhow::Result<std::net::SocketAddr> {
        let running = self.running()?;
        let text = running.get("http").and_then(Value::as_str).context("an HTTP address")?;
        text.parse().context("read the HTTP address")
    }

    /// The token that the command line uses.
    ///
    /// # Errors
    /// When it does not run.
    pub fn local_token(&self) -> anyhow::Result<String> {
        let token = std::fs::read_to_string(self.data().join("local.token"))?;
        Ok(token.trim().to_owned())
    }

    fn http(
        &self,
        method: reqwest::Method,
        path: &str,
    ) -> anyhow::Result<reqwest::blocking::RequestBuilder> {
        let url = format!("http://{}{path}", self.http_address()?);
        let client = reqwest::blocking::Client::new();
        Ok(client.request(method, url).bearer_auth(self.local_token()?))
    }

    /// Asks for something to be done, with the local token.
    ///
    /// # Errors
    /// When the answer is no success.
    pub fn post(&self, path: &str) -> anyhow::Result<()> {
        self.http(reqwest::Method::POST, path)?.send()?.error_for_status()?;
        Ok(())
    }

    /// Sends JSON with a bearer token (the local one if none is given); gives status and body of
    /// the answer, whatever it is.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn send_json(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> anyhow::Result<(u16, String)> {
        let url = format!("http://{}{path}", self.http_address()?);
        let token = match token {
            Some(token) => token.to_owned(),
            None => self.local_token()?,
        };
        let method = method.parse::<reqwest::Method>()?;
        let request = reqwest::blocking::Client::new().request(method, url).bearer_auth(token);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let answer = request.send()?;
        Ok((answer.status().as_u16(), answer.text()?))
    }

    /// Keys of the open issues.
    ///
    /// # Errors
    /// When they cannot be asked for.
    pub fn issues(&self) -> anyhow::Result<Vec<String>> {
        let page = self.get("/api/v1/issues")?;
        let list = page.get("items").and_then(Value::as_array).context("a list")?;
        let key = |issue: &Value| issue.get("key").and_then(Value::as_str).map(str::to_owned);
        Ok(list.iter().filter_map(key).collect())
    }

    /// The status code of an answer.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn status(&self, path: &str) -> anyhow::Result<u16> {
        Ok(self.http(reqwest::Method::GET, path)?.send()?.status().as_u16())
    }

    /// A bearer token for an API client (OAuth2 client credentials).
    ///
    /// # Errors
    /// When none is given.
    pub fn access_token(&self, client: &Credentials) -> anyhow::Result<String> {
        let url = format!("http://{}/oauth/token", self.http_address()?);
        let request = reqwest::blocking::Client::new()
            .post(url)
            .basic_auth(&client.id, Some(&client.secret))
            .header("content-type", "application/x-www-form-urlencoded")
            .body("grant_type=client_credentials");
        let answer: Value = request.send()?.error_for_status()?.json()?;
        Ok(answer.get("access_token").and_then(Value::as_str).context("a token")?.to_owned())
    }

    /// A figure of `/metrics`, by its full name with labels.
    ///
    /// # Errors
    /// When there is no such figure.
    pub fn metric(&self, name: &str) -> anyhow::Result<f64> {
        let text = self.text("/metrics")?;
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.with_context(|| format!("{name} in {text}"))?.parse().context("read a figure")
    }

    /// Values of a topic in the order of their times, as text.
    ///
    /// # Errors
    /// When the question is refused.
    pub fn values(&self, topic: &str) -> anyhow::Result<Vec<String>> {
        let csv = self.cli(&["query", "raw", topic, "--from", "-1h"])?;
        let value = |row: &str| row.splitn(5, ',').nth(4).unwrap_or_default().to_owned();
        Ok(csv.lines().skip(1).map(value).collect())
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
