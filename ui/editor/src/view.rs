//! What is drawn: the steps and wires that are seen, as they look at this moment.
//!
//! **Invariants**: the work grows with what is seen, not with the document; what is being dragged is
//! in the view where it is, not where it was.

use crate::connect::{Anchor, Candidates};
use crate::curve::Curve;
use crate::editor::Editor;
use crate::geometry::{Point, Rect};
use crate::gesture::Gesture;
use crate::scene::{Link, LinkKind};
use crate::shape::StepBox;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Everything to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Whether text can be read at this scale.
    pub has_detail: bool,
    /// The steps.
    pub steps: Vec<StepView>,
    /// The wires and the ways of failures.
    pub links: Vec<LinkView>,
    /// The rectangle that selects.
    pub marquee: Option<Rect>,
    /// The wire that is drawn.
    pub pending: Option<PendingWire>,
}

/// A step to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    /// Its box.
    pub step: StepBox,
    /// Whether it is selected.
    pub is_selected: bool,
    /// Whether the keyboard is at it.
    pub is_current: bool,
    /// Whether it cannot take the wire that is drawn.
    pub is_faded: bool,
    /// Whether the wire that is drawn would lead to it.
    pub is_target: bool,
}

/// A link to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkView {
    /// What it stands for.
    pub kind: LinkKind,
    /// Its curve.
    pub curve: Curve,
    /// Whether it is selected.
    pub is_selected: bool,
    /// Whether its port is not there any more.
    pub is_broken: bool,
    /// Whether the step that is dragged would be put into it.
    pub takes_step: bool,
}

/// A wire that is being drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendingWire {
    /// Its curve.
    pub curve: Curve,
    /// Whether it fits where it is; `None` over nothing.
    pub fits: Option<bool>,
}

impl Editor {
    /// What is to be drawn now.
    #[must_use]
    pub fn view(&self) -> View {
        let part = self.viewport().seen();
        let seen = self.scene().seen(part);
        let mut steps: BTreeSet<usize> = seen.steps.into_iter().collect();
        let mut links: BTreeSet<usize> = seen.links.into_iter().collect();
        if let Gesture::Drag { steps: dragged, .. } = self.gesture() {
            // What was out of sight may have come into it.
            let boxes = self.scene().boxes().iter().enumerate();
            let is_dragged = |step: &StepBox| dragged.contains(&step.id);
            steps.extend(boxes.filter(|(_, step)| is_dragged(step)).map(|(number, _)| number));
            let all = self.scene().links().iter().enumerate();
            let moves = |link: &Link| steps.contains(&link.ends.0) || steps.contains(&link.ends.1);
            links.extend(all.filter(|(_, link)| moves(link)).map(|(number, _)| number));
        }
        let candidates = self.drawn_wire();
        let boxes = steps.iter().filter_map(|number| self.scene().boxes().get(*number));
        let boxes = boxes.map(|step| self.step_view(step, candidates.as_deref()));
        let all = links.iter().filter_map(|number| self.scene().links().get(*number));
        View {
            has_detail: self.viewport().has_detail(),
            steps: boxes.filter(|view| view.step.rect.touches(part)).collect(),
            links: all.map(|link| self.link_view(link)).collect(),
            marquee: self.gesture().marquee(),
            pending: self.pending(),
        }
    }

