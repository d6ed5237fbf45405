//! The page "Namespace": not built yet, and says so.
//!
//! **Invariants**
//! - Nothing is pretended.

use crate::pages::NotBuilt;
use crate::words::shell;
use leptos::prelude::*;

/// The page.
#[component]
pub fn Namespace() -> impl IntoView {
    view! { <NotBuilt title=shell::NAMESPACE command="millrace tag list"/> }
}
