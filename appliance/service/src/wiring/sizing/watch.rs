//! The watcher that looks at the load and raises what the plant has outgrown.

use super::{Load, Sizing};
use millrace_supervisor::watch::Watch;
use millrace_supervisor::{Issue, Severity};
use std::sync::Arc;

/// How the load is read.
pub(in crate::wiring) type Reader = Box<dyn Fn() -> Option<Load> + Send>;

/// Watches the load against the plan.
pub(in crate::wiring) struct PlanWatch {
    sizing: Arc<Sizing>,
    load: Reader,
}

impl PlanWatch {
    pub(in crate::wiring) fn new(sizing: Arc<Sizing>, load: Reader) -> Self {
        Self { sizing, load }
    }
}

impl Watch for PlanWatch {
    fn tick(&mut self) {
        let Some(load) = (self.load)() else { return };
        let sizing = &self.sizing;
        let at = sizing.clock.monotonic();
        let all = sizing.live.lock().look(at, load);
        for found in all {
            if found.exceeded {
                sizing.issues.raise(Issue {
                    key: found.key,
                    severity: Severity::Warning,
                    what: format!(
                        "The plant has outgrown its plan: planned {} {}, now {}.",
                        grouped(found.planned),
                        found.what,
                        grouped(found.now)
                    ),
                    effect:
                        "The machine and the limits were chosen for less; there may be no room \
                             left."
                            .to_owned(),
                    remedy:
                        "Plan again with what there is now (`millrace sizing`), store the plan \
                             (`millrace sizing set`), and follow what it says about machine and \
                             limits."
                            .to_owned(),
                });
            } else if found.within {
                sizing.issues.clear(&found.key);
            }
        }
    }
}

/// `13400.4` as `13,400`.
fn grouped(value: f64) -> String {
    let whole = format!("{value:.0}");
    let mut out = String::new();
    for (place, c) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
