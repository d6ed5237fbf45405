//! Who may write a topic and who may read it, by the filters of the API clients.
//!
//! **Invariants**
//! - Revoked clients are not among them.
//! - Beyond [`CLIENTS_MAX`] clients it says that it has not looked at all.

use crate::context::Studio;
use crate::poll::poll;
use crate::words::{namespace, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_model::Filter;
use std::time::Duration;

/// Clients that are looked at.
const CLIENTS_MAX: usize = 10_000;
/// Names that are shown of each.
const SHOWN_MAX: usize = 20;
const PERIOD: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    writers: Vec<String>,
    readers: Vec<String>,
    /// There are more clients than were looked at.
    is_cut: bool,
}

impl Found {
    fn look(&mut self, path: &str, clients: &[v1::Client]) {
        let covers = |filters: &[String]| {
            filters.iter().any(|text| Filter::new(text).is_ok_and(|filter| filter.matches(path)))
        };
        for client in clients.iter().filter(|client| client.revoked.is_none()) {
            if covers(&client.publish) {
                self.writers.push(client.name.clone());
            }
            if covers(&client.subscribe) {
                self.readers.push(client.name.clone());
            }
        }
    }
}

/// Who may write, who may read.
#[component]
pub(super) fn Who(
    /// The topic.
    path: String,
) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let found = poll(&studio, PERIOD, move |api| {
        let path = path.clone();
        async move {
            let mut found = Found::default();
            let mut after: Option<String> = None;
            let mut seen = 0;
            loop {
                let mut query = vec![("limit", "1000")];
                query.extend(after.as_deref().map(|after| ("after", after)));
                let page: v1::Page<v1::Client> = api.get(&["clients"], &query).await?;
                found.look(&path, &page.items);
                seen += page.items.len();
                match page.next {
                    None => return Ok(found),
                    Some(_) if seen >= CLIENTS_MAX => return Ok(Found { is_cut: true, ..found }),
                    Some(next) => after = Some(next),
                }
            }
        }
    });
    let list = move |names: &[String]| {
        if names.is_empty() {
            return language.say(namespace::NOBODY);
        }
        let mut text = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
        if names.len() > SHOWN_MAX {
            let rest = (names.len() - SHOWN_MAX).to_string();
            text.push(' ');
            text.push_str(&language.say_with(namespace::AND_MORE, &[("n", &rest)]));
        }
        text
    };
    let text = move |names: fn(&Found) -> &[String]| {
        found.value.with(|found| match found {
            Some(found) => list(names(found)),
            None => language.say(namespace::LOADING),
        })
    };
    let is_cut = move || found.value.with(|found| found.as_ref().is_some_and(|found| found.is_cut));
    view! {
        <dl class="topic-facts">
            <dt>{t(namespace::WRITERS)}</dt><dd>{move || text(|found| &found.writers)}</dd>
            <dt>{t(namespace::READERS)}</dt><dd>{move || text(|found| &found.readers)}</dd>
        </dl>
        <Show when=is_cut><p class="muted">{t(namespace::CLIENTS_CUT)}</p></Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str, publish: &str, subscribe: &str, revoked: bool) -> v1::Client {
        v1::Client {
            id: name.to_owned(),
            name: name.to_owned(),
            workspace: "main".to_owned(),
            publish: vec![publish.to_owned()],
            subscribe: vec![subscribe.to_owned()],
            may_create: true,
            retention: None,
            rate_per_s: None,
            created: String::new(),
            revoked: revoked.then(String::new),
        }
    }

    #[test]
    fn finds_who_may_by_their_filters() {
        let clients = [
            client("press", "press-4/#", "none", false),
            client("scada", "none", "+/temperature", false),
            client("old", "#", "#", true),
            client("odd", "a/#/b", "#", false),
        ];
        let mut found = Found::default();
        found.look("press-4/temperature", &clients);
        assert_eq!(found.writers, ["press"]);
        assert_eq!(found.readers, ["scada", "odd"]);
    }
}
