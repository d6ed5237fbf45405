//! Figures of the engine: what is deployed, how much it does, who uses the most CPU.
//!
//! **Invariants**: reading them costs the engine a lock for a moment, never a run.

use super::Engine;
use crate::plan::Plan;
use crate::stats::{EngineStats, PipelineStats};
use millrace_model::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A deployed pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct DeploymentInfo {
    /// Its number.
    pub number: u32,
    /// The number of its workspace.
    pub workspace: u16,
    /// Its name.
    pub name: Arc<str>,
    /// The revision that runs.
    pub revision: u32,
    /// Since when.
    pub since: Timestamp,
    /// Whether it needs the script engine.
    pub has_scripts: bool,
}

/// How much CPU a pipeline has used.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// The pipeline.
    pub pipeline: DeploymentInfo,
    /// CPU time within the last 15 minutes.
    pub cpu: Duration,
}

/// How much of its share of parked runs a pipeline has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedShare {
    /// The pipeline's name.
    pub pipeline: Arc<str>,
    /// In hundredths.
    pub percent: u64,
}

impl Engine {
    /// All deployed pipelines by number.
    #[must_use]
    pub fn deployments(&self) -> Vec<DeploymentInfo> {
        let all = self.core.deployments.all();
        all.iter().map(|deployment| info(&deployment.plan, deployment.at)).collect()
    }

    /// One of them.
    #[must_use]
    pub fn deployment(&self, number: u32) -> Option<DeploymentInfo> {
        let deployment = self.core.deployments.get(number)?;
        Some(info(&deployment.plan, deployment.at))
    }

    /// What a pipeline has done since the box started, or since it was deployed first after that.
    #[must_use]
    pub fn pipeline_stats(&self, number: u32) -> Option<PipelineStats> {
        let deployment = self.core.deployments.get(number)?;
        let mut stats = deployment.counters.read();
        stats.since = Some(deployment.counting);
        self.core.queue.fill(number, &mut stats);
        stats.is_quarantined = self.core.parts.scripts.is_quarantined(number);
        Some(stats)
    }

    /// When triggers of a pipeline that go by the clock start their next runs, by step.
    #[must_use]
    pub fn next_times(&self, number: u32) -> Vec<(Arc<str>, Timestamp)> {
        self.core.agenda.lock().of(number)
    }

    /// The engine as a whole.
    #[must_use]
    pub fn stats(&self) -> EngineStats {
        let core = &self.core;
        let (queue_bytes, parked, parked_bytes) = core.queue.sizes();
        let mut lanes = core.queue.lanes();
        for (lane, times) in lanes.iter_mut().zip(&core.totals.runs) {
            (lane.run_buckets, lane.run_total) = times.read();
        }
        let total = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EngineStats {
            pipelines: core.deployments.count(),
            lanes,
            queue_bytes,
            parked,
            parked_bytes,
            done: total(&core.totals.done),
            failed: total(&core.totals.failed),
            canceled: total(&core.totals.canceled),
            shed: total(&core.totals.shed),
            late: total(&core.totals.late),
            state_bytes: core.stage.states.bytes(),
            open: core.watch.lock().books.open_count(),
            full_waits: core.full_waits.load(Ordering::Relaxed),
        }
    }

    /// The pipeline that has used the most of its share of parked runs, in number or bytes; none if
    /// no run is parked.
    #[must_use]
    pub fn parked_most(&self) -> Option<ParkedShare> {
        let (number, percent) = self.core.queue.parked_most()?;
        let deployment = self.core.deployments.get(number);
        let name = deployment.map(|deployment| Arc::clone(&deployment.plan.name));
        Some(ParkedShare { pipeline: name.unwrap_or_else(|| "".into()), percent })
    }

    /// The pipelines that used the most CPU in the last 15 minutes, most first.
    #[must_use]
    pub fn top_cpu(&self, most: usize) -> Vec<Usage> {
        let core = &self.core;
        let alarms = core.alarms.lock();
        let mut usages: Vec<Usage> = core
            .deployments
            .all()
            .iter()
            .map(|deployment| {
                let cpu = deployment.counters.read().cpu;
                let cpu = alarms.recent_cpu(deployment.plan.number, cpu);
                Usage { pipeline: info(&deployment.plan, deployment.at), cpu }
            })
            .filter(|usage| !usage.cpu.is_zero())
            .collect();
        usages.sort_by_key(|usage| std::cmp::Reverse(usage.cpu));
        usages.truncate(most);
        usages
    }
}

fn info(plan: &Plan, since: Timestamp) -> DeploymentInfo {
    DeploymentInfo {
        number: plan.number,
        workspace: plan.workspace,
        name: Arc::clone(&plan.name),
        revision: plan.revision,
        since,
        has_scripts: plan.unit.is_some(),
    }
}
