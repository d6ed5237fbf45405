//! `try`: guards a branch.

use crate::kind::{Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "try",
    group: Group::Logic,
    summary: "Runs the branch at `body`; if a step in it fails, `{ error, item }` goes \
             out at `caught`, else what the branch gave last at `done`.",
    ports: &["body", "caught", "done"],
    timeout_ms: None,
    ..PLAIN
};
