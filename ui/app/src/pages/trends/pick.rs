//! Adding a topic: a search as one types, and its hits as buttons.
//!
//! **Invariants**
//! - A question waits until the person pauses; an answer to an older question is let go.

use super::WORKSPACE;
use super::desk::Desk;
use crate::words::{t, trends};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::chart::LINES_MAX;
use millrace_kit::{Button, Field, Priority, Toasts, Weight};
use std::time::Duration;

/// Hits that are shown.
const HITS: &str = "12";
const PAUSE: Duration = Duration::from_millis(250);

/// Adding a topic.
#[component]
pub(super) fn Pick() -> impl IntoView {
    let desk = Desk::here();
    let search = RwSignal::new(String::new());
    // `None` = nothing was asked.
    let hits = RwSignal::new(None::<Result<Vec<v1::Tag>, String>>);
    let asked = StoredValue::new(0_u64);
    Effect::new(move |_| {
        let text = search.get().trim().to_owned();
        let number = asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        });
        if text.is_empty() {
            return hits.set(None);
        }
        leptos::task::spawn_local(async move {
            let Some(studio) = desk.try_studio() else { return };
            studio.host.wait(PAUSE).await;
            if asked.try_get_value() != number {
                return;
            }
            let address = ["workspaces", WORKSPACE, "tags"];
            let query = [("search", text.as_str()), ("limit", HITS)];
            let answer = studio.api.get::<v1::Page<v1::Tag>>(&address, &query).await;
            if asked.try_get_value() == number {
                let language = studio.language;
                hits.set(Some(answer.map(|page| page.items).map_err(|why| why.text(language))));
            }
        });
    });
    let toasts: Toasts = expect_context();
    let add = move |path: String| {
        if desk.add(path) {
            search.set(String::new());
        } else {
            let most = LINES_MAX.to_string();
            let text = desk.studio().language.say_with(trends::FULL, &[("n", &most)]);
            toasts.bad(Priority::Three, text);
        }
    };
    let list = move || {
        hits.get().map(|hits| match hits {
            Err(why) => view! { <p class="field-fault" role="alert">{why}</p> }.into_any(),
            Ok(hits) if hits.is_empty() => {
                view! { <p class="muted">{t(trends::NO_HITS)}</p> }.into_any()
            }
            Ok(hits) => {
                let hit = move |tag: v1::Tag| {
                    let path = tag.path.clone();
                    view! {
                        <li>
                            <Button weight=Weight::Quiet on_press=move |()| add(path.clone())>
                                {tag.path} " " <span class="muted">{tag.unit}</span>
                            </Button>
                        </li>
                    }
                };
                view! { <ul class="trends-hits">{hits.into_iter().map(hit).collect_view()}</ul> }
                    .into_any()
            }
        })
    };
    view! {
        <div class="trends-pick">
            <Field label=t(trends::ADD) value=search/>
            {list}
        </div>
    }
}
