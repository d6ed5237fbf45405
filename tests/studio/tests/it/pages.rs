//! Goal: a person does it all with the program's own pages: add, compare, sign in, see; and is
//! warned when the certificate changes.

use crate::plant::{PASSWORD, Plant, document};
use millrace_studio_harness::{Desktop, Window, missing};
use std::io::Write as _;

#[test]
fn a_person_finds_the_appliance_compares_and_signs_in() -> anyhow::Result<()> {
    let missing = missing();
    if !missing.is_empty() {
        println!("skipped: a window needs packages that are not here: {}", missing.join(" "));
        return Ok(());
    }
    let desktop = Desktop::start()?;
    let mut plant = Plant::start()?;
    let file = desktop.home().join("scale.json");
    std::fs::File::create(&file)?.write_all(document(2).to_string().as_bytes())?;
    let window = Window::open(&desktop, &[&file.display().to_string()])?;
    window.shows("No appliance yet")?;
    window.picture("studio-appliances")?;
    window.type_into("Address", "https://")?;
    window.press("Add")?;
    window.shows("This is no address")?;
    let rest = plant.address.trim_start_matches("https://").to_owned();
    window.type_into("Address", &rest)?;
    window.type_into("Name", "Press hall")?;
    window.press("Add")?;
    window.press("Open")?;
    window.shows("Is this Press hall?")?;
    window.shows(&plant.fingerprint()?)?;
    window.picture("studio-fingerprint")?;
    window.press("It is the same: accept this certificate")?;
    window.shows("As an admin of this appliance gave it to you.")?;
    window.type_into("Name", "anna")?;
    window.type_into("Password", PASSWORD)?;
    window.press("Sign in")?;
    window.shows("Overview")?;
    window.shows("anna")?;
    window.picture("studio-overview")?;

    // The file that the program was started with has waited for this.
    window.shows("scale.json")?;
    window.press("Open as draft")?;
    window.shows("Add step")?;
    window.picture("studio-opened-file")?;

    // It is replaced on the box: everything else is covered until a person decides.
    let before = plant.fingerprint()?;
    plant.change_certificate()?;
    window.shows("Press hall shows another certificate than before")?;
    window.shows(&before)?;
    window.shows(&plant.fingerprint()?)?;
    window.picture("studio-changed")?;
    window.press("I asked: accept the new certificate of Press hall")?;
    window.shows("Overview")?;
    window.close()
}
