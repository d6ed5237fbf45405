//! The studio: one front end, in a browser and in the desktop program.
//!
//! `start` mounts the page around a [`host::Host`], the only way to the network, the clock and the
//! person's machine. `shell` is the frame with the navigation, `pages` has one file or folder per
//! page, `words` the texts in both languages, `api` and `live` speak with the appliance.
//!
//! **Invariants**
//! - No page names a browser object: what it needs of the machine is a method of the host.
//! - Text from outside is only ever put into text nodes and attributes, never read as markup.
//! - What the appliance cannot do yet is said in words; there is no button that does nothing.
#![expect(
    unreachable_pub,
    reason = "Leptos makes what belongs to a component public, also in a private module"
)]

pub mod api;
pub mod asked;
pub mod clock;
pub mod context;
pub mod host;
pub mod islands;
pub mod keys;
pub mod live;
pub mod locale;
pub mod pages;
pub mod poll;
pub mod project;
pub mod routes;
pub mod session;
pub mod shell;
mod typed;
pub mod words;

use context::Studio;
use host::SharedHost;
use host::desktop::Desktop;
use leptos::prelude::*;

/// Puts the studio into the page.
pub fn start(host: SharedHost) {
    host.prepare();
    mount_to_body(move || {
        Studio::provide(host);
        view! { <routes::Pages/> }
    });
}

/// Puts the studio into the page of the desktop program, behind the choice of an appliance.
pub fn start_in_program(desktop: Desktop) {
    let program = desktop.program();
    let host: SharedHost = std::sync::Arc::new(desktop);
    host.prepare();
    mount_to_body(move || {
        Studio::provide(host);
        let studio = Studio::here();
        studio.project.attach(program.clone(), &studio);
        view! { <pages::appliances::Appliances program/> }
    });
}
