//! Deploying and undeploying.
//!
//! **Invariants**: a deployment that does not compile leaves everything as it was.

use super::{Core, Deployed, Engine};
use crate::compile::CompileFault;
use crate::deployment::Deployment;
use crate::plan::{Identity, Plan, Planner};
use crate::queue::Joining;
use crate::run::issue_key;
use crate::state::cells::States;
use crate::trigger::Cause;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Engine {
    /// Compiles a pipeline and swaps it in. Runs that wait or have begun finish on the plan under
    /// which they were triggered, those whose scripts compute within
    /// [`Config::revision_grace`](crate::Config): then they are interrupted, leave nothing, and run
    /// again on the new one, and with them what has not begun.
    ///
    /// # Errors
    /// What is wrong with it; what was deployed runs on.
    pub fn deploy(&self, deployed: &Deployed) -> Result<(), Vec<CompileFault>> {
        let core = &self.core;
        let plan = Arc::new(core.plan(deployed, &core.stage.states)?);
        let known = core.deployments.get(deployed.number);
        let now = core.stage.clock.now();
        let deployment = Arc::new(Deployment {
            counters: known.as_ref().map(|known| Arc::clone(&known.counters)).unwrap_or_default(),
            // A new revision of a pipeline goes on with what the old one has not done.
            since: known.as_ref().map_or(deployed.since, |known| known.since),
            at: now,
            counting: known.as_ref().map_or(now, |known| known.counting),
            plan: Arc::clone(&plan),
        });
        let old = core.deployments.put(&deployment)?;
        {
            let mut index = core.index.lock();
            if let Some(old) = &old {
                each_filter(&old.plan, |filter, target| {
                    index.remove(old.plan.workspace, filter, target);
                });
            }
            each_filter(&plan, |filter, target| index.add(plan.workspace, filter, target));
        }
        core.generation.fetch_add(1, Ordering::AcqRel);
        core.queue.join(&Joining { plan, counters: Arc::clone(&deployment.counters) });
        if let Some(old) = &old {
            old.plan.fate.replace(core.stage.clock.monotonic());
        }
        core.parts.scripts.release(deployed.number);
        core.agenda.lock().forget(deployed.number);
        if core.is_started.load(Ordering::Acquire) {
            core.plan_ahead(&deployment, true);
        }
        Ok(())
    }

    /// Takes a pipeline out: runs that have not begun, those that wait and those whose scripts
    /// compute are canceled; what is executed otherwise ends, or is canceled when it would wait. Its
    /// issues are cleared. Its lasting state stays. `false` if it was not deployed.
    pub fn undeploy(&self, number: u32) -> bool {
        let core = &self.core;
        let Some(old) = core.deployments.remove(number) else { return false };
        {
            let mut index = core.index.lock();
            each_filter(&old.plan, |filter, target| {
                index.remove(old.plan.workspace, filter, target);
            });
        }
        core.generation.fetch_add(1, Ordering::AcqRel);
        core.agenda.lock().forget(number);
        core.queue.leave(number, core.stage.clock.now());
        old.plan.fate.undeploy();
        for held in &core.held {
            held.lock().forget.push(number);
        }
        core.alarms.lock().forget(&core.stage.issues, number);
        // What it raised itself nobody would ever clear, and its scripts stop nothing any more.
        core.stage.issues.clear_all(&issue_key(&old.plan.name, ""));
        core.parts.scripts.release(number);
        core.clockwork.ring();
        true
    }

    /// Undeploys a pipeline and forgets its lasting state: it was removed.
    pub fn forget(&self, number: u32) {
        self.undeploy(number);
        self.core.watch.lock().forget(number);
        self.core.stage.states.forget(number);
    }
}

impl Core {
    /// Compiles a pipeline; its state is in `states`, so that a draft leaves nothing behind.
    pub(crate) fn plan(
        &self,
        deployed: &Deployed,
        states: &States,
    ) -> Result<Plan, Vec<CompileFault>> {
        let planner = Planner {
            registry: &self.parts.registry,
            host: &*self.parts.scripts,
            states,
            config: &self.stage.config,
        };
        let identity = Identity {
            number: deployed.number,
            workspace: deployed.workspace,
            revision: deployed.revision,
            name: deployed.name.clone(),
        };
        planner.plan(&identity, &deployed.document)
    }
}

fn each_filter(plan: &Plan, mut each: impl FnMut(&millrace_model::Filter, (u32, u16))) {
    for (number, trigger) in (0u16..).zip(&plan.triggers) {
        if let Cause::Value(value) = &trigger.cause {
            for filter in &value.filters {
                each(filter, (plan.number, number));
            }
        }
    }
}
