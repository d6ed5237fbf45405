//! Calls about stored projects: fetching, editing without a connection, comparing, deploying.

use super::Studio;
use crate::call::Answer;
use crate::connection::Link;
use crate::event::Event;
use crate::fault::{Fault, FaultCode, Result};
use crate::http::Ask;
use crate::limits::{PIPELINES_MAX, READ_TIMEOUT, TOPICS_MAX};
use crate::profile::ProfileId;
use crate::project::{Known, Place, Theirs, compare, gather};
use hyper::Method;
use millrace_contract::v1;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// How a draft is deployed.
pub(super) struct Order {
    pub(super) note: String,
    pub(super) expected: u32,
    pub(super) run: bool,
}

impl Studio {
    pub(super) async fn project(&self, profile: ProfileId, workspace: String) -> Result<Answer> {
        self.profile(&profile)?;
        crate::project::check_workspace(&workspace)?;
        let read = move |inner: &super::Inner| {
            let reading = inner.store.reading(&profile, &workspace)?;
            Ok((inner.store.list(&profile, &workspace)?, reading))
        };
        let (entries, reading) = self.on_disk(read).await?;
        Ok(Answer::Project { entries, reading })
    }

    pub(super) async fn topics(
        &self,
        profile: ProfileId,
        workspace: String,
        search: String,
    ) -> Result<Answer> {
        self.profile(&profile)?;
        crate::project::check_workspace(&workspace)?;
        let find = move |inner: &super::Inner| inner.store.topics(&profile, &workspace, &search);
        let (topics, found) = self.on_disk(find).await?;
        Ok(Answer::Topics { topics, found })
    }

    /// Fetches what is new; a pipeline whose last revision is known already costs nothing.
    pub(super) async fn fetch(&self, profile: ProfileId, workspace: String) -> Result<Answer> {
        crate::project::check_workspace(&workspace)?;
        let link = self.link(&profile)?;
        let pipelines = list(&link, &workspace).await?;
        let names: Vec<String> = pipelines.iter().map(|one| one.name.clone()).collect();
        for pipeline in pipelines {
            let place = Place::new(profile.clone(), workspace.clone(), pipeline.name.clone())?;
            let (asked, latest) = (place.clone(), pipeline.latest.revision);
            let have = self.on_disk(move |inner| inner.store.document_of(&asked, latest)).await?;
            let document = match have {
                Some(document) => document,
                None => document_of(&link, &place, latest).await?,
            };
            let known = self.known(&pipeline, document);
            self.on_disk(move |inner| inner.store.set_known(&place, known)).await?;
        }
        let (of, within) = (profile.clone(), workspace.clone());
        self.on_disk(move |inner| inner.store.keep_only(&of, &within, &names)).await?;
        let base = format!("/api/v1/workspaces/{}", encoded(&workspace));
        let (tags, are_cut) = pages(&link, &format!("{base}/tags?"), TOPICS_MAX).await?;
        // A filter of `#` is every topic.
        let (last, _) = pages(&link, &format!("{base}/last?filter=%23&"), TOPICS_MAX).await?;
        let (of, within) = (profile.clone(), workspace.clone());
        self.on_disk(move |inner| {
            inner.store.set_topics(&of, &within, gather(tags, last), are_cut)
        })
        .await?;
        self.tell_project(&profile, &workspace);
        self.project(profile, workspace).await
    }

    fn known(&self, pipeline: &v1::Pipeline, document: String) -> Known {
        let latest = &pipeline.latest;
        Known {
            revision: latest.revision,
            at: latest.at.clone(),
            author: latest.author.clone(),
            note: latest.note.clone(),
            deployed: pipeline.deployment.as_ref().and_then(|deployment| deployment.revision),
            document,
            fetched: self.0.parts.clock.now().to_string(),
        }
    }

    fn tell_project(&self, profile: &ProfileId, workspace: &str) {
        let (profile, workspace) = (profile.clone(), workspace.to_owned());
        self.0.outbox.tell_all(&Event::Project { profile, workspace });
    }

    fn place(&self, profile: ProfileId, workspace: String, name: String) -> Result<Place> {
        self.profile(&profile)?;
        Place::new(profile, workspace, name)
    }

