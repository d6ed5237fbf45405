//! Actions: what each does to document, selection and viewport.
//!
//! **Invariants**: an action that cannot do anything says so; while a pointer drags, only canceling
//! counts.

use super::Editor;
use crate::action::{Action, Side};
use crate::arrange;
use crate::change;
use crate::effect::{Effect, Said, counted};
use crate::geometry::{Point, Rect};
use crate::gesture::Gesture;
use crate::history::Grain;
use crate::navigate;
use crate::reach::{Direction, reach};
use crate::snap::{self, Alignment, GRID};
use crate::viewport::ZOOM_STEP;
use millrace_flow::{Edit, Transaction};
use std::collections::{BTreeMap, BTreeSet};

/// How far a key moves the canvas, in pixels of the screen.
const PAN: f64 = 100.0;

impl Editor {
    /// Does an action.
    pub fn run(&mut self, action: Action) -> Vec<Effect> {
        match std::mem::take(&mut self.gesture) {
            Gesture::None => {}
            Gesture::Choose(choice) => return self.run_choosing(action, choice),
            going_on => {
                self.gesture = going_on;
                return if action == Action::Cancel { self.cancel() } else { Vec::new() };
            }
        }
        match action {
            Action::Undo | Action::Redo => self.undo_or_redo(action),
            Action::SelectAll => {
                self.selection.all(self.document.steps.keys().cloned());
                vec![self.selected()]
            }
            Action::SelectUpstream => self.select_reach(action, Direction::Upstream),
            Action::SelectDownstream => self.select_reach(action, Direction::Downstream),
            Action::Cancel if self.selection.is_empty() => Vec::new(),
            Action::Cancel => {
                self.selection.clear();
                vec![self.selected()]
            }
            Action::Go(side) => self.go(side),
            Action::Next => self.go_beside(true),
            Action::Previous => self.go_beside(false),
            Action::Edit => match self.selection.current() {
                Some(step) => vec![Effect::Edit(step.to_owned())],
                None => self.go_beside(true),
            },
            Action::ZoomIn => self.zoomed(|viewport| viewport.zoom(ZOOM_STEP)),
            Action::ZoomOut => self.zoomed(|viewport| viewport.zoom(1.0 / ZOOM_STEP)),
            Action::ResetZoom => self.zoomed(crate::viewport::Viewport::reset),
            Action::Fit => {
                let all = self.scene.bounds().unwrap_or_default();
                self.zoomed(|viewport| viewport.fit(all))
            }
            Action::Pan(side) => {
                self.viewport.pan(towards(side, -PAN));
                Vec::new()
            }
            Action::Copy => self.copy(),
            Action::Palette
            | Action::Search
            | Action::ShowKeys
            | Action::TestStep
            | Action::TestUpstream
            | Action::NextFault
            | Action::Save
            | Action::Deploy
            | Action::Freeze => vec![Effect::Do(action)],
            _ if self.is_read_only => vec![Effect::Say(Said::ReadOnly)],
            action => self.change(action),
        }
    }

    /// Actions that change the document.
    fn change(&mut self, action: Action) -> Vec<Effect> {
        let selected = self.selection.steps().clone();
        let needs_steps = matches!(
            action,
            Action::DeleteAndReconnect
                | Action::Cut
                | Action::Duplicate
                | Action::Move(_)
                | Action::ToggleDisabled
                | Action::Align(_)
        );
        if needs_steps && selected.is_empty() {
            return vec![Effect::Say(Said::NothingTo(action))];
        }
        match action {
            Action::Delete => self.delete(action, &selected),
            Action::DeleteAndReconnect => {
                let removed = change::remove_and_reconnect(&self.document, &selected);
                self.remove("delete and reconnect", &removed)
            }
            Action::Cut => {
                let mut effects = self.copy();
                effects.extend(self.delete(action, &selected));
                effects
            }
            Action::Paste => vec![Effect::WantClipboard],
            Action::Duplicate => self.duplicate(&selected),
            Action::Move(side) => self.nudge(side, &selected),
            Action::ToggleDisabled => self.toggle_disabled(&selected),
            Action::Align(how) => self.align(how, &selected),
            Action::Arrange => self.arrange(&selected),
            Action::Connect => self.choose(),
            Action::QuickAdd => self.ask_behind_current(),
            _ => Vec::new(),
        }
    }

    fn undo_or_redo(&mut self, action: Action) -> Vec<Effect> {
        if self.is_read_only {
            return vec![Effect::Say(Said::ReadOnly)];
        }
        let done = match action {
            Action::Undo => self.history.undo(&mut self.document),
            _ => self.history.redo(&mut self.document),
        };
        match done {
            Err(error) => vec![Effect::Say(Said::Failed(error.to_string()))],
            Ok(None) => vec![Effect::Say(Said::NothingTo(action))],
            Ok(Some(name)) => {
                let mut effects = self.changed();
                let said =
                    if action == Action::Undo { Said::Undone(name) } else { Said::Redone(name) };
                effects.push(Effect::Say(said));
                effects
            }
        }
    }

    fn select_reach(&mut self, action: Action, direction: Direction) -> Vec<Effect> {
        if self.selection.steps().is_empty() {
            return vec![Effect::Say(Said::NothingTo(action))];
        }
        let from = self.selection.steps().iter().cloned();
        let reached = reach(&self.document, from, direction);
        self.selection.all(reached);
        vec![self.selected()]
    }

