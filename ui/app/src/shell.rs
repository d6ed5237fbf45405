//! The frame around every page: title bar, navigation, state of the connection, keys.
//!
//! **Invariants**
//! - Who has no session is led to signing in, or to claiming a new appliance, and comes back to where
//!   they wanted to go; sizing alone needs nobody.
//! - A page that fails takes only itself along: the frame stays.

pub mod navigation;
pub mod overlays;
pub mod status;

pub use navigation::PAGES;

use crate::asked::Entry;
use crate::context::Studio;
use crate::host::Kept;
use crate::keys::{self, Action, Pressed};
use crate::pages::pipelines::{OpenedFiles, is_designer};
use crate::pages::stored::{Stored, works_alone};
use crate::words::{pipelines, shell, t};
use leptos::ev;
use leptos::prelude::*;
use leptos_router::components::Outlet;
use leptos_router::hooks::{use_location, use_navigate};
use millrace_kit::{Notice, Priority, ToastCorner, Toasts};
use navigation::Navigation;
use overlays::{KeysDialog, PaletteDialog};
use status::{ConnectionBar, TitleBar};
use wasm_bindgen::JsCast as _;

/// The frame.
#[component]
pub fn Shell() -> impl IntoView {
    let studio = Studio::here();
    let (keys_open, palette_open) = (RwSignal::new(false), RwSignal::new(false));
    lead_to_sign_in(&studio);
    let act = act(&studio, keys_open, palette_open);
    listen_to_keys(act);
    let toasts: Toasts = expect_context();
    listen_to_menu(&studio, act, toasts);
    let needs_session = {
        let current = studio.sessions.current();
        let location = use_location();
        Memo::new(move |_| {
            current.with(Option::is_none)
                && !location.pathname.with(|path| path.starts_with("/sizing"))
        })
    };
    let is_covered = {
        let project = studio.project;
        let location = use_location();
        Memo::new(move |_| {
            project.is_covered() && !location.pathname.with(|path| works_alone(path))
        })
    };
    view! {
        <a class="skip-link" href="#page">{t(shell::SKIP_TO_PAGE)}</a>
        <div class="shell">
            <TitleBar/>
            <Navigation/>
            <main class="shell-page" id="page" tabindex="0">
                <ConnectionBar/>
                <ErrorBoundary fallback=|errors| view! { <Failed errors/> }>
                    <Show when=move || !needs_session.get()>
                        <OpenedFiles has_appliance=true/>
                        <Show when=move || !is_covered.get() fallback=Stored>
                            <Outlet/>
                        </Show>
                    </Show>
                </ErrorBoundary>
            </main>
        </div>
        <KeysDialog open=keys_open/>
        <PaletteDialog open=palette_open act/>
        <ToastCorner toasts close=t(shell::CLOSE)/>
    }
}

#[component]
fn Failed(errors: ArcRwSignal<Errors>) -> impl IntoView {
    let text = Signal::derive(move || {
        let texts: Vec<String> =
            errors.get().into_iter().map(|(_, error)| error.to_string()).collect();
        texts.join("; ")
    });
    view! { <Notice priority=Priority::Two title=t(shell::PAGE_FAILED) text/> }
}

fn lead_to_sign_in(studio: &Studio) {
    let current = studio.sessions.current();
    let location = use_location();
    let navigate = use_navigate();
    Effect::new(move |_| {
        let path = location.pathname.get();
        // The address changes before the frame is gone: it must not lead away from where it led.
        let is_there = ["/sign-in", "/claim", "/sizing"].iter().any(|own| path.starts_with(own));
        if current.with(Option::is_none) && !is_there {
            let aim = if path == "/" {
                "/sign-in".to_owned()
            } else {
                format!("/sign-in?then={}", js_sys::encode_uri_component(&path))
            };
            navigate(&aim, leptos_router::NavigateOptions { replace: true, ..Default::default() });
        }
    });
}

/// What an action of the keyboard or the palette does.
fn act(
    studio: &Studio,
    keys_open: RwSignal<bool>,
    palette_open: RwSignal<bool>,
) -> Callback<Action> {
    let navigate = use_navigate();
    let studio = studio.clone();
    Callback::new(move |action| match action {
        Action::Go(path) => navigate(path, leptos_router::NavigateOptions::default()),
        Action::Theme => turn_theme(&studio),
        Action::Keys => keys_open.set(true),
        Action::Palette => palette_open.set(true),
        Action::SignOut => {
            let api = studio.api.clone();
            leptos::task::spawn_local(async move { api.sign_out().await });
        }
    })
}

fn listen_to_keys(act: Callback<Action>) {
    let handle = window_event_listener(ev::keydown, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let typing = target.is_some_and(|element| {
            ["INPUT", "TEXTAREA", "SELECT"].contains(&element.tag_name().as_str())
                || element
                    .closest("[contenteditable], .script-editor")
                    .is_ok_and(|found| found.is_some())
        });
        let key = event.key();
        let pressed = Pressed {
            key: &key,
            ctrl: event.ctrl_key() || event.meta_key(),
            alt: event.alt_key(),
            shift: event.shift_key(),
            typing,
        };
        if let Some(action) = keys::find(keys::SHELL, pressed) {
            event.prevent_default();
            act.run(action);
        }
    });
    on_cleanup(move || handle.remove());
}

/// Does what was chosen in the desktop program's menu, as far as the page on view does not.
fn listen_to_menu(studio: &Studio, act: Callback<Action>, toasts: Toasts) {
    let (asked, language) = (studio.asked, studio.language);
    let location = use_location();
    Effect::new(move |_| {
        let is_designer = location.pathname.with(|path| is_designer(path));
        match asked.chosen() {
            Some(Entry::Palette) => act.run(Action::Palette),
            Some(Entry::Keys) => act.run(Action::Keys),
            // The list of pipelines asks for the name.
            Some(Entry::NewPipeline) => return act.run(Action::Go("/pipelines")),
            Some(Entry::Find) if !is_designer => act.run(Action::Palette),
            Some(_) if !is_designer => {
                toasts.bad(Priority::Four, language.say(pipelines::MENU_NO_DESIGNER));
            }
            Some(_) | None => return,
        }
        asked.done();
    });
}

/// Light to dark and back, remembered.
pub fn turn_theme(studio: &Studio) {
    let theme = studio.theme.get_untracked().other();
    studio.host.keep(Kept::Theme, Some(theme.name()));
    studio.theme.set(theme);
}
