//! The page "Access": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Access() -> impl IntoView {
    view! { <NotBuilt title=shell::ACCESS command="millrace client list"/> }
}
