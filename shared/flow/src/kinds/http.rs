//! `http`: a webhook.
//!
//! The trigger's datum: `{ method, path, query, headers, body, json }`.
//!
//! **Invariants**: a webhook always has a secret.

use crate::kind::field::FieldForm::{Duration, Enum, Integer, List, Secret, Text};
use crate::kind::{Complaints, FieldForm, FieldSpec, Fields, Kind, TRIGGER};

const METHOD: FieldForm = Enum(&["GET", "POST", "PUT", "PATCH", "DELETE"]);
/// Longest path of a webhook.
const PATH_BYTES_MAX: usize = 200;

pub(crate) static KIND: Kind = Kind {
    name: "http",
    summary: "Starts a run for an HTTP request to the workspace's hook path.",
    fields: &[
        FieldSpec::required(
            "path",
            Text,
            "Path below the workspace's hooks: `orders/new`. Lower-case letters, digits, \
             `-`, `_`, `.`, `/`; unique in the workspace.",
        ),
        FieldSpec::preset(
            "methods",
            List(&METHOD),
            "[\"POST\"]",
            "Methods that are answered; others get 405.",
        ),
        FieldSpec::required(
            "secret",
            Secret,
            "What a caller must know; without it the answer is 401.",
        ),
        FieldSpec::preset(
            "secret_header",
            Text,
            "\"authorization\"",
            "Header that carries the secret: as `Bearer <secret>` in `authorization`, \
             bare in any other.",
        ),
        FieldSpec::preset(
            "answer",
            Enum(&["at_once", "result"]),
            "\"at_once\"",
            "`at_once`: 202 with the run's id as soon as the run is durable. `result`: \
             200 with what the run gives, 500 if it fails.",
        ),
        FieldSpec::preset(
            "answer_within_ms",
            Duration { least_ms: 100, most_ms: 60_000 },
            "10000",
            "With `result`: 504 with the run's id after this time; the run goes on.",
        ),
        FieldSpec::preset(
            "body_size_bytes_max",
            Integer { least: 0, most: 4 * 1024 * 1024 },
            "1048576",
            "A larger body gets 413 and starts nothing.",
        ),
    ],
    check,
    ..TRIGGER
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let Some(path) = fields.get("path").and_then(serde_json::Value::as_str) else { return };
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    let is_level = |level: &str| {
        !level.is_empty() && level.bytes().all(is_plain) && !level.trim_matches('.').is_empty()
    };
    if path.len() > PATH_BYTES_MAX || !path.split('/').all(is_level) {
        complaints.field(
            "path",
            format!(
                "takes lower-case letters, digits, `-`, `_`, `.` in levels with `/` between, \
             {PATH_BYTES_MAX} bytes at most"
            ),
        );
    }
    if let Some(header) = fields.get("secret_header").and_then(serde_json::Value::as_str)
        && !super::is_header_name(header)
    {
        complaints.field("secret_header", "is no name of an HTTP header");
    }
}
