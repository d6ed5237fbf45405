//! Adding steps: quick add, the palette, copies.
//!
//! **Invariants**: what is added is one entry of the history, and is selected afterwards; a new step
//! never lies on another.

use super::Editor;
use crate::action::Action;
use crate::change;
use crate::clipboard::Clip;
use crate::connect::{self, Anchor};
use crate::effect::{Effect, Join, Place, Said};
use crate::geometry::Point;
use crate::ids;
use crate::scene::Hit;
use crate::shape::{self, HEIGHT, WIDTH};
use crate::snap;
use millrace_flow::document::{Step, Wire};
use millrace_flow::validate::STEPS_MAX;
use millrace_flow::{Edit, Transaction};
use std::collections::BTreeSet;

/// Free space between a step and the one added beside it.
const BESIDE: f64 = 80.0;

impl Editor {
    /// Asks which step comes behind the current one, or stands alone in the middle of what is seen.
    pub(super) fn ask_behind_current(&self) -> Vec<Effect> {
        let current = self.selection.current().and_then(|id| self.scene.step(id));
        let wire = self.selection.wires().first();
        let place = match (current, wire) {
            (Some(step), _) => match step.outputs.first() {
                Some(port) => {
                    let (step, port) = (step.id.clone(), port.name.clone());
                    Place { at: None, join: Join::Port(Anchor::Output { step, port }) }
                }
                None => Place { at: None, join: Join::Nothing },
            },
            (None, Some(wire)) => Place { at: None, join: Join::Wire(wire.clone()) },
            (None, None) => Place { at: None, join: Join::Nothing },
        };
        vec![Effect::AskKind(place)]
    }

    /// Adds a step of a kind where it was asked for; joined as far as it fits.
    pub fn add(&mut self, kind: &str, place: &Place) -> Vec<Effect> {
        if self.is_read_only {
            return vec![Effect::Say(Said::ReadOnly)];
        }
        if self.document.steps.len() >= STEPS_MAX {
            let message = format!("a pipeline has {STEPS_MAX} steps at most");
            return vec![Effect::Say(Said::Failed(message))];
        }
        let step = change::new_step(kind);
        let id = ids::free_id(&self.document, &BTreeSet::new(), &ids::of_kind(kind));
        let at = self.place_for(place, &step);
        let mut edits = vec![
            Edit::AddStep { id: id.clone(), step },
            Edit::MoveStep { step: id.clone(), to: Some(at) },
        ];
        edits.extend(self.joined(&id, &edits, &place.join));
        let name = format!("add {kind}");
        let mut effects = self.apply(&name, &Transaction { edits }, None);
        if effects.contains(&Effect::Changed) {
            self.jump_to(&id);
            effects.push(Effect::Say(Said::Added(id)));
        }
        effects
    }

    fn place_for(&self, place: &Place, step: &Step) -> [i32; 2] {
        if let Some(at) = place.at {
            return at;
        }
        let beside = match &place.join {
            Join::Port(Anchor::Output { step, port }) => self.scene.step(step).map(|from| {
                let y = from.output(port).map_or(from.rect.y, |port| port.at.y - shape::FIRST_PORT);
                Point::new(from.rect.right() + BESIDE, y)
            }),
            Join::Port(Anchor::Input { step }) => {
                self.scene.step(step).map(|to| Point::new(to.rect.x - BESIDE - WIDTH, to.rect.y))
            }
            Join::Wire(wire) => {
                let ends = self.scene.step(&wire.from).zip(self.scene.step(&wire.to));
                ends.map(|(from, to)| {
                    let middle = from.rect.union(to.rect).middle();
                    middle.minus(Point::new(WIDTH / 2.0, HEIGHT / 2.0))
                })
            }
            Join::Nothing => None,
        };
        let seen = self.viewport.seen();
        let corner = if step.is_trigger() { seen.grown(-BESIDE).corner() } else { seen.middle() };
        let at = beside.unwrap_or(corner);
        change::free_place(&self.document, snap::place(at.x, at.y, self.is_snapping))
    }

