//! The page "Sizing": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Sizing() -> impl IntoView {
    view! { <NotBuilt title=shell::SIZING command="millrace help"/> }
}