    fn go(&mut self, side: Side) -> Vec<Effect> {
        let Some(from) = self.selection.current() else { return self.go_beside(true) };
        let to = navigate::nearest(&self.scene, from, side).map(|step| step.id.clone());
        self.go_to(to, Said::NothingThere(side))
    }

    fn go_beside(&mut self, is_forward: bool) -> Vec<Effect> {
        let current = self.selection.current();
        let to = navigate::beside(&self.scene, current, is_forward).map(|step| step.id.clone());
        self.go_to(to, Said::NothingTo(Action::Next))
    }

    fn go_to(&mut self, to: Option<String>, or_else: Said) -> Vec<Effect> {
        match to {
            None => vec![Effect::Say(or_else)],
            Some(id) => {
                self.jump_to(&id);
                vec![self.at(&id)]
            }
        }
    }

    fn zoomed(&mut self, zoom: impl FnOnce(&mut crate::viewport::Viewport)) -> Vec<Effect> {
        zoom(&mut self.viewport);
        // Between 10 and 400.
        let percent = (self.viewport.scale() * 100.0).round() as u32;
        vec![Effect::Say(Said::Zoomed(percent))]
    }

    fn delete(&mut self, action: Action, steps: &BTreeSet<String>) -> Vec<Effect> {
        let wires = self.selection.wires().clone();
        let removed = change::remove(&self.document, steps, &wires);
        if removed.is_empty() {
            return vec![Effect::Say(Said::NothingTo(action))];
        }
        let name = if action == Action::Cut { "cut" } else { "delete" };
        self.remove(name, &removed)
    }

    fn remove(&mut self, name: &str, removed: &Transaction) -> Vec<Effect> {
        let count = |is_it: fn(&Edit) -> bool| removed.edits.iter().filter(|e| is_it(e)).count();
        let steps = count(|edit| matches!(edit, Edit::RemoveStep { .. }));
        let wires = count(|edit| matches!(edit, Edit::RemoveWire(_)));
        let mut effects = self.apply(name, removed, None);
        effects.push(Effect::Say(Said::Removed { steps, wires }));
        effects
    }

    fn nudge(&mut self, side: Side, steps: &BTreeSet<String>) -> Vec<Effect> {
        let lead = self.selection.current().and_then(|id| self.scene.step(id));
        let Some(lead) = lead.map(|step| (step.id.clone(), step.rect.corner())) else {
            return Vec::new();
        };
        let way = snap::way(lead.1, towards(side, GRID), self.is_snapping);
        let moved = change::move_steps(&self.document, steps, way);
        let name = format!("move {}", counted(steps.len(), 0));
        let mut effects = self.apply(&name, &moved, Some(Grain::Nudge));
        if let Some(rect) = self.scene.step(&lead.0).map(|step| step.rect) {
            self.reveal(rect);
            let to = snap::place(rect.x, rect.y, false);
            effects.push(Effect::Say(Said::Moved { steps: steps.len(), to }));
        }
        effects
    }

    fn toggle_disabled(&mut self, steps: &BTreeSet<String>) -> Vec<Effect> {
        let is_off = |id: &String| self.document.steps.get(id).is_some_and(|step| step.disabled);
        let disabled = !steps.iter().all(is_off);
        let edits = steps.iter().filter(|id| is_off(id) != disabled);
        let edits = edits.map(|id| Edit::SetDisabled { step: id.clone(), disabled }).collect();
        let word = if disabled { "off" } else { "on" };
        let name = format!("switch {} {word}", counted(steps.len(), 0));
        let mut effects = self.apply(&name, &Transaction { edits }, None);
        effects.push(Effect::Say(Said::Done(name)));
        effects
    }

    fn align(&mut self, how: Alignment, steps: &BTreeSet<String>) -> Vec<Effect> {
        let boxes: Vec<(String, Rect)> =
            steps.iter().filter_map(|id| Some((id.clone(), self.scene.step(id)?.rect))).collect();
        let rects: Vec<Rect> = boxes.iter().map(|(_, rect)| *rect).collect();
        let ids = boxes.into_iter().map(|(id, _)| id);
        let places: BTreeMap<_, _> = ids.zip(snap::line_up(&rects, how)).collect();
        let name = Action::Align(how).spec().name.to_lowercase();
        let mut effects = self.apply(&name, &change::put_steps(&self.document, &places), None);
        effects.push(Effect::Say(Said::Done(name)));
        effects
    }

    fn arrange(&mut self, selected: &BTreeSet<String>) -> Vec<Effect> {
        // One step alone has nothing to be arranged with.
        let steps: BTreeSet<String> = if selected.len() > 1 {
            selected.clone()
        } else {
            self.document.steps.keys().cloned().collect()
        };
        let rects = steps.iter().filter_map(|id| self.scene.step(id)).map(|step| step.rect);
        let corner = Rect::around_all(rects).map(Rect::corner).unwrap_or_default();
        let [left, top] = snap::place(corner.x, corner.y, true);
        let places = arrange::arrange(&self.document, &steps).into_iter();
        let places = places
            .map(|(id, [x, y])| (id, [x.saturating_add(left), y.saturating_add(top)]))
            .collect();
        let name = format!("arrange {}", counted(steps.len(), 0));
        let mut effects = self.apply(&name, &change::put_steps(&self.document, &places), None);
        effects.push(Effect::Say(Said::Done(name)));
        effects
    }
}

fn towards(side: Side, by: f64) -> Point {
    match side {
        Side::Left => Point::new(-by, 0.0),
        Side::Right => Point::new(by, 0.0),
        Side::Up => Point::new(0.0, -by),
        Side::Down => Point::new(0.0, by),
    }
}
