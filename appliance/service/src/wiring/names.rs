//! The catalog's namespace as admission and the historian ask for it.

use millrace_admission as admission;
use millrace_catalog as catalog;
use millrace_historian as historian;
use millrace_model::{ClientNumber, Retention, Tag, TagId, WorkspaceNumber};
use std::sync::Arc;

/// The namespace for admission.
pub(super) struct Names {
    pub(super) namespace: Arc<catalog::Namespace>,
    pub(super) client_tags_max: u32,
}

impl admission::Namespace for Names {
    fn generation(&self) -> u64 {
        self.namespace.generation()
    }

    fn find(&self, workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>> {
        self.namespace.find(workspace, path)
    }

    fn create(
        &self,
        request: admission::NewTag<'_>,
    ) -> Result<admission::Created, admission::CreateError> {
        let new = catalog::NewTag {
            workspace: request.workspace,
            path: request.path,
            kind: request.kind,
            retention: request.retention,
            by: request.client,
            now: request.at,
            // What pipelines derive is held against the box's quota alone.
            client_tags_max: match request.client {
                admission::THE_BOX => u32::MAX,
                _ => self.client_tags_max,
            },
        };
        match self.namespace.create(new) {
            Ok((tag, is_new)) => Ok(admission::Created { tag, is_new }),
            Err(catalog::CreateError::ClientQuota { max }) => {
                Err(admission::CreateError::ClientQuota { limit: max })
            }
            Err(catalog::CreateError::BoxQuota { max }) => {
                Err(admission::CreateError::BoxQuota { limit: max })
            }
            Err(catalog::CreateError::NumbersExhausted) => {
                Err(admission::CreateError::BoxQuota { limit: catalog::TAG_NUMBER_MAX })
            }
        }
    }
}

/// The namespace for the historian.
pub(super) struct Classes(pub(super) Arc<catalog::Namespace>);

impl historian::Tags for Classes {
    fn retention(&self, tag: TagId) -> Retention {
        self.0.retention(tag)
    }
}

/// Moves the ledger's counts when the historian finds late that values were there already.
pub(super) struct Reclassify(pub(super) Arc<admission::Ledger>);

impl historian::Reclassified for Reclassify {
    fn reclassified(&self, client: ClientNumber, redelivered: u64, superseded: u64) {
        self.0.reclassify(client, redelivered);
        self.0.supersede(client, superseded);
    }
}
