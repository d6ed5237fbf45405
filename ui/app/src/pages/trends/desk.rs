//! What the page remembers: topics, window, what was loaded.
//!
//! **Invariants**
//! - At most [`LINES_MAX`] topics; each once.
//! - Topics and the length of the window are kept on this machine.

use super::load;
use super::series::Series;
use crate::api::Fault;
use crate::context::Studio;
use crate::host::Kept;
use crate::words::{Message, trends};
use leptos::prelude::*;
use millrace_kit::chart::LINES_MAX;
use millrace_kit::{ChartAct, Window};
use serde::{Deserialize, Serialize};

/// Where the view is kept.
const PLACE: Kept = Kept::Page("millrace.trends");

/// A length of the window to choose.
pub(super) struct Span {
    pub(super) key: &'static str,
    pub(super) text: Message,
    pub(super) millis: f64,
}

const MINUTE: f64 = 60_000.0;

/// The lengths to choose.
pub(super) const SPANS: &[Span] = &[
    Span { key: "1m", text: trends::MINUTE_1, millis: MINUTE },
    Span { key: "5m", text: trends::MINUTES_5, millis: 5.0 * MINUTE },
    Span { key: "15m", text: trends::MINUTES_15, millis: 15.0 * MINUTE },
    Span { key: "1h", text: trends::HOUR_1, millis: 60.0 * MINUTE },
    Span { key: "8h", text: trends::HOURS_8, millis: 480.0 * MINUTE },
    Span { key: "1d", text: trends::DAY_1, millis: 1_440.0 * MINUTE },
    Span { key: "7d", text: trends::DAYS_7, millis: 10_080.0 * MINUTE },
    Span { key: "30d", text: trends::DAYS_30, millis: 43_200.0 * MINUTE },
];

/// What is kept.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct View {
    topics: Vec<String>,
    millis: f64,
}

impl View {
    fn read(text: Option<&str>) -> Self {
        let mut view: Self =
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        view.topics.truncate(LINES_MAX);
        if !(view.millis > 0.0 && view.millis.is_finite()) {
            view.millis = 15.0 * MINUTE;
        }
        view
    }
}

/// The page's state.
#[derive(Clone, Copy)]
pub(super) struct Desk {
    studio: StoredValue<Studio>,
    /// The topics, in the order of the lines.
    pub(super) topics: RwSignal<Vec<String>>,
    /// What is shown.
    pub(super) window: RwSignal<Window>,
    /// Whether the window goes with the time.
    pub(super) live: RwSignal<bool>,
    /// What was loaded, in the order of the topics.
    pub(super) series: RwSignal<Vec<Series>>,
    /// Why the last question failed.
    pub(super) fault: RwSignal<Option<Fault>>,
    /// Where the cursor stands.
    pub(super) cursor: RwSignal<Option<f64>>,
}

impl Desk {
    pub(super) fn open(studio: &Studio) -> Self {
        let view = View::read(studio.host.kept(PLACE).as_deref());
        let now = super::millis(studio.clock.now_untracked());
        let desk = Self {
            studio: StoredValue::new(studio.clone()),
            topics: RwSignal::new(view.topics),
            window: RwSignal::new(Window::until(now, view.millis)),
            live: RwSignal::new(true),
            series: RwSignal::new(Vec::new()),
            fault: RwSignal::new(None),
            cursor: RwSignal::new(None),
        };
        let host = studio.host.clone();
        Effect::new(move |_| {
            let view = View { topics: desk.topics.get(), millis: desk.window.get().length() };
            if let Ok(text) = serde_json::to_string(&view) {
                host.keep(PLACE, Some(&text));
            }
        });
        load::start(studio, desk);
        desk
    }

    /// The desk around this part of the page.
    pub(super) fn here() -> Self {
        expect_context()
    }

    pub(super) fn try_studio(self) -> Option<Studio> {
        self.studio.try_get_value()
    }

    pub(super) fn studio(self) -> Studio {
        self.studio.get_value()
    }

    /// Adds a topic; whether there was room.
    pub(super) fn add(self, path: String) -> bool {
        let has_room =
            self.topics.with_untracked(|topics| topics.len() < LINES_MAX || topics.contains(&path));
        if has_room && !self.topics.with_untracked(|topics| topics.contains(&path)) {
            self.topics.update(|topics| topics.push(path));
        }
        has_room
    }

    /// Removes a topic.
    pub(super) fn remove(self, path: &str) {
        self.topics.update(|topics| topics.retain(|own| own != path));
        self.series.update(|all| all.retain(|series| series.path != path));
    }

    /// Shows the last so many milliseconds, or as many around the middle of what is shown.
    pub(super) fn show(self, length: f64) {
        let window = self.window.get_untracked();
        let to = if self.live.get_untracked() { window.to } else { window.at(0.5) + length / 2.0 };
        self.window.set(Window::until(to, length));
    }

    /// What somebody did with the chart.
    pub(super) fn act(self, act: ChartAct) {
        let now = super::millis(self.studio().clock.now_untracked());
        match act {
            ChartAct::Live => {
                self.window.set(Window::until(now, self.window.get_untracked().length()));
                self.live.set(true);
            }
            ChartAct::Window(window) => {
                // Zooming at the end of time stays live; whoever goes back does not want to be pulled.
                let before = self.window.get_untracked();
                let is_at_the_end = window.to >= before.to && window.has(before.to);
                let stays =
                    self.live.get_untracked() && is_at_the_end && window.to <= now + 1_000.0;
                self.live.set(stays);
                self.window.set(window);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_the_usual_view() {
        for text in [None, Some(""), Some("{}"), Some(r#"{"topics":["a"],"millis":-5}"#)] {
            assert!((View::read(text).millis - 15.0 * MINUTE).abs() < 1e-9, "{text:?}");
        }
        let many = format!(r#"{{"topics":[{}"z"],"millis":1}}"#, r#""a","#.repeat(50));
        assert_eq!(View::read(Some(&many)).topics.len(), LINES_MAX);
    }
}
