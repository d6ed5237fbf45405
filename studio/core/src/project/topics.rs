//! The topics of a workspace as they were last read: units, descriptions, and a value of each.
//!
//! They lie beside the pipelines' files, as `topics.json`, and what a reading gave in short as
//! `read.json`, which is written last. Both are read anew with each fetch, so one that is damaged
//! is set aside and costs no more than the next fetch.
//!
//! **Invariants**: at most [`TOPICS_MAX`] topics are kept, and it is told when there were more; a
//! value larger than [`SAMPLE_BYTES_MAX`] is not kept; a value is JSON text, so it has all digits.

use super::place;
use super::store::Store;
use crate::fault::{Fault, FaultCode, Result};
use crate::file::{self, Content};
use crate::limits::{
    READING_BYTES_MAX, SAMPLE_BYTES_MAX, TOPICS_BYTES_MAX, TOPICS_MAX, TOPICS_SHOWN_MAX,
};
use crate::profile::ProfileId;
use millrace_contract::v1;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::PathBuf;

/// The version of both files.
const VERSION: u32 = 1;

/// A topic as it was last read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Its path below the workspace.
    pub path: String,
    /// Its unit; empty = none given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What it is, in the plant's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its last value then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<KeptSample>,
}

/// A value of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptSample {
    /// The value as JSON text.
    pub value: String,
    /// When it was measured.
    pub time: String,
    /// OPC UA status code; 0 is good.
    pub quality: u32,
}

/// What the last complete reading of a workspace gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    version: u32,
    /// When it ended, by this computer's clock.
    pub at: String,
    /// How many topics are kept.
    pub topics: usize,
    /// Whether the appliance had more than that.
    pub is_cut: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    topics: Vec<Topic>,
}

/// Puts tags and last values together. Either list may have what the other has not: the appliance
/// goes on while it is read.
pub(crate) fn gather(tags: Vec<v1::Tag>, last: Vec<v1::LastValue>) -> Vec<Topic> {
    let mut samples: HashMap<String, v1::Sample> =
        last.into_iter().filter_map(|last| Some((last.path, last.sample?))).collect();
    let topic = |tag: v1::Tag| {
        let sample = samples.remove(&tag.path).and_then(|sample| {
            let value = sample.value.get();
            (value.len() <= SAMPLE_BYTES_MAX).then(|| KeptSample {
                value: value.to_owned(),
                time: sample.source_time,
                quality: sample.quality,
            })
        });
        Topic { path: tag.path, unit: tag.unit, description: tag.description, sample }
    };
    tags.into_iter().take(TOPICS_MAX).map(topic).collect()
}

impl Store {
    /// Keeps what a complete reading gave.
    pub(crate) fn set_topics(
        &self,
        profile: &ProfileId,
        workspace: &str,
        topics: Vec<Topic>,
        is_cut: bool,
    ) -> Result<()> {
        let (_writing, at) = (self.lock(), self.now().to_string());
        let reading = Reading { version: VERSION, at, topics: topics.len(), is_cut };
        let kept = Kept { version: VERSION, topics };
        write(self.beside(profile, workspace, "topics.json"), &kept, TOPICS_BYTES_MAX)?;
        write(self.beside(profile, workspace, "read.json"), &reading, READING_BYTES_MAX)
    }

    /// What the last complete reading gave; `None` when there was none.
    pub(crate) fn reading(&self, profile: &ProfileId, workspace: &str) -> Result<Option<Reading>> {
        let path = self.beside(profile, workspace, "read.json");
        self.whole(path, READING_BYTES_MAX, |kept: &Reading| kept.version == VERSION)
    }

    /// The topics in whose path, unit or description the text stands; at most
    /// [`TOPICS_SHOWN_MAX`]. Also gives how many there are.
    pub(crate) fn topics(
        &self,
        profile: &ProfileId,
        workspace: &str,
        search: &str,
    ) -> Result<(Vec<Topic>, usize)> {
        let path = self.beside(profile, workspace, "topics.json");
        let kept = self.whole(path, TOPICS_BYTES_MAX, |kept: &Kept| kept.version == VERSION)?;
        let wanted = search.trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let is_found =
            |topic: &Topic| has(&topic.path) || has(&topic.unit) || has(&topic.description);
        let mut found: Vec<Topic> =
            kept.into_iter().flat_map(|kept| kept.topics).filter(is_found).collect();
        let all = found.len();
        found.truncate(TOPICS_SHOWN_MAX);
        Ok((found, all))
    }

    fn beside(&self, profile: &ProfileId, workspace: &str, name: &str) -> PathBuf {
        place::folder(self.projects(), profile, workspace).join(name)
    }

    /// A file that is read anew anyway: one that cannot be read is set aside and is none.
    fn whole<T: DeserializeOwned>(
        &self,
        path: PathBuf,
        bytes_max: u64,
        is_known: impl Fn(&T) -> bool,
    ) -> Result<Option<T>> {
        let read = match file::read(&path, bytes_max)? {
            Content::Absent => return Ok(None),
            Content::TooLarge => None,
            Content::Bytes(bytes) => serde_json::from_slice::<T>(&bytes).ok().filter(is_known),
        };
        if read.is_none() {
            let aside = file::set_aside(&path, self.now())?;
            tracing::error!(aside = %aside.display(), "What was read of topics is damaged.");
        }
        Ok(read)
    }
}

fn write(path: PathBuf, kept: &impl Serialize, bytes_max: u64) -> Result<()> {
    let bytes = serde_json::to_vec(kept)
        .map_err(|error| Fault::new(FaultCode::Storage, format!("No JSON: {error}.")))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
        let message = format!("The topics of a workspace take at most {bytes_max} bytes here.");
        return Err(Fault::new(FaultCode::TooLarge, message));
    }
    file::write(&path, &bytes)
}

#[cfg(test)]
mod tests;
