//! The canvas: what the editor's view says, as SVG, and events on their way to the editor.
//!
//! Steps and wires are keyed by what they are, so that a drag moves elements and builds none; only
//! what is seen is in the page.
//!
//! **Invariants**
//! - Nothing is decided here: every event goes to the editor.
//! - Shape and text tell what colour tells: a kind's group, a fault, a step that is off.

use super::desk::{Desk, Over};
use super::labels::Labels;
use crate::words::{pipelines, t};
use leptos::html::Div;
use leptos::prelude::*;
use millrace_editor::minimap::Minimap;
use millrace_editor::navigate::in_order;
use millrace_editor::scene::LinkKind;
use millrace_editor::shape::PortKind;
use millrace_editor::view::{LinkView, StepView};
use millrace_editor::{Action, Button, Chord, Editor, Held, Input, Point, View};
use millrace_flow::Severity;
use millrace_flow::kind::Group;
use millrace_kit::surface::{Spot, Surface, SurfaceEvent, SurfaceKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest text on a step, in characters.
const TEXT_MAX: usize = 20;
/// Size of the minimap.
const MAP: (f64, f64) = (180.0, 120.0);

type Steps = Memo<Arc<BTreeMap<String, StepView>>>;
type Links = Memo<Arc<BTreeMap<String, LinkView>>>;

/// The canvas with its minimap.
#[component]
pub(super) fn Canvas(
    /// Where it is, for whoever gives the focus back.
    node: NodeRef<Div>,
) -> impl IntoView {
    let desk = Desk::here();
    let view = Memo::new(move |_| desk.editor.with(Editor::view));
    let steps: Steps = Memo::new(move |_| {
        Arc::new(view.with(|view| {
            view.steps.iter().map(|step| (step.step.id.clone(), step.clone())).collect()
        }))
    });
    let links: Links = Memo::new(move |_| {
        Arc::new(view.with(|view| {
            view.links.iter().map(|link| (link_key(&link.kind), link.clone())).collect()
        }))
    });
    let transform = move || {
        desk.editor.with(|editor| {
            let (offset, scale) = (editor.viewport().offset(), editor.viewport().scale());
            format!("translate({:.2} {:.2}) scale({scale:.4})", offset.x, offset.y)
        })
    };
    let language = desk.studio().language;
    let label = Signal::derive(move || {
        desk.version.track();
        let steps = desk.editor.with_untracked(|editor| editor.document().steps.len());
        let name = desk.at.with_value(|at| at.name.clone());
        language.say_with(pipelines::CANVAS, &[("name", &name), ("n", &steps.to_string())])
    });
    let is_empty = move || {
        desk.version.track();
        desk.editor.with_untracked(|editor| editor.document().steps.is_empty())
    };
    view! {
        <div class="canvas-frame">
            <Surface label class="surface canvas" node on_event=move |event| take(desk, event) described_by="designer-said">
                <svg class="canvas-drawing" class:canvas-far=move || view.with(|view| !view.has_detail) aria-hidden="true">
                    <g transform=transform>
                        <For each=move || keys(links) key=Clone::clone children=move |key| view! { <Wire key links/> }/>
                        <Labels links=links.into()/>
                        <For each=move || keys(steps) key=Clone::clone children=move |id| view! { <Step id steps/> }/>
                        <Overlay view/>
                    </g>
                </svg>
            </Surface>
            <Show when=is_empty>
                <div class="canvas-empty">
                    <p><strong>{t(pipelines::EMPTY)}</strong></p>
                    <p class="muted">{t(pipelines::EMPTY_NEXT)}</p>
                </div>
            </Show>
            <Map/>
        </div>
    }
}

fn keys<V: Send + Sync + PartialEq + 'static>(of: Memo<Arc<BTreeMap<String, V>>>) -> Vec<String> {
    of.with(|all| all.keys().cloned().collect())
}

/// Names a link.
pub(super) fn link_key(kind: &LinkKind) -> String {
    match kind {
        LinkKind::Wire(wire) => format!("{}.{}>{}", wire.from, wire.port, wire.to),
        LinkKind::GoTo { from, to } => format!("{from}!>{to}"),
    }
}

