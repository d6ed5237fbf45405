//! The endpoints, a file per resource.
#![expect(unused_qualifications, reason = "the macro that describes endpoints writes them")]

pub(crate) mod audit;
pub(crate) mod clients;
pub(crate) mod history;
pub(crate) mod hooks;
pub(crate) mod issues;
pub(crate) mod ledger;
pub(crate) mod oauth;
pub(crate) mod people;
pub(crate) mod pipelines;
pub(crate) mod raw;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod session;
pub(crate) mod sizing;
pub(crate) mod system;
pub(crate) mod tag_files;
pub(crate) mod tags;
pub(crate) mod trials;
pub(crate) mod values;
pub(crate) mod views;

use crate::backend::Principal;
use crate::convert::Workspaces;
use crate::error::{ApiError, Result};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};
use crate::state::Api;
use millrace_model::{Tag, WorkspaceNumber};

/// A limit parameter: the default when absent, refused when 0 or above the most.
pub(crate) fn limit(asked: Option<usize>, default: usize, most: usize) -> Result<usize> {
    match asked {
        None => Ok(default),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(_) => Err(ApiError::bad_parameter("limit", format!("Give 1 to {most}."))),
    }
}

fn page_limit(asked: Option<usize>) -> Result<usize> {
    limit(asked, PAGE_DEFAULT, PAGE_MAX)
}

/// Most of a name that is repeated in an answer.
const NAME_CHARACTERS_SHOWN: usize = 80;

/// The workspace with this name, if the caller may see it. A client is told "not found" of
/// others, whether they exist or not.
pub(crate) fn find_workspace(
    api: &Api,
    principal: &Principal,
    name: &str,
) -> Result<WorkspaceNumber> {
    let found = Workspaces::of(api.backend()).number(name);
    found
        .filter(|number| principal.sees_workspace(*number))
        .ok_or_else(|| ApiError::not_found(no_workspace(name)))
}

/// What is said of a workspace that is not there, or not the caller's to see.
pub(crate) fn no_workspace(name: &str) -> String {
    let short: String = name.chars().take(NAME_CHARACTERS_SHOWN).collect();
    format!("There is no workspace '{short}'; this version has one, 'main'.")
}

/// The tag at this path, if the caller may read it.
fn find_tag(
    api: &Api,
    principal: &Principal,
    workspace: WorkspaceNumber,
    path: &str,
) -> Result<Tag> {
    if !principal.reads(workspace, path) {
        return Err(ApiError::forbidden("This client may not read this path.").at("path"));
    }
    let found = api.backend().tag(workspace, path);
    found.ok_or_else(|| ApiError::not_found("There is no such tag.").at("path"))
}
