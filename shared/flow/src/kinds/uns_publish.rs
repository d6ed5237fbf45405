//! `uns.publish`: publishes a value into the workspace.
//!
//! It goes through admission like a device's value and is durable with the end of the run; running
//! the same run again stores it once.

use crate::kind::field::FieldForm::{Json, Path};
use crate::kind::{FieldSpec, Group, Kind, PLAIN};

pub(crate) static KIND: Kind = Kind {
    name: "uns.publish",
    group: Group::System,
    summary: "Publishes a value on a tag of the workspace, and passes the input on.",
    fields: &[
        FieldSpec::required(
            "path",
            Path,
            "The tag's path below the workspace; the tag is created if it is not there.",
        )
        .evaluated(),
        FieldSpec::VALUE,
        FieldSpec::optional(
            "time",
            Json,
            "Source time: RFC 3339, or a number since 1970. If left out: the trigger's \
             source time if a value started the run, else the time of receipt.",
        )
        .evaluated(),
        FieldSpec::optional(
            "quality",
            Json,
            "`good`, `uncertain`, `bad`, or an OPC UA status code. If left out: the \
             trigger's if a value started the run, else good.",
        )
        .evaluated(),
    ],
    ..PLAIN
};
