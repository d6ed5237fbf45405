//! Goal: the program's own files stay whole when it is killed while it writes them; and how long a
//! start takes is known.

use anyhow::Context as _;
use millrace_harness::wait;
use millrace_studio_harness::{Desktop, Window, missing};
use serde_json::{Value, json};

/// Kills in a row.
const KILLS: usize = 3;

/// Saves one draft after the other, each larger than a disk's block by far, for as long as the page
/// stands. `window.saved` is the last one that was answered.
const SAVE_FOR_EVER: &str = "
    const { profile, from } = argument;
    const filling = 'x'.repeat(300000);
    const save = async () => {
        for (let number = from; ; number += 1) {
            const document = JSON.stringify({ millrace: 1, name: 'scale', steps: {},
                description: number + ' ' + filling });
            await window.__TAURI_INTERNALS__.invoke('call', { call: { call: 'save_draft', profile,
                workspace: 'main', name: 'scale', document, base: 0 } });
            window.saved = number;
        }
    };
    window.saved = from - 1;
    save();
    return true";

/// The number of the draft that is there.
fn saved(window: &Window, profile: &Value) -> anyhow::Result<u64> {
    let call =
        json!({"call": "pipeline", "profile": profile, "workspace": "main", "name": "scale"});
    let stored = window.call(&call)?;
    let text = stored["draft"]["document"].as_str().with_context(|| format!("{stored}"))?;
    let document: Value = serde_json::from_str(text)?;
    let description = document["description"].as_str().context("a description")?;
    assert_eq!(description.split_once(' ').map(|(_, filling)| filling.len()), Some(300_000));
    Ok(description.split(' ').next().context("a number")?.parse()?)
}

#[test]
fn a_kill_while_it_writes_loses_nothing_that_was_answered() -> anyhow::Result<()> {
    let missing = missing();
    if !missing.is_empty() {
        println!("skipped: a window needs packages that are not here: {}", missing.join(" "));
        return Ok(());
    }
    let desktop = Desktop::start()?;
    let mut window = Window::open(&desktop, &[])?;
    println!("the list of appliances was painted {:?} after the start", window.first_paint()?);
    window.greet()?;
    let call = json!({"call": "add_profile", "name": "Hall", "address": "https://127.0.0.1:9"});
    let profile = window.call(&call)?["profile"]["id"].clone();
    let mut least = 0;
    for _ in 0..KILLS {
        let argument = json!({"profile": profile, "from": least + 1});
        window.promise(SAVE_FOR_EVER, &argument)?;
        let enough = least + 5;
        least = wait::until("drafts to be saved", || {
            let saved = window.run("return window.saved").ok()?.as_u64()?;
            (saved >= enough).then_some(saved)
        })?;
        let folder = window.folder().to_owned();
        window.kill()?;
        window = Window::open(&desktop, &[])?;
        let greeting = window.greet()?;
        assert_eq!(greeting["notices"], json!([]));
        assert_eq!(greeting["profiles"][0]["name"], "Hall", "{greeting}");
        let found = saved(&window, &profile)?;
        assert!(found >= least, "{found} is older than {least}, which was answered");
        least = found;
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            assert!(!name.contains("damaged"), "{name}");
        }
    }
    window.close()
}
