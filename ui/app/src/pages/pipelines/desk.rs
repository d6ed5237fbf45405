//! The desk: what all parts of the designer share.
//!
//! The editor is one signal; what only hangs on the document follows `version`, so that panning the
//! canvas does not rebuild a form.
//!
//! **Invariants**
//! - The document is changed through [`Desk::act`] and [`Desk::apply`] alone, which do what the
//!   editor asks for.
//! - A draft that differs from its base is kept on this machine until it is stored or discarded.

use super::{At, drafts};
use crate::asked::Entry;
use crate::context::Studio;
use crate::words::{Language, Message};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_editor::history::Grain;
use millrace_editor::{Action, Editor, Effect as Asked, Place};
use millrace_flow::{Document, Fault, Severity, Transaction, validate};
use millrace_kit::Toasts;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long nothing must have been changed before the draft is kept.
const KEEP_AFTER: Duration = Duration::from_millis(800);

/// What a draft was made from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Base {
    /// The revision; 0 = none yet.
    pub(super) revision: u32,
    /// Its document.
    pub(super) document: Document,
}

/// The language as it is now, for parts that are built anew when it changes.
#[derive(Clone, Copy)]
pub(super) struct Spoken(Language);

impl Spoken {
    /// A text.
    pub(super) fn say(self, message: Message) -> String {
        untrack(|| self.0.say(message))
    }

    /// A text with its placeholders filled in.
    pub(super) fn say_with(self, message: Message, values: &[(&str, &str)]) -> String {
        untrack(|| self.0.say_with(message, values))
    }
}

/// A dialog over the designer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Nothing,
    QuickAdd,
    Search,
    Keys,
    Deploy,
    Merge,
    Settings,
}

/// What the test panel was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    TestStep,
    TestUpstream,
}

/// What all parts of the designer share.
#[derive(Clone, Copy)]
pub(super) struct Desk {
    studio: StoredValue<Studio>,
    /// For words about what was just done.
    pub(super) toasts: Option<Toasts>,
    /// Which pipeline.
    pub(super) at: StoredValue<At>,
    /// The editor.
    pub(super) editor: RwSignal<Editor>,
    /// Moves with each change of the document.
    pub(super) version: RwSignal<u64>,
    /// What the draft was made from.
    pub(super) base: RwSignal<Base>,
    /// What runs.
    pub(super) deployed: RwSignal<Option<Base>>,
    /// What is wrong with the draft.
    pub(super) faults: Memo<Vec<Fault>>,
    /// What the appliance said about it.
    pub(super) told: RwSignal<Vec<v1::DocumentFault>>,
    /// How the last test of a step failed.
    pub(super) ran: RwSignal<Option<v1::RunFault>>,
    /// The last sentence for screen readers and the bar.
    pub(super) said: RwSignal<String>,
    /// The open dialog.
    pub(super) over: RwSignal<Over>,
    /// Where the step goes that is asked for.
    pub(super) place: RwSignal<Option<Place>>,
    /// The tab below the canvas.
    pub(super) tab: RwSignal<String>,
    /// A field that wants the focus: step and field.
    pub(super) wanted: RwSignal<Option<(String, String)>>,
    /// The input of the test panel, as text.
    pub(super) input: RwSignal<String>,
    /// Outputs that stand in for their steps.
    pub(super) pinned: RwSignal<BTreeMap<String, Value>>,
    /// What the test panel is asked to do, and how often it was.
    pub(super) wish: RwSignal<(u64, Option<Wish>)>,
    /// A version of somebody else that was found when storing.
    pub(super) theirs: RwSignal<Option<Base>>,
    /// Whether live values stand still.
    pub(super) is_frozen: RwSignal<bool>,
    /// What was copied last, for browsers that keep the clipboard to themselves.
    clip: RwSignal<String>,
    /// Moves when the appliance's pipeline has changed.
    pub(super) again: RwSignal<u64>,
    /// Moves when the focus shall go back to the canvas.
    pub(super) home: RwSignal<u64>,
}

