//! Which address shows which page.
//!
//! The appliance answers exactly these addresses (and what lies below them) with the page, so a
//! reload and a link work; `appliance/api/src/web.rs` holds the same list.
//!
//! **Invariants**
//! - Everything but signing in, claiming and sizing needs a session; who has none is led to it.

use crate::pages;
use crate::shell::Shell;
use leptos::prelude::*;
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::path;

/// All pages at their addresses.
#[component]
pub fn Pages() -> impl IntoView {
    view! {
        <Router>
            <Routes fallback=pages::not_found::NotFound>
                <Route path=path!("/sign-in") view=pages::sign_in::SignIn/>
                <Route path=path!("/claim") view=pages::claim::Claim/>
                <ParentRoute path=path!("/") view=Shell>
                    <Route path=path!("/") view=pages::overview::Overview/>
                    <Route path=path!("/namespace/*rest") view=pages::namespace::Namespace/>
                    <Route path=path!("/trends/*rest") view=pages::trends::Trends/>
                    <Route path=path!("/pipelines/*rest") view=pages::pipelines::Pipelines/>
                    <Route path=path!("/access/*rest") view=pages::access::Access/>
                    <Route path=path!("/settings/*rest") view=pages::settings::Settings/>
                    <Route path=path!("/sizing/*rest") view=pages::sizing::Sizing/>
                    <Route path=path!("/*rest") view=pages::not_found::NotFound/>
                </ParentRoute>
            </Routes>
        </Router>
    }
}
