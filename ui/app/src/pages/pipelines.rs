//! The page "Pipelines": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Pipelines() -> impl IntoView {
    view! { <NotBuilt title=shell::PIPELINES command="millrace pipeline list"/> }
}