impl Desk {
    /// A desk for a document.
    pub(super) fn new(at: At, base: Base, deployed: Option<Base>, draft: Option<Document>) -> Self {
        let studio = Studio::here();
        let mut editor = Editor::new(draft.unwrap_or_else(|| base.document.clone()), 900.0, 500.0);
        editor.is_read_only = !studio.sessions.may(v1::Role::Engineer);
        let editor = RwSignal::new(editor);
        let version = RwSignal::new(0_u64);
        let faults = Memo::new(move |_| {
            version.track();
            editor.with_untracked(|editor| validate(editor.document()))
        });
        let desk = Self {
            studio: StoredValue::new(studio),
            toasts: use_context(),
            at: StoredValue::new(at),
            editor,
            version,
            base: RwSignal::new(base),
            deployed: RwSignal::new(deployed),
            faults,
            told: RwSignal::new(Vec::new()),
            ran: RwSignal::new(None),
            said: RwSignal::new(String::new()),
            over: RwSignal::new(Over::Nothing),
            place: RwSignal::new(None),
            tab: RwSignal::new("test".to_owned()),
            wanted: RwSignal::new(None),
            input: RwSignal::new(String::new()),
            pinned: RwSignal::new(BTreeMap::new()),
            wish: RwSignal::new((0, None)),
            theirs: RwSignal::new(None),
            is_frozen: RwSignal::new(false),
            clip: RwSignal::new(String::new()),
            again: RwSignal::new(0),
            home: RwSignal::new(0),
        };
        desk.keep_drafts();
        provide_context(desk);
        desk
    }

    /// The desk around this part.
    pub(super) fn here() -> Self {
        expect_context()
    }

    /// Host, API, language.
    pub(super) fn studio(self) -> Studio {
        self.studio.get_value()
    }

    /// The language as it is now.
    pub(super) fn spoken(self) -> Spoken {
        Spoken(self.studio().language)
    }

    /// Why what needs the appliance cannot be done now, followed.
    pub(super) fn away(self) -> Option<String> {
        let studio = self.studio();
        studio.project.needs_appliance(&studio)
    }

    /// Lets the editor do something, and does what it asks for.
    pub(super) fn act(self, act: impl FnOnce(&mut Editor) -> Vec<Asked>) -> Vec<Asked> {
        let asked = self.editor.try_update(act).unwrap_or_default();
        for asked in &asked {
            self.perform(asked);
        }
        asked
    }

    /// Changes the document.
    pub(super) fn apply(
        self,
        name: &str,
        transaction: impl Into<Transaction>,
        grain: Option<Grain>,
    ) {
        let transaction = transaction.into();
        self.act(|editor| editor.apply(name, &transaction, grain));
    }

    /// Does an action.
    pub(super) fn run(self, action: Action) {
        self.act(|editor| editor.run(action));
    }

    /// Does what is chosen in the desktop program's menu.
    pub(super) fn follow_menu(self) {
        let asked = self.studio().asked;
        Effect::new(move |_| {
            let action = match asked.chosen() {
                Some(Entry::Save) => Action::Save,
                Some(Entry::Deploy) => Action::Deploy,
                Some(Entry::Undo) => Action::Undo,
                Some(Entry::Redo) => Action::Redo,
                Some(Entry::Find) => Action::Search,
                Some(Entry::NewPipeline | Entry::Palette | Entry::Keys) | None => return,
            };
            asked.done();
            untrack(|| self.run(action));
        });
    }

    fn perform(self, asked: &Asked) {
        match asked {
            Asked::Changed => {
                self.told.set(Vec::new());
                self.ran.set(None);
                self.version.update(|version| *version += 1);
            }
            Asked::Say(said) => {
                let locale = untrack(|| self.studio().language.locale());
                self.said.set(super::speech::say(locale, said));
            }
            Asked::AskKind(place) => {
                self.place.set(Some(place.clone()));
                self.over.set(Over::QuickAdd);
            }
            Asked::Edit(step) => {
                let field = self.editor.with_untracked(|editor| {
                    let kind = editor.document().steps.get(step)?.known_kind()?;
                    kind.fields.first().map(|field| field.name.to_owned())
                });
                self.wanted.set(Some((step.clone(), field.unwrap_or_default())));
            }
            Asked::Copy(text) => {
                self.clip.set(text.clone());
                let (host, text) = (self.studio().host, text.clone());
                // Where the browser keeps its clipboard to itself, ours is used.
                leptos::task::spawn_local(async move {
                    let _copied: bool = host.copy_text(&text).await;
                });
            }
            Asked::WantClipboard => self.paste(""),
            Asked::Menu(_) => self.over.set(Over::Search),
            Asked::Do(action) => self.perform_action(*action),
        }
    }

