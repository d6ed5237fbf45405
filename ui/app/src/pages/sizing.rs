//! Sizing: what a plant's load takes of a machine, while its figures are typed.
//!
//! `sheet` is the plan as it is edited, `entries` what each kind of group has to say, `desk` what the
//! page remembers. The estimate is `millrace_sizing`'s own, the same that the command line and the
//! appliance make; nothing here computes a load.
//!
//! **Invariants**
//! - It works without an appliance and without a session; what needs one says so.
//! - A figure that cannot be computed with stands at its field, and what was estimated before stays in
//!   sight, told to be old.

mod desk;
mod entries;
mod files;
mod inputs;
mod limits;
mod measure;
mod phrase;
mod reality;
mod result;
mod sheet;
mod stores;

use crate::context::Studio;
use crate::pages::Page;
use crate::words::{sizing, t};
use desk::Desk;
use files::Files;
use inputs::Inputs;
pub(super) use inputs::follow;
use leptos::prelude::*;
use limits::Limits;
use measure::Measure;
use reality::Reality;
use result::{Faults, Notes, Outcome};
use stores::Stores;

/// The page.
#[component]
pub fn Sizing() -> impl IntoView {
    let studio = Studio::here();
    let desk = Desk::open(&studio);
    provide_context(desk);
    let signed_in = {
        let current = studio.sessions.current();
        Memo::new(move |_| current.with(Option::is_some))
    };
    view! {
        <Page title=sizing::TITLE>
            <Files signed_in/>
            <div class="sizing">
                <Inputs/>
                <div class="sizing-outcome" class:sizing-old=move || desk.is_old()>
                    <Faults/>
                    <Outcome/>
                    <Limits/>
                    <Stores/>
                    <Show
                        when=move || signed_in.get()
                        fallback=|| view! {
                            <p class="muted sizing-aside">
                                {t(sizing::SIGN_IN_FIRST)} " "
                                <a href="/sign-in?then=%2Fsizing">{t(sizing::SIGN_IN)}</a>
                            </p>
                        }
                    >
                        <Reality/>
                        <Measure/>
                    </Show>
                    <Notes/>
                </div>
            </div>
        </Page>
    }
}
