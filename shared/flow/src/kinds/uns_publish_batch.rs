//! `uns.publish_batch`: publishes many values in one commit.

use crate::kind::field::FieldForm::{Json, Path};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "uns.publish_batch",
    group: Group::System,
    summary: "Publishes many values in one commit, all or none, and passes the input on; if \
             one is refused, the step fails and lists what was refused.",
    fields: &[
        FieldSpec::preset(
            "values",
            Json,
            "\"{{ $item }}\"",
            "A list of `{ path, value, time, quality }` (the last two may be left out), \
             or an object of path to value; 10,000 at most.",
        )
        .evaluated(),
        FieldSpec::optional("prefix", Path, "Put in front of each path, with `/` between.")
            .evaluated(),
    ],
    ..PLAIN
};
