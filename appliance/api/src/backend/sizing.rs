//! What the API asks about sizing: the stored plan, the load beside it, and a calibration.

use super::{Actor, BoxFuture};
use crate::backend::Fault;
use millrace_contract::v1;
use serde_json::Value;

/// Sizing, as the API sees it.
pub trait SizingBackend: Send + Sync {
    /// In memory: the stored plan; [`Fault::NotFound`] when there is none.
    fn plan(&self) -> Result<v1::StoredPlan, Fault>;

    /// Future: stores a plan; [`Fault::Invalid`] with a sentence for each fault.
    fn set_plan(&self, plan: Value, by: Actor) -> BoxFuture<Result<v1::StoredPlan, Fault>>;

    /// Future: removes the stored plan; [`Fault::NotFound`] when there is none.
    fn clear_plan(&self, by: Actor) -> BoxFuture<Result<(), Fault>>;

    /// In memory: the stored plan beside the load; [`Fault::NotFound`] when there is none.
    fn comparison(&self) -> Result<v1::PlanComparison, Fault>;

    /// Blocking: the profile that a calibration has measured here; [`Fault::NotFound`] when none has.
    fn profile(&self) -> Result<Value, Fault>;

    /// In memory: how the last calibration stands.
    fn calibration(&self) -> v1::Calibration;

    /// Blocking: starts one; [`Fault::Conflict`] while one runs.
    fn start_calibration(&self, by: &Actor) -> Result<v1::Calibration, Fault>;

    /// Blocking: cancels the one that runs; [`Fault::Conflict`] when none does.
    fn cancel_calibration(&self, by: &Actor) -> Result<v1::Calibration, Fault>;
}

/// Of a backend without sizing.
#[derive(Clone, Copy, Debug)]
pub struct NoSizing;

fn none() -> Fault {
    Fault::NotSupported("This box has no sizing.".to_owned())
}

impl SizingBackend for NoSizing {
    fn plan(&self) -> Result<v1::StoredPlan, Fault> {
        Err(none())
    }

    fn set_plan(&self, _: Value, _: Actor) -> BoxFuture<Result<v1::StoredPlan, Fault>> {
        Box::pin(std::future::ready(Err(none())))
    }

    fn clear_plan(&self, _: Actor) -> BoxFuture<Result<(), Fault>> {
        Box::pin(std::future::ready(Err(none())))
    }

    fn comparison(&self) -> Result<v1::PlanComparison, Fault> {
        Err(none())
    }

    fn profile(&self) -> Result<Value, Fault> {
        Err(none())
    }

    fn calibration(&self) -> v1::Calibration {
        let state = v1::CalibrationState::Idle;
        v1::Calibration { state, text: "None was started.".to_owned(), done: 0.0, left_s: 0.0 }
    }

    fn start_calibration(&self, _: &Actor) -> Result<v1::Calibration, Fault> {
        Err(none())
    }

    fn cancel_calibration(&self, _: &Actor) -> Result<v1::Calibration, Fault> {
        Err(none())
    }
}
