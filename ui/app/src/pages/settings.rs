//! The page "Settings": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Settings() -> impl IntoView {
    view! { <NotBuilt title=shell::SETTINGS command="millrace config check"/> }
}
