//! Runs that somebody asks for: by hand, again, by webhook; and the variables of a workspace.
//!
//! **Invariants**: a run is told by its id only when its request is durable.

use super::super::access::actor;
use super::{Answers, failed, runs};
use crate::wiring::state::Shared;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::{Hook, HookAnswer, HookCall, InWorkspace, PipelinePlace, RunId};
use millrace_contract::v1;
use millrace_engine::{AskFault, Asking, RunEnd, Ticket};
use millrace_flow::{Data, Map};
use millrace_model::WorkspaceNumber;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// How long an ended run may take to appear in the history.
const SETTLE: Duration = Duration::from_secs(3);

impl Answers {
    pub(super) fn start_by_hand(
        &self,
        place: &PipelinePlace,
        run: &api::ManualRun,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::StartedRun, Fault>> {
        let pipeline = match self.known(place) {
            Ok(pipeline) => pipeline,
            Err(fault) => return failed(fault),
        };
        let input = match &run.input {
            Some(value @ Value::Object(_)) => Data::from(value),
            None => Data::Map(Arc::default()),
            Some(_) => {
                let message = "the input is an object".to_owned();
                return failed(Fault::Invalid { field: "input".to_owned(), message });
            }
        };
        let asking = Asking {
            pipeline: pipeline.number(),
            trigger: run.trigger.clone(),
            input: signed(&input, &by.who),
            is_manual: true,
            hops: 0,
        };
        self.started(&asking, run.wait)
    }

    pub(super) fn start_again(
        &self,
        place: &PipelinePlace,
        id: RunId,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::StartedRun, Fault>> {
        let detail = match self.run_detail(place, id) {
            Ok(detail) => detail,
            Err(fault) => return failed(fault),
        };
        let whole = detail.input.as_ref().map(v1::Item::text).filter(|(_, is_whole)| *is_whole);
        let input = whole.and_then(|(text, _)| Data::from_json_text(text).ok());
        let Some(input) = input else {
            let text = "the run's input is not kept, or not whole: it needs the history detail \
                        standard or full";
            return failed(Fault::Conflict(text.to_owned()));
        };
        let asking = Asking {
            pipeline: id.pipeline,
            trigger: Some(detail.run.trigger),
            input: signed(&input, &by.who),
            is_manual: true,
            hops: 0,
        };
        self.started(&asking, None)
    }

    fn started(
        &self,
        asking: &Asking,
        wait: Option<Duration>,
    ) -> api::BoxFuture<Result<v1::StartedRun, Fault>> {
        let ticket = match self.0.engine.ask(asking) {
            Ok(ticket) => ticket,
            Err(fault) => return failed(ask_fault(&fault)),
        };
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            durable(&ticket).await?;
            let id = api_id(&ticket);
            let ended = match wait {
                None => None,
                Some(wait) => match tokio::time::timeout(wait, ticket.ended()).await {
                    Ok(end) => match (kept(shared, id).await, end) {
                        (None, RunEnd::NotRun(why)) => {
                            let text = format!("the run {id} did not run: {why}");
                            return Err(Fault::Conflict(text));
                        }
                        (kept, _) => kept,
                    },
                    Err(_) => None,
                },
            };
            Ok(v1::StartedRun { id: id.to_string(), ended })
        })
    }

    pub(super) fn find_hook(&self, workspace: WorkspaceNumber, path: &str) -> Option<Hook> {
        let hook = self.0.engine.hook(workspace.0, path)?;
        let secret = self.0.secrets.reveal(workspace, &hook.secret, &self.0.secret_key);
        Some(Hook {
            pipeline: hook.pipeline,
            step: hook.step,
            methods: hook.methods,
            secret: secret.ok().flatten(),
            secret_header: hook.secret_header,
            wait: hook.wait,
            body_bytes_max: hook.body_bytes_max,
        })
    }

    pub(super) fn start_by_hook(
        &self,
        hook: &Hook,
        call: &HookCall,
    ) -> api::BoxFuture<Result<HookAnswer, Fault>> {
        let asking = Asking {
            pipeline: hook.pipeline,
            trigger: Some(hook.step.clone()),
            input: datum(call),
            is_manual: false,
            hops: hops(call),
        };
        let ticket = match self.0.engine.ask(&asking) {
            Ok(ticket) => ticket,
            Err(fault) => return failed(ask_fault(&fault)),
        };
        let wait = hook.wait;
        Box::pin(async move {
            durable(&ticket).await?;
            let id = api_id(&ticket);
            let Some(wait) = wait else { return Ok(HookAnswer::Started(id)) };
            Ok(match tokio::time::timeout(wait, ticket.ended()).await {
                Err(_) => HookAnswer::StillRunning(id),
                Ok(RunEnd::Done(result)) => {
                    let is_there = !matches!(result, Data::Missing);
                    HookAnswer::Result(id, is_there.then(|| result.to_json_text()))
                }
                Ok(RunEnd::Failed(fault)) => HookAnswer::Failed(id, fault.message),
                Ok(RunEnd::NotRun(why)) => HookAnswer::Failed(id, why.to_owned()),
                Ok(RunEnd::Stopped) => HookAnswer::StillRunning(id),
            })
        })
    }

