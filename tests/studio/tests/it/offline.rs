//! Goal: a person works on a plant's pipelines without its appliance, loses nothing to a kill, and
//! deploys when it is back, also when somebody else was there in between.

use crate::plant::{PASSWORD, Plant, document};
use anyhow::Context as _;
use millrace_harness::wait;
use millrace_studio_harness::{Desktop, Window, missing};
use serde_json::{Value, json};

/// Adds the appliance with the program's pages, compares, and signs in.
fn sign_in(window: &Window, plant: &Plant) -> anyhow::Result<()> {
    window.shows("No appliance yet")?;
    window.type_into("Address", plant.address.trim_start_matches("https://"))?;
    window.type_into("Name", "Press hall")?;
    window.press("Add")?;
    window.press("Open")?;
    window.shows("Is this Press hall?")?;
    window.press("It is the same: accept this certificate")?;
    window.type_into("Name", "anna")?;
    window.type_into("Password", PASSWORD)?;
    window.press("Sign in")?;
    window.shows("Overview")
}

/// Waits until the program has read everything at this number of its last reading.
fn read(window: &Window) -> anyhow::Result<()> {
    let projects = window.folder().join("projects");
    wait::until("the appliance to be read", || {
        let profile = std::fs::read_dir(&projects).ok()?.next()?.ok()?.path();
        profile.join("pmain/read.json").is_file().then_some(())
    })
}

/// Opens the appliance's page while it does not run, and goes to work.
fn work_offline(desktop: &Desktop) -> anyhow::Result<Window> {
    let window = Window::open(desktop, &[])?;
    window.press("Open")?;
    window.shows("Press hall cannot be reached")?;
    Ok(window)
}

fn describe(window: &Window, text: &str) -> anyhow::Result<()> {
    window.shows("Add step")?;
    window.press("Settings")?;
    window.type_into("Description", text)?;
    window.close_dialog()
}

fn pipeline(plant: &Plant) -> anyhow::Result<Value> {
    plant.appliance.get("/api/v1/workspaces/main/pipelines/scale")
}

fn stored(plant: &Plant) -> anyhow::Result<Value> {
    let path = "/api/v1/workspaces/main/pipelines/scale/revisions/latest";
    Ok(plant.appliance.get(path)?["document"].clone())
}

#[test]
fn a_person_edits_without_the_appliance_and_deploys_when_it_is_back() -> anyhow::Result<()> {
    let missing = missing();
    if !missing.is_empty() {
        println!("skipped: a window needs packages that are not here: {}", missing.join(" "));
        return Ok(());
    }
    let desktop = Desktop::start()?;
    let mut plant = Plant::start()?;
    plant.save(&document(2))?;
    plant.topic("press/raw", "mm", "Stroke of the press")?;
    let window = Window::open(&desktop, &[])?;
    sign_in(&window, &plant)?;
    read(&window)?;
    window.close()?;
    plant.appliance.stop()?;

    // The program starts without the appliance: what was read is there, and what is not says so.
    let window = work_offline(&desktop)?;
    window.shows("pipelines 1, topics 1.")?;
    window.picture("studio-unreachable")?;
    window.press("Work offline")?;
    window.shows("Offline since")?;
    window.shows("This page needs the appliance")?;
    window.follow("Namespace")?;
    window.shows("Stroke of the press")?;
    window.picture("studio-offline-topics")?;
    window.follow("Pipelines")?;
    window.shows("revision 1")?;
    window.follow("scale")?;
    describe(&window, "made on a train")?;
    for button in ["Save", "Deploy", "Test step"] {
        let why = window.off_because(button)?;
        assert_eq!(why, "This needs the appliance, which cannot be reached now.", "{button}");
    }
    window.picture("studio-offline-designer")?;
    window.follow("All pipelines")?;
    window.shows("Drafts that wait for the appliance")?;
    window.shows("from revision 1, kept")?;

    // Killed as by the power switch: the draft is there again.
    window.kill()?;
    let window = work_offline(&desktop)?;
    window.shows("Drafts that wait for the appliance: 1.")?;
    window.press("Work offline")?;
    window.follow("Pipelines")?;
    window.shows("from revision 1, kept")?;
    window.picture("studio-offline-pipelines")?;

    // It is back: the draft is compared with it and deployed.
    plant.appliance.start_again()?;
    window.shows("Only this draft has something new.")?;
    window.shows_no_more("Offline since")?;
    window.shows("Changed here")?;
    window.picture("studio-draft-compared")?;
    window.press("Deploy draft")?;
    window.type_into("Note", "by train")?;
    window.press("Deploy scale now")?;
    window.shows("scale: revision 2 runs now.")?;
    window.shows_no_more("Drafts that wait for the appliance")?;
    let running = pipeline(&plant)?;
    assert_eq!(running["deployment"]["revision"], 2, "{running}");
    assert_eq!(running["latest"]["note"], "by train");
    assert_eq!(stored(&plant)?["description"], "made on a train");

    somebody_else_was_there(&window, &mut plant)?;
    window.close()
}

/// Gone again while the designer stands: the work goes on, and somebody else stores meanwhile.
fn somebody_else_was_there(window: &Window, plant: &mut Plant) -> anyhow::Result<()> {
    window.follow("scale")?;
    window.shows("Add step")?;
    plant.appliance.stop()?;
    window.shows("Offline since")?;
    describe(window, ", and on the way back")?;
    plant.appliance.start_again()?;
    let mut theirs = document(7);
    theirs["description"] = json!("made on a train");
    plant.save(&theirs)?;
    window.shows_no_more("Offline since")?;
    window.follow("All pipelines")?;
    window.shows("Both were changed;")?;
    window.shows("Changed there since")?;
    window.picture("studio-draft-diverged")?;
    window.press("Open and merge")?;
    window.shows("Somebody else has stored revision 3")?;
    window.shows("Nothing was changed twice.")?;
    window.press("Take over and go on")?;
    window.press("Save")?;
    window.shows("Stored as revision 4.")?;
    let merged = stored(plant)?;
    assert_eq!(merged["description"], "made on a train, and on the way back");
    let output = merged["steps"]["calc"]["fields"]["output"].as_str().context("their change")?;
    assert!(output.contains("* 7"), "{output}");
    Ok(())
}
