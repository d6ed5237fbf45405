//! Tags and samples.

use super::access::actor;
use super::{Answers, failed};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_catalog::NewTag;
use millrace_historian as historian;
use millrace_model::{ClientNumber, Definition, Retention, Tag, TagId, WorkspaceNumber};

/// Tags looked at in one step of a listing; the page ends when it is full.
const STEP: usize = 1_000;

/// Bytes of definitions that one file of tags may write: below what the journal takes at once.
const TAGS_COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;

fn query_fault(error: &historian::Error) -> Fault {
    Fault::Internal(format!("history: {error}"))
}

impl Answers {
    pub(super) fn tag_page(&self, query: &api::TagQuery<'_>) -> api::PageOf<Tag> {
        let search = query.search.to_lowercase();
        let fits = |tag: &Tag| {
            (query.visible)(&tag.path)
                && (search.is_empty()
                    || [&tag.path, &tag.unit, &tag.description]
                        .into_iter()
                        .any(|text| text.to_lowercase().contains(&search)))
        };
        let mut items = Vec::new();
        let mut after = query.after.map(str::to_owned);
        loop {
            let step = self.0.namespace.list(query.workspace, query.prefix, after.as_deref(), STEP);
            let Some(last) = step.last() else { return api::PageOf { items, more: false } };
            after = Some(last.path.clone());
            for tag in step.iter().filter(|tag| fits(tag)) {
                if items.len() == query.limit {
                    return api::PageOf { items, more: true };
                }
                items.push(Tag::clone(tag));
            }
        }
    }

    pub(super) fn new_tag(
        &self,
        new: &api::NewTag,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<Tag, Fault>> {
        let request = NewTag {
            workspace: new.workspace,
            path: &new.path,
            kind: new.kind,
            retention: new.retention.unwrap_or_else(|| self.default_retention()),
            by: ClientNumber(0),
            now: self.0.clock.now(),
            // A person's tags count for the box alone.
            client_tags_max: u32::MAX,
        };
        match self.0.namespace.create(request) {
            Err(error) => failed(Fault::Conflict(error.to_string())),
            Ok((_, false)) => {
                failed(Fault::Conflict(format!("the topic {} exists already", new.path)))
            }
            Ok((tag, true)) => {
                let tag = Tag {
                    unit: new.unit.clone(),
                    description: new.description.clone(),
                    schema: new.schema.clone(),
                    ..Tag::clone(&tag)
                };
                self.keep_tag(tag, "tag.create", by)
            }
        }
    }

    pub(super) fn change_tag(
        &self,
        workspace: WorkspaceNumber,
        path: &str,
        change: api::TagChange,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<Tag, Fault>> {
        let Some(old) = self.0.namespace.find(workspace, path) else {
            return failed(Fault::NotFound(format!("there is no topic {path}")));
        };
        self.keep_tag(changed(&old, change), "tag.change", by)
    }

    /// Changes tags in one commit, with one entry in the audit trail.
    pub(super) fn change_tags(
        &self,
        workspace: WorkspaceNumber,
        changes: Vec<(String, api::TagChange)>,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        let mut definitions = Vec::with_capacity(changes.len() + 1);
        let mut bytes = 0;
        let count = changes.len();
        for (path, change) in changes {
            let Some(old) = self.0.namespace.find(workspace, &path) else {
                return failed(Fault::Conflict(format!("there is no topic {path} any more")));
            };
            let definition = Definition::Tag(changed(&old, change));
            bytes += definition.encode().len();
            if bytes > TAGS_COMMIT_BYTES_MAX {
                let most = TAGS_COMMIT_BYTES_MAX >> 20;
                let message =
                    format!("the topics' definitions are above {most} MiB; give fewer at once");
                return failed(Fault::Conflict(message));
            }
            definitions.push(definition);
        }
        definitions.push(self.0.access.audit(&actor(by), "tag.import", &format!("{count} topics")));
        self.durable(definitions, ())
    }

    fn keep_tag(
        &self,
        tag: Tag,
        action: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<Tag, Fault>> {
        let audit = self.0.access.audit(&actor(by), action, &tag.path);
        self.durable(vec![Definition::Tag(tag.clone()), audit], tag)
    }

    fn default_retention(&self) -> Retention {
        let name = &self.0.loaded.config.historian.default_retention;
        Retention::from_name(name).unwrap_or_default()
    }

    pub(super) fn last_values(&self, tags: &[TagId]) -> Result<Vec<Option<api::Sample>>, Fault> {
        let found = self.0.historian.last_many(tags);
        Ok(found.into_iter().map(|sample| sample.map(convert)).collect())
    }

    pub(super) fn raw_page(&self, query: &api::RawQuery) -> Result<api::RawPage, Fault> {
        let wanted = historian::RawQuery {
            tag: query.tag,
            from: query.from,
            to: query.to,
            after: query.after.map(|place| historian::After {
                source_time: place.source_time,
                seq: millrace_journal::Seq(place.seq),
            }),
            limit: query.limit.min(historian::config::RAW_LIMIT_MAX),
        };
        let page = self.0.historian.raw(&wanted).map_err(|error| query_fault(&error))?;
        let samples = page.samples.into_iter().map(convert).collect();
        Ok(api::RawPage { samples, more: page.next.is_some(), incomplete: page.incomplete })
    }

    pub(super) fn buckets(&self, query: &api::RangeQuery) -> Result<api::Buckets, Fault> {
        let wanted = historian::RangeQuery {
            tag: query.tag,
            from: query.from,
            to: query.to,
            buckets: query.points,
        };
        let range = self.0.historian.range(&wanted).map_err(|error| query_fault(&error))?;
        let items = range.buckets.iter().map(bucket).filter(|bucket| bucket.count > 0).collect();
        Ok(api::Buckets { items, incomplete: range.incomplete })
    }
}

fn changed(old: &Tag, change: api::TagChange) -> Tag {
    let api::TagChange { unit, description, retention, schema } = change;
    Tag {
        unit: unit.unwrap_or_else(|| old.unit.clone()),
        description: description.unwrap_or_else(|| old.description.clone()),
        retention: retention.unwrap_or(old.retention),
        schema: schema.unwrap_or_else(|| old.schema.clone()),
        ..old.clone()
    }
}

fn convert(sample: historian::Sample) -> api::Sample {
    api::Sample {
        source_time: sample.source_time,
        receive_time: sample.receive_time,
        quality: sample.quality,
        value: sample.value,
        seq: sample.seq.0,
    }
}

fn bucket(bucket: &historian::Bucket) -> api::Bucket {
    let value = |point: Option<historian::Point>| point.map(|point| point.value);
    api::Bucket {
        start: bucket.start,
        count: bucket.count + bucket.bad_count + bucket.non_finite_count + bucket.other_count,
        min: value(bucket.min),
        max: value(bucket.max),
        first: value(bucket.first),
        last: value(bucket.last),
        mean: None,
    }
}
