//! `http.request`: asks an HTTP server.
//!
//! Addresses of the box itself, loopback and link-local are refused unless the box's settings
//! allow them by name.
//!
//! **Invariants**: what proves who we are is a secret, never text.

use crate::kind::field::FieldForm::{Bool, Enum, Headers, Integer, Json, Map, Secret, Text};
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "http.request",
    summary: "Sends an HTTP request and gives `{ status, headers, body }`.",
    fields: &[
        FieldSpec::required("url", Text, "`http://` or `https://`; no user or password in it.")
            .evaluated(),
        FieldSpec::preset(
            "method",
            Enum(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]),
            "\"GET\"",
            "The method.",
        ),
        FieldSpec::preset(
            "query",
            Map,
            "{}",
            "Added to the URL, encoded; lists repeat their name; null and missing are \
             left out.",
        )
        .evaluated(),
        FieldSpec::preset(
            "headers",
            Headers,
            "{}",
            "Headers; those that carry credentials take `{ \"secret\": name }` only.",
        )
        .evaluated(),
        FieldSpec::optional(
            "body",
            Json,
            "Text is sent as it is, anything else as JSON. None if left out.",
        )
        .evaluated(),
        FieldSpec::optional(
            "content_type",
            Text,
            "The body's type. If left out: `application/json`, or `text/plain; \
             charset=utf-8` for text.",
        ),
        FieldSpec::optional("bearer", Secret, "Sent as `Authorization: Bearer ...`."),
        FieldSpec::optional(
            "user",
            Text,
            "User name for `Authorization: Basic ...`, with `password`.",
        ),
        FieldSpec::optional("password", Secret, "Password for `Authorization: Basic ...`."),
        FieldSpec::preset(
            "idempotency_key",
            Bool,
            "true",
            "Whether `Idempotency-Key: <run id>-<execution>` is sent, the same on every \
             attempt.",
        ),
        FieldSpec::preset(
            "answer",
            Enum(&["auto", "json", "text", "base64", "none"]),
            "\"auto\"",
            "How the body is read. `auto`: by its content type, text if in doubt.",
        ),
        FieldSpec::preset(
            "answer_size_bytes_max",
            Integer { least: 0, most: 8 * 1024 * 1024 },
            "1048576",
            "A larger body fails the step; no more than this is read.",
        ),
        FieldSpec::preset(
            "fail_on_status",
            Bool,
            "true",
            "Whether a status of 400 and above fails the step; 408, 425, 429 and 5xx are \
             tried again if `retry` says so.",
        ),
        FieldSpec::preset(
            "redirects_max",
            Integer { least: 0, most: 10 },
            "0",
            "How many redirects are followed; each target is checked like the first.",
        ),
        FieldSpec::optional(
            "tls_ca_pem",
            Text,
            "Certificates that are trusted, as PEM; the system's if left out.",
        ),
    ],
    check,
    ..ACTION
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::check_url(fields, &["http", "https"], complaints);
    if fields.contains_key("bearer") && fields.contains_key("password") {
        complaints.field("bearer", "and `password` cannot both be sent");
    }
    if fields.contains_key("password") != fields.contains_key("user") {
        complaints.field("user", "`user` and `password` are given together or not at all");
    }
}
