//! What is deployed: plans by number and by name, webhooks by path.
//!
//! **Invariants**: a deployment is swapped in whole, after its plan was built; a name and a webhook
//! path belong to one pipeline of a workspace.

use crate::compile::CompileFault;
use crate::plan::Plan;
use crate::run::Directory;
use crate::stats::PipelineCounters;
use crate::trigger::{Cause, HttpCause};
use millrace_flow::Document;
use millrace_model::Timestamp;
use parking_lot::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A pipeline to be deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// Its number.
    pub number: u32,
    /// The number of its workspace.
    pub workspace: u16,
    /// Its name.
    pub name: String,
    /// The revision.
    pub revision: u32,
    /// Seq of the record that deployed it; values stored up to there start no run. 0 if it is not
    /// known: at a start that is the last known seq of the journal's cursor.
    pub since: u64,
    /// The document.
    pub document: Arc<Document>,
}

/// A deployed pipeline.
pub(crate) struct Deployment {
    pub(crate) plan: Arc<Plan>,
    pub(crate) counters: Arc<PipelineCounters>,
    pub(crate) since: u64,
    pub(crate) at: Timestamp,
    /// Since when its counters count.
    pub(crate) counting: Timestamp,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Deployments {
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    by_number: BTreeMap<u32, Arc<Deployment>>,
    by_name: HashMap<(u16, Arc<str>), u32>,
    hooks: HashMap<(u16, String), (u32, u16)>,
}

impl Deployments {
    pub(crate) fn get(&self, number: u32) -> Option<Arc<Deployment>> {
        self.inner.read().by_number.get(&number).map(Arc::clone)
    }

    pub(crate) fn by_name(&self, workspace: u16, name: &str) -> Option<Arc<Deployment>> {
        let inner = self.inner.read();
        let number = inner.by_name.get(&(workspace, Arc::from(name)))?;
        inner.by_number.get(number).map(Arc::clone)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Deployment>> {
        self.inner.read().by_number.values().map(Arc::clone).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.inner.read().by_number.len()
    }

    /// The pipeline and the trigger of a webhook.
    pub(crate) fn hook(&self, workspace: u16, path: &str) -> Option<(Arc<Deployment>, u16)> {
        let inner = self.inner.read();
        let (number, trigger) = inner.hooks.get(&(workspace, path.to_owned()))?;
        Some((Arc::clone(inner.by_number.get(number)?), *trigger))
    }

    /// Names and webhook paths of a plan that another pipeline has.
    pub(crate) fn conflicts(&self, plan: &Plan) -> Vec<CompileFault> {
        self.inner.read().conflicts(plan)
    }

    /// Swaps a deployment in; gives the one that was there.
    ///
    /// # Errors
    /// A name or path that another pipeline has.
    pub(crate) fn put(
        &self,
        deployment: &Arc<Deployment>,
    ) -> Result<Option<Arc<Deployment>>, Vec<CompileFault>> {
        let plan = &deployment.plan;
        let mut inner = self.inner.write();
        let faults = inner.conflicts(plan);
        if !faults.is_empty() {
            return Err(faults);
        }
        let old = inner.remove(plan.number);
        inner.by_name.insert((plan.workspace, Arc::clone(&plan.name)), plan.number);
        for (trigger, _, hook) in hooks(plan) {
            inner.hooks.insert((plan.workspace, hook.path.clone()), (plan.number, trigger));
        }
        inner.by_number.insert(plan.number, Arc::clone(deployment));
        Ok(old)
    }

    pub(crate) fn remove(&self, number: u32) -> Option<Arc<Deployment>> {
        self.inner.write().remove(number)
    }
}

impl Inner {
    fn conflicts(&self, plan: &Plan) -> Vec<CompileFault> {
        let mut faults = Vec::new();
        let name = (plan.workspace, Arc::clone(&plan.name));
        if self.by_name.get(&name).is_some_and(|number| *number != plan.number) {
            let message = format!("the name `{}` belongs to another pipeline", plan.name);
            faults.push(CompileFault { step: String::new(), field: None, message });
        }
        for (_, id, hook) in hooks(plan) {
            let place = self.hooks.get(&(plan.workspace, hook.path.clone()));
            if place.is_some_and(|(number, _)| *number != plan.number) {
                let message = format!("the path `{}` belongs to another pipeline", hook.path);
                let field = Some("path".to_owned());
                faults.push(CompileFault { step: id.to_owned(), field, message });
            }
        }
        faults
    }

    fn remove(&mut self, number: u32) -> Option<Arc<Deployment>> {
        let old = self.by_number.remove(&number)?;
        self.by_name.retain(|_, known| *known != number);
        self.hooks.retain(|_, (known, _)| *known != number);
        Some(old)
    }
}

fn hooks(plan: &Plan) -> impl Iterator<Item = (u16, &str, &HttpCause)> {
    (0u16..).zip(&plan.triggers).filter_map(|(number, trigger)| match &trigger.cause {
        Cause::Http(hook) => Some((number, &*trigger.id, hook)),
        _ => None,
    })
}

impl Directory for Deployments {
    fn find(&self, workspace: u16, name: &str) -> Option<Arc<Plan>> {
        self.by_name(workspace, name).map(|deployment| Arc::clone(&deployment.plan))
    }
}
