//! The box of a step on the canvas, and its ports.
//!
//! All sizes are multiples of half the grid, so that wires between steps on the grid run straight.
//! A step has its one input on the left and its outputs on the right, top down in the order of its
//! kind; a trigger has no input. A step of a kind that this version does not know shows the ports
//! that its wires name.
//!
//! **Invariants**: every port lies on the edge of its box.

use crate::geometry::{Point, Rect};
use millrace_flow::document::{Document, Step};
use std::collections::BTreeSet;

/// Width of every step, in pixels of the canvas.
pub const WIDTH: f64 = 180.0;
/// Height of a step with one output.
pub const HEIGHT: f64 = 40.0;
/// From the upper side to the first port.
pub const FIRST_PORT: f64 = 20.0;
/// From one output to the next.
pub const PORT_PITCH: f64 = 20.0;

/// What leaves at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortKind {
    /// The step's output.
    Output,
    /// One way of several that a value may take.
    Choice,
    /// What the step runs within itself: the body of `try`, an item of `foreach`.
    Branch,
    /// A failure.
    Failure,
}

/// An output port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its name in wires.
    pub name: String,
    /// What leaves there.
    pub kind: PortKind,
    /// Where it lies on the canvas.
    pub at: Point,
}

/// A step as a box.
#[derive(Clone, Debug, PartialEq)]
pub struct StepBox {
    /// The step.
    pub id: String,
    /// Where it is.
    pub rect: Rect,
    /// Whether it has an input.
    pub has_input: bool,
    /// Its outputs, top down.
    pub outputs: Vec<Port>,
}

impl StepBox {
    /// The box of a step at a place.
    #[must_use]
    pub fn new(document: &Document, id: &str, step: &Step, place: Point) -> Self {
        let names = ports(document, id, step);
        let further = names.len().saturating_sub(1) as f64;
        let rect = Rect::new(place.x, place.y, WIDTH, HEIGHT + further * PORT_PITCH);
        let outputs = names.into_iter().zip(0_u16..).map(|(name, at)| Port {
            kind: port_kind(&step.kind, &name),
            at: Point::new(rect.right(), rect.y + FIRST_PORT + f64::from(at) * PORT_PITCH),
            name,
        });
        let outputs = outputs.collect();
        Self { id: id.to_owned(), rect, has_input: !step.is_trigger(), outputs }
    }

    /// Where its input lies, or would lie.
    #[must_use]
    pub fn input(&self) -> Point {
        Point::new(self.rect.x, self.rect.y + FIRST_PORT)
    }

    /// An output by name.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Port> {
        self.outputs.iter().find(|port| port.name == name)
    }

    /// The same box so far away.
    #[must_use]
    pub fn moved(&self, way: Point) -> Self {
        let mut moved = self.clone();
        moved.rect = moved.rect.moved(way);
        for port in &mut moved.outputs {
            port.at = port.at.plus(way);
        }
        moved
    }
}

/// The names of a step's outputs.
#[must_use]
pub fn ports(document: &Document, id: &str, step: &Step) -> Vec<String> {
    match step.known_kind() {
        Some(kind) => kind.ports_of(&step.fields).into_iter().map(str::to_owned).collect(),
        None => {
            let wires = document.wires.iter().filter(|wire| wire.from == id);
            let named: BTreeSet<_> = wires.map(|wire| wire.port.clone()).collect();
            if named.is_empty() { vec!["out".to_owned()] } else { named.into_iter().collect() }
        }
    }
}

fn port_kind(kind: &str, port: &str) -> PortKind {
    match (kind, port) {
        ("try", "caught") => PortKind::Failure,
        ("try", "body") | ("foreach", "item") => PortKind::Branch,
        (_, "out" | "done") => PortKind::Output,
        _ => PortKind::Choice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(text: &str) -> StepBox {
        let text = format!(
            r#"{{"millrace": 1, "name": "p", "steps": {{"a": {text}}},
                "wires": [{{"from": "a", "port": "left", "to": "b"}}]}}"#
        );
        let document = Document::parse(&text).unwrap();
        StepBox::new(&document, "a", &document.steps["a"], Point::new(20.0, 40.0))
    }

    #[test]
    fn a_switch_has_a_port_for_each_case_on_its_right_edge() {
        let switch = boxed(r#"{"kind": "switch", "fields": {"cases": [{"equals": 1}, {}]}}"#);
        let names: Vec<_> = switch.outputs.iter().map(|port| port.name.as_str()).collect();
        assert_eq!(names, ["1", "2", "otherwise"]);
        assert_eq!(switch.rect, Rect::new(20.0, 40.0, 180.0, 80.0));
        assert_eq!(switch.outputs[2].at, Point::new(200.0, 100.0));
        assert_eq!(switch.outputs[2].kind, PortKind::Choice);
        assert_eq!(switch.input(), Point::new(20.0, 60.0));
    }

    #[test]
    fn a_trigger_has_no_input_and_a_try_tells_its_ports_apart() {
        assert!(!boxed(r#"{"kind": "manual"}"#).has_input);
        let guard = boxed(r#"{"kind": "try"}"#);
        let kinds: Vec<_> = guard.outputs.iter().map(|port| port.kind).collect();
        assert_eq!(kinds, [PortKind::Branch, PortKind::Failure, PortKind::Output]);
    }

    #[test]
    fn an_unknown_kind_shows_the_ports_that_its_wires_name() {
        let unknown = boxed(r#"{"kind": "of.tomorrow"}"#);
        assert!(unknown.has_input);
        assert!(unknown.output("left").is_some());
    }
}
