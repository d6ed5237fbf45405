//! A real browser, driven through the WebDriver protocol: Chromium by its own chromedriver.
//!
//! The protocol is JSON over HTTP, so the client is this file and no library. A machine without
//! the two programs has no browser: tests say so and end.
//!
//! **Invariants**: the browser ends with its handle; waiting is for a condition with a limit; what the
//! page wrote to its console as an error is kept and can be asked for.

use crate::wait;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The name under which WebDriver gives an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A window of a browser.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    http: reqwest::blocking::Client,
    session: String,
    /// What the browser keeps of this run.
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser with the session; should it not, its own end does.
        let _gone = self.http.delete(&self.session).send().is_err();
        let _ended = self.driver.kill().is_err();
        let _waited = self.driver.wait().is_err();
    }
}

impl Browser {
    /// Opens a window; `None` when this machine has no browser.
    ///
    /// # Errors
    /// When there is one that cannot be started.
    pub fn open(width: u32, height: u32) -> anyhow::Result<Option<Self>> {
        let (Some(driver), Some(browser)) =
            (program("chromedriver"), program("chromium").or_else(|| program("google-chrome")))
        else {
            return Ok(None);
        };
        let profile = tempfile::tempdir().context("make a folder for the browser")?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("start chromedriver")?;
        let lines = BufReader::new(driver.stdout.take().context("read chromedriver")?).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.split("successfully on port ").nth(1).map(|rest| rest.to_owned()))
            .and_then(|rest| rest.trim_end_matches('.').trim().parse::<u16>().ok());
        let Some(port) = port else {
            let _ended = driver.kill().is_err();
            bail!("chromedriver did not say on which port it listens");
        };
        let base = format!("http://127.0.0.1:{port}");
        let http = reqwest::blocking::Client::builder()
            .timeout(std::time::Duration::from_secs(60))
            .build()
            .context("make an HTTP client")?;
        let arguments = [
            "--headless=new".to_owned(),
            // As root, and in a build machine's container, there is no sandbox to be had.
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-gpu".to_owned(),
            "--force-color-profile=srgb".to_owned(),
            "--lang=en-GB".to_owned(),
            format!("--window-size={width},{height}"),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let wish = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": browser, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let mut window = Self { driver, http, session: base, _profile: profile };
        let session = window.ask("/session", &wish)?;
        let id = session.get("sessionId").and_then(Value::as_str).context("a session")?;
        window.session = format!("{}/session/{id}", window.session);
        Ok(Some(window))
    }

    /// Goes to an address.
    ///
    /// # Errors
    /// When it does not load.
    pub fn go(&self, address: &str) -> anyhow::Result<()> {
        self.ask("/url", &json!({ "url": address })).map(drop)
    }

    /// Makes the window that large.
    ///
    /// # Errors
    /// When the browser is gone.
    pub fn resize(&self, width: u32, height: u32) -> anyhow::Result<()> {
        self.ask("/window/rect", &json!({ "width": width, "height": height })).map(drop)
    }

