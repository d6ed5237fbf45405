//! What stands in the place of a page that needs the appliance while there is none: why, where to go
//! on, and the topics as they were last read.
//!
//! **Invariants**
//! - Every value has the time of its measurement beside it.

use super::Page;
use crate::context::Studio;
use crate::project::{Topic, moment};
use crate::shell::PAGES;
use crate::words::{Message, offline, shell, t};
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};
use millrace_kit::{Button, Column, Empty, Field, Panel, Table, Weight};

/// Whether a page can be worked with when the appliance has not been reached at all.
#[must_use]
pub fn works_alone(path: &str) -> bool {
    ["/pipelines", "/sizing"].iter().any(|own| path.starts_with(own))
}

/// What stands there.
#[component]
pub fn Stored() -> impl IntoView {
    let location = use_location();
    let path = Memo::new(move |_| location.pathname.get());
    move || {
        let path = path.get();
        let title = title_of(&path);
        let navigate = use_navigate();
        let go = move |()| navigate("/pipelines", leptos_router::NavigateOptions::default());
        let topics = path.starts_with("/namespace").then(|| view! { <Topics/> });
        view! {
            <Page title>
                <Empty title=t(offline::PAGE_NEEDS) next=t(offline::PAGE_NEEDS_NEXT)>
                    <Button on_press=go.clone() weight=Weight::Primary>{t(offline::TO_PIPELINES)}</Button>
                </Empty>
                {topics}
            </Page>
        }
    }
}

fn title_of(path: &str) -> Message {
    let is_it = |own: &&str| path == *own || path.starts_with(&format!("{own}/"));
    let page = PAGES.iter().filter(|page| page.path != "/").find(|page| is_it(&page.path));
    page.map_or(shell::OVERVIEW, |page| page.name)
}

#[component]
fn Topics() -> impl IntoView {
    let studio = Studio::here();
    let project = studio.project;
    let stored = project.stored();
    let search = RwSignal::new(String::new());
    let found = RwSignal::new((Vec::<Topic>::new(), 0_usize));
    let (version, asked) = (RwSignal::new(0_u64), StoredValue::new(0_u64));
    Effect::new(move |_| {
        stored.track();
        let wanted = search.get();
        let Some(number) = asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        }) else {
            return;
        };
        leptos::task::spawn_local(async move {
            let topics = project.topics(&wanted).await;
            // What was typed since has its own answer.
            if asked.try_get_value() == Some(number) {
                found.set(topics);
                version.update(|version| *version += 1);
            }
        });
    });
    let language = studio.language;
    let count = Signal::derive(move || found.with(|(topics, _)| topics.len()));
    let told = move || {
        let (shown, all) = found.with(|(topics, all)| (topics.len(), *all));
        if all == 0 {
            return language.say(offline::TOPICS_NONE);
        }
        let number = |number: usize| language.locale().integer(number as i128);
        language.say_with(offline::TOPICS_FOUND, &[("shown", &number(shown)), ("n", &number(all))])
    };
    let is_cut =
        move || stored.with(|stored| stored.reading.as_ref().is_some_and(|reading| reading.is_cut));
    let row = Callback::new(move |at: usize| {
        let topic = found.with_untracked(|(topics, _)| topics.get(at).cloned());
        topic.map(|topic| cells(&studio, topic)).unwrap_or_default()
    });
    let columns = vec![
        Column::texts(t(offline::PATH), "3fr"),
        Column::numbers(t(offline::VALUE), "2fr"),
        Column::texts(t(offline::MEASURED), "180px"),
        Column::texts(t(offline::DESCRIPTION), "3fr"),
    ];
    view! {
        <Panel title=t(offline::TOPICS)>
            <div class="stored-search">
                <Field label=t(offline::TOPICS_SEARCH) value=search autocomplete="off"/>
                <p class="muted">{told}</p>
                <Show when=is_cut><p>{t(offline::TOPICS_CUT)}</p></Show>
            </div>
            <Table label=t(offline::TOPICS) columns count row version/>
        </Panel>
    }
}

fn cells(studio: &Studio, topic: Topic) -> Vec<AnyView> {
    let (value, time) = match topic.sample {
        None => ("–".to_owned(), String::new()),
        Some(sample) => {
            let text = [sample.value.as_str(), &topic.unit].join(" ");
            (text.trim_end().to_owned(), moment(studio, &sample.time))
        }
    };
    vec![topic.path.into_any(), value.into_any(), time.into_any(), topic.description.into_any()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_and_sizing_alone_work_without_the_appliance() {
        assert!(works_alone("/pipelines/main/scale") && works_alone("/sizing"));
        for path in ["/", "/namespace", "/trends", "/access", "/settings"] {
            assert!(!works_alone(path), "{path}");
        }
        assert_eq!(title_of("/namespace/a"), shell::NAMESPACE);
        assert_eq!(title_of("/"), shell::OVERVIEW);
    }
}
