//! A panel: a titled part of a page.
//!
//! **Invariants**
//! - It is a region with its title as name, so that one can jump to it.

use crate::id::unique;
use leptos::prelude::*;

/// A titled part of a page.
#[component]
pub fn Panel(
    /// Its title.
    #[prop(into)]
    title: Signal<String>,
    /// What stands at the right end of the title's line.
    #[prop(optional, into)]
    aside: Option<ViewFn>,
    /// What is in it.
    children: Children,
) -> impl IntoView {
    let id = unique("panel");
    view! {
        <section class="panel" aria-labelledby=id.clone()>
            <header class="panel-head">
                <h2 id=id.clone()>{title}</h2>
                {aside.map(|aside| move || aside.run())}
            </header>
            {children()}
        </section>
    }
}
