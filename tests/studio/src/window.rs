//! The desktop program under the driver (W3C WebDriver over HTTP).

use crate::desktop::Desktop;
use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use millrace_harness::wait;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longest that the driver may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program.
#[derive(Debug)]
pub struct Window {
    http: reqwest::blocking::Client,
    session: String,
    folder: PathBuf,
    /// From the page's greeting.
    greeting: Value,
}

/// The program under test: beside the test's own program, where cargo builds both.
fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this test's own path")?;
    let folder = own.parent().and_then(Path::parent).context("find the build folder")?;
    let program = folder.join("millrace-studio");
    if !program.exists() {
        bail!("{} is not built; `cargo xtask studio --no-start` builds it", program.display());
    }
    Ok(program)
}

impl Window {
    /// Starts the program on a folder of the session and waits for its page.
    ///
    /// # Errors
    /// When there is no window in time.
    pub fn open(desktop: &Desktop, files: &[&str]) -> anyhow::Result<Self> {
        let folder = desktop.home().join("studio");
        let http = reqwest::blocking::Client::builder().timeout(PATIENCE).build()?;
        let mut arguments = vec!["--folder".to_owned(), folder.display().to_string()];
        arguments.extend(files.iter().map(|file| (*file).to_owned()));
        let options = json!({"binary": program()?, "args": arguments});
        let body = json!({"capabilities": {
            "alwaysMatch": {"webkitgtk:browserOptions": options}, "firstMatch": [{}]}});
        let answer = exchange(&http, "POST", &format!("{}/session", desktop.driver()), &body)?;
        let id = answer.get("sessionId").and_then(Value::as_str).context("a session")?;
        let session = format!("{}/session/{id}", desktop.driver());
        let window = Self { http, session, folder, greeting: Value::Null };
        window.ask("POST", "/timeouts", &json!({"script": 40_000}))?;
        wait::until("the page to be there", || {
            let has_page = "return document.readyState === 'complete' && \
                            '__TAURI_INTERNALS__' in window";
            window.run(has_page).ok().filter(|there| there == &Value::Bool(true))
        })?;
        Ok(window)
    }

