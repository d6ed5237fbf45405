//! The API's questions about sizing.

use super::access::actor;
use super::{Answers, failed, unavailable};
use crate::wiring::sizing::Refused;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_contract::v1;
use millrace_model::Definition;
use millrace_sizing::{Plan, Problem};
use serde_json::Value;
use std::sync::Arc;

impl api::SizingBackend for Answers {
    fn plan(&self) -> Result<v1::StoredPlan, Fault> {
        self.0.sizing.plan().ok_or_else(no_plan)
    }

    fn set_plan(
        &self,
        plan: Value,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::StoredPlan, Fault>> {
        let checked = match Plan::from_json(&plan.to_string()) {
            Ok(checked) => checked,
            Err(problems) => return failed(faulty(&problems)),
        };
        let at = self.0.clock.now().to_rfc3339();
        let stored = v1::StoredPlan { plan, at, by: by.who.clone() };
        let noted = self.sizing_entry(&by, "sizing.set", &checked.name);
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            // Who did it first: a plan that nobody set is worse than an entry about none.
            shared.make_durable(&noted).await.map_err(|error| unavailable(&error))?;
            let answer = stored.clone();
            in_background(move || shared.sizing.set(stored, checked)).await?;
            Ok(answer)
        })
    }

    fn clear_plan(&self, by: api::Actor) -> api::BoxFuture<Result<(), Fault>> {
        if self.0.sizing.plan().is_none() {
            return failed(no_plan());
        }
        let noted = self.sizing_entry(&by, "sizing.clear", "");
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            shared.make_durable(&noted).await.map_err(|error| unavailable(&error))?;
            in_background(move || shared.sizing.clear().map(drop)).await
        })
    }

    fn comparison(&self) -> Result<v1::PlanComparison, Fault> {
        self.0.sizing.comparison().ok_or_else(no_plan)
    }

    fn profile(&self) -> Result<Value, Fault> {
        match self.0.sizing.profile() {
            Ok(Some(profile)) => Ok(profile),
            Ok(None) => {
                Err(Fault::NotFound("This box has measured no profile of its own yet.".to_owned()))
            }
            Err(error) => Err(Fault::Unavailable(format!("{error:#}"))),
        }
    }

    fn calibration(&self) -> v1::Calibration {
        self.0.sizing.calibration()
    }

    fn start_calibration(&self, by: &api::Actor) -> Result<v1::Calibration, Fault> {
        self.durable_blocking(&self.sizing_entry(by, "sizing.calibrate", ""))?;
        self.0.sizing.calibrate().map_err(refused)
    }

    fn cancel_calibration(&self, by: &api::Actor) -> Result<v1::Calibration, Fault> {
        self.durable_blocking(&self.sizing_entry(by, "sizing.cancel", ""))?;
        self.0.sizing.cancel_calibration().map_err(refused)
    }
}

fn refused(refused: Refused) -> Fault {
    match refused {
        Refused::Conflict(text) => Fault::Conflict(text.to_owned()),
        Refused::Failed(error) => Fault::Unavailable(format!("{error:#}")),
    }
}

impl Answers {
    fn sizing_entry(&self, by: &api::Actor, action: &str, subject: &str) -> [Definition; 1] {
        [self.0.access.audit(&actor(by), action, subject)]
    }
}

fn no_plan() -> Fault {
    Fault::NotFound("The box has no sizing plan.".to_owned())
}

/// All faults of a plan as one answer.
fn faulty(problems: &[Problem]) -> Fault {
    let field = problems.first().map_or("plan", |problem| &problem.at);
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Fault::Invalid { field: format!("plan.{field}"), message: all.join(" ") }
}

/// Work on files, away from the sockets' threads.
async fn in_background(
    work: impl FnOnce() -> anyhow::Result<()> + Send + 'static,
) -> Result<(), Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| Fault::Unavailable(format!("{error:#}"))),
        Err(_) => Err(Fault::Internal("writing the sizing plan ended".to_owned())),
    }
}
