//! What the API needs of the rest of the appliance, as one object-safe trait.
//!
//! The service implements it with the parts that it wires. Methods are of three kinds, told in
//! their first line:
//! **in memory** - called on the async pool, must return within microseconds;
//! **blocking** - called on a blocking thread (disk, SQLite, argon2, waiting for the journal);
//! **future** - a change that is durable once the future is done. Dropping the future (the
//! asker went away) must not leave half a change; the change itself may still happen.
//!
//! **Invariants**: the API has checked the caller's role and the shape of every argument before
//! it calls; the implementation writes the audit entry of every change under its [`Actor`].

mod change;
mod fault;
mod pipelines;
mod principal;
mod query;
mod report;
mod sizing;
mod system;

pub use change::{
    ClientRights, CreatedClient, NewClients, NewPerson, NewTag, PersonChange, TagChange,
};
pub use fault::Fault;
pub use pipelines::{
    DocumentText, Hook, HookAnswer, HookCall, InWorkspace, ManualRun, NewDocument, NoPipelines,
    OnProgress, PipelineBackend, PipelinePlace, Rehearsal, RehearsalProgress, RunId, RunPage,
    RunQuery, StepInput, StepTrial, Trial, Which,
};
pub use principal::{Actor, Principal, PrincipalKind, Session, Token};
pub use query::{
    Bucket, Buckets, Level, LevelQuery, PageOf, RangeQuery, RawPage, RawQuery, Sample,
    SamplePosition, TagQuery,
};
pub use report::{
    AuditLine, ConfigEntry, ConfigSource, Health, HealthPart, Ledger, LedgerRow, Overview,
};
pub use sizing::{NoSizing, SizingBackend};
pub use system::{BoundListener, LimitUnit, LimitUse, ServedCertificate, System};

use bytes::Bytes;
use millrace_contract::v1;
use millrace_model::{
    ApiClient, Filter, Person, Tag, TagId, Timestamp, Workspace, WorkspaceNumber,
};
use millrace_supervisor::Measure;
use millrace_supervisor::issues::IssueState;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

