//! The editor: a document, what is selected, what is seen, and what is going on.
//!
//! [`Editor::handle`] takes events, [`Editor::run`] actions; both give what the page has to do. The
//! document is changed by transactions only, one for each gesture: while steps are dragged or a
//! wire is drawn nothing is changed, so that Esc has nothing to take back.
//!
//! **Invariants**: undoing everything gives the document that was opened; a gesture that is
//! canceled leaves document and selection as they were; a read-only editor never changes its
//! document.

mod act;
mod add;
mod choose;
mod pointer;

use crate::effect::{Effect, Said};
use crate::geometry::{Point, Rect};
use crate::gesture::Gesture;
use crate::history::{Grain, History};
use crate::input::Input;
use crate::keymap::{Chord, KeyMap, Pressed};
use crate::scene::Scene;
use crate::selection::Selection;
use crate::viewport::Viewport;
use millrace_flow::{Document, Transaction};

/// The designer without its drawing.
#[derive(Clone, Debug)]
pub struct Editor {
    document: Document,
    scene: Scene,
    history: History,
    selection: Selection,
    viewport: Viewport,
    keymap: KeyMap,
    gesture: Gesture,
    is_space_down: bool,
    /// Whether steps snap to the grid; Shift inverts it.
    pub is_snapping: bool,
    /// Whether the document may only be looked at.
    pub is_read_only: bool,
}

impl Editor {
    /// An editor of a document, on a screen of this size, with everything in view.
    #[must_use]
    pub fn new(mut document: Document, width: f64, height: f64) -> Self {
        document.normalize();
        let scene = Scene::new(&document);
        let mut viewport = Viewport::new(width, height);
        if let Some(bounds) = scene.bounds() {
            viewport.fit(bounds);
        }
        Self {
            document,
            scene,
            history: History::default(),
            selection: Selection::default(),
            viewport,
            keymap: KeyMap::default(),
            gesture: Gesture::None,
            is_space_down: false,
            is_snapping: true,
            is_read_only: false,
        }
    }

    /// The document as it is now.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// Its boxes and curves.
    #[must_use]
    pub const fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What is selected.
    #[must_use]
    pub const fn selection(&self) -> &Selection {
        &self.selection
    }

    /// What is seen.
    #[must_use]
    pub const fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    /// What can be undone.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// What is going on.
    #[must_use]
    pub const fn gesture(&self) -> &Gesture {
        &self.gesture
    }

    /// What the keys do.
    #[must_use]
    pub const fn keymap(&self) -> &KeyMap {
        &self.keymap
    }

    /// Uses other keys.
    pub fn set_keymap(&mut self, keymap: KeyMap) {
        self.keymap = keymap;
    }

    /// Takes the canvas' new size on the screen.
    pub fn resize(&mut self, width: f64, height: f64) {
        self.viewport.resize(width, height);
    }

    /// Whether the space bar is held down, so that the pointer pans.
    #[must_use]
    pub const fn is_panning_ready(&self) -> bool {
        self.is_space_down
    }

    /// Takes an event.
    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(chord) => self.key(&chord),
            Input::Drop(at, kind) => self.drop_kind(at, &kind),
            input => self.pointer(input),
        }
    }

    fn key(&mut self, chord: &Chord) -> Vec<Effect> {
        match self.keymap.press(chord) {
            Pressed::Act(action) => self.run(action),
            Pressed::Waiting | Pressed::Nothing => Vec::new(),
        }
    }

    /// Whether a key would do something here; the page leaves other keys to the browser.
    #[must_use]
    pub fn wants(&self, chord: &Chord) -> bool {
        self.keymap.clone().press(chord) != Pressed::Nothing
    }

    /// Selects a step alone and brings it into view; false if it is not there.
    pub fn jump_to(&mut self, step: &str) -> bool {
        let Some(rect) = self.scene.step(step).map(|step| step.rect) else { return false };
        self.selection.only(step);
        self.viewport.reveal(rect);
        true
    }

    /// Puts a point of the canvas into the middle, as the minimap asks; never out of sight of all
    /// steps.
    pub fn look_at(&mut self, canvas: Point) {
        let around = self.scene.bounds().unwrap_or_default();
        let x = canvas.x.clamp(around.x, around.right());
        self.viewport.center(Point::new(x, canvas.y.clamp(around.y, around.bottom())));
    }

    /// Changes the document, as one entry of the history; a change of the same grain as the one
    /// before goes into its entry.
    pub fn apply(
        &mut self,
        name: &str,
        transaction: &Transaction,
        grain: Option<Grain>,
    ) -> Vec<Effect> {
        if self.is_read_only {
            return vec![Effect::Say(Said::ReadOnly)];
        }
        if transaction.is_empty() {
            return Vec::new();
        }
        let applied = self.history.apply(&mut self.document, name, transaction, grain);
        match applied {
            Ok(()) => self.changed(),
            Err(error) => vec![Effect::Say(Said::Failed(error.to_string()))],
        }
    }

    /// Takes another document in the place of this one, as one change that can be undone: a merge,
    /// an older revision, an import.
    pub fn take_over(&mut self, name: &str, document: &Document) -> Vec<Effect> {
        let mut document = document.clone();
        document.normalize();
        self.apply(name, &millrace_flow::diff(&self.document, &document), None)
    }

    /// Ends the entry that letters typed into one field go into.
    pub fn seal(&mut self) {
        self.history.seal();
    }

    fn changed(&mut self) -> Vec<Effect> {
        self.scene = Scene::new(&self.document);
        self.selection.keep(&self.document);
        vec![Effect::Changed]
    }

    /// What a step is called.
    pub(crate) fn name_of(&self, id: &str) -> String {
        let label = self.document.steps.get(id).map(|step| step.label.as_str());
        label.filter(|label| !label.is_empty()).unwrap_or(id).to_owned()
    }

    /// What is said when the keyboard comes to a step.
    fn at(&self, id: &str) -> Effect {
        let order = crate::navigate::in_order(&self.scene);
        let at = order.iter().position(|step| step.id == id).map_or(0, |at| at + 1);
        let count = |is_end: &dyn Fn(&millrace_flow::document::Wire) -> bool| {
            self.document.wires.iter().filter(|wire| is_end(wire)).count()
        };
        let kind = self.document.steps.get(id).map(|step| step.kind.clone());
        Effect::Say(Said::At {
            name: self.name_of(id),
            kind: kind.unwrap_or_default(),
            number: (at, order.len()),
            wires: (count(&|wire| wire.to == id), count(&|wire| wire.from == id)),
        })
    }

    fn selected(&self) -> Effect {
        let (steps, wires) = (self.selection.steps().len(), self.selection.wires().len());
        Effect::Say(Said::Selected { steps, wires })
    }

    fn reveal(&mut self, rect: Rect) {
        self.viewport.reveal(rect);
    }
}

#[cfg(test)]
mod tests;
