//! What every test begins with: an appliance that serves the studio, and a window that shows it.

use anyhow::Context as _;
use millrace_harness::{Appliance, Browser, browser, wait};
use std::path::Path;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// An appliance and a window.
pub(crate) struct Scene {
    pub(crate) appliance: Appliance,
    pub(crate) browser: Browser,
    settings: Vec<String>,
}

impl Scene {
    /// Opens the studio of a new appliance; `None` where that cannot be done.
    pub(crate) fn open(settings: &[&str]) -> anyhow::Result<Option<Self>> {
        let Some(bundle) = browser::bundle()? else {
            println!("skipped: there is no bundle; `cargo xtask ui` builds it");
            return Ok(None);
        };
        let Some(browser) = Browser::open(1440, 960)? else {
            println!("skipped: there is no chromium with chromedriver here");
            return Ok(None);
        };
        let folder = format!("http.web_folder = '{}'", bundle.display());
        let settings: Vec<String> =
            settings.iter().map(|line| (*line).to_owned()).chain([folder]).collect();
        let lines: Vec<&str> = settings.iter().map(String::as_str).collect();
        let appliance = Appliance::start(&lines)?;
        let scene = Self { appliance, browser, settings };
        scene.browser.go(&scene.address("/")?)?;
        Ok(Some(scene))
    }

    /// The address of a page.
    pub(crate) fn address(&self, path: &str) -> anyhow::Result<String> {
        Ok(format!("http://{}{path}", self.appliance.http_address()?))
    }

    /// Claims the new appliance as anna, by hand; the overview is shown after it.
    pub(crate) fn claim(&self) -> anyhow::Result<()> {
        let code = wait::until("the claim code", || {
            let announced = self.appliance.announced();
            let rest = announced.split("claim  ").nth(1)?;
            rest.split_whitespace().next().map(str::to_owned)
        })?;
        let browser = &self.browser;
        browser.until_text("h1", |title| title == "Claim this appliance")?;
        for (number, text) in [code.as_str(), "anna", PASSWORD, PASSWORD].iter().enumerate() {
            browser.fill(&format!(".form > .field:nth-of-type({}) input", number + 1), text)?;
        }
        browser.click("button[type=submit]")?;
        browser.until_text("h1", |title| title == "Overview").map(drop)
    }

    /// Signs anna in, on the page that asks for it.
    pub(crate) fn sign_in(&self) -> anyhow::Result<()> {
        self.browser.until_text("h1", |title| title == "Sign in")?;
        self.browser.fill("input[type=text]", "anna")?;
        self.browser.fill("input[type=password]", PASSWORD)?;
        self.browser.click("button[type=submit]")
    }

    /// Stops the appliance, does something, and starts it again where it was.
    pub(crate) fn away(
        &mut self,
        meanwhile: impl FnOnce(&Browser, &Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let listen = format!("http.listen = \"{}\"", self.appliance.http_address()?);
        self.appliance.stop()?;
        meanwhile(&self.browser, &self.appliance.data())?;
        let lines = self.settings.iter().map(String::as_str).chain([listen.as_str()]);
        self.appliance.configure(&lines.collect::<Vec<_>>())?;
        self.appliance.start_again()
    }

    /// Writes the file that the appliance reads at its next start; this one runs on as it is.
    pub(crate) fn write_settings(&self, more: &[&str]) -> anyhow::Result<()> {
        let lines = self.settings.iter().map(String::as_str).chain(more.iter().copied());
        self.appliance.configure(&lines.collect::<Vec<_>>())
    }

    /// Fails when the page has complained on its console. That the API has nothing of a name, does not
    /// take what was typed or has ended something already, is an answer; only the browser notes it
    /// there.
    pub(crate) fn expect_quiet_console(&self) -> anyhow::Result<()> {
        let mut errors = self.browser.console_errors()?;
        let is_answer = |error: &String| {
            error.contains("/api/v1/")
                && ["404", "409", "422"].iter().any(|code| error.contains(code))
        };
        errors.retain(|error| !is_answer(error));
        anyhow::ensure!(errors.is_empty(), "the page complained: {errors:#?}");
        Ok(())
    }
}

/// Looks at the page as it is in light and dark and in a narrow window: pictures are kept, and
/// nobody may be kept out. The page is light and wide afterwards, as it has to be before.
pub(crate) fn look(browser: &Browser, name: &str) -> anyhow::Result<()> {
    for (theme, width, view) in [
        ("light", 1400, "light"),
        ("dark", 1400, "dark"),
        ("dark", 800, "narrow-dark"),
        ("light", 800, "narrow-light"),
    ] {
        browser.resize(width, 900)?;
        if browser.run("return document.documentElement.dataset.theme")? != theme {
            browser.press(&["\u{e00a}", "d"])?;
        }
        browser.find(&format!("html[data-theme={theme}]"))?;
        browser.picture(&format!("{name}-{view}"))?;
        let faults = axe(browser)?;
        anyhow::ensure!(faults.is_empty(), "{name}, {view}: {faults:#?}");
    }
    browser.resize(1400, 900)
}

/// Lets the page keep what it hands the person as files, for [`saved`].
pub(crate) fn keep_files(browser: &Browser) -> anyhow::Result<()> {
    browser
        .run(
            "window.saved = [];
             const offer = URL.createObjectURL;
             URL.createObjectURL = blob => {
               blob.arrayBuffer().then(bytes => window.saved.push(
                 [blob.type, new TextDecoder().decode(bytes)]));
               return offer(blob);
             };",
        )
        .map(drop)
}

/// The type and the text of the next file that the page handed out.
pub(crate) fn saved(browser: &Browser) -> anyhow::Result<(String, String)> {
    wait::until("a file", || {
        let file = browser.run("return window.saved.shift()").ok()?;
        let text = |at: usize| file.get(at)?.as_str().map(str::to_owned);
        Some((text(0)?, text(1)?))
    })
}

/// Serious faults of the page for people who hear it or use keys alone, as axe-core finds them;
/// none where it is not installed (`cargo xtask ui` does that, with npm).
pub(crate) fn axe(browser: &Browser) -> anyhow::Result<Vec<String>> {
    let file = browser::build_folder()?.join("islands/node_modules/axe-core/axe.min.js");
    let Ok(axe) = std::fs::read_to_string(&file) else {
        println!("half skipped: there is no {}", file.display());
        return Ok(Vec::new());
    };
    browser.run(&axe)?;
    let found = browser.run_later(
        "const done = arguments[arguments.length - 1];
         axe.run(document, { resultTypes: ['violations'] }).then(
           found => done(found.violations
             .filter(one => ['serious', 'critical'].includes(one.impact))
             .map(one => one.id + ': ' + one.help + ': ' + one.nodes.map(node => node.target.join(' ')).join(', '))),
           fault => done(['axe: ' + fault]));",
    )?;
    let found = found.as_array().context("a list of violations")?;
    Ok(found.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
}
