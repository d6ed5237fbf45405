//! The API's questions answered by the parts.

mod access;
mod history;
mod pipelines;
mod report;
mod sizing;
mod values;
mod views;

pub(crate) use pipelines::case_report;

use super::state::Shared;
use millrace_api::backend as api;
use millrace_api::{Backend, Fault, LiveSink, Principal, PrincipalKind};
use millrace_broker::LocalSubscription;
use millrace_catalog::Level;
use millrace_contract::v1;
use millrace_journal::AppendError;
use millrace_model::{
    ApiClient, Definition, Filter, Person, Tag, TagId, Timestamp, Workspace, WorkspaceNumber,
};
use millrace_supervisor::{IssueState, Measure};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

/// Live messages that wait for the task that carries them to a WebSocket's own queue, which is
/// the one that drops and tells: this one only bridges the time until the task runs.
const LIVE_QUEUE: usize = 20_000;
/// The historian's issue with which taking note means that the clock is right.
const CLOCK_IN_DOUBT: &str = "clock-in-doubt";

/// The appliance as the API sees it.
pub(super) struct Answers(pub(super) Arc<Shared>);

impl Answers {
    /// A change that is durable when the future is done.
    fn durable<T: Send + 'static>(
        &self,
        definitions: Vec<Definition>,
        result: T,
    ) -> api::BoxFuture<Result<T, Fault>> {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            match shared.make_durable(&definitions).await {
                Ok(_) => Ok(result),
                Err(error) => {
                    // Names that it had taken are free again.
                    shared.access.abandon(&definitions);
                    Err(unavailable(&error))
                }
            }
        })
    }

    fn durable_blocking(&self, definitions: &[Definition]) -> Result<(), Fault> {
        self.0.make_durable_blocking(definitions).map_err(|error| {
            self.0.access.abandon(definitions);
            unavailable(&error)
        })
    }
}

fn unavailable(error: &AppendError) -> Fault {
    Fault::Unavailable(format!("the change could not be made durable: {error}"))
}

fn failed<T: Send + 'static>(fault: Fault) -> api::BoxFuture<Result<T, Fault>> {
    Box::pin(std::future::ready(Err(fault)))
}

impl Backend for Answers {
    fn pipelines(&self) -> &dyn api::PipelineBackend {
        self
    }

