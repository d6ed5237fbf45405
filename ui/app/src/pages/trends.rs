//! The page "Trends": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Trends() -> impl IntoView {
    view! { <NotBuilt title=shell::TRENDS command="millrace query range"/> }
}