    /// The path of the page that is shown.
    ///
    /// # Errors
    /// When the browser is gone.
    pub fn path(&self) -> anyhow::Result<String> {
        let value = self.run("return location.pathname")?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    /// Runs JavaScript in the page, and gives what it returns.
    ///
    /// # Errors
    /// When it throws.
    pub fn run(&self, script: &str) -> anyhow::Result<Value> {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs JavaScript that calls its last argument with the result.
    ///
    /// # Errors
    /// When it throws, or never calls.
    pub fn run_later(&self, script: &str) -> anyhow::Result<Value> {
        self.ask("/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Waits for an element.
    ///
    /// # Errors
    /// When it does not come.
    pub fn find(&self, css: &str) -> anyhow::Result<String> {
        let wish = json!({ "using": "css selector", "value": css });
        wait::until(&format!("an element {css}"), || {
            let found = self.ask("/element", &wish).ok()?;
            found.get(ELEMENT).and_then(Value::as_str).map(str::to_owned)
        })
        .with_context(|| format!("the page reads: {}", self.text("body").unwrap_or_default()))
    }

    /// Clicks an element.
    ///
    /// # Errors
    /// When it does not come, or something lies over it.
    pub fn click(&self, css: &str) -> anyhow::Result<()> {
        let element = self.find(css)?;
        self.ask(&format!("/element/{element}/click"), &json!({})).map(drop)
    }

    /// Types into an element.
    ///
    /// # Errors
    /// When it does not come.
    pub fn fill(&self, css: &str, text: &str) -> anyhow::Result<()> {
        let element = self.find(css)?;
        self.ask(&format!("/element/{element}/clear"), &json!({}))?;
        self.ask(&format!("/element/{element}/value"), &json!({ "text": text })).map(drop)
    }

    /// Presses keys wherever the focus is; `\u{e007}` is Enter.
    ///
    /// # Errors
    /// When the browser is gone.
    pub fn press(&self, keys: &[&str]) -> anyhow::Result<()> {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<Value> = down.chain(up).collect();
        let wish = json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] });
        self.ask("/actions", &wish).map(drop)
    }

    /// The text of an element, as a person sees it.
    ///
    /// # Errors
    /// When there is none.
    pub fn text(&self, css: &str) -> anyhow::Result<String> {
        let found = self.ask("/element", &json!({ "using": "css selector", "value": css }))?;
        let element = found.get(ELEMENT).and_then(Value::as_str).context("an element")?;
        let answer = self.http.get(format!("{}/element/{element}/text", self.session)).send()?;
        let answer: Value = answer.json().context("read the text")?;
        Ok(answer.get("value").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Waits until an element's text is as it should be.
    ///
    /// # Errors
    /// When it never is; the last text is told.
    pub fn until_text(&self, css: &str, good: impl Fn(&str) -> bool) -> anyhow::Result<String> {
        let mut last = String::new();
        let found = wait::until(&format!("the text of {css}"), || {
            last = self.text(css).ok()?;
            good(&last).then(|| last.clone())
        });
        found.with_context(|| format!("the last text was: {last}"))
    }

    /// Keeps a picture of the window among the build products, for whoever wants to look.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn picture(&self, name: &str) -> anyhow::Result<PathBuf> {
        let answer = self.http.get(format!("{}/screenshot", self.session)).send()?;
        let answer: Value = answer.json().context("read the picture")?;
        let text = answer.get("value").and_then(Value::as_str).context("a picture")?;
        let folder = build_folder()?.join("screenshots");
        std::fs::create_dir_all(&folder).context("make the folder of pictures")?;
        let path = folder.join(format!("{name}.png"));
        let mut file = std::fs::File::create(&path).context("create the picture")?;
        std::io::Write::write_all(&mut file, &from_base64(text)).context("write the picture")?;
        Ok(path)
    }

    /// What the page has written to its console as errors since the last question.
    ///
    /// # Errors
    /// When the browser is gone.
    pub fn console_errors(&self) -> anyhow::Result<Vec<String>> {
        let entries = self.ask("/se/log", &json!({ "type": "browser" }))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry.get("level") == Some(&json!("SEVERE")));
        let message =
            |entry: &Value| entry.get("message").and_then(Value::as_str).map(str::to_owned);
        Ok(severe.filter_map(message).collect())
    }

    fn ask(&self, path: &str, wish: &Value) -> anyhow::Result<Value> {
        let answer = self.http.post(format!("{}{path}", self.session)).json(wish).send();
        let answer: Value =
            answer.context("ask the browser")?.json().context("hear the browser")?;
        let value = answer.get("value").cloned().unwrap_or_default();
        match value.get("error").and_then(Value::as_str) {
            Some(error) => {
                let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
                bail!("{path}: {error}: {}", message.lines().next().unwrap_or_default())
            }
            None => Ok(value),
        }
    }
}

/// The folder of build products that is not any one profile's.
///
/// # Errors
/// When this program lies nowhere.
pub fn build_folder() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this test's own path")?;
    let folder = own.ancestors().nth(3).context("find the build folder")?;
    Ok(folder.to_path_buf())
}

/// The studio's bundle, where `cargo xtask ui` puts it; `None` when it was not built.
///
/// # Errors
/// When this program lies nowhere.
pub fn bundle() -> anyhow::Result<Option<PathBuf>> {
    let folder = build_folder()?.join("web");
    Ok(folder.join("index.html").is_file().then_some(folder))
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| Path::is_file(path))
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len()), 0_u32, 0_u32);
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    for digit in digits {
        bits = (bits << 6) | u32::try_from(digit).unwrap_or(0);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap_or(0));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::from_base64;

    #[test]
    fn reads_base64_with_and_without_padding() {
        assert_eq!(from_base64("TWlsbA=="), b"Mill");
        assert_eq!(from_base64("TWls"), b"Mil");
        assert_eq!(from_base64("+/8="), [0xfb, 0xff]);
    }
}
