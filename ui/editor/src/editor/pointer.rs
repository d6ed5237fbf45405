//! Pointer and wheel: presses, drags, wires, the marquee, panning and zooming.
//!
//! **Invariants**: nothing is changed before the button goes up; losing the pointer is canceling.

use super::Editor;
use crate::change;
use crate::connect::{Anchor, Candidates};
use crate::effect::{Effect, Join, Place, Said};
use crate::geometry::Point;
use crate::gesture::{DRAG_MIN, Gesture};
use crate::input::{Button, Held, Input};
use crate::scene::{Hit, WIRE_REACH};
use crate::snap;
use millrace_flow::Edit;
use millrace_flow::document::Wire;
use std::collections::BTreeSet;

impl Editor {
    pub(super) fn pointer(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Down(at, button, held) => self.down(at, button, held),
            Input::Move(at, held) => self.moved(at, held),
            Input::Up(at, held) => self.up(at, held),
            Input::Lost => self.cancel(),
            Input::DoubleClick(at) => self.double_click(at),
            Input::Wheel(at, turned, held) => {
                if held.shift {
                    let across = if turned.x == 0.0 { turned.y } else { turned.x };
                    self.viewport.pan(Point::new(-across, 0.0));
                } else {
                    self.viewport.wheel(at, turned.y);
                }
                Vec::new()
            }
            Input::Pinch(at, factor) => {
                self.viewport.zoom_at(at, factor);
                Vec::new()
            }
            Input::Space(is_down) => {
                self.is_space_down = is_down;
                Vec::new()
            }
            Input::Key(_) | Input::Drop(..) => Vec::new(),
        }
    }

    fn down(&mut self, at: Point, button: Button, held: Held) -> Vec<Effect> {
        // A second button, or a press while keys choose: what was going on ends.
        let effects = if self.gesture.is_none() { Vec::new() } else { self.cancel() };
        let canvas = self.viewport.to_canvas(at);
        let hit = self.scene.hit(canvas, self.viewport.scale());
        match button {
            Button::Middle => self.gesture = Gesture::Pan { last: at },
            Button::Main if self.is_space_down => self.gesture = Gesture::Pan { last: at },
            Button::Main => self.gesture = Gesture::Press { at, hit, held },
            Button::Menu => {
                match hit {
                    Hit::Step(step) if !self.selection.has(&step) => self.selection.only(&step),
                    Hit::Wire(wire) => self.selection.wire(&wire, false),
                    _ => {}
                }
                return vec![Effect::Menu(at)];
            }
        }
        effects
    }

    fn moved(&mut self, at: Point, held: Held) -> Vec<Effect> {
        let canvas = self.viewport.to_canvas(at);
        match &self.gesture {
            Gesture::Press { at: from, .. } if from.distance(at) >= DRAG_MIN => self.begin(canvas),
            Gesture::Pan { last } => {
                let way = at.minus(*last);
                self.viewport.pan(way);
                self.gesture = Gesture::Pan { last: at };
                return Vec::new();
            }
            _ => {}
        }
        match std::mem::take(&mut self.gesture) {
            Gesture::Drag { steps, from, corner, before, .. } => {
                let is_snapping = self.is_snapping != held.shift;
                let way = snap::way(corner, canvas.minus(from), is_snapping);
                let splice = self.splice_under(&steps, way);
                self.gesture = Gesture::Drag { steps, from, corner, way, splice, before };
            }
            Gesture::Connect { candidates, from, .. } => {
                let over = self.over(&candidates, canvas);
                self.gesture = Gesture::Connect { candidates, from, to: canvas, over };
            }
            Gesture::Marquee { from, before, is_adding, .. } => {
                let gesture =
                    Gesture::Marquee { from, to: canvas, before: before.clone(), is_adding };
                let part = gesture.marquee().unwrap_or_default();
                let inside: Vec<String> = self.scene.steps_in(part).map(str::to_owned).collect();
                if is_adding {
                    self.selection = before;
                    self.selection.add(inside);
                } else {
                    self.selection.all(inside);
                }
                self.gesture = gesture;
            }
            other => self.gesture = other,
        }
        Vec::new()
    }

    /// A press becomes a drag of what lies there.
    fn begin(&mut self, canvas: Point) {
        let Gesture::Press { at, hit, held } = std::mem::take(&mut self.gesture) else { return };
        let from = self.viewport.to_canvas(at);
        let before = self.selection.clone();
        self.gesture = match hit {
            Hit::Step(step) if !self.is_read_only => {
                if !self.selection.has(&step) {
                    self.selection.only(&step);
                }
                let corner = self.scene.step(&step).map(|step| step.rect.corner());
                Gesture::Drag {
                    steps: self.selection.steps().clone(),
                    from,
                    corner: corner.unwrap_or_default(),
                    way: Point::default(),
                    splice: None,
                    before,
                }
            }
            Hit::Output { step, port } if !self.is_read_only => {
                self.connect_from(Anchor::Output { step, port }, canvas)
            }
            Hit::Input(step) if !self.is_read_only => {
                self.connect_from(Anchor::Input { step }, canvas)
            }
            Hit::Canvas | Hit::Wire(_) => {
                let is_adding = held.shift || held.ctrl;
                Gesture::Marquee { from, to: canvas, before, is_adding }
            }
            // Read only: what cannot be dragged moves the canvas.
            _ => Gesture::Pan { last: at },
        };
    }

    fn connect_from(&self, anchor: Anchor, to: Point) -> Gesture {
        let step = self.scene.step(anchor.step());
        let from = step.map(|step| match &anchor {
            Anchor::Input { .. } => step.input(),
            Anchor::Output { port, .. } => step.output(port).map_or(step.input(), |port| port.at),
        });
        let candidates = Candidates::new(&self.document, anchor);
        Gesture::Connect { candidates, from: from.unwrap_or(to), to, over: None }
    }

    /// What a wire would be joined with at a point: any place of a step counts as its input.
    fn over(
        &self,
        candidates: &Candidates,
        at: Point,
    ) -> Option<Result<Wire, crate::connect::Misfit>> {
        let is_forward = matches!(candidates.anchor(), Anchor::Output { .. });
        let own = candidates.anchor().step();
        match self.scene.hit(at, self.viewport.scale()) {
            // The port itself, right after the wire left it.
            Hit::Output { step, .. } | Hit::Input(step) | Hit::Step(step) if step == own => None,
            Hit::Output { .. } if is_forward => Some(Err(crate::connect::Misfit::SameSide)),
            Hit::Input(_) if !is_forward => Some(Err(crate::connect::Misfit::SameSide)),
            Hit::Output { step, port } => Some(candidates.wire(&self.document, &step, &port)),
            Hit::Input(step) => Some(candidates.wire(&self.document, &step, "")),
            Hit::Step(step) => {
                let first = self.scene.step(&step).and_then(|step| step.outputs.first());
                let port = first.map_or("", |port| port.name.as_str());
                Some(candidates.wire(&self.document, &step, port))
            }
            Hit::Wire(_) | Hit::Canvas => None,
        }
    }

    /// The wire that a single loose step lies on.
    fn splice_under(&self, steps: &BTreeSet<String>, way: Point) -> Option<Wire> {
        let step = steps.first().filter(|_| steps.len() == 1)?;
        if !change::is_loose(&self.document, step) {
            return None;
        }
        let middle = self.scene.step(step)?.rect.moved(way).middle();
        let wire = self.scene.wire_near(middle, 2.0 * WIRE_REACH).0?;
        change::splice(&self.document, step, wire).map(|_| wire.clone())
    }

    fn up(&mut self, at: Point, held: Held) -> Vec<Effect> {
        // The last move may not have been told.
        let mut effects = self.moved(at, held);
        match std::mem::take(&mut self.gesture) {
            Gesture::Press { hit, held, .. } => effects.extend(self.click(hit, held)),
            Gesture::Drag { steps, way, splice, .. } => {
                effects.extend(self.drop_steps(&steps, way, splice.as_ref()));
            }
            Gesture::Connect { candidates, to, over, .. } => {
                effects.extend(self.end_wire(&candidates, to, over));
            }
            Gesture::Marquee { .. } => effects.push(self.selected()),
            other @ Gesture::Choose(_) => self.gesture = other,
            Gesture::None | Gesture::Pan { .. } => {}
        }
        effects
    }

    fn click(&mut self, hit: Hit, held: Held) -> Vec<Effect> {
        let is_adding = held.shift || held.ctrl;
        match hit {
            Hit::Step(step) | Hit::Input(step) | Hit::Output { step, .. } => {
                if is_adding {
                    self.selection.toggle(&step);
                    return vec![self.selected()];
                }
                self.selection.only(&step);
                vec![self.at(&step)]
            }
            Hit::Wire(wire) => {
                self.selection.wire(&wire, is_adding);
                vec![self.selected()]
            }
            Hit::Canvas if is_adding || self.selection.is_empty() => Vec::new(),
            Hit::Canvas => {
                self.selection.clear();
                vec![self.selected()]
            }
        }
    }

    fn drop_steps(
        &mut self,
        steps: &BTreeSet<String>,
        way: Point,
        splice: Option<&Wire>,
    ) -> Vec<Effect> {
        let mut transaction = change::move_steps(&self.document, steps, way);
        let spliced = splice
            .zip(steps.first())
            .and_then(|(wire, step)| change::splice(&self.document, step, wire));
        let name = match &spliced {
            Some(_) => "put a step into a wire".to_owned(),
            None => format!("move {}", crate::effect::counted(steps.len(), 0)),
        };
        transaction.edits.extend(spliced.into_iter().flat_map(|spliced| spliced.edits));
        let to = transaction.edits.iter().find_map(|edit| match edit {
            Edit::MoveStep { to, .. } => *to,
            _ => None,
        });
        let mut effects = self.apply(&name, &transaction, None);
        if let Some(to) = to {
            effects.push(Effect::Say(Said::Moved { steps: steps.len(), to }));
        }
        effects
    }

    fn end_wire(
        &mut self,
        candidates: &Candidates,
        to: Point,
        over: Option<Result<Wire, crate::connect::Misfit>>,
    ) -> Vec<Effect> {
        match over {
            Some(Ok(wire)) => self.connect(&wire),
            Some(Err(misfit)) => vec![Effect::Say(Said::Refused(misfit))],
            None => {
                let hit = self.scene.hit(to, self.viewport.scale());
                if !matches!(hit, Hit::Canvas | Hit::Wire(_)) {
                    return vec![Effect::Say(Said::Canceled)];
                }
                let is_forward = matches!(candidates.anchor(), Anchor::Output { .. });
                let left = if is_forward { to.x } else { to.x - crate::shape::WIDTH };
                let at = snap::place(left, to.y - crate::shape::FIRST_PORT, self.is_snapping);
                let join = Join::Port(candidates.anchor().clone());
                vec![Effect::AskKind(Place { at: Some(at), join })]
            }
        }
    }

    /// Adds a wire.
    pub(super) fn connect(&mut self, wire: &Wire) -> Vec<Effect> {
        let mut effects = self.apply("connect", &Edit::AddWire(wire.clone()).into(), None);
        if effects.contains(&Effect::Changed) {
            effects.push(Effect::Say(Said::Connected(wire.clone())));
        }
        effects
    }

    fn double_click(&mut self, at: Point) -> Vec<Effect> {
        self.gesture = Gesture::None;
        let canvas = self.viewport.to_canvas(at);
        match self.scene.hit(canvas, self.viewport.scale()) {
            Hit::Step(step) | Hit::Input(step) | Hit::Output { step, .. } => {
                self.selection.only(&step);
                vec![Effect::Edit(step)]
            }
            _ if self.is_read_only => Vec::new(),
            hit => {
                let middle = Point::new(crate::shape::WIDTH, crate::shape::HEIGHT);
                let at = canvas.minus(Point::new(middle.x / 2.0, middle.y / 2.0));
                let at = Some(snap::place(at.x, at.y, self.is_snapping));
                let join = match hit {
                    Hit::Wire(wire) => Join::Wire(wire),
                    _ => Join::Nothing,
                };
                vec![Effect::AskKind(Place { at, join })]
            }
        }
    }

    /// Ends what is going on without a trace.
    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.gesture) {
            Gesture::None => return Vec::new(),
            Gesture::Drag { before, .. } | Gesture::Marquee { before, .. } => {
                self.selection = before;
            }
            _ => {}
        }
        vec![Effect::Say(Said::Canceled)]
    }
}