/// Gives an event to the editor; whether it was for the editor.
fn take(desk: Desk, event: SurfaceEvent) -> bool {
    let input = match event {
        SurfaceEvent::Resized(width, height) => {
            let is_new =
                desk.editor.with_untracked(|editor| editor.viewport().size() != (width, height));
            if is_new {
                desk.editor.update(|editor| resize(editor, width, height));
            }
            return true;
        }
        SurfaceEvent::Key(key) => return take_key(desk, &key),
        SurfaceEvent::SpaceUp => Input::Space(false),
        SurfaceEvent::Pasted(text) => {
            desk.paste(&text);
            return true;
        }
        SurfaceEvent::Down(spot, 1) => Input::Down(point(spot), Button::Middle, held(spot)),
        SurfaceEvent::Down(spot, 2) => Input::Down(point(spot), Button::Menu, held(spot)),
        SurfaceEvent::Down(spot, _) => Input::Down(point(spot), Button::Main, held(spot)),
        SurfaceEvent::Move(spot) => {
            // Moving over the canvas changes nothing.
            if desk.editor.with_untracked(|editor| editor.gesture().is_none()) {
                return true;
            }
            Input::Move(point(spot), held(spot))
        }
        SurfaceEvent::Up(spot) => Input::Up(point(spot), held(spot)),
        SurfaceEvent::Lost => Input::Lost,
        SurfaceEvent::DoubleClick(spot) => Input::DoubleClick(point(spot)),
        SurfaceEvent::Wheel(spot, x, y) => Input::Wheel(point(spot), Point::new(x, y), held(spot)),
    };
    desk.act(|editor| editor.handle(input));
    true
}

/// The first true size shows everything; later ones keep what is seen.
fn resize(editor: &mut Editor, width: f64, height: f64) {
    let is_first = editor.viewport().size() == (900.0, 500.0);
    editor.resize(width, height);
    if is_first {
        editor.run(Action::Fit);
    }
}

fn take_key(desk: Desk, key: &SurfaceKey) -> bool {
    if desk.over.get_untracked() != Over::Nothing {
        return false;
    }
    if key.key == " " {
        desk.act(|editor| editor.handle(Input::Space(true)));
        return true;
    }
    let chord = Chord::new(&key.key, key.ctrl, key.alt, key.shift);
    // The browser tells what is in its clipboard only if it may paste by itself.
    let is_ours = desk.editor.with_untracked(|editor| {
        let is_paste = editor.keymap().keys_of(Action::Paste).contains(&chord.shown());
        editor.wants(&chord) && !is_paste && !leads_out(editor, key)
    });
    if !is_ours {
        return false;
    }
    desk.act(|editor| editor.handle(Input::Key(chord)));
    true
}

/// Tab behind the last step, and Shift+Tab before the first, lead out of the canvas.
fn leads_out(editor: &Editor, key: &SurfaceKey) -> bool {
    if key.key != "Tab" || !editor.gesture().is_none() {
        return false;
    }
    let order = in_order(editor.scene());
    let end = if key.shift { order.first() } else { order.last() };
    end.is_none_or(|end| editor.selection().current() == Some(&end.id))
}

fn point(spot: Spot) -> Point {
    Point::new(spot.x, spot.y)
}

fn held(spot: Spot) -> Held {
    Held { shift: spot.shift, ctrl: spot.ctrl }
}

/// What a step says about itself.
#[derive(Clone, PartialEq)]
struct Face {
    name: String,
    kind: String,
    sign: &'static str,
    is_disabled: bool,
    fault: Option<Severity>,
    is_pinned: bool,
}

