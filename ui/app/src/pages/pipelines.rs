//! The page "Pipelines": the list, and the designer of one of them.
//!
//! `/pipelines` is the list, `/pipelines/<workspace>/<name>` the designer. Everything that can be
//! decided without a browser is in `millrace_editor` and in `values` and `rates` here.
//!
//! **Invariants**
//! - An address that names no pipeline shows the list.

mod bench;
mod canvas;
mod deploy;
mod desk;
mod dialogs;
mod drafts;
mod faults;

mod hints;
mod import;
mod inspector;
mod labels;
mod list;
mod merging;
mod offline;
mod opened;
mod rates;
mod rehearsal;
mod revisions;
mod runs;
mod script;
mod speech;
mod test_panel;
mod values;
mod waiting;

pub use import::OpenedFiles;

use crate::context::Studio;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use millrace_model::Timestamp;

/// Where a pipeline is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Its workspace.
    pub workspace: String,
    /// Its name.
    pub name: String,
}

impl At {
    /// What stands behind `/pipelines/`.
    fn of(rest: &str) -> Option<Self> {
        let (workspace, name) = rest.trim_matches('/').split_once('/')?;
        let is_good = !workspace.is_empty() && millrace_flow::validate::is_pipeline_name(name);
        is_good.then(|| Self { workspace: workspace.to_owned(), name: name.to_owned() })
    }

    /// Its address in the studio.
    fn path(&self) -> String {
        format!("/pipelines/{}/{}", self.workspace, self.name)
    }

    /// Its address in the API, with something behind it.
    fn segments<'a>(&'a self, behind: &[&'a str]) -> Vec<&'a str> {
        let mut segments = vec!["workspaces", &self.workspace, "pipelines", &self.name];
        segments.extend(behind);
        segments
    }
}

/// Whether the designer of a pipeline stands at this address.
pub fn is_designer(path: &str) -> bool {
    path.strip_prefix("/pipelines/").and_then(At::of).is_some()
}

/// A time of the API as the person writes it.
fn moment(studio: &Studio, text: &str) -> String {
    match Timestamp::from_rfc3339(text) {
        None => text.to_owned(),
        Some(at) => {
            let locale = untrack(|| studio.language.locale());
            locale.date_time(at, studio.host.utc_offset_minutes(at))
        }
    }
}

/// The page.
#[component]
pub fn Pipelines() -> impl IntoView {
    let params = use_params_map();
    let at = Memo::new(move |_| params.with(|params| At::of(&params.get("rest")?)));
    let project = Studio::here().project;
    let is_away = Memo::new(move |_| project.away().is_some());
    // The designer stays as it is when the connection goes or comes.
    move || match at.get() {
        None if is_away.get() => view! { <offline::Offline/> }.into_any(),
        None => view! { <list::List/> }.into_any(),
        Some(at) => view! { <opened::Opened at/> }.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_workspace_and_a_name_lead_to_the_designer() {
        let at = At::of("main/press-scale").unwrap();
        assert_eq!(at.path(), "/pipelines/main/press-scale");
        assert!(is_designer(&at.path()));
        assert_eq!(
            at.segments(&["runs"]),
            ["workspaces", "main", "pipelines", "press-scale", "runs"]
        );
        for rest in ["", "main", "main/", "main/Not A Name", "main/a/b"] {
            assert_eq!(At::of(rest), None, "{rest}");
            assert!(!is_designer(&format!("/pipelines/{rest}")), "{rest}");
        }
    }
}
