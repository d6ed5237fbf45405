//! The scene: every step and wire of a document as boxes and curves, and what lies where.
//!
//! Built anew from the document after each change, in one pass; looking for what is seen or under
//! the pointer goes through an [`Index`] and does not grow with the document. Steps that the layout
//! does not name are put where [`crate::arrange`] would have them, below those that it does.
//!
//! **Invariants**: every step of the document has one box; a wire to or from a step that is not
//! there has no curve; boxes are in the order of ids.

use crate::arrange;
use crate::curve::Curve;
use crate::geometry::{Point, Rect};
use crate::index::Index;
use crate::shape::{HEIGHT, StepBox};
use millrace_flow::Document;
use millrace_flow::document::{OnError, Wire};
use std::collections::BTreeMap;

/// How near a port a pointer counts as on it, in pixels of the screen.
pub const PORT_REACH: f64 = 12.0;
/// How near a wire a pointer counts as on it, in pixels of the screen.
pub const WIRE_REACH: f64 = 7.0;

/// What a link stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    /// A wire.
    Wire(Wire),
    /// Where a step goes on when it fails: its `on_error`.
    GoTo {
        /// The step that may fail.
        from: String,
        /// Where it goes on.
        to: String,
    },
}

/// A line between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What it stands for.
    pub kind: LinkKind,
    /// Its curve.
    pub curve: Curve,
    /// Whether the port that it names is not there any more.
    pub is_broken: bool,
    /// The numbers of the boxes that it joins.
    pub ends: (usize, usize),
}

/// What lies under a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Hit {
    /// Nothing.
    Canvas,
    /// A step.
    Step(String),
    /// A step's input.
    Input(String),
    /// A step's output.
    Output {
        /// The step.
        step: String,
        /// The port.
        port: String,
    },
    /// A wire.
    Wire(Wire),
}

/// The numbers of what is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Boxes.
    pub steps: Vec<usize>,
    /// Links.
    pub links: Vec<usize>,
    /// How many entries were looked at.
    pub looked_at: usize,
}

/// A document as boxes and curves.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    boxes: Vec<StepBox>,
    links: Vec<Link>,
    numbers: BTreeMap<String, usize>,
    box_index: Index,
    link_index: Index,
    bounds: Option<Rect>,
}

impl Scene {
    /// The scene of a document.
    #[must_use]
    pub fn new(document: &Document) -> Self {
        let mut scene = Self::default();
        let places = places(document);
        for (number, (id, step)) in document.steps.iter().enumerate() {
            let place = places.get(id).copied().unwrap_or_default();
            let step_box = StepBox::new(document, id, step, place.into());
            scene.box_index.insert(number, step_box.rect);
            scene.numbers.insert(id.clone(), number);
            scene.boxes.push(step_box);
        }
        scene.bounds = Rect::around_all(scene.boxes.iter().map(|step| step.rect));
        for wire in &document.wires {
            scene.link(&wire.from, &wire.to, LinkKind::Wire(wire.clone()));
        }
        for (id, step) in &document.steps {
            if let OnError::GoTo(to) = &step.on_error {
                let (from, to) = (id.clone(), to.clone());
                scene.link(id, &to.clone(), LinkKind::GoTo { from, to });
            }
        }
        scene
    }

    fn link(&mut self, from: &str, to: &str, kind: LinkKind) {
        let ends = (self.numbers.get(from).copied(), self.numbers.get(to).copied());
        let (Some(from), Some(to)) = ends else { return };
        let (Some(from_box), Some(to_box)) = (self.boxes.get(from), self.boxes.get(to)) else {
            return;
        };
        let (start, is_broken) = start_of(from_box, &kind);
        let curve = Curve::between(start, to_box.input());
        let number = self.links.len();
        for (one, other) in curve.pieces() {
            self.link_index.insert(number, Rect::around(one, other));
        }
        self.links.push(Link { kind, curve, is_broken, ends: (from, to) });
    }

    /// All boxes, in the order of ids.
    #[must_use]
    pub fn boxes(&self) -> &[StepBox] {
        &self.boxes
    }