fn face(desk: Desk, id: &str) -> Option<Face> {
    desk.version.track();
    let fault = desk.faults.with(|faults| {
        let own = faults.iter().filter(|fault| fault.step.as_deref() == Some(id));
        own.map(|fault| fault.severity).min()
    });
    let is_told = desk.told.with(|told| told.iter().any(|fault| fault.step.as_deref() == Some(id)));
    let is_pinned = desk.pinned.with(|pinned| pinned.contains_key(id));
    desk.editor.with_untracked(|editor| {
        let step = editor.document().steps.get(id)?;
        let name = if step.label.is_empty() { id } else { &step.label };
        let sign = match step.known_kind().map(|kind| kind.group) {
            Some(Group::Trigger) => "▶",
            Some(Group::Transform) => "ƒ",
            Some(Group::Logic) => "◇",
            Some(Group::Action) => "↗",
            Some(Group::System) => "▤",
            None => "?",
        };
        Some(Face {
            name: cut(name),
            kind: cut(&step.kind),
            sign,
            is_disabled: step.disabled,
            fault: if is_told { Some(Severity::Error) } else { fault },
            is_pinned,
        })
    })
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(TEXT_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// The ports of a step, from its corner.
#[derive(Clone, PartialEq)]
struct Ports {
    height: f64,
    has_input: bool,
    outputs: Vec<(f64, PortKind, String)>,
}

#[component]
fn Step(id: String, steps: Steps) -> impl IntoView {
    let desk = Desk::here();
    let id = StoredValue::new(id);
    let seen = Memo::new(move |_| id.with_value(|id| steps.with(|steps| steps.get(id).cloned())));
    let is = move |what: fn(&StepView) -> bool| {
        move || seen.with(|seen| seen.as_ref().is_some_and(what))
    };
    let place = move || {
        let corner = seen.with(|seen| seen.as_ref().map(|seen| seen.step.rect.corner()));
        let corner = corner.unwrap_or_default();
        format!("translate({:.1} {:.1})", corner.x, corner.y)
    };
    let ports = Memo::new(move |_| {
        seen.with(|seen| {
            let step = &seen.as_ref()?.step;
            let outputs = step.outputs.iter();
            let outputs =
                outputs.map(|port| (port.at.y - step.rect.y, port.kind, port.name.clone()));
            Some(Ports {
                height: step.rect.height,
                has_input: step.has_input,
                outputs: outputs.collect(),
            })
        })
    });
    let face = Memo::new(move |_| id.with_value(|id| face(desk, id)));
    let height = move || ports.with(|ports| ports.as_ref().map_or(40.0, |ports| ports.height));
    let text = move |of: fn(&Face) -> String| {
        move || face.with(|face| face.as_ref().map(of).unwrap_or_default())
    };
    let drawn_ports = move || {
        let ports = ports.get();
        let several = ports.as_ref().is_some_and(|ports| ports.outputs.len() > 1);
        let input = ports.as_ref().filter(|ports| ports.has_input).map(|_| {
            view! { <circle class="port" cx="0" cy="20" r="5"></circle> }
        });
        let outputs = ports.into_iter().flat_map(|ports| ports.outputs).map(|(y, kind, name)| {
            let class = match kind {
                PortKind::Failure => "port port-failure",
                PortKind::Branch => "port port-branch",
                PortKind::Output | PortKind::Choice => "port",
            };
            let label = several
                .then(|| view! { <text class="port-name" x="170" y={y + 4.0}>{name}</text> });
            view! { <circle class=class cx="180" cy=y r="5"></circle> {label} }
        });
        view! { {input} {outputs.collect_view()} }
    };
    let mark = move || {
        let fault = face.with(|face| face.as_ref().and_then(|face| face.fault));
        fault.map(|fault| {
            let (class, sign) = match fault {
                Severity::Error => ("step-mark step-error", "!"),
                Severity::Warning => ("step-mark step-warning", "?"),
            };
            view! {
                <g class=class transform="translate(172 -4)">
                    <rect x="-8" y="-8" width="16" height="16"></rect>
                    <text y="4">{sign}</text>
                </g>
            }
        })
    };
    view! {
        <g
            class="step"
            class:step-selected=is(|step| step.is_selected)
            class:step-current=is(|step| step.is_current)
            class:step-faded=is(|step| step.is_faded)
            class:step-target=is(|step| step.is_target)
            class:step-off=move || face.with(|face| face.as_ref().is_some_and(|face| face.is_disabled))
            transform=place
        >
            <rect class="step-box" width="180" height=height></rect>
            <text class="step-sign" x="14" y="25">{text(|face| face.sign.to_owned())}</text>
            <text class="step-name" x="28" y="17">{text(|face| face.name.clone())}</text>
            <text class="step-kind" x="28" y="32">{text(|face| {
                let pin = if face.is_pinned { " 📌" } else { "" };
                format!("{}{pin}", face.kind)
            })}</text>
            {drawn_ports}
            {mark}
        </g>
    }
}

#[component]
fn Wire(key: String, links: Links) -> impl IntoView {
    let seen = Memo::new(move |_| links.with(|links| links.get(&key).cloned()));
    let is = move |what: fn(&LinkView) -> bool| {
        move || seen.with(|seen| seen.as_ref().is_some_and(what))
    };
    let path = move || seen.with(|seen| seen.as_ref().map(|link| link.curve.svg()));
    view! {
        <path
            class="wire"
            class:wire-selected=is(|link| link.is_selected)
            class:wire-broken=is(|link| link.is_broken)
            class:wire-failure=is(|link| matches!(link.kind, LinkKind::GoTo { .. }))
            class:wire-takes=is(|link| link.takes_step)
            d=path
        ></path>
    }
}

/// The wire that is drawn, and the rectangle that selects.
#[component]
fn Overlay(view: Memo<View>) -> impl IntoView {
    let pending = move || {
        view.with(|view| view.pending).map(|pending| {
            let class = match pending.fits {
                Some(true) => "wire wire-pending wire-fits",
                Some(false) => "wire wire-pending wire-misfit",
                None => "wire wire-pending",
            };
            view! { <path class=class d=pending.curve.svg()></path> }
        })
    };
    let marquee = move || {
        view.with(|view| view.marquee).map(|rect| {
            view! { <rect class="marquee" x=rect.x y=rect.y width=rect.width height=rect.height></rect> }
        })
    };
    view! { {pending} {marquee} }
}

/// The minimap.
#[component]
fn Map() -> impl IntoView {
    let desk = Desk::here();
    let map = Memo::new(move |_| {
        let faulty: Vec<String> = desk.faults.with(|faults| {
            let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
            errors.filter_map(|fault| fault.step.clone()).collect()
        });
        desk.editor.with(|editor| {
            Minimap::new(
                editor.scene(),
                editor.viewport(),
                MAP,
                |id| faulty.iter().any(|faulty| faulty == id),
                |id| editor.selection().has(id),
            )
        })
    });
    // While the pointer drags, the map that it began on counts: what is seen moves, and with it the
    // map's own scale.
    let held = StoredValue::new(None::<Minimap>);
    let take = move |event: SurfaceEvent| {
        let spot = match event {
            SurfaceEvent::Down(spot, _) => {
                held.set_value(Some(map.get_untracked()));
                spot
            }
            SurfaceEvent::Move(spot) if held.with_value(Option::is_some) => spot,
            SurfaceEvent::Up(_) | SurfaceEvent::Lost => {
                held.set_value(None);
                return true;
            }
            SurfaceEvent::Wheel(_, _, turned) => {
                let action = if turned > 0.0 { Action::ZoomOut } else { Action::ZoomIn };
                desk.run(action);
                return true;
            }
            SurfaceEvent::Key(key) => {
                let action = match key.key.as_str() {
                    "ArrowLeft" => Action::Pan(millrace_editor::Side::Left),
                    "ArrowRight" => Action::Pan(millrace_editor::Side::Right),
                    "ArrowUp" => Action::Pan(millrace_editor::Side::Up),
                    "ArrowDown" => Action::Pan(millrace_editor::Side::Down),
                    _ => return false,
                };
                desk.run(action);
                return true;
            }
            _ => return false,
        };
        let canvas = held.with_value(|map| map.as_ref().map(|map| map.to_canvas(point(spot))));
        if let Some(canvas) = canvas {
            desk.editor.update(|editor| editor.look_at(canvas));
        }
        true
    };
    let marks = move || {
        map.with(|map| {
            let marks = map.marks.iter().map(|mark| {
                let class = match (mark.is_abnormal, mark.is_selected) {
                    (true, _) => "map-step map-abnormal",
                    (false, true) => "map-step map-selected",
                    (false, false) => "map-step",
                };
                let rect = mark.rect;
                view! { <rect class=class x=rect.x y=rect.y width=rect.width height=rect.height></rect> }
            });
            marks.collect_view()
        })
    };
    let seen = move || {
        let rect = map.with(|map| map.seen);
        view! { <rect class="map-seen" x=rect.x y=rect.y width=rect.width height=rect.height></rect> }
    };
    view! {
        <Surface label=t(pipelines::MINIMAP) class="surface minimap" on_event=take>
            <svg class="canvas-drawing" aria-hidden="true">{marks}{seen}</svg>
        </Surface>
    }
}