    /// Starts the program once more on the same folder, with a file to open, and waits for its end.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn start_again(&self, desktop: &Desktop, file: &Path) -> anyhow::Result<()> {
        let mut second = desktop.command(Command::new(program()?));
        let status = second.arg("--folder").arg(&self.folder).arg(file).status()?;
        if !status.success() {
            bail!("the second start ended with {status}");
        }
        Ok(())
    }

    /// The folder where the program keeps what it knows.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        exchange(&self.http, method, &format!("{}{path}", self.session), body)
    }

    /// How long after the program's start the page painted something for the first time.
    ///
    /// # Errors
    /// When the page or the process cannot be asked.
    pub fn first_paint(&self) -> anyhow::Result<Duration> {
        self.shows("Appliances")?;
        let script = "const paint = performance.getEntriesByName('first-contentful-paint')[0]; \
                      return performance.now() - (paint ? paint.startTime : performance.now())";
        let since_paint = self.run(script)?.as_f64().context("a time of the first paint")?;
        let id = process_with(&self.folder.display().to_string()).context("find the process")?;
        Ok(Duration::from_secs_f64((age(id)? - since_paint / 1_000.0).max(0.0)))
    }

    /// Runs a script in the page and gives what it returns.
    ///
    /// # Errors
    /// When the script fails.
    pub fn run(&self, script: &str) -> anyhow::Result<Value> {
        self.ask("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs a script whose promise is waited for; a rejection is `{"rejected": ...}`.
    ///
    /// # Errors
    /// When the script fails otherwise.
    pub fn promise(&self, script: &str, argument: &Value) -> anyhow::Result<Value> {
        let script = format!(
            "const [argument, done] = arguments; \
             (async () => {{ {script} }})().then(done, why => done({{ rejected: \
             (why && (why.code || why.message)) ? {{ code: why.code, message: why.message, \
             presented: why.presented, field: why.field, refusal: why.refusal }} : String(why) }}))"
        );
        self.ask("POST", "/execute/async", &json!({"script": script, "args": [argument]}))
    }

    /// Makes a call as a page does.
    ///
    /// # Errors
    /// When the page is gone. A fault is an answer: `{"rejected": ...}`.
    pub fn call(&self, call: &Value) -> anyhow::Result<Value> {
        let script = "return window.__TAURI_INTERNALS__.invoke('call', { call: argument })";
        self.promise(script, call)
    }

    /// Begins as a page does. The program's own page is replaced by that.
    ///
    /// # Errors
    /// When the call fails.
    pub fn greet(&mut self) -> anyhow::Result<&Value> {
        // The program's own page has greeted before it shows anything.
        self.shows("Appliances")?;
        self.greeting = self.call(&json!({"call": "greet"}))?;
        Ok(&self.greeting)
    }

    /// The session of the greeting.
    #[must_use]
    pub fn session(&self) -> Value {
        self.greeting.get("session").cloned().unwrap_or_default()
    }

    /// Fetches events until one is what is looked for.
    ///
    /// # Errors
    /// When it does not come in time.
    pub fn event(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        wait::until(what, || {
            let call = json!({"call": "events", "session": self.session()});
            let answer = self.call(&call).ok()?;
            answer.get("events")?.as_array()?.iter().find(|event| is_it(event)).cloned()
        })
    }

    fn element(&self, xpath: &str) -> anyhow::Result<String> {
        let body = json!({"using": "xpath", "value": xpath});
        let found = wait::until(xpath, || self.ask("POST", "/element", &body).ok())?;
        let ids = found.as_object().context("an element")?;
        ids.values().next().and_then(Value::as_str).map(str::to_owned).context("an element")
    }

    /// Does something to an element. The page may build it anew between the search and the act:
    /// then it is searched again.
    fn act_on(&self, xpath: &str, act: &str, body: &Value) -> anyhow::Result<()> {
        let acted = wait::until(xpath, || {
            let element = match self.element(xpath) {
                Ok(element) => element,
                Err(fault) => return Some(Err(fault)),
            };
            match self.ask("POST", &format!("/element/{element}/{act}"), body) {
                Ok(_) => Some(Ok(())),
                Err(fault) if fault.to_string().contains("stale element") => None,
                Err(fault) => Some(Err(fault)),
            }
        });
        acted?
    }

    /// Types into the field with this label.
    ///
    /// # Errors
    /// When there is no such field in time.
    pub fn type_into(&self, label: &str, text: &str) -> anyhow::Result<()> {
        let field = "following::*[self::input or self::textarea][1]";
        let xpath = format!("//label[contains(., '{label}')]/{field}");
        self.act_on(&xpath, "value", &json!({ "text": text }))
    }

    /// Presses the button on which this stands.
    ///
    /// # Errors
    /// When there is no such button in time.
    pub fn press(&self, text: &str) -> anyhow::Result<()> {
        self.act_on(&format!("//button[normalize-space() = '{text}']"), "click", &json!({}))
    }

    /// Closes the dialog that is open.
    ///
    /// # Errors
    /// When there is none in time.
    pub fn close_dialog(&self) -> anyhow::Result<()> {
        let head = "//dialog[@open]/header";
        self.act_on(&format!("{head}//button[normalize-space() = '✕']"), "click", &json!({}))
    }

    /// Follows the link in which this stands.
    ///
    /// # Errors
    /// When there is no such link in time.
    pub fn follow(&self, text: &str) -> anyhow::Result<()> {
        self.act_on(&format!("//a[contains(normalize-space(), '{text}')]"), "click", &json!({}))
    }

    /// Why the button on which this stands cannot be pressed, as a person is told; empty when it
    /// can.
    ///
    /// # Errors
    /// When the page is gone, or there is no such button.
    pub fn off_because(&self, text: &str) -> anyhow::Result<String> {
        let why = self.promise(
            "const button = [...document.querySelectorAll('button')] \
             .find(button => button.innerText.trim() === argument); \
             return button.getAttribute('aria-disabled') === 'true' ? button.title : ''",
            &json!(text),
        )?;
        why.as_str().map(str::to_owned).with_context(|| format!("a button {text}: {why}"))
    }

    /// Waits until the page does not show this text any more.
    ///
    /// # Errors
    /// When it does not go in time.
    pub fn shows_no_more(&self, text: &str) -> anyhow::Result<()> {
        let wanted = format!("the page to show no '{text}' any more");
        wait::until(&wanted, || {
            let shown = self.run("return document.body.innerText").ok()?;
            shown.as_str().is_some_and(|shown| !shown.contains(text)).then_some(())
        })
    }

    /// Waits until the page shows this text.
    ///
    /// # Errors
    /// When it does not in time; the error has what it shows.
    pub fn shows(&self, text: &str) -> anyhow::Result<()> {
        let shown = || self.run("return document.body.innerText").ok();
        let wanted = format!("the page to show '{text}'");
        let is_there = wait::until(&wanted, || {
            shown()?.as_str().is_some_and(|shown| shown.contains(text)).then_some(())
        });
        is_there.with_context(|| format!("it shows: {}", shown().unwrap_or_default()))
    }

    /// The window's title.
    ///
    /// # Errors
    /// When the page is gone.
    pub fn title(&self) -> anyhow::Result<String> {
        let title = self.ask("GET", "/title", &Value::Null)?;
        title.as_str().map(str::to_owned).context("a title")
    }

    /// Saves a picture of the page beside the build's products and gives its path.
    ///
    /// # Errors
    /// When there is none.
    pub fn picture(&self, name: &str) -> anyhow::Result<PathBuf> {
        // A picture is taken of the next frame, and a page at rest has none.
        self.run(
            "window.restless = setInterval(() => { \
             document.body.style.opacity = Date.now() % 2 ? '1' : '0.999'; }, 20)",
        )?;
        let picture = self.ask("GET", "/screenshot", &Value::Null)?;
        self.run("clearInterval(window.restless); document.body.style.opacity = ''")?;
        let bytes = STANDARD.decode(picture.as_str().context("a picture")?)?;
        let own = std::env::current_exe().context("find this test's own path")?;
        let target = own.ancestors().nth(3).context("find the build folder")?;
        let folder = target.join("screenshots");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        let mut file = std::fs::File::create(&path)?;
        std::io::Write::write_all(&mut file, &bytes)?;
        Ok(path)
    }

    /// Ends the program in good order.
    ///
    /// # Errors
    /// When the driver cannot.
    pub fn close(self) -> anyhow::Result<()> {
        self.ask("DELETE", "", &Value::Null).map(drop)
    }

    /// Kills the program as the power switch would (SIGKILL).
    ///
    /// # Errors
    /// When it is not found.
    pub fn kill(self) -> anyhow::Result<()> {
        let folder = self.folder.display().to_string();
        let id = process_with(&folder).context("find the program's process")?;
        let killed = Command::new("kill").args(["-KILL", &id.to_string()]).status()?;
        if !killed.success() {
            bail!("cannot send SIGKILL");
        }
        wait::until("the program to be gone", || process_with(&folder).is_none().then_some(()))?;
        // The driver notices by itself, or says that it has no session any more.
        let (Ok(_) | Err(_)) = self.ask("DELETE", "", &Value::Null);
        Ok(())
    }
}

/// For how many seconds a process has run; the kernel counts hundredths.
fn age(id: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).context("read the process")?;
    let after_name = stat.rsplit_once(')').context("read its name")?.1;
    let ticks: f64 = after_name.split_whitespace().nth(19).context("read its start")?.parse()?;
    let uptime = std::fs::read_to_string("/proc/uptime").context("read the time since boot")?;
    let uptime: f64 = uptime.split_whitespace().next().context("a time")?.parse()?;
    Ok(uptime - ticks / 100.0)
}

/// The process that has this argument.
fn process_with(argument: &str) -> Option<u32> {
    std::fs::read_dir("/proc").ok()?.filter_map(Result::ok).find_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let has = line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes());
        has.then_some(id)
    })
}

fn exchange(
    http: &reqwest::blocking::Client,
    method: &str,
    url: &str,
    body: &Value,
) -> anyhow::Result<Value> {
    let request = http.request(method.parse()?, url);
    let request = if body.is_null() { request } else { request.json(body) };
    let answer = request.send().with_context(|| format!("{method} {url}"))?;
    let status = answer.status();
    let mut text: Value = answer.json().with_context(|| format!("{method} {url}"))?;
    let value = text.get_mut("value").map(Value::take).unwrap_or_default();
    if !status.is_success() {
        bail!("{method} {url}: {value}");
    }
    Ok(value)
}