    /// The edits that join a new step.
    fn joined(&self, id: &str, added: &[Edit], join: &Join) -> Vec<Edit> {
        let mut after = self.document.clone();
        let was_added = added.iter().all(|edit| edit.apply(&mut after).is_ok());
        let step = after.steps.get(id).filter(|_| was_added);
        let Some(ports) = step.map(|step| shape::ports(&after, id, step)) else {
            return Vec::new();
        };
        let wire = match join {
            Join::Nothing => None,
            Join::Wire(wire) => {
                let spliced = change::splice(&after, id, wire);
                return spliced.map(|spliced| spliced.edits).unwrap_or_default();
            }
            Join::Port(Anchor::Output { step, port }) => {
                Some(Wire { from: step.clone(), port: port.clone(), to: id.to_owned() })
            }
            Join::Port(Anchor::Input { step }) => ports.first().map(|port| Wire {
                from: id.to_owned(),
                port: port.clone(),
                to: step.clone(),
            }),
        };
        let wire = wire.filter(|wire| connect::check(&after, wire).is_ok());
        wire.map(Edit::AddWire).into_iter().collect()
    }

    /// A kind is dropped on the canvas: into a wire, or where there is nothing.
    pub(super) fn drop_kind(&mut self, at: Point, kind: &str) -> Vec<Effect> {
        let canvas = self.viewport.to_canvas(at);
        let join = match self.scene.hit(canvas, self.viewport.scale()) {
            Hit::Wire(wire) => Join::Wire(wire),
            Hit::Output { step, port } => Join::Port(Anchor::Output { step, port }),
            _ => Join::Nothing,
        };
        let corner = canvas.minus(Point::new(WIDTH / 2.0, HEIGHT / 2.0));
        let at = snap::place(corner.x, corner.y, self.is_snapping);
        self.add(kind, &Place { at: Some(at), join })
    }

    /// Puts the selected steps into the clipboard.
    pub(super) fn copy(&self) -> Vec<Effect> {
        match Clip::of(&self.document, self.selection.steps()) {
            None => vec![Effect::Say(Said::NothingTo(Action::Copy))],
            Some(clip) => {
                vec![Effect::Copy(clip.to_text()), Effect::Say(Said::Copied(clip.len()))]
            }
        }
    }

    /// Pastes the clipboard's text, with its middle at a point of the screen if one is given.
    pub fn paste(&mut self, text: &str, at: Option<Point>) -> Vec<Effect> {
        match Clip::parse(text) {
            Err(error) => vec![Effect::Say(Said::Failed(error.to_string()))],
            Ok(clip) => {
                let at = at.map(|at| self.viewport.to_canvas(at));
                self.paste_clip("paste", &clip, at)
            }
        }
    }

    pub(super) fn duplicate(&mut self, steps: &BTreeSet<String>) -> Vec<Effect> {
        match Clip::of(&self.document, steps) {
            None => Vec::new(),
            Some(clip) => self.paste_clip("duplicate", &clip, None),
        }
    }

    fn paste_clip(&mut self, name: &str, clip: &Clip, at: Option<Point>) -> Vec<Effect> {
        match clip.paste(&self.document, at) {
            Err(error) => vec![Effect::Say(Said::Failed(error.to_string()))],
            Ok((transaction, ids)) => {
                let mut effects = self.apply(name, &transaction, None);
                if effects.contains(&Effect::Changed) {
                    effects.push(Effect::Say(Said::Pasted(ids.len())));
                    self.selection.all(ids);
                    let boxes = self.selection.steps().iter();
                    let boxes = boxes.filter_map(|id| self.scene.step(id)).map(|step| step.rect);
                    if let Some(around) = crate::geometry::Rect::around_all(boxes) {
                        self.reveal(around);
                    }
                }
                effects
            }
        }
    }
}