    /// All links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The box of a step.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&StepBox> {
        self.boxes.get(*self.numbers.get(id)?)
    }

    /// The rectangle around all steps.
    #[must_use]
    pub const fn bounds(&self) -> Option<Rect> {
        self.bounds
    }

    /// What is seen of a part of the canvas.
    #[must_use]
    pub fn seen(&self, part: Rect) -> Seen {
        let (boxes, links) = (self.box_index.find(part), self.link_index.find(part));
        let touches =
            |number: &usize| self.boxes.get(*number).is_some_and(|step| step.rect.touches(part));
        let crosses = |number: &usize| {
            self.links.get(*number).is_some_and(|link| {
                link.curve.pieces().any(|(from, to)| Rect::around(from, to).touches(part))
            })
        };
        Seen {
            looked_at: boxes.looked_at + links.looked_at,
            steps: boxes.things.into_iter().filter(touches).collect(),
            links: links.things.into_iter().filter(crosses).collect(),
        }
    }

    /// The steps whose boxes a part of the canvas touches.
    pub fn steps_in(&self, part: Rect) -> impl Iterator<Item = &str> {
        let found = self.box_index.find(part).things.into_iter();
        let boxes = found.filter_map(|number| self.boxes.get(number));
        boxes.filter(move |step| step.rect.touches(part)).map(|step| step.id.as_str())
    }

    /// What lies under a point of the canvas: a port before a step, a step before a wire, the
    /// nearest of several ports or wires, the last of several steps, as it is drawn on top.
    #[must_use]
    pub fn hit(&self, at: Point, scale: f64) -> Hit {
        self.hit_counted(at, scale).0
    }

    /// As [`Scene::hit`], and how many entries were looked at.
    #[must_use]
    pub fn hit_counted(&self, at: Point, scale: f64) -> (Hit, usize) {
        let reach = PORT_REACH / scale;
        let found = self.box_index.find(Rect::around(at, at).grown(reach));
        let boxes = || found.things.iter().rev().filter_map(|number| self.boxes.get(*number));
        let port = boxes().flat_map(|step| near_ports(step, at, reach)).reduce(nearer);
        if let Some((_, hit)) = port {
            return (hit, found.looked_at);
        }
        if let Some(step) = boxes().find(|step| step.rect.contains(at)) {
            return (Hit::Step(step.id.clone()), found.looked_at);
        }
        let (wire, looked_at) = self.wire_near(at, WIRE_REACH / scale);
        (wire.map_or(Hit::Canvas, |wire| Hit::Wire(wire.clone())), found.looked_at + looked_at)
    }

    /// The nearest wire within reach, and how many entries were looked at.
    #[must_use]
    pub fn wire_near(&self, at: Point, reach: f64) -> (Option<&Wire>, usize) {
        let found = self.link_index.find(Rect::around(at, at).grown(reach));
        let near = found.things.iter().filter_map(|number| {
            let link = self.links.get(*number)?;
            let LinkKind::Wire(wire) = &link.kind else { return None };
            let distance = link.curve.distance(at);
            (distance <= reach).then_some((distance, wire))
        });
        (near.reduce(nearer).map(|(_, wire)| wire), found.looked_at)
    }
}

fn nearer<T>(one: (f64, T), other: (f64, T)) -> (f64, T) {
    if other.0 < one.0 { other } else { one }
}

fn near_ports(step: &StepBox, at: Point, reach: f64) -> impl Iterator<Item = (f64, Hit)> {
    let input = step.has_input.then(|| (step.input(), Hit::Input(step.id.clone())));
    let outputs = step
        .outputs
        .iter()
        .map(|port| (port.at, Hit::Output { step: step.id.clone(), port: port.name.clone() }));
    let ports = input.into_iter().chain(outputs);
    ports.map(move |(port, hit)| (port.distance(at), hit)).filter(move |(far, _)| *far <= reach)
}

/// Where a link leaves, and whether its port is not there.
fn start_of(from: &StepBox, kind: &LinkKind) -> (Point, bool) {
    let corner = Point::new(from.rect.right(), from.rect.bottom());
    match kind {
        LinkKind::GoTo { .. } => (corner, false),
        LinkKind::Wire(wire) => match from.output(&wire.port) {
            Some(port) => (port.at, false),
            None => (corner, true),
        },
    }
}

/// Where each step is drawn.
#[must_use]
pub fn places(document: &Document) -> BTreeMap<String, [i32; 2]> {
    let placed = |id: &String| document.layout.get(id).copied();
    let mut places: BTreeMap<_, _> =
        document.steps.keys().filter_map(|id| Some((id.clone(), placed(id)?))).collect();
    if places.len() == document.steps.len() {
        return places;
    }
    let below = places.values().map(|[_, y]| *y).max();
    let below = below.map_or(0, |lowest| lowest.saturating_add(2 * HEIGHT as i32));
    let missing = document.steps.keys().filter(|id| !places.contains_key(*id)).cloned().collect();
    for (id, [x, y]) in arrange::arrange(document, &missing) {
        places.insert(id, [x, y.saturating_add(below)]);
    }
    places
}

#[cfg(test)]
pub(crate) mod tests;
