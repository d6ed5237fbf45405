//! What steps ask of the box: last values, tags, history, secrets; and names for triggers.
//!
//! **Invariants**: nothing here waits but the future of a history query, which runs on a blocking
//! thread; a secret is opened for the step that asked and kept nowhere.

use millrace_access::Access;
use millrace_admission::THE_BOX;
use millrace_catalog::{Namespace, SecretKey, Secrets};
use millrace_engine::services::{FoundTag, HistoryQuery, Last, Services};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_engine::{Names, Place, quality_data};
use millrace_flow::{Data, Map};
use millrace_historian::{Historian, RawQuery, Sample};
use millrace_model::{ClientNumber, Filter, Tag, TagId, WorkspaceNumber};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Tags looked at in one step of a search.
const STEP: usize = 1_000;

/// The box for steps.
pub(in crate::wiring) struct TheBox {
    pub(in crate::wiring) namespace: Arc<Namespace>,
    pub(in crate::wiring) historian: Arc<Historian>,
    pub(in crate::wiring) secrets: Arc<Secrets>,
    pub(in crate::wiring) key: Arc<SecretKey>,
    pub(in crate::wiring) runtime: Handle,
}

impl Services for TheBox {
    fn last(&self, workspace: u16, path: &str) -> Option<Last> {
        let tag = self.namespace.find(WorkspaceNumber(workspace), path)?;
        self.historian.last(tag.id).map(|sample| last(&sample))
    }

    fn search(&self, workspace: u16, filter: &str, limit: usize) -> Vec<FoundTag> {
        let found = search(&self.namespace, WorkspaceNumber(workspace), filter, limit);
        let outward = |tag: &Arc<Tag>| {
            let unit = Some(tag.unit.clone()).filter(|unit| !unit.is_empty());
            FoundTag { tag: tag.id, path: tag.path.clone(), unit }
        };
        found.iter().map(outward).collect()
    }

    fn history(&self, workspace: u16, query: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        let Some(tag) = self.namespace.find(WorkspaceNumber(workspace), &query.path) else {
            let message = format!("there is no topic {}", query.path);
            return Box::pin(std::future::ready(Err(StepFault::lasting("unknown", message))));
        };
        let historian = Arc::clone(&self.historian);
        let runtime = self.runtime.clone();
        let wanted = RawQuery {
            tag: tag.id,
            from: query.from,
            to: query.to,
            limit: query.limit.min(millrace_historian::config::RAW_LIMIT_MAX),
            after: None,
        };
        Box::pin(async move {
            let read = runtime.spawn_blocking(move || historian.raw(&wanted)).await;
            match read {
                Ok(Ok(page)) => Ok(Data::List(page.samples.iter().map(row).collect())),
                Ok(Err(error)) => Err(StepFault::passing("history", error.to_string())),
                Err(error) => Err(StepFault::passing("history", error.to_string())),
            }
        })
    }

    fn secret(&self, workspace: u16, name: &str) -> Option<Arc<str>> {
        match self.secrets.reveal(WorkspaceNumber(workspace), name, &self.key) {
            Ok(value) => value,
            Err(error) => {
                tracing::warn!(name, "A secret cannot be opened: {error}.");
                None
            }
        }
    }

    fn no_secret(&self, workspace: u16, name: &str) -> String {
        super::missing::why_none(&self.secrets, &self.key, workspace, name)
    }

    fn spawn(&self, name: &'static str, future: BoxFuture<()>) {
        let _on_runtime = self.runtime.enter();
        drop(millrace_supervisor::spawn::task(name, future));
    }
}

fn last(sample: &Sample) -> Last {
    Last {
        value: Data::from_value(sample.value.as_ref()),
        time: sample.source_time,
        received: sample.receive_time,
        quality: sample.quality,
    }
}

fn row(sample: &Sample) -> Data {
    let mut row = Map::with_capacity(3);
    row.set("time", Data::text(&sample.source_time.to_rfc3339()));
    row.set("value", Data::from_value(sample.value.as_ref()));
    row.set("quality", quality_data(sample.quality));
    Data::Map(Arc::new(row))
}

/// Tags that an MQTT filter matches, in the order of paths, at most `limit`; none for what is no
/// filter.
pub(in crate::wiring) fn search(
    namespace: &Namespace,
    workspace: WorkspaceNumber,
    filter: &str,
    limit: usize,
) -> Vec<Arc<Tag>> {
    let Ok(wanted) = Filter::new(filter) else { return Vec::new() };
    // Levels before the first wildcard narrow the listing.
    let levels = filter.split('/').take_while(|level| !matches!(*level, "+" | "#"));
    let prefix = levels.collect::<Vec<_>>().join("/");
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let step = namespace.list(workspace, &prefix, after.as_deref(), STEP);
        let Some(end) = step.last() else { return found };
        after = Some(end.path.clone());
        for tag in step.iter().filter(|tag| wanted.matches(&tag.path)) {
            if found.len() >= limit {
                return found;
            }
            found.push(Arc::clone(tag));
        }
    }
}

/// Tags and clients by number.
pub(in crate::wiring) struct Numbers {
    pub(in crate::wiring) namespace: Arc<Namespace>,
    pub(in crate::wiring) access: Arc<Access>,
    pub(in crate::wiring) root: String,
}

impl Names for Numbers {
    fn place(&self, tag: TagId) -> Option<Place> {
        let tag = self.namespace.get(tag)?;
        let workspace = self.namespace.workspace_by_number(tag.workspace)?;
        let topic = format!("{}/{}/{}", self.root, workspace.name, tag.path);
        Some(Place {
            workspace: tag.workspace.0,
            path: tag.path.as_str().into(),
            topic: topic.into(),
        })
    }

    fn client(&self, client: ClientNumber) -> Option<Arc<str>> {
        if client == THE_BOX {
            return Some("pipelines".into());
        }
        if let Some(grant) = self.access.grant(client) {
            return Some(grant.id.as_str().into());
        }
        // One that was revoked meanwhile.
        self.access.client_by_number(client).map(|client| client.id.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_journal::Seq;
    use millrace_model::{Quality, Timestamp, Value};

    #[test]
    fn a_row_of_history_has_the_same_quality_as_a_trigger() {
        let of = |quality: Quality| {
            let sample = Sample {
                source_time: Timestamp(0),
                receive_time: Timestamp(0),
                quality,
                value: Value::Int(1),
                seq: Seq(1),
                has_source_time: true,
            };
            row(&sample).get("quality").clone()
        };
        assert_eq!(of(Quality::GOOD), Data::text("good"));
        assert_eq!(of(Quality::BAD), Data::text("bad"));
        assert_eq!(of(Quality(0x8000_0001)), Data::Int(0x8000_0001), "a code of its own");
    }
}
