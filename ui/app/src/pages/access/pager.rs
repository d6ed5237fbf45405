//! A list that comes in pages: the first at once, the next ones when a person asks.
//!
//! **Invariants**
//! - An answer counts only if nothing was asked since: pages never mix.
//! - What was loaded stays in sight while more is asked for, and when that fails.

use crate::api::Fault;
use crate::context::Studio;
use leptos::prelude::*;
use millrace_contract::v1;
use serde::de::DeserializeOwned;

/// Entries of a page.
const PAGE: &str = "200";

/// A list in pages.
pub(super) struct Pager<T: Send + Sync + 'static> {
    /// What is loaded.
    pub(super) items: RwSignal<Vec<T>>,
    /// Why the latest question failed.
    pub(super) fault: RwSignal<Option<Fault>>,
    /// Whether an answer is waited for.
    pub(super) loading: RwSignal<bool>,
    /// Whether a first answer has come.
    pub(super) loaded: RwSignal<bool>,
    next: RwSignal<Option<String>>,
    turn: RwSignal<u64>,
    of: &'static str,
    studio: StoredValue<Studio>,
}

impl<T: Send + Sync + 'static> Clone for Pager<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Pager<T> {}

impl<T: DeserializeOwned + Clone + Send + Sync + 'static> Pager<T> {
    /// The list at `/api/v1/<of>`; asks for its first page.
    pub(super) fn of(studio: &Studio, of: &'static str) -> Self {
        let pager = Self {
            items: RwSignal::new(Vec::new()),
            fault: RwSignal::new(None),
            loading: RwSignal::new(false),
            loaded: RwSignal::new(false),
            next: RwSignal::new(None),
            turn: RwSignal::new(0),
            of,
            studio: StoredValue::new(studio.clone()),
        };
        pager.again();
        pager
    }

    /// Whether there is a page behind what is loaded.
    pub(super) fn has_more(self) -> bool {
        self.next.with(Option::is_some)
    }

    /// Asks for the first page again, in the place of all that is loaded.
    pub(super) fn again(self) {
        self.ask(None);
    }

    /// Asks for the next page.
    pub(super) fn more(self) {
        if let Some(next) = self.next.get_untracked()
            && !self.loading.get_untracked()
        {
            self.ask(Some(next));
        }
    }

    fn ask(self, after: Option<String>) {
        let turn = self.turn.get_untracked() + 1;
        self.turn.set(turn);
        self.loading.set(true);
        let api = self.studio.with_value(|studio| studio.api.clone());
        leptos::task::spawn_local(async move {
            let mut query = vec![("limit", PAGE)];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let answer = api.get::<v1::Page<T>>(&[self.of], &query).await;
            // The signals are gone with the page; a later question has its own answer.
            if self.turn.try_get_untracked() == Some(turn) {
                self.take(after.is_some(), answer);
            }
        });
    }

    fn take(self, is_next: bool, answer: Result<v1::Page<T>, Fault>) {
        self.loading.set(false);
        match answer {
            Err(fault) => self.fault.set(Some(fault)),
            Ok(page) => {
                self.fault.set(None);
                self.next.set(page.next);
                self.loaded.set(true);
                match is_next {
                    true => self.items.update(|items| items.extend(page.items)),
                    false => self.items.set(page.items),
                }
            }
        }
    }
}
