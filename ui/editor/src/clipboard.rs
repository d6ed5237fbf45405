//! What is copied: some steps with the wires between them and their places, as JSON text.
//!
//! ```text
//! { "millrace_steps": 1, "steps": { ... }, "wires": [ ... ], "layout": { ... } }
//! ```
//!
//! The parts are written as in a document. Reading also takes a whole document, so that an exported
//! pipeline can be pasted. Pasted steps get free ids, and expressions among them that name one
//! another are renamed with them; those that name other steps stay as they are.
//!
//! **Invariants**: reading is bounded as reading a document is; pasting changes no step that is
//! there.

use crate::geometry::Point;
use crate::ids::free_id;
use crate::scene;
use crate::shape::{HEIGHT, WIDTH};
use crate::snap::place;
use millrace_flow::document::{Document, FORMAT, Settings, Step, Wire};
use millrace_flow::validate::STEPS_MAX;
use millrace_flow::{Edit, Transaction};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The version of the format.
pub const CLIP_FORMAT: u32 = 1;
/// The name of the field that says so.
const MARK: &str = "millrace_steps";

/// Some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// A document that has nothing but steps, wires and places.
    document: Document,
}

/// Why nothing can be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PasteError {
    /// Not ours.
    #[error("the clipboard holds no steps")]
    NoSteps,
    /// Ours, but broken.
    #[error("the clipboard's steps cannot be read: {0}")]
    Broken(String),
    /// The document would have too many.
    #[error("{0} steps would be there, {STEPS_MAX} at most")]
    TooMany(usize),
}

#[derive(Serialize)]
struct Written<'a> {
    millrace_steps: u32,
    steps: &'a BTreeMap<String, Step>,
    wires: &'a [Wire],
    layout: &'a BTreeMap<String, [i32; 2]>,
}

impl Clip {
    /// Some steps of a document; `None` if it has none of them.
    #[must_use]
    pub fn of(document: &Document, ids: &BTreeSet<String>) -> Option<Self> {
        let is_in = |id: &String| ids.contains(id) && document.steps.contains_key(id);
        let mut clip = empty();
        let steps = document.steps.iter().filter(|(id, _)| is_in(id));
        clip.steps = steps.map(|(id, step)| (id.clone(), step.clone())).collect();
        let wires = document.wires.iter();
        clip.wires = wires.filter(|wire| is_in(&wire.from) && is_in(&wire.to)).cloned().collect();
        clip.layout = scene::places(document).into_iter().filter(|(id, _)| is_in(id)).collect();
        (!clip.steps.is_empty()).then_some(Self { document: clip })
    }

    /// As text for the clipboard.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Document { steps, wires, layout, .. } = &self.document;
        let written = Written { millrace_steps: CLIP_FORMAT, steps, wires, layout };
        // Names and JSON values can always be written.
        serde_json::to_string_pretty(&written).unwrap_or_default()
    }

    /// Reads the clipboard's text, or a whole document.
    ///
    /// # Errors
    /// It holds no steps, or what it holds is broken.
    pub fn parse(text: &str) -> Result<Self, PasteError> {
        let most = millrace_flow::text::DOCUMENT_BYTES_MAX;
        if text.len() > most {
            return Err(PasteError::Broken(format!("{} bytes, {most} at most", text.len())));
        }
        let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else {
            return Err(PasteError::NoSteps);
        };
        let text = match fields.remove(MARK) {
            None if fields.contains_key("millrace") => text.to_owned(),
            None => return Err(PasteError::NoSteps),
            Some(format) if format == CLIP_FORMAT => {
                fields.insert("millrace".into(), FORMAT.into());
                fields.insert("name".into(), "clip".into());
                Value::Object(fields).to_string()
            }
            Some(format) => {
                let message = format!("format {format} is not known, only {CLIP_FORMAT}");
                return Err(PasteError::Broken(message));
            }
        };
        let document = Document::parse(&text);
        let document = document.map_err(|fault| PasteError::Broken(fault.to_string()))?;
        let ids = document.steps.keys().cloned().collect();
        Self::of(&document, &ids).ok_or(PasteError::NoSteps)
    }

    /// How many steps there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.document.steps.len()
    }

    /// Never: a clip has at least one step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.document.steps.is_empty()
    }

    /// What pastes it into a document with its middle at a point of the canvas, or a little beside
    /// where it was; and the ids of the new steps.
    ///
    /// # Errors
    /// There would be too many steps.
    pub fn paste(
        &self,
        into: &Document,
        at: Option<Point>,
    ) -> Result<(Transaction, BTreeSet<String>), PasteError> {
        let total = into.steps.len() + self.len();
        if total > STEPS_MAX {
            return Err(PasteError::TooMany(total));
        }
        let clip = self.renamed(into);
        let way = way(&clip, into, at);
        let mut edits = Vec::new();
        for (id, step) in &clip.steps {
            edits.push(Edit::AddStep { id: id.clone(), step: step.clone() });
            if let Some([x, y]) = clip.layout.get(id) {
                let to = place(f64::from(*x) + way.x, f64::from(*y) + way.y, true);
                edits.push(Edit::MoveStep { step: id.clone(), to: Some(to) });
            }
        }
        // A wire may lead from or to a step with the new id that was there before as a loose end.
        let wires = clip.wires.iter().filter(|wire| into.wires.binary_search(wire).is_err());
        edits.extend(wires.cloned().map(Edit::AddWire));
        Ok((Transaction { edits }, clip.steps.into_keys().collect()))
    }

    /// The same steps under ids that are free in a document.
    fn renamed(&self, into: &Document) -> Document {
        let mut clip = self.document.clone();
        let mut taken: BTreeSet<String> = clip.steps.keys().cloned().collect();
        for id in self.document.steps.keys().filter(|id| into.steps.contains_key(*id)) {
            let to = free_id(into, &taken, id);
            taken.insert(to.clone());
            let edit = Edit::RenameStep { from: id.clone(), to };
            // The old id is there and the new one is free in both documents.
            edit.apply(&mut clip).expect("a free id can be taken");
        }
        clip
    }
}

/// How far pasted steps move: to where they are wanted, or down to where nothing lies.
fn way(clip: &Document, into: &Document, at: Option<Point>) -> Point {
    let (xs, ys) = (clip.layout.values().map(|at| at[0]), clip.layout.values().map(|at| at[1]));
    let span = |all: &mut dyn Iterator<Item = i32>| {
        let all: Vec<f64> = all.map(f64::from).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        (low, all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (span(&mut xs.into_iter()), span(&mut ys.into_iter()));
    if let Some(at) = at {
        let middle = Point::new((left + right + WIDTH) / 2.0, (top + bottom + HEIGHT) / 2.0);
        return at.minus(middle);
    }
    let taken: BTreeSet<[i32; 2]> = scene::places(into).into_values().collect();
    let mut way = Point::new(2.0, 2.0);
    let lies_on = |way: Point| {
        clip.layout.values().any(|[x, y]| {
            taken.contains(&place(f64::from(*x) + way.x * 20.0, f64::from(*y) + way.y * 20.0, true))
        })
    };
    while lies_on(way) && way.y < 10_000.0 {
        way = way.plus(Point::new(2.0, 2.0));
    }
    Point::new(way.x * 20.0, way.y * 20.0)
}

fn empty() -> Document {
    Document {
        millrace: FORMAT,
        name: "clip".into(),
        description: String::new(),
        settings: Settings::default(),
        steps: BTreeMap::new(),
        wires: Vec::new(),
        cases: Vec::new(),
        layout: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests;
