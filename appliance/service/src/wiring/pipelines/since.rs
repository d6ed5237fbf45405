//! Since which record each deployed pipeline runs, read back from the journal at a start.
//!
//! The engine looks at the values behind its cursor again. Those that were stored before a
//! pipeline was deployed must start no run of it; those that an earlier revision had not yet
//! processed must.
//!
//! **Invariants**: in doubt a value starts a run: at least once.

use millrace_catalog::Marks;
use millrace_journal::Seq;
use millrace_model::{Definition, Record};
use std::collections::HashMap;

/// Found by one pass over the journal.
#[derive(Debug, Default)]
pub(in crate::wiring) struct Deployments {
    /// By pipeline: the seq at which it began to run, 0 = before the journal's first record;
    /// `None` = it does not run.
    began: HashMap<u32, Option<u64>>,
}

impl Deployments {
    /// Looks at a record; `marks` is fresh for each commit.
    pub(in crate::wiring) fn look(&mut self, seq: Seq, record: &Record<'_>, marks: &mut Marks) {
        if !marks.is_change(record) {
            return;
        }
        let Record::Definition(json) = record else { return };
        // Most definitions are tags: they need not be read.
        if !contains(json, b"\"deployment\"") {
            return;
        }
        if let Ok(Definition::Deployment(deployment)) = Definition::decode(json) {
            let before = self.began.get(&deployment.pipeline).copied();
            let began = deployment.revision.map(|_| match before {
                Some(Some(began)) => began,
                Some(None) => seq.0,
                None if deployment.previous.is_some() => 0,
                None => seq.0,
            });
            self.began.insert(deployment.pipeline, began);
        }
    }

    /// Since when a pipeline runs.
    pub(in crate::wiring) fn since(&self, pipeline: u32) -> u64 {
        self.began.get(&pipeline).copied().flatten().unwrap_or(0)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::{Deployment, Timestamp, WorkspaceNumber};

    fn look(found: &mut Deployments, seq: u64, revision: Option<u32>, previous: Option<u32>) {
        let deployment = Deployment {
            pipeline: 7,
            workspace: WorkspaceNumber(1),
            revision,
            previous,
            at: Timestamp(0),
            by: "local".into(),
            note: String::new(),
        };
        let json = Definition::Deployment(deployment).encode();
        found.look(Seq(seq), &Record::Definition(&json), &mut Marks::default());
    }

    #[test]
    fn a_new_revision_does_not_begin_anew_and_a_first_deployment_does() {
        let mut found = Deployments::default();
        assert_eq!(found.since(7), 0, "nothing is known: it ran before");
        look(&mut found, 10, Some(1), None);
        assert_eq!(found.since(7), 10);
        look(&mut found, 20, Some(2), Some(1));
        assert_eq!(found.since(7), 10, "what revision 1 had not done is done");
        look(&mut found, 30, None, Some(2));
        look(&mut found, 40, Some(2), Some(2));
        assert_eq!(found.since(7), 40);
    }

    #[test]
    fn a_deployment_of_one_that_ran_before_the_journal_begins_is_no_beginning() {
        let mut found = Deployments::default();
        look(&mut found, 50, Some(3), Some(2));
        assert_eq!(found.since(7), 0);
    }
}
