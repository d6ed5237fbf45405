//! The values of the topics in sight, asked for once a second.
//!
//! A row says when it comes into sight and when it goes. How fast devices send does not matter: a
//! person reads one value a second.
//!
//! **Invariants**
//! - One question has at most [`PATHS_MAX`] topics; where more are in sight, several are asked.
//! - What is out of sight is forgotten.

use super::{WORKSPACE, reading};
use crate::context::Studio;
use crate::locale::ago;
use crate::poll::{Polled, poll};
use crate::words::{Language, units};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Freshness, Quality, Value};
use millrace_model::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Topics of one question, as the API takes them.
const PATHS_MAX: usize = 100;
const PERIOD: Duration = Duration::from_secs(1);

/// What is known of a topic's last value.
pub(super) type Known = HashMap<String, v1::LastValue>;

/// The values in sight.
#[derive(Clone, Copy)]
pub(super) struct Values {
    in_sight: StoredValue<BTreeMap<String, usize>>,
    polled: Polled<Known>,
}

impl Values {
    pub(super) fn start(studio: &Studio) -> Self {
        let in_sight = StoredValue::new(BTreeMap::<String, usize>::new());
        let polled = poll(studio, PERIOD, move |api| async move {
            let paths: Vec<String> =
                in_sight.try_with_value(|all| all.keys().cloned().collect()).unwrap_or_default();
            let mut known = Known::new();
            for paths in paths.chunks(PATHS_MAX) {
                let query: Vec<(&str, &str)> =
                    paths.iter().map(|path| ("path", path.as_str())).collect();
                let address = ["workspaces", WORKSPACE, "last"];
                let page: v1::Page<v1::LastValue> = api.get(&address, &query).await?;
                known.extend(page.items.into_iter().map(|value| (value.path.clone(), value)));
            }
            Ok(known)
        });
        Self { in_sight, polled }
    }

    /// A topic is in sight until the part of the page that calls this is gone.
    pub(super) fn watch(self, path: &str) {
        let path = path.to_owned();
        let is_new = self.in_sight.try_update_value(|all| {
            let count = all.entry(path.clone()).or_default();
            *count += 1;
            *count == 1
        });
        if is_new == Some(true) {
            self.polled.refresh();
        }
        on_cleanup(move || {
            self.in_sight.try_update_value(|all| {
                if let Some(count) = all.get_mut(&path) {
                    *count -= 1;
                    if *count == 0 {
                        all.remove(&path);
                    }
                }
            });
        });
    }

    /// The last value of a topic that is watched; follows.
    pub(super) fn of(self, path: &str) -> Option<v1::LastValue> {
        self.polled.value.with(|known| known.as_ref()?.get(path).cloned())
    }

    /// Whether what is known is of now.
    pub(super) fn freshness(self) -> Signal<Freshness> {
        self.polled.freshness
    }

    /// Why nothing is known, if that is worth a notice.
    pub(super) fn fault(self, language: Language) -> Option<String> {
        self.polled.fault.with(|fault| {
            let fault = fault.as_ref().filter(|fault| !fault.is_unreachable());
            fault.map(|fault| fault.text(language))
        })
    }
}

/// The value of a topic with unit, quality and age, in a row.
#[component]
pub(super) fn TopicValue(
    /// The topic.
    path: String,
    /// The values in sight.
    values: Values,
    /// Its unit.
    #[prop(into)]
    unit: Signal<String>,
    /// Larger, for a figure of its own.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    let studio = Studio::here();
    let (language, clock) = (studio.language, studio.clock);
    values.watch(&path);
    let sample = Memo::new(move |_| values.of(&path).and_then(|last| last.sample).map(Shown::of));
    let text = Signal::derive(move || {
        let sample = sample.get()?;
        Some(reading::short(language.locale(), sample.kind, &sample.value))
    });
    let quality = Signal::derive(move || {
        sample.get().map_or(Quality::Good, |sample| reading::quality(sample.quality))
    });
    let quality_text = Signal::derive(move || {
        language.say(if quality.get() == Quality::Bad { units::BAD } else { units::UNCERTAIN })
    });
    let age = move || {
        let at = sample.get()?.at?;
        Some(ago(language, clock.age(at)))
    };
    let title = move || sample.get().map(|sample| reading::whole(sample.kind, &sample.value));
    view! {
        <span class="topic-value" title=title>
            <Value text unit quality quality_text freshness=values.freshness() large/>
            <span class="topic-age muted figures">{age}</span>
        </span>
    }
}

/// A sample, comparable.
#[derive(Clone, PartialEq)]
struct Shown {
    kind: v1::Kind,
    value: String,
    quality: u32,
    at: Option<Timestamp>,
}

impl Shown {
    #[expect(clippy::needless_pass_by_value, reason = "it is made out of what is let go")]
    fn of(sample: v1::Sample) -> Self {
        Self {
            kind: sample.kind,
            value: sample.value.get().to_owned(),
            quality: sample.quality,
            at: Timestamp::from_rfc3339(&sample.source_time),
        }
    }
}