    fn sizing(&self) -> &dyn api::SizingBackend {
        self
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    fn principal(&self, bearer: &str) -> Result<Principal, Fault> {
        self.principal_of(bearer)
    }

    fn client_credentials(
        &self,
        id: &str,
        secret: &str,
        from: IpAddr,
    ) -> Result<api::Token, Fault> {
        self.token_for(id, secret, from)
    }

    fn login(&self, name: &str, password: &str, from: IpAddr) -> Result<api::Session, Fault> {
        self.sign_in(name, password, from)
    }

    fn logout(&self, bearer: &str) {
        self.0.access.sign_out(bearer);
    }

    fn claim_open(&self) -> bool {
        self.0.access.is_unclaimed()
    }

    fn claim(
        &self,
        code: &str,
        person: api::NewPerson,
        from: IpAddr,
    ) -> Result<api::Session, Fault> {
        self.claim_box(code, &person, from)
    }

    fn people(&self) -> Vec<Person> {
        self.0.access.people()
    }

    fn create_person(&self, person: api::NewPerson, by: &api::Actor) -> Result<Person, Fault> {
        self.new_person(&person, by)
    }

    fn change_person(
        &self,
        name: &str,
        change: api::PersonChange,
        by: &api::Actor,
    ) -> Result<Person, Fault> {
        self.changed_person(name, change, by)
    }

    fn change_own_password(
        &self,
        bearer_name: (&str, &str),
        old_new: (&str, &str),
        by: &api::Actor,
    ) -> Result<(), Fault> {
        self.changed_own_password(bearer_name, old_new, by)
    }

    fn views(&self, person: &str) -> Vec<v1::TrendView> {
        self.views_of(person)
    }

    fn keep_view(
        &self,
        person: &str,
        view: v1::TrendView,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::TrendView, Fault>> {
        self.kept_view(person, view, &by)
    }

    fn remove_view(
        &self,
        person: &str,
        name: &str,
        by: api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        self.removed_view(person, name, &by)
    }

    fn clients(&self, after: Option<&str>, limit: usize) -> api::PageOf<ApiClient> {
        self.client_page(after, limit)
    }

    fn client(&self, id: &str) -> Option<ApiClient> {
        self.0.access.client(id)
    }

    fn create_clients(
        &self,
        new: api::NewClients,
        by: api::Actor,
    ) -> api::BoxFuture<Result<Vec<api::CreatedClient>, Fault>> {
        self.new_clients(&new, &by)
    }

    fn revoke_client(
        &self,
        id: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<ApiClient, Fault>> {
        self.revoke(&id, &by)
    }

    fn renew_client(
        &self,
        id: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<api::CreatedClient, Fault>> {
        self.renew(&id, &by)
    }

    fn change_rights(
        &self,
        id: String,
        rights: api::ClientRights,
        by: api::Actor,
    ) -> api::BoxFuture<Result<ApiClient, Fault>> {
        self.changed_rights(&id, rights, &by)
    }

    fn workspaces(&self) -> Vec<Workspace> {
        self.0.namespace.workspaces().iter().map(|workspace| Workspace::clone(workspace)).collect()
    }

    fn tags(&self, query: &api::TagQuery<'_>) -> api::PageOf<Tag> {
        self.tag_page(query)
    }

    fn levels(&self, query: &api::LevelQuery<'_>) -> api::PageOf<api::Level> {
        let names = &self.0.namespace;
        let (levels, more) = names.levels(query.workspace, query.branch, query.after, query.limit);
        let level = |level: Level| match level {
            Level::Tag(tag) => api::Level::Tag(Tag::clone(&tag)),
            Level::Branch { name, tags } => {
                api::Level::Branch { name, tags: u64::try_from(tags).unwrap_or(u64::MAX) }
            }
        };
        api::PageOf { items: levels.into_iter().map(level).collect(), more }
    }

    fn tag(&self, workspace: WorkspaceNumber, path: &str) -> Option<Tag> {
        self.0.namespace.find(workspace, path).map(|tag| Tag::clone(&tag))
    }

    fn create_tag(&self, new: api::NewTag, by: api::Actor) -> api::BoxFuture<Result<Tag, Fault>> {
        self.new_tag(&new, &by)
    }

    fn update_tag(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        change: api::TagChange,
        by: api::Actor,
    ) -> api::BoxFuture<Result<Tag, Fault>> {
        self.change_tag(workspace, &path, change, &by)
    }

    fn update_tags(
        &self,
        workspace: WorkspaceNumber,
        changes: Vec<(String, api::TagChange)>,
        by: api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        self.change_tags(workspace, changes, &by)
    }

    fn refusals(&self, workspace: WorkspaceNumber, path: &str) -> Vec<v1::RefusedValue> {
        self.refused_values(workspace, path)
    }

    fn publish(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        payload: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::TestVerdict, Fault>> {
        self.publish_value(workspace, path, payload, &by)
    }

    fn last(&self, tags: &[TagId]) -> Result<Vec<Option<api::Sample>>, Fault> {
        self.last_values(tags)
    }

    fn raw(&self, query: &api::RawQuery) -> Result<api::RawPage, Fault> {
        self.raw_page(query)
    }

    fn range(&self, query: &api::RangeQuery) -> Result<api::Buckets, Fault> {
        self.buckets(query)
    }

    fn ledger(&self) -> api::Ledger {
        self.ledger_rows()
    }

    fn issues(&self) -> Vec<IssueState> {
        self.0.issues.list()
    }

    fn acknowledge_issue(&self, key: &str, by: &api::Actor) -> Result<(), Fault> {
        if self.0.issues.acknowledge(key, &by.who) {
            if key == CLOCK_IN_DOUBT {
                let historian = Arc::clone(&self.0.historian);
                // It may wait for a seal that is under way; nobody waits for it.
                drop(tokio::task::spawn_blocking(move || historian.confirm_clock()));
            }
            Ok(())
        } else {
            Err(Fault::NotFound(format!("no issue '{key}' is open")))
        }
    }

    fn audit(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<api::PageOf<api::AuditLine>, Fault> {
        self.audit_page(before, limit)
    }

    fn health(&self) -> api::Health {
        self.health_report()
    }

    fn overview(&self) -> api::Overview {
        self.overview_report()
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn config_effective(&self) -> Vec<api::ConfigEntry> {
        self.settings()
    }

    fn system(&self) -> api::System {
        self.system_report()
    }

    fn metrics_text(&self) -> String {
        self.0.metrics.render()
    }

    fn measures(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Measure> {
        self.0.metrics.read().into_iter().filter(|measure| wanted(measure.name)).collect()
    }

    fn live(
        &self,
        _principal: &Principal,
        workspace: WorkspaceNumber,
        filters: &[Filter],
        sink: Arc<dyn LiveSink>,
    ) -> Result<api::LiveGuard, Fault> {
        let workspace = self
            .0
            .namespace
            .workspace_by_number(workspace)
            .ok_or_else(|| Fault::NotFound("there is no such workspace".to_owned()))?;
        let root = &self.0.loaded.config.broker.root;
        let whole: Result<Vec<Filter>, _> = filters
            .iter()
            .map(|filter| Filter::new(&format!("{root}/{}/{filter}", workspace.name)))
            .collect();
        let whole = whole.map_err(|error| Fault::Invalid {
            field: "filters".to_owned(),
            message: error.to_string(),
        })?;
        let subscription = self.0.fanout.subscribe_local(whole, LIVE_QUEUE);
        let task = millrace_supervisor::spawn::task("live-feed", feed(subscription, sink));
        Ok(Box::new(Feed(task)))
    }
}

/// Carries live messages from the fan-out to one WebSocket's queue.
async fn feed(mut subscription: LocalSubscription, sink: Arc<dyn LiveSink>) -> Infallible {
    loop {
        let (topic, payload) = subscription.recv().await;
        sink.offer(&topic, &payload);
    }
}

struct Feed(tokio::task::JoinHandle<Infallible>);

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Answers {
    fn principal_of(&self, bearer: &str) -> Result<Principal, Fault> {
        let principal =
            self.0.access.verify_bearer(bearer).map_err(|error| access::fault(&error))?;
        let name = principal.who();
        let kind = match principal {
            millrace_access::Principal::Local => PrincipalKind::Local,
            millrace_access::Principal::Person { role, .. } => PrincipalKind::Person(role),
            millrace_access::Principal::Client(grant) => {
                let client = self.0.access.client_by_number(grant.number);
                PrincipalKind::Client(Arc::new(client.ok_or(Fault::Unauthorized)?))
            }
        };
        Ok(Principal { name, kind })
    }
}
