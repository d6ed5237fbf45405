//! What the scenarios have in common: tags in memory, a client, settings.
//!
//! **Invariants**: a path has one tag whoever asks first.

use millrace_admission::{Client, Config, CreateError, Created, Namespace, NewTag};
use millrace_model::{ClientNumber, Filter, Retention, Schema, Tag, TagId, WorkspaceNumber};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The tags of one workspace.
#[derive(Default)]
pub(crate) struct Tags(Mutex<HashMap<String, Arc<Tag>>>);

impl Tags {
    /// Takes over a definition from the journal.
    pub(crate) fn apply(&self, tag: Tag) {
        self.0.lock().unwrap().insert(tag.path.clone(), Arc::new(tag));
    }
}

impl Namespace for Tags {
    fn generation(&self) -> u64 {
        0
    }

    fn find(&self, _workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>> {
        self.0.lock().unwrap().get(path).cloned()
    }

    fn create(&self, request: NewTag<'_>) -> Result<Created, CreateError> {
        let mut tags = self.0.lock().unwrap();
        let id = TagId(u32::try_from(tags.len()).unwrap() + 1);
        if let Some(tag) = tags.get(request.path) {
            return Ok(Created { tag: Arc::clone(tag), is_new: false });
        }
        let tag = Arc::new(Tag {
            id,
            workspace: request.workspace,
            path: request.path.into(),
            kind: request.kind,
            unit: String::new(),
            description: String::new(),
            retention: request.retention,
            schema: Schema::default(),
            created: request.at,
            created_by: request.client,
        });
        tags.insert(request.path.into(), Arc::clone(&tag));
        Ok(Created { tag, is_new: true })
    }
}

/// A gate without rates.
pub(crate) fn config(retention: Retention) -> Config {
    Config {
        root: "mr/v1".into(),
        client_rate_per_s: 0,
        workspace_rate_per_s: 0,
        retention,
        submit_bytes_max: 4 << 20,
    }
}

/// Client `c<number>`, who may write everything below `press`.
pub(crate) fn client(number: u32) -> Client {
    Client {
        number: ClientNumber(number),
        id: format!("c{number}"),
        workspace: WorkspaceNumber(1),
        workspace_name: "main".into(),
        publish: vec![Filter::new("press/#").unwrap()],
        may_create: true,
        retention: None,
        rate_per_s: None,
    }
}
