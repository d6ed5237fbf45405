//! `mail`: sends a mail through an SMTP server.
//!
//! **Invariants**: no password goes over a connection without TLS.

use crate::kind::field::FieldForm::{Enum, Secret, Text};
use crate::kind::field::{TCP_PORT, TEXTS};
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};
use serde_json::Value;

/// Most recipients of one mail, all kinds together.
const RECIPIENTS_MAX: usize = 100;

pub(crate) static KIND: Kind = Kind {
    name: "mail",
    summary: "Sends a mail through an SMTP server.",
    fields: &[
        FieldSpec::required("host", Text, "The SMTP server."),
        FieldSpec::preset("port", TCP_PORT, "587", "Its port."),
        FieldSpec::preset(
            "tls",
            Enum(&["starttls", "tls", "off"]),
            "\"starttls\"",
            "TLS after a greeting, from the first byte (port 465), or none.",
        ),
        FieldSpec::optional(
            "tls_ca_pem",
            Text,
            "Certificates that are trusted, as PEM; the system's if left out.",
        ),
        FieldSpec::optional("user", Text, "User name."),
        FieldSpec::optional("password", Secret, "Password."),
        FieldSpec::required("from", Text, "Sender."),
        FieldSpec::required("to", TEXTS, "Recipients.").evaluated(),
        FieldSpec::preset("cc", TEXTS, "[]", "Copies.").evaluated(),
        FieldSpec::preset("bcc", TEXTS, "[]", "Hidden copies.").evaluated(),
        FieldSpec::optional("reply_to", Text, "Where answers go.").evaluated(),
        FieldSpec::required("subject", Text, "Subject; line breaks become spaces.").evaluated(),
        FieldSpec::required("text", Text, "The text.").evaluated(),
    ],
    check,
    ..ACTION
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let count = |name| fields.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    let recipients = count("to") + count("cc") + count("bcc");
    if recipients > RECIPIENTS_MAX {
        complaints.field("to", format!("{recipients} recipients, {RECIPIENTS_MAX} at most"));
    }
    if fields.get("to").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        complaints.field("to", "names no recipient");
    }
    if fields.contains_key("password") != fields.contains_key("user") {
        complaints.field("user", "`user` and `password` are given together or not at all");
    }
    if fields.contains_key("password") && fields.get("tls").and_then(Value::as_str) == Some("off") {
        complaints.field("tls", "a password is not sent without TLS");
    }
}
