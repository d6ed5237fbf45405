//! Subscriptions at external brokers: what deployed pipelines want, kept running.
//!
//! **Invariants**: a message is acknowledged to its broker only when the run that it asks for is
//! durable; the engine is asked for its triggers only when a deployment has changed; an issue of a
//! subscription that is not wanted any more is cleared.

use crate::wiring::state::Shared;
use millrace_actions as actions;
use millrace_actions::{Ending, Pool, Receiver, SourceKey, SourceSpec};
use millrace_catalog::{Pipelines, SecretKey, Secrets};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_engine::{AskFault, Asking, Engine, OutsideTrigger};
use millrace_flow::{Data, Document};
use millrace_model::WorkspaceNumber;
use millrace_supervisor::{Issue, Issues, Severity};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Looks between two visits to idle connections.
const POOL_EVERY: u32 = 5;

/// The running subscriptions.
pub(in crate::wiring) struct Sources {
    running: actions::Sources,
    pool: Arc<Pool>,
    engine: Engine,
    pipelines: Arc<Pipelines>,
    not_started: NotStarted,
    generation: Option<u64>,
    known: BTreeSet<SourceKey>,
    looks: u32,
}

impl Sources {
    /// Nothing is subscribed yet.
    pub(in crate::wiring) fn new(shared: &Arc<Shared>, pool: &Arc<Pool>) -> Self {
        let desk = Desk {
            engine: shared.engine.clone(),
            secrets: Arc::clone(&shared.secrets),
            key: Arc::clone(&shared.secret_key),
        };
        Self {
            running: actions::Sources::new(Arc::clone(pool), Arc::new(desk)),
            pool: Arc::clone(pool),
            engine: shared.engine.clone(),
            pipelines: Arc::clone(&shared.pipelines),
            not_started: NotStarted::new(Arc::clone(&shared.issues)),
            generation: None,
            known: BTreeSet::new(),
            looks: 0,
        }
    }

    /// Follows the deployments, and looks after connections now and then. On the runtime.
    pub(in crate::wiring) fn tick(&mut self) {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(POOL_EVERY) {
            self.pool.tick();
        }
        let generation = self.engine.generation();
        if self.generation == Some(generation) {
            return;
        }
        let (generation, triggers) = self.engine.outside_triggers();
        self.generation = Some(generation);
        let mut wanted = BTreeSet::new();
        let mut reasons = Vec::new();
        for trigger in triggers.iter().filter(|trigger| &*trigger.kind == "mqtt.subscribe") {
            let key = SourceKey {
                workspace: trigger.workspace,
                pipeline: trigger.pipeline,
                step: trigger.step.to_string(),
            };
            if let Err(why) = self.start(&key, trigger) {
                reasons.push((trigger.name.to_string(), key.step.clone(), why));
            }
            wanted.insert(key);
        }
        self.not_started.tell(&reasons);
        for gone in self.known.difference(&wanted) {
            self.running.stop(gone, Ending::Forget);
        }
        self.known = wanted;
    }

    fn start(&self, key: &SourceKey, trigger: &OutsideTrigger) -> Result<(), String> {
        let pipeline = self.pipelines.get(trigger.pipeline).ok_or("it is not stored")?;
        let revision = pipeline.revision(trigger.revision).ok_or("its revision is not held")?;
        let document = Document::parse(&revision.document).map_err(|fault| fault.to_string())?;
        let step = document.steps.get(&key.step).ok_or("the step is not in the document")?;
        let spec = SourceSpec::read(&trigger.name, &key.step, step)
            .map_err(|(field, what)| format!("{field} {what}"))?;
        self.running.start(key.clone(), spec).map_err(|fault| fault.to_string())
    }
}

/// Issues of subscriptions that could not be started.
struct NotStarted {
    issues: Arc<Issues>,
    raised: BTreeSet<String>,
}

impl NotStarted {
    fn new(issues: Arc<Issues>) -> Self {
        Self { issues, raised: BTreeSet::new() }
    }

    /// All that are wanted and cannot be started: pipeline, step, and why.
    fn tell(&mut self, reasons: &[(String, String, String)]) {
        let mut raised = BTreeSet::new();
        for (pipeline, step, why) in reasons {
            let key = format!("source-not-started:{pipeline}:{step}");
            self.issues.raise(Issue {
                key: key.clone(),
                severity: Severity::Warning,
                what: format!("{pipeline} does not subscribe at its broker: {why}."),
                effect: "Its messages start no runs.".to_owned(),
                remedy: "Mend the step and deploy the pipeline again, or undeploy it.".to_owned(),
            });
            raised.insert(key);
        }
        for mended in self.raised.difference(&raised) {
            self.issues.clear(mended);
        }
        self.raised = raised;
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        self.running.stop_all();
    }
}

/// Takes messages in.
struct Desk {
    engine: Engine,
    secrets: Arc<Secrets>,
    key: Arc<SecretKey>,
}

impl Receiver for Desk {
    fn receive(&self, source: &SourceKey, trigger: Data) -> BoxFuture<Result<(), StepFault>> {
        let asked = self.engine.ask(&Asking {
            pipeline: source.pipeline,
            trigger: Some(source.step.clone()),
            input: trigger,
            is_manual: false,
            // MQTT 3.1.1 has no place to carry them.
            hops: 0,
        });
        Box::pin(async move {
            let ticket = asked.map_err(|fault| match fault {
                // It would come again for ever.
                AskFault::TooLarge(_) | AskFault::Loop(_) => {
                    StepFault::lasting("limit", fault.to_string())
                }
                _ => StepFault::passing("refused", fault.to_string()),
            })?;
            match ticket.durable().await {
                true => Ok(()),
                false => Err(StepFault::passing("stopped", "the appliance stops")),
            }
        })
    }

    fn secret(&self, workspace: u16, name: &str) -> Option<Arc<str>> {
        self.secrets.reveal(WorkspaceNumber(workspace), name, &self.key).ok().flatten()
    }

    fn no_secret(&self, workspace: u16, name: &str) -> String {
        super::missing::why_none(&self.secrets, &self.key, workspace, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;
    use millrace_supervisor::TestClock;

    #[test]
    fn a_subscription_that_is_mended_or_not_wanted_any_more_has_no_issue() {
        let issues = Arc::new(Issues::new(Arc::new(TestClock::new(Timestamp(0)))));
        let mut told = NotStarted::new(Arc::clone(&issues));
        let reason = |step: &str| ("oven".to_owned(), step.to_owned(), "url is missing".to_owned());
        let keys = || -> Vec<_> { issues.list().into_iter().map(|issue| issue.key).collect() };
        told.tell(&[reason("a"), reason("b")]);
        assert_eq!(keys(), ["source-not-started:oven:a", "source-not-started:oven:b"]);
        assert!(issues.list()[0].what.contains("url is missing"));
        told.tell(&[reason("b")]);
        assert_eq!(keys(), ["source-not-started:oven:b"], "a was mended");
        told.tell(&[]);
        assert!(keys().is_empty(), "the pipeline was undeployed");
    }
}
