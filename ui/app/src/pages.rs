//! The pages, a file or folder for each.
//!
//! **Invariants**
//! - A page that is not built says so, and what to use until then.

pub mod access;
pub mod appliances;
pub mod claim;
pub mod namespace;
pub mod not_found;
pub mod overview;
pub mod pipelines;
pub mod settings;
pub mod sign_in;
pub mod sizing;
pub mod stored;
pub mod trends;

use crate::words::{Language, Message, shell, t};
use leptos::prelude::*;
use millrace_kit::Empty;

/// A page with its title.
#[component]
pub fn Page(
    /// Its title, also the window's.
    title: Message,
    /// What stands beside the title.
    #[prop(optional, into)]
    aside: Option<ViewFn>,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    let studio = crate::context::Studio::here();
    let language = studio.language;
    Effect::new(move |_| {
        studio.host.set_title(&format!("{} · Millrace", language.say(title)));
    });
    view! {
        <div class="page">
            <div class="page-head">
                <h1>{t(title)}</h1>
                {aside.map(|aside| move || aside.run())}
            </div>
            {children()}
        </div>
    }
}

/// A page that is not built yet: what answers its questions until then.
#[component]
pub fn NotBuilt(
    /// The page.
    title: Message,
    /// The command that answers its questions.
    command: &'static str,
) -> impl IntoView {
    let language = Language::here();
    let next =
        Signal::derive(move || language.say_with(shell::NOT_BUILT_NEXT, &[("command", command)]));
    view! {
        <Page title>
            <Empty title=t(shell::NOT_BUILT) next/>
        </Page>
    }
}
