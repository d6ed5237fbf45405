//! Subscriptions at external brokers: what deployed pipelines want, kept running.
//!
//! **Invariants**: a message is acknowledged to its broker only when the run that it asks for is
//! durable; the engine is asked for its triggers only when a deployment has changed.

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
    issues: Arc<Issues>,
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
            issues: Arc::clone(&shared.issues),
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
        for trigger in triggers.iter().filter(|trigger| &*trigger.kind == "mqtt.subscribe") {
            let key = SourceKey {
                workspace: trigger.workspace,
                pipeline: trigger.pipeline,
                step: trigger.step.to_string(),
            };
            let issue = format!("source-not-started:{}:{}", trigger.name, trigger.step);
            match self.start(&key, trigger) {
                Ok(()) => {
                    self.issues.clear(&issue);
                }
                Err(why) => self.issues.raise(Issue {
                    key: issue,
                    severity: Severity::Warning,
                    what: format!("{} does not subscribe at its broker: {why}.", trigger.name),
                    effect: "Its messages start no runs.".to_owned(),
                    remedy: "Mend the step and deploy the pipeline again.".to_owned(),
                }),
            }
            wanted.insert(key);
        }
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
        });
        Box::pin(async move {
            let ticket = asked.map_err(|fault| match fault {
                // It would come again for ever.
                AskFault::TooLarge(_) => StepFault::lasting("limit", fault.to_string()),
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
