//! What a person's session has, without a person: display, bus, keyring, driver.

use anyhow::{Context as _, bail};
use millrace_harness::wait;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What is needed, and the package that brings it on Debian.
const NEEDED: &[(&str, &str)] = &[
    ("Xvfb", "xvfb"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("dbus-daemon", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
];

/// Packages that a test of the window misses here.
#[must_use]
pub fn missing() -> Vec<&'static str> {
    NEEDED.iter().filter(|(program, _)| find(program).is_none()).map(|(_, name)| *name).collect()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A session.
#[derive(Debug)]
pub struct Desktop {
    folder: tempfile::TempDir,
    /// The last one started is ended first.
    children: Vec<Child>,
    port: u16,
    display: String,
    bus: String,
}

impl Desktop {
    /// Starts a session.
    ///
    /// # Errors
    /// When one of its programs does not start.
    pub fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("make a folder")?;
        let (display, bus) = (String::new(), String::new());
        let mut desktop = Self { folder, children: Vec::new(), port: 0, display, bus };
        let display = desktop.first_line(Command::new("Xvfb").args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1400x900x24",
        ]))?;
        desktop.display = format!(":{display}");
        desktop.bus =
            desktop.first_line(desktop.in_session(Command::new("dbus-daemon")).args([
                "--session",
                "--nofork",
                "--print-address=1",
            ]))?;
        desktop.unlock_keyring()?;
        // Taken by nobody else between here and the driver's start, as good as ever.
        desktop.port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut driver = desktop.command(Command::new("WebKitWebDriver"));
        driver.arg(format!("--port={}", desktop.port)).env("TAURI_WEBVIEW_AUTOMATION", "true");
        desktop.children.push(driver.spawn().context("start WebKitWebDriver")?);
        let status = format!("{}/status", desktop.driver());
        wait::until("the driver to answer", || {
            reqwest::blocking::get(&status).ok().filter(|answer| answer.status().is_success())
        })?;
        Ok(desktop)
    }

    /// Where the driver answers.
    #[must_use]
    pub fn driver(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The folder that is this session's home.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A program with a window in this session.
    #[must_use]
    pub fn command(&self, command: Command) -> Command {
        let mut command = self.in_session(command);
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            // A virtual display has no graphics card to share buffers with.
            .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
            .env("GTK_A11Y", "none")
            .env("NO_AT_BRIDGE", "1");
        command
    }

    /// A program of this session: nothing of the real home is seen.
    fn in_session(&self, mut command: Command) -> Command {
        let home = self.home();
        command
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", home)
            .env_remove("XDG_DOWNLOAD_DIR")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// A keyring of its own, unlocked with a password that nobody needs again.
    fn unlock_keyring(&mut self) -> anyhow::Result<()> {
        let mut keyring = self.in_session(Command::new("gnome-keyring-daemon"));
        keyring
            .args(["--foreground", "--unlock", "--components=secrets"])
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .stdin(Stdio::piped());
        let mut child = keyring.spawn().context("start gnome-keyring-daemon")?;
        let mut stdin = child.stdin.take().context("write to the keyring")?;
        stdin.write_all(b"test").context("unlock the keyring")?;
        drop(stdin);
        self.children.push(child);
        Ok(())
    }

    /// Starts a program and gives the first line that it prints.
    fn first_line(&mut self, command: &mut Command) -> anyhow::Result<String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("start {program}"))?;
        let stdout = child.stdout.take().context("read what it prints")?;
        self.children.push(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).with_context(|| format!("read {program}"))?;
        if line.trim().is_empty() {
            bail!("{program} ended instead of starting");
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        while let Some(mut child) = self.children.pop() {
            // Already ended is what is wanted.
            let _ended = child.kill().is_err() || child.wait().is_err();
        }
    }
}