    fn drawn_wire(&self) -> Option<Cow<'_, Candidates>> {
        match self.gesture() {
            Gesture::Connect { candidates, .. } => Some(Cow::Borrowed(candidates)),
            Gesture::Choose(choice) => {
                let (step, port) = (choice.step.clone(), choice.port().to_owned());
                let anchor = Anchor::Output { step, port };
                Some(Cow::Owned(Candidates::new(self.document(), anchor)))
            }
            _ => None,
        }
    }

    fn step_view(&self, step: &StepBox, candidates: Option<&Candidates>) -> StepView {
        let fits = |candidates: &Candidates| {
            candidates.anchor().step() == step.id
                || match candidates.anchor() {
                    Anchor::Output { .. } => candidates.wire(self.document(), &step.id, "").is_ok(),
                    Anchor::Input { .. } => step
                        .outputs
                        .iter()
                        .any(|port| candidates.wire(self.document(), &step.id, &port.name).is_ok()),
                }
        };
        let is_target = match self.gesture() {
            Gesture::Choose(choice) => choice.target() == Some(&step.id),
            Gesture::Connect { candidates, over: Some(Ok(wire)), .. } => {
                match candidates.anchor() {
                    Anchor::Output { .. } => wire.to == step.id,
                    Anchor::Input { .. } => wire.from == step.id,
                }
            }
            _ => false,
        };
        let way = self.gesture().way_of(&step.id);
        StepView {
            is_selected: self.selection().has(&step.id),
            is_current: self.selection().current() == Some(&step.id),
            is_faded: candidates.is_some_and(|candidates| !fits(candidates)),
            is_target,
            step: way.map_or_else(|| step.clone(), |way| step.moved(way)),
        }
    }

    fn link_view(&self, link: &Link) -> LinkView {
        let way = |number: usize| {
            let step = self.scene().boxes().get(number);
            step.and_then(|step| self.gesture().way_of(&step.id)).unwrap_or_default()
        };
        let (from, to) = (way(link.ends.0), way(link.ends.1));
        let is_still = from == Point::default() && to == Point::default();
        let curve = if is_still {
            link.curve
        } else {
            Curve::between(link.curve.from.plus(from), link.curve.to.plus(to))
        };
        let (is_selected, takes_step) = match (&link.kind, self.gesture()) {
            (LinkKind::Wire(wire), Gesture::Drag { splice, .. }) => {
                (self.selection().wires().contains(wire), splice.as_ref() == Some(wire))
            }
            (LinkKind::Wire(wire), _) => (self.selection().wires().contains(wire), false),
            (LinkKind::GoTo { .. }, _) => (false, false),
        };
        let (kind, is_broken) = (link.kind.clone(), link.is_broken);
        LinkView { kind, curve, is_selected, is_broken, takes_step }
    }

    fn pending(&self) -> Option<PendingWire> {
        match self.gesture() {
            Gesture::Connect { candidates, from, to, over, .. } => {
                let is_forward = matches!(candidates.anchor(), Anchor::Output { .. });
                let (from, to) = if is_forward { (*from, *to) } else { (*to, *from) };
                let fits = over.as_ref().map(Result::is_ok);
                Some(PendingWire { curve: Curve::between(from, to), fits })
            }
            Gesture::Choose(choice) => {
                let from = self.scene().step(&choice.step)?.output(choice.port())?.at;
                let to = self.scene().step(choice.target()?)?.input();
                Some(PendingWire { curve: Curve::between(from, to), fits: Some(true) })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::input::{Button, Held, Input};
    use crate::testing::document;

    #[test]
    fn only_what_is_seen_is_drawn() {
        let mut editor = Editor::new(crate::scene::tests::thousand(), 1_280.0, 720.0);
        editor.run(Action::ResetZoom);
        let view = editor.view();
        assert!(view.has_detail && view.steps.len() < 60, "{}", view.steps.len());
        assert!(view.links.len() < 80, "{}", view.links.len());
        editor.run(Action::Fit);
        assert!(!editor.view().has_detail, "far away, boxes have no text");
    }

    #[test]
    fn what_does_not_fit_fades_while_a_wire_is_drawn() {
        let text = "t:manual@0,0 a:map@300,0 b:map@600,0 u:manual@0,200 | t-a a-b";
        let mut editor = Editor::new(document(text), 1_000.0, 600.0);
        editor.resize(1_000.0, 600.0);
        let at = |editor: &Editor, x, y| editor.viewport().to_screen(Point::new(x, y));
        editor.handle(Input::Down(at(&editor, 780.0, 20.0), Button::Main, Held::default()));
        editor.handle(Input::Move(at(&editor, 500.0, 300.0), Held::default()));
        let view = editor.view();
        let faded: Vec<_> =
            view.steps.iter().filter(|view| view.is_faded).map(|view| &*view.step.id).collect();
        assert_eq!(faded, ["a", "t", "u"], "b is where the wire begins");
        assert_eq!(view.pending.unwrap().fits, None);
        editor.handle(Input::Move(at(&editor, 390.0, 20.0), Held::default()));
        assert_eq!(editor.view().pending.unwrap().fits, Some(false));
    }

    #[test]
    fn dragged_steps_and_their_wires_are_drawn_where_they_are() {
        let mut editor = Editor::new(document("t:manual@0,0 a:map@300,0 | t-a"), 1_000.0, 600.0);
        let at = |editor: &Editor, x, y| editor.viewport().to_screen(Point::new(x, y));
        editor.handle(Input::Down(at(&editor, 390.0, 20.0), Button::Main, Held::default()));
        editor.handle(Input::Move(at(&editor, 411.0, 58.0), Held::default()));
        let view = editor.view();
        assert_eq!(view.steps[0].step.rect.corner(), Point::new(320.0, 40.0));
        assert_eq!(view.links[0].curve.to, Point::new(320.0, 60.0));
        assert_eq!(editor.document().layout["a"], [300, 0], "nothing is changed yet");
    }
}
