//! An address that no page has.
//!
//! **Invariants**
//! - There is a way on.

use crate::pages::Page;
use crate::words::{shell, t};
use leptos::prelude::*;
use leptos_router::components::A;
use millrace_kit::Empty;

/// The page.
#[component]
pub fn NotFound() -> impl IntoView {
    view! {
        <Page title=shell::NOT_FOUND>
            <Empty title=t(shell::NOT_FOUND) next=t(shell::NOT_FOUND_NEXT)>
                <A href="/">{t(shell::OVERVIEW)}</A>
            </Empty>
        </Page>
    }
}
