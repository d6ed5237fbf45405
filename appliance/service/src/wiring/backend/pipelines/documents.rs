//! Documents and their revisions.

use super::{Answers, catalog_place, description};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::{InWorkspace, PipelinePlace, Which};
use millrace_catalog::Pipeline;
use millrace_contract::v1;
use millrace_engine::PipelineStats;
use millrace_model::{Deployment, PipelineRevision, Timestamp};
use std::sync::Arc;

impl Answers {
    pub(super) fn known(&self, place: &PipelinePlace) -> Result<Arc<Pipeline>, Fault> {
        self.0
            .pipelines
            .find(place.workspace.number, &place.name)
            .ok_or_else(|| Fault::NotFound(format!("there is no pipeline '{}'", place.name)))
    }

    pub(super) fn pipeline_page(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> api::PageOf<v1::Pipeline> {
        let mut found = self.0.pipelines.list(workspace.number, after, limit + 1);
        let more = found.len() > limit;
        found.truncate(limit);
        let items = found.iter().map(|pipeline| self.outward(workspace, pipeline)).collect();
        api::PageOf { items, more }
    }

    pub(super) fn outward(&self, workspace: &InWorkspace, pipeline: &Pipeline) -> v1::Pipeline {
        let latest = pipeline.latest();
        v1::Pipeline {
            number: pipeline.number(),
            workspace: workspace.name.clone(),
            name: pipeline.name().to_owned(),
            description: description(&latest.document),
            latest: revision(latest),
            deployment: pipeline.deployment().map(deployment),
            activity: self.0.engine.pipeline_stats(pipeline.number()).map(|stats| activity(&stats)),
        }
    }

    pub(super) fn revision_page(
        &self,
        place: &PipelinePlace,
        before: Option<u32>,
        limit: usize,
    ) -> Result<api::PageOf<v1::Revision>, Fault> {
        let number = self.known(place)?.number();
        let found = self.0.catalog.revisions(number, before, limit + 1);
        let mut rows = found.map_err(|error| Fault::Internal(error.to_string()))?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let items = rows.into_iter().map(|row| v1::Revision {
            revision: row.revision,
            at: row.at.to_rfc3339(),
            author: row.author,
            note: row.note,
        });
        Ok(api::PageOf { items: items.collect(), more })
    }

    /// A revision: from memory, or from the catalog's file where it is an older one.
    pub(super) fn revision_of(
        &self,
        place: &PipelinePlace,
        which: Which,
    ) -> Result<Arc<PipelineRevision>, Fault> {
        let pipeline = self.known(place)?;
        let wanted = match which {
            Which::Latest => return Ok(Arc::clone(pipeline.latest())),
            Which::Deployed => {
                return pipeline.deployed().cloned().ok_or_else(|| {
                    Fault::NotFound(format!("pipeline '{}' is not deployed", place.name))
                });
            }
            Which::Revision(number) => number,
        };
        if let Some(held) = pipeline.revision(wanted) {
            return Ok(Arc::clone(held));
        }
        let read = self.0.catalog.revision(pipeline.number(), wanted);
        let read = read.map_err(|error| Fault::Internal(error.to_string()))?;
        read.map(Arc::new).ok_or_else(|| {
            Fault::NotFound(format!(
                "pipeline '{}' has no revision {wanted}, or it is not kept any more",
                place.name
            ))
        })
    }

    pub(super) fn save_document(
        &self,
        place: &PipelinePlace,
        new: &api::NewDocument,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(v1::Revision, bool), Fault>> {
        let place = catalog_place(place);
        let text = Arc::clone(&new.text);
        let change = self.0.pipelines.save(place, text, &new.note, new.expected, &self.by(by));
        self.keep_change(change, |saved| (revision(&saved.revision), saved.is_unchanged))
    }
}

/// What a pipeline does, as the engine counts.
fn activity(stats: &PipelineStats) -> v1::Activity {
    let at = |time: Option<Timestamp>| time.map(|time| time.to_rfc3339());
    v1::Activity {
        since: at(stats.since),
        queued: stats.waiting as u64,
        running: stats.running as u64,
        waiting: stats.parked as u64,
        ended: stats.done + stats.failed,
        failed: stats.failed,
        skipped: stats.skipped.count,
        shed: stats.shed.count,
        shed_first: at(stats.shed.first),
        shed_last: at(stats.shed.last),
        late: stats.late.count,
        late_first: at(stats.late.first),
        late_last: at(stats.late.last),
        script_kills: stats.kills.count,
        quarantined: stats.is_quarantined,
        cpu_us: u64::try_from(stats.cpu.as_micros()).unwrap_or(u64::MAX),
        memory_bytes_peak: stats.script_memory_bytes_max,
        last_run: at(stats.last_begun),
    }
}

/// A revision without its document.
pub(super) fn revision(of: &PipelineRevision) -> v1::Revision {
    v1::Revision {
        revision: of.revision,
        at: of.at.to_rfc3339(),
        author: of.author.clone(),
        note: of.note.clone(),
    }
}

/// A deployment as the API tells it.
pub(super) fn deployment(of: &Deployment) -> v1::Deployment {
    v1::Deployment {
        revision: of.revision,
        previous: of.previous,
        at: of.at.to_rfc3339(),
        by: of.by.clone(),
        note: of.note.clone(),
    }
}
