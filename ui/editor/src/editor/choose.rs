//! Drawing a wire by keys: arrows choose the port and the step, Enter connects.
//!
//! **Invariants**: only steps that fit are offered; the wire is added by Enter alone.

use super::Editor;
use crate::action::{Action, Side};
use crate::connect::{Anchor, Candidates};
use crate::effect::{Effect, Join, Place, Said};
use crate::gesture::{Choice, Gesture};
use crate::navigate;

impl Editor {
    /// Starts a wire from the current step.
    pub(super) fn choose(&mut self) -> Vec<Effect> {
        if self.is_read_only {
            return vec![Effect::Say(Said::ReadOnly)];
        }
        let step = self.selection.current().and_then(|id| self.scene.step(id));
        let Some(step) = step else {
            return vec![Effect::Say(Said::NothingTo(Action::Connect))];
        };
        let ports: Vec<String> = step.outputs.iter().map(|port| port.name.clone()).collect();
        let step = step.id.clone();
        let first = (0..ports.len()).find(|port| {
            !self.targets(&step, ports.get(*port).map_or("", String::as_str)).is_empty()
        });
        let Some(port) = first else {
            let port = ports.first().cloned().unwrap_or_default();
            return vec![Effect::Say(Said::NoPartner(port))];
        };
        self.offer(Choice { step, ports, port, targets: Vec::new(), target: 0 })
    }

    /// The steps that a port can be joined with, the nearest first.
    fn targets(&self, step: &str, port: &str) -> Vec<String> {
        let anchor = Anchor::Output { step: step.to_owned(), port: port.to_owned() };
        let candidates = Candidates::new(&self.document, anchor);
        let near = navigate::by_distance(&self.scene, step).into_iter();
        let fits = near.filter(|to| candidates.wire(&self.document, to, "").is_ok());
        fits.map(str::to_owned).collect()
    }

    /// Offers the steps of the chosen port.
    fn offer(&mut self, mut choice: Choice) -> Vec<Effect> {
        choice.targets = self.targets(&choice.step, choice.port());
        choice.target = 0;
        self.tell(choice)
    }

    fn tell(&mut self, choice: Choice) -> Vec<Effect> {
        let said = match choice.target() {
            None => Said::NoPartner(choice.port().to_owned()),
            Some(to) => Said::Connecting {
                from: self.name_of(&choice.step),
                port: choice.port().to_owned(),
                to: self.name_of(to),
                number: (choice.target + 1, choice.targets.len()),
            },
        };
        let rect = choice.target().and_then(|to| self.scene.step(to)).map(|step| step.rect);
        if let Some(rect) = rect {
            self.reveal(rect);
        }
        self.gesture = Gesture::Choose(choice);
        vec![Effect::Say(said)]
    }

    /// An action while a wire is drawn by keys. What has no meaning then does nothing.
    pub(super) fn run_choosing(&mut self, action: Action, mut choice: Choice) -> Vec<Effect> {
        let around = |at: usize, of: usize, is_forward: bool| match (at, is_forward) {
            _ if of == 0 => 0,
            (at, true) => (at + 1) % of,
            (0, false) => of - 1,
            (at, false) => at - 1,
        };
        match action {
            Action::Go(Side::Down) | Action::Next => {
                choice.target = around(choice.target, choice.targets.len(), true);
                self.tell(choice)
            }
            Action::Go(Side::Up) | Action::Previous => {
                choice.target = around(choice.target, choice.targets.len(), false);
                self.tell(choice)
            }
            Action::Go(Side::Right) => {
                choice.port = around(choice.port, choice.ports.len(), true);
                self.offer(choice)
            }
            Action::Go(Side::Left) => {
                choice.port = around(choice.port, choice.ports.len(), false);
                self.offer(choice)
            }
            Action::Edit | Action::Connect => match choice.target() {
                None => self.tell(choice),
                Some(to) => {
                    let (from, port) = (choice.step.clone(), choice.port().to_owned());
                    let wire = millrace_flow::document::Wire { from, port, to: to.to_owned() };
                    self.connect(&wire)
                }
            },
            Action::QuickAdd => {
                let (step, port) = (choice.step.clone(), choice.port().to_owned());
                let join = Join::Port(Anchor::Output { step, port });
                vec![Effect::AskKind(Place { at: None, join })]
            }
            Action::Cancel => vec![Effect::Say(Said::Canceled)],
            _ => {
                self.gesture = Gesture::Choose(choice);
                Vec::new()
            }
        }
    }
}
