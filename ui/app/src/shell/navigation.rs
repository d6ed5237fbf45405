//! The navigation on the left: the pages, in the order of how often one looks at them.
//!
//! **Invariants**
//! - The page that is shown is marked for eyes and readers alike.

use crate::words::{Message, shell, t};
use leptos::prelude::*;
use leptos_router::components::A;

/// A page of the navigation.
#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    /// Its address.
    pub path: &'static str,
    /// Its name.
    pub name: Message,
    /// Its sign, an outline in a box of 16 by 16.
    pub sign: &'static str,
}

/// All pages.
pub const PAGES: &[PageEntry] = &[
    PageEntry {
        path: "/",
        name: shell::OVERVIEW,
        sign: "M2 2h5v7H2zM9 2h5v4H9zM9 8h5v6H9zM2 11h5v3H2z",
    },
    PageEntry {
        path: "/namespace",
        name: shell::NAMESPACE,
        sign: "M2 3h5M4.5 3v10M4.5 8h4M4.5 13h4M10 8h4M10 13h4",
    },
    PageEntry { path: "/trends", name: shell::TRENDS, sign: "M2 2v12h12M4 11l3-4 3 2 4-6" },
    PageEntry {
        path: "/pipelines",
        name: shell::PIPELINES,
        sign: "M1 6h4v4H1zM11 2h4v4h-4zM11 10h4v4h-4zM5 8h3M8 4v8M8 4h3M8 12h3",
    },
    PageEntry {
        path: "/access",
        name: shell::ACCESS,
        sign: "M8 2a3 3 0 1 0 .01 0M2 14c0-4 3-5 6-5s6 1 6 5",
    },
    PageEntry {
        path: "/settings",
        name: shell::SETTINGS,
        sign: "M2 4h7M13 4h1M11 2v4M2 8h2M8 8h6M6 6v4M2 12h7M13 12h1M11 10v4",
    },
    PageEntry {
        path: "/sizing",
        name: shell::SIZING,
        sign: "M1 11L11 1l4 4L5 15zM4 8l2 2M7 5l2 2",
    },
];

/// The navigation.
#[component]
pub fn Navigation() -> impl IntoView {
    let entries = PAGES.iter().map(|page| {
        view! {
            <li>
                <A href=page.path exact={page.path == "/"}>
                    <svg class="navigation-sign" viewBox="0 0 16 16" aria-hidden="true">
                        <path d=page.sign></path>
                    </svg>
                    <span>{t(page.name)}</span>
                </A>
            </li>
        }
    });
    view! {
        <nav class="navigation" aria-label=t(shell::NAVIGATION)>
            <ul>{entries.collect_view()}</ul>
        </nav>
    }
}