    pub(super) async fn pipeline(
        &self,
        profile: ProfileId,
        workspace: String,
        name: String,
    ) -> Result<Answer> {
        let place = self.place(profile, workspace, name)?;
        let kept = self.on_disk(move |inner| inner.store.read(&place)).await?;
        if kept.known.is_none() && kept.draft.is_none() {
            return Err(Fault::not_found("There is no such pipeline in the stored project."));
        }
        Ok(Answer::Pipeline { known: kept.known, draft: kept.draft })
    }

    pub(super) async fn save_draft(
        &self,
        profile: ProfileId,
        workspace: String,
        name: String,
        (document, base): (String, u32),
    ) -> Result<Answer> {
        let place = self.place(profile.clone(), workspace.clone(), name)?;
        let base_document = match base {
            0 => None,
            revision => Some(self.base_document(&place, revision).await?),
        };
        self.on_disk(move |inner| inner.store.set_draft(&place, &document, base, base_document))
            .await?;
        self.tell_project(&profile, &workspace);
        Ok(Answer::Done)
    }

    /// The document of a draft's base: from the disk, else from the appliance.
    async fn base_document(&self, place: &Place, revision: u32) -> Result<String> {
        let asked = place.clone();
        let have = self.on_disk(move |inner| inner.store.document_of(&asked, revision)).await?;
        match (have, self.link(&place.profile)) {
            (Some(document), _) => Ok(document),
            (None, Ok(link)) => document_of(&link, place, revision).await,
            (None, Err(_)) => {
                let message = format!(
                    "Revision {revision} is not stored here, so nothing can be compared with it."
                );
                Err(Fault::invalid("base", message))
            }
        }
    }

    pub(super) async fn drop_draft(
        &self,
        profile: ProfileId,
        workspace: String,
        name: String,
    ) -> Result<Answer> {
        let place = self.place(profile.clone(), workspace.clone(), name)?;
        self.on_disk(move |inner| inner.store.drop_draft(&place)).await?;
        self.tell_project(&profile, &workspace);
        Ok(Answer::Done)
    }

    /// Compares with what the appliance has now, or with what was last seen of it.
    pub(super) async fn compare(
        &self,
        profile: ProfileId,
        workspace: String,
        name: String,
    ) -> Result<Answer> {
        let place = self.place(profile, workspace, name)?;
        let fresh = match self.link(&place.profile) {
            Ok(link) if link.session().is_some() => self.look_at(&link, &place).await,
            _ => Err(Fault::offline("This appliance is not connected.")),
        };
        let is_fresh = match fresh {
            Ok(()) => true,
            Err(fault) if fault.code == FaultCode::Offline => false,
            Err(fault) => return Err(fault),
        };
        let (asked, name) = (place.clone(), place.name.clone());
        let kept = self.on_disk(move |inner| inner.store.read(&asked)).await?;
        let draft = kept.draft.ok_or_else(|| Fault::not_found("This pipeline has no draft."))?;
        let compared = compare(&name, &draft, Theirs { known: kept.known, is_fresh })?;
        Ok(Answer::Comparison(Box::new(compared)))
    }

    /// Brings what is known of one pipeline up to date.
    async fn look_at(&self, link: &Link, place: &Place) -> Result<()> {
        let found: Result<v1::Pipeline> = get(link, &path(place, "")).await;
        let place = place.clone();
        match found {
            Ok(pipeline) => {
                let document = document_of(link, &place, pipeline.latest.revision).await?;
                let known = self.known(&pipeline, document);
                self.on_disk(move |inner| inner.store.set_known(&place, known)).await
            }
            Err(fault) if fault.is_refusal_of(v1::ErrorCode::NotFound) => {
                self.on_disk(move |inner| inner.store.set_unknown(&place)).await
            }
            Err(fault) => Err(fault),
        }
    }

