//! Plan against reality: the stored plan, the load beside it, and the issue when the plant outgrows
//! its plan.
//!
//! The plan lies in a small file of the data folder. A watcher looks at the load once a second and
//! takes rates over a minute, so that a burst is no growth.
//!
//! **Invariants**
//! - A plan that cannot be read is no reason not to start.
//! - An issue is raised after fifteen minutes above the plan without a break, and cleared as soon as a
//!   minute is within it.

mod calibrator;
mod live;
#[cfg(test)]
mod tests;
mod watch;

pub(super) use calibrator::Refused;
pub(super) use live::Load;
pub(super) use watch::PlanWatch;

use super::folder::keep;
use crate::cli::sizing::BOX_PROFILE;
use anyhow::Context as _;
use calibrator::Calibrator;
use live::Live;
use millrace_contract::v1;
use millrace_journal::{Disk as _, RealDisk};
use millrace_sizing::Plan;
use millrace_supervisor::{Clock, Issues};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The plan's file in the data folder.
const FILE: &str = "sizing-plan.json";

/// The stored plan and the load beside it.
pub(super) struct Sizing {
    data: PathBuf,
    clock: Arc<dyn Clock>,
    issues: Arc<Issues>,
    live: Mutex<Live>,
    calibrator: Calibrator,
}

impl Sizing {
    /// Reads the plan that was stored before.
    pub(super) fn open(data: &Path, clock: &Arc<dyn Clock>, issues: &Arc<Issues>) -> Self {
        let live = Live::new(restore(data));
        // What a killed calibration left; one that runs is left alone.
        let _running = crate::calibrate::sweep(data);
        Self {
            data: data.to_owned(),
            clock: Arc::clone(clock),
            issues: Arc::clone(issues),
            live: Mutex::new(live),
            calibrator: Calibrator::new(data),
        }
    }

    /// The stored plan.
    pub(super) fn plan(&self) -> Option<v1::StoredPlan> {
        self.live.lock().plan().cloned()
    }

    /// Keeps a plan in the place of the one before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn set(&self, plan: v1::StoredPlan, checked: Plan) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec(&plan).context("write the plan as JSON")?;
        keep(&self.data, FILE, &bytes)?;
        self.replace(Some((plan, checked)));
        Ok(())
    }

    /// Removes the plan; `false` when there is none.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub(super) fn clear(&self) -> anyhow::Result<bool> {
        if self.plan().is_none() {
            return Ok(false);
        }
        RealDisk.remove(&self.data.join(FILE)).context("remove the plan's file")?;
        self.replace(None);
        Ok(true)
    }

    fn replace(&self, plan: Option<(v1::StoredPlan, Plan)>) {
        let mut live = self.live.lock();
        for key in live.replace(plan) {
            self.issues.clear(&key);
        }
    }

    /// How the last calibration stands.
    pub(super) fn calibration(&self) -> v1::Calibration {
        self.calibrator.shown()
    }

    /// Starts one in a process of its own.
    ///
    /// # Errors
    /// While one runs, or when the process cannot be started.
    pub(super) fn calibrate(&self) -> Result<v1::Calibration, Refused> {
        self.calibrator.start()
    }

    /// Cancels the one that runs.
    ///
    /// # Errors
    /// When none runs.
    pub(super) fn cancel_calibration(&self) -> Result<v1::Calibration, Refused> {
        self.calibrator.cancel()
    }

    /// The profile that a calibration has kept here, if one has.
    ///
    /// # Errors
    /// When there is one and it cannot be read.
    pub(super) fn profile(&self) -> anyhow::Result<Option<serde_json::Value>> {
        match std::fs::read(self.data.join(BOX_PROFILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).context("read the profile")?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("read the profile"),
        }
    }

    /// The plan beside the load.
    pub(super) fn comparison(&self) -> Option<v1::PlanComparison> {
        self.live.lock().comparison(self.clock.monotonic())
    }
}

fn restore(data: &Path) -> Option<(v1::StoredPlan, Plan)> {
    let bytes = std::fs::read(data.join(FILE)).ok()?;
    let stored: v1::StoredPlan = match serde_json::from_slice(&bytes) {
        Ok(stored) => stored,
        Err(error) => {
            tracing::warn!("The stored sizing plan cannot be read back: {error}.");
            return None;
        }
    };
    match Plan::from_json(&stored.plan.to_string()) {
        Ok(plan) => Some((stored, plan)),
        Err(problems) => {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            tracing::warn!("The stored sizing plan has faults: {first}");
            None
        }
    }
}