    pub(super) fn variable_page(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> api::PageOf<v1::Variable> {
        let all = self.0.engine.variables(workspace.number.0);
        let behind = |name: &str| after.is_none_or(|after| name > after);
        let mut rest = all.iter().filter(|(name, _)| behind(name));
        let items = rest.by_ref().take(limit).filter_map(|(name, data)| variable(name, data));
        let items = items.collect();
        api::PageOf { items, more: rest.next().is_some() }
    }

    pub(super) fn one_variable(
        &self,
        workspace: &InWorkspace,
        name: &str,
    ) -> Result<v1::Variable, Fault> {
        let all = self.0.engine.variables(workspace.number.0);
        let found = all.iter().find(|(known, _)| &**known == name);
        found
            .and_then(|(name, data)| variable(name, data))
            .ok_or_else(|| Fault::NotFound(format!("there is no variable '{name}'")))
    }

    pub(super) fn keep_variable(
        &self,
        workspace: &InWorkspace,
        name: &str,
        value: Option<&Value>,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        let data = value.map_or(Data::Missing, Data::from);
        if let Err(fault) = self.0.engine.set_variable(workspace.number.0, name, &data) {
            return failed(ask_fault(&fault));
        }
        let action = if value.is_some() { "variable.set" } else { "variable.remove" };
        let audit = self.0.access.audit(&actor(by), action, &format!("{}/{name}", workspace.name));
        // Durable behind the variable's own record, so that both are when this is.
        self.durable(vec![audit], ())
    }
}

async fn durable(ticket: &Ticket) -> Result<(), Fault> {
    match ticket.durable().await {
        true => Ok(()),
        false => Err(Fault::Unavailable("the appliance stops".to_owned())),
    }
}

/// The run with its steps, once the history has it.
async fn kept(shared: Arc<Shared>, id: RunId) -> Option<v1::RunDetail> {
    let read = tokio::task::spawn_blocking(move || {
        // One that could not be written in time is told without its steps later.
        let _is_written = shared.run_history.settle(SETTLE);
        shared.run_history.find(id.pipeline, id.seq)
    });
    let kept = read.await.ok()?.ok()??;
    Some(runs::detail(&kept.run))
}

fn api_id(ticket: &Ticket) -> RunId {
    RunId { pipeline: ticket.id.pipeline, seq: ticket.id.seq }
}

/// The input with who asked for it.
fn signed(input: &Data, who: &str) -> Data {
    let mut map = input.as_map().cloned().unwrap_or_default();
    map.set("by", Data::text(who));
    Data::Map(Arc::new(map))
}

/// Through how many pipelines a call has come, as a box's own `http.request` says. Who lies about
/// it knows the trigger's secret, and gains nothing.
fn hops(call: &HookCall) -> u8 {
    let header = call.headers.iter().find(|(name, _)| name == millrace_actions::HOPS_HEADER);
    header.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

/// `{ method, path, query, headers, body, json }`.
fn datum(call: &HookCall) -> Data {
    let pairs = |pairs: &[(String, String)]| {
        let mut map = Map::new();
        for (name, value) in pairs {
            map.set(name.as_str(), Data::text(value));
        }
        Data::Map(Arc::new(map))
    };
    let body = String::from_utf8_lossy(&call.body);
    let json = Data::from_json_bytes(&call.body).unwrap_or_default();
    let mut map = Map::with_capacity(6);
    map.set("method", Data::text(&call.method));
    map.set("path", Data::text(&call.path));
    map.set("query", pairs(&call.query));
    map.set("headers", pairs(&call.headers));
    map.set("body", Data::text(&body));
    map.set("json", json);
    Data::Map(Arc::new(map))
}

fn variable(name: &str, data: &Data) -> Option<v1::Variable> {
    let value = RawValue::from_string(data.to_json_text()).ok()?;
    Some(v1::Variable { name: name.to_owned(), value })
}

fn ask_fault(fault: &AskFault) -> Fault {
    let text = fault.to_string();
    match fault {
        AskFault::NotDeployed | AskFault::Loop(_) => Fault::Conflict(text),
        AskFault::NoTrigger(_) | AskFault::Unclear(_) => {
            Fault::Invalid { field: "trigger".to_owned(), message: text }
        }
        AskFault::TooLarge(_) => Fault::Invalid { field: "input".to_owned(), message: text },
        AskFault::Busy | AskFault::QueueFull | AskFault::Records(_) => Fault::Unavailable(text),
    }
}