    fn perform_action(self, action: Action) {
        match action {
            Action::Palette | Action::Search => self.over.set(Over::Search),
            Action::ShowKeys => self.over.set(Over::Keys),
            Action::Deploy | Action::Save | Action::TestStep | Action::TestUpstream
                if untrack(|| self.away()).is_some() =>
            {
                self.said.set(untrack(|| self.away()).unwrap_or_default());
            }
            Action::Deploy => self.over.set(Over::Deploy),
            Action::Save => super::deploy::store(self),
            Action::TestStep => self.wish_for(Wish::TestStep),
            Action::TestUpstream => self.wish_for(Wish::TestUpstream),
            Action::NextFault => self.next_fault(),
            Action::Freeze => self.is_frozen.update(|frozen| *frozen = !*frozen),
            _ => {}
        }
    }

    /// Asks the test panel for something.
    pub(super) fn wish_for(self, wish: Wish) {
        self.tab.set("test".to_owned());
        self.wish.update(|(count, what)| {
            *count += 1;
            *what = Some(wish);
        });
    }

    /// Pastes a text, or what was copied here last.
    pub(super) fn paste(self, text: &str) {
        let own = self.clip.get_untracked();
        let text = if text.is_empty() { own.as_str() } else { text };
        self.act(|editor| editor.paste(text, None));
    }

    fn next_fault(self) {
        self.tab.set("faults".to_owned());
        let current =
            self.editor.with_untracked(|editor| editor.selection().current().map(str::to_owned));
        let places: Vec<(String, String)> = self.faults.with_untracked(|faults| {
            let places = faults.iter().filter_map(|fault| {
                Some((fault.step.clone()?, fault.field.clone().unwrap_or_default()))
            });
            places.collect()
        });
        let at = places.iter().rposition(|(step, _)| Some(step) == current.as_ref());
        let next = at.and_then(|at| places.get(at + 1)).or(places.first());
        if let Some((step, field)) = next {
            self.jump(step, field);
        }
    }

    /// Shows a step, and a field of it.
    pub(super) fn jump(self, step: &str, field: &str) {
        self.editor.update(|editor| {
            editor.jump_to(step);
        });
        self.wanted.set(Some((step.to_owned(), field.to_owned())));
    }

    /// How many errors keep the draft from being deployed.
    pub(super) fn errors(self) -> usize {
        let is_error = |fault: &&Fault| fault.severity == Severity::Error;
        self.faults.with(|faults| faults.iter().filter(is_error).count()) + self.told.with(Vec::len)
    }

    /// Whether the draft differs from what it was made from.
    pub(super) fn is_changed(self) -> bool {
        self.version.track();
        self.editor
            .with_untracked(|editor| self.base.with(|base| base.document != *editor.document()))
    }

    /// The document as it is now.
    pub(super) fn document(self) -> Document {
        self.editor.with_untracked(|editor| editor.document().clone())
    }

    /// Keeps the draft a moment after each change, and at once when the designer is left.
    fn keep_drafts(self) {
        let (changes, kept) = (StoredValue::new(0_u64), StoredValue::new(0_u64));
        on_cleanup(move || {
            if changes.try_get_value() != kept.try_get_value() {
                self.keep_draft();
            }
        });
        Effect::new(move |_| {
            let version = self.version.get();
            if version == 0 {
                return;
            }
            changes.set_value(version);
            set_timeout(
                move || {
                    // The last of several changes alone.
                    if changes.try_get_value() == Some(version) {
                        kept.set_value(version);
                        self.keep_draft();
                    }
                },
                KEEP_AFTER,
            );
        });
    }

    fn keep_draft(self) {
        if !untrack(|| self.is_changed()) {
            return self.forget_draft();
        }
        let revision = self.base.with_untracked(|base| base.revision);
        let (studio, at) = (self.studio(), self.at.get_value());
        self.editor.with_untracked(|editor| {
            drafts::keep(&studio, &at, revision, editor.document());
        });
    }

    /// Forgets the kept draft.
    pub(super) fn forget_draft(self) {
        drafts::forget(&self.studio(), &self.at.get_value());
    }
}