    /// Stores the draft as the next revision and lets it run, if nobody was faster.
    pub(super) async fn deploy(
        &self,
        profile: ProfileId,
        workspace: String,
        name: String,
        order: Order,
    ) -> Result<Answer> {
        let place = self.place(profile.clone(), workspace.clone(), name)?;
        let link = self.link(&profile)?;
        let asked = place.clone();
        let kept = self.on_disk(move |inner| inner.store.read(&asked)).await?;
        let draft = kept.draft.ok_or_else(|| Fault::not_found("This pipeline has no draft."))?;
        let document = RawValue::from_string(draft.document.clone())
            .map_err(|_| Fault::invalid("name", "The draft is no JSON."))?;
        let expected = Some(order.expected);
        let new = v1::NewRevision { document, note: order.note.clone(), expected };
        let saved: v1::SavedRevision =
            send(&link, Method::PUT, &path(&place, ""), &new).await.map_err(moved_on)?;
        let revision = saved.revision.revision;
        let running = match order.run {
            false => Ok(kept.known.as_ref().and_then(|known| known.deployed)),
            true => {
                let new = v1::NewDeployment { revision: Some(revision), note: order.note };
                let to = path(&place, "/deploy");
                let running: Result<v1::Running> = send(&link, Method::POST, &to, &new).await;
                running.map(|running| running.deployment.revision)
            }
        };
        let before = kept.known.and_then(|known| known.deployed);
        let deployed = running.as_ref().map_or(before, |revision| *revision);
        let known = Known {
            revision,
            at: saved.revision.at,
            author: saved.revision.author,
            note: saved.revision.note,
            deployed,
            document: draft.document.clone(),
            fetched: self.0.parts.clock.now().to_string(),
        };
        self.on_disk(move |inner| inner.store.draft_stored(&place, &draft, known)).await?;
        self.tell_project(&profile, &workspace);
        running?;
        Ok(Answer::Deployed { revision, runs: order.run })
    }
}

fn moved_on(fault: Fault) -> Fault {
    if fault.is_refusal_of(v1::ErrorCode::Conflict) {
        return Fault { code: FaultCode::MovedOn, ..fault };
    }
    fault
}

/// All pipelines of a workspace.
async fn list(link: &Link, workspace: &str) -> Result<Vec<v1::Pipeline>> {
    let to = format!("/api/v1/workspaces/{}/pipelines?", encoded(workspace));
    let (all, are_cut) = pages(link, &to, PIPELINES_MAX).await?;
    if are_cut {
        let message = format!("A project has at most {PIPELINES_MAX} pipelines.");
        return Err(Fault::new(FaultCode::TooLarge, message));
    }
    Ok(all)
}

/// What stands on all pages of a list, at most so many, and whether there were more. `to` ends
/// where the next parameter begins.
async fn pages<T: DeserializeOwned>(link: &Link, to: &str, most: usize) -> Result<(Vec<T>, bool)> {
    let mut all = Vec::new();
    let mut after = None::<String>;
    loop {
        let mut asked = format!("{to}limit=1000");
        if let Some(after) = after {
            // Writing to a String cannot fail.
            let _infallible = write!(asked, "&after={}", encoded(&after));
        }
        let page: v1::Page<T> = get(link, &asked).await?;
        all.extend(page.items);
        if all.len() > most {
            all.truncate(most);
            return Ok((all, true));
        }
        after = page.next;
        if after.is_none() {
            return Ok((all, false));
        }
    }
}

async fn document_of(link: &Link, place: &Place, revision: u32) -> Result<String> {
    let to = path(place, &format!("/revisions/{revision}"));
    let stored: v1::StoredRevision = get(link, &to).await?;
    Ok(stored.document.get().to_owned())
}

async fn get<T: DeserializeOwned>(link: &Link, to: &str) -> Result<T> {
    link.api(Method::GET, to, None).await?.read()
}

async fn send<T: DeserializeOwned>(
    link: &Link,
    method: Method,
    to: &str,
    body: &impl Serialize,
) -> Result<T> {
    let ask = Ask::with_json(method.clone(), to, None, body)?.within(READ_TIMEOUT);
    link.api(method, to, ask.body).await?.read()
}

fn path(place: &Place, rest: &str) -> String {
    let (workspace, name) = (encoded(&place.workspace), encoded(&place.name));
    format!("/api/v1/workspaces/{workspace}/pipelines/{name}{rest}")
}

/// A segment of a path or a value of a query.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            // Writing to a String cannot fail.
            other => _ = write!(out, "%{other:02X}"),
        }
    }
    out
}