/// A future that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The appliance as the API sees it.
pub trait Backend: Send + Sync + 'static {
    /// In memory: the box's clock.
    fn now(&self) -> Timestamp;

    /// In memory: who the bearer token stands for; [`Fault::Unauthorized`] when it is unknown,
    /// expired or revoked. Called for every request, and every few seconds per live connection.
    fn principal(&self, bearer: &str) -> Result<Principal, Fault>;

    /// In memory: OAuth 2 client credentials (the secret's hash is a fast one).
    /// [`Fault::Unauthorized`] for any wrong pair, [`Fault::RateLimited`] after too many.
    fn client_credentials(&self, id: &str, secret: &str, from: IpAddr) -> Result<Token, Fault>;

    /// Blocking: a person signs in. [`Fault::Unauthorized`] for any wrong pair, in the same time
    /// whether the name exists or not; [`Fault::RateLimited`] after too many.
    fn login(&self, name: &str, password: &str, from: IpAddr) -> Result<Session, Fault>;

    /// In memory: ends the session of this token; of an unknown one too, silently.
    fn logout(&self, bearer: &str);

    /// In memory: whether a claim code is valid now.
    fn claim_open(&self) -> bool;

    /// Blocking: creates the first admin, durably. [`Fault::Unauthorized`] for a wrong, used or
    /// expired code alike.
    fn claim(&self, code: &str, person: NewPerson, from: IpAddr) -> Result<Session, Fault>;

    /// In memory: all people, by name.
    fn people(&self) -> Vec<Person>;

    /// Blocking: creates a person, durably.
    fn create_person(&self, person: NewPerson, by: &Actor) -> Result<Person, Fault>;

    /// Blocking: changes a person, durably, and ends the person's sessions; [`Fault::NotFound`]
    /// for an unknown name, [`Fault::Conflict`] when no admin would be left.
    fn change_person(&self, name: &str, change: PersonChange, by: &Actor) -> Result<Person, Fault>;

    /// Blocking: a new password for the person (name) of this session (bearer), who knows the old
    /// one; the other sessions end. [`Fault::Invalid`] for a wrong old one.
    fn change_own_password(
        &self,
        bearer_name: (&str, &str),
        old_new: (&str, &str),
        by: &Actor,
    ) -> Result<(), Fault>;

    /// In memory: the views that a person keeps, by name.
    fn views(&self, person: &str) -> Vec<v1::TrendView>;

    /// Future: keeps a view for a person, in the place of one of the same name;
    /// [`Fault::Conflict`] when the limit of [`crate::limits`] is reached.
    fn keep_view(
        &self,
        person: &str,
        view: v1::TrendView,
        by: Actor,
    ) -> BoxFuture<Result<v1::TrendView, Fault>>;

    /// Future: [`Fault::NotFound`] when the person has none of this name.
    fn remove_view(&self, person: &str, name: &str, by: Actor) -> BoxFuture<Result<(), Fault>>;

    /// In memory: the clients with ids after `after`, in the order of ids, at most `limit`.
    fn clients(&self, after: Option<&str>, limit: usize) -> PageOf<ApiClient>;

    /// In memory: one client.
    fn client(&self, id: &str) -> Option<ApiClient>;

    /// Future: creates clients, all or none; their secrets are in the result and nowhere else.
    fn create_clients(
        &self,
        new: NewClients,
        by: Actor,
    ) -> BoxFuture<Result<Vec<CreatedClient>, Fault>>;

    /// Future: revokes a client: cuts it off, refuses its tokens at once. Revoking again is
    /// no fault; [`Fault::NotFound`] for an unknown id.
    fn revoke_client(&self, id: String, by: Actor) -> BoxFuture<Result<ApiClient, Fault>>;

    /// Future: gives a client a new secret, cuts it off and refuses the old one at once;
    /// [`Fault::NotFound`] for an unknown id, [`Fault::Conflict`] for a revoked client.
    fn renew_client(&self, id: String, by: Actor) -> BoxFuture<Result<CreatedClient, Fault>>;

    /// Future: gives a client other rights and cuts it off; [`Fault::NotFound`] for an unknown id,
    /// [`Fault::Conflict`] for a revoked client.
    fn change_rights(
        &self,
        id: String,
        rights: ClientRights,
        by: Actor,
    ) -> BoxFuture<Result<ApiClient, Fault>>;

    /// In memory: all workspaces, by number.
    fn workspaces(&self) -> Vec<Workspace>;

    /// In memory: the tags that the query asks for, in the order of paths.
    fn tags(&self, query: &TagQuery<'_>) -> PageOf<Tag>;

    /// In memory: what stands directly below a branch, tags and branches by their keys in byte order.
    fn levels(&self, query: &LevelQuery<'_>) -> PageOf<Level>;

    /// In memory: one tag.
    fn tag(&self, workspace: WorkspaceNumber, path: &str) -> Option<Tag>;

    /// Future: creates a tag; [`Fault::Conflict`] when the path has one.
    fn create_tag(&self, new: NewTag, by: Actor) -> BoxFuture<Result<Tag, Fault>>;

    /// Future: changes a tag.
    fn update_tag(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        change: TagChange,
        by: Actor,
    ) -> BoxFuture<Result<Tag, Fault>>;

    /// Future: changes tags, all in one commit or none; [`Fault::Conflict`] when a path has none any
    /// more or when it is too much for one commit.
    fn update_tags(
        &self,
        workspace: WorkspaceNumber,
        changes: Vec<(String, TagChange)>,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>>;

    /// In memory: the last refused values of a path, newest first.
    fn refusals(&self, workspace: WorkspaceNumber, path: &str) -> Vec<v1::RefusedValue>;

    /// Future: publishes a value on a tag's path as a device would; what it tells is durable.
    fn publish(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        payload: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::TestVerdict, Fault>>;

    /// Blocking: the last sample of each tag, in the order asked; `None` where there is none.
    fn last(&self, tags: &[TagId]) -> Result<Vec<Option<Sample>>, Fault>;

    /// Blocking: one page of a tag's samples, in the order of (source time, seq).
    fn raw(&self, query: &RawQuery) -> Result<RawPage, Fault>;

    /// Blocking: a tag's samples condensed into intervals; only those with samples.
    fn range(&self, query: &RangeQuery) -> Result<Buckets, Fault>;

    /// In memory: the ledger, total and by client in the order of ids.
    fn ledger(&self) -> Ledger;

    /// In memory: open issues, worst first.
    fn issues(&self) -> Vec<IssueState>;

    /// In memory: notes that somebody knows of an issue; [`Fault::NotFound`] when it is not open.
    fn acknowledge_issue(&self, key: &str, by: &Actor) -> Result<(), Fault>;

    /// Blocking: audit lines older than `before` (all when `None`), newest first.
    fn audit(&self, before: Option<u64>, limit: usize) -> Result<PageOf<AuditLine>, Fault>;

    /// In memory: whether the box works, part by part.
    fn health(&self) -> Health;

    /// In memory: the box at a glance.
    fn overview(&self) -> Overview;

    /// In memory: the product's version.
    fn version(&self) -> &str;

    /// In memory: the settings in force, without secrets, in the order of the file.
    fn config_effective(&self) -> Vec<ConfigEntry>;

    /// Blocking: listeners, limits, and what the next start would do differently.
    fn system(&self) -> System;

    /// In memory: all metrics in the text form of Prometheus (0.0.4).
    fn metrics_text(&self) -> String;

    /// In memory: the same figures, those whose names are asked for.
    fn measures(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Measure>;

    /// In memory: from now on offers every live message that matches to the sink, until the
    /// returned guard is dropped. `filters` are below the workspace.
    fn live(
        &self,
        principal: &Principal,
        workspace: WorkspaceNumber,
        filters: &[Filter],
        sink: Arc<dyn LiveSink>,
    ) -> Result<LiveGuard, Fault>;

    /// In memory: the part of the appliance that does pipelines.
    fn pipelines(&self) -> &dyn PipelineBackend {
        &NoPipelines
    }

    /// In memory: the part of the appliance that compares its load with a plan.
    fn sizing(&self) -> &dyn SizingBackend {
        &NoSizing
    }
}

/// Ends a live subscription when dropped.
pub type LiveGuard = Box<dyn Send>;

/// Where live messages go; the API's side is a bounded queue that drops its oldest.
pub trait LiveSink: Send + Sync {
    /// Takes a message. Never waits and never fails: called on the journal's thread.
    fn offer(&self, topic: &Arc<str>, payload: &Bytes);

    /// Cuts the reader off: its client was revoked or the box is stopping.
    fn close(&self);
}
