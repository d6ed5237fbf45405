//! `mqtt.subscribe`: a run for each message of another broker.
//!
//! The trigger's datum: `{ topic, payload, json, qos, retain }`. A message of QoS 1 or 2 is
//! acknowledged to its broker when the run is durable.

use crate::kind::field::FieldForm::{Bool, Duration, Enum, Integer, List, Secret, Text};
use crate::kind::{Complaints, FieldForm, FieldSpec, Fields, Kind, TRIGGER};

pub(crate) static KIND: Kind = Kind {
    name: "mqtt.subscribe",
    summary: "Starts a run for each message that an external MQTT broker sends.",
    fields: &[
        FieldSpec::required(
            "url",
            Text,
            "The broker: `mqtt://host:1883`, or `mqtts://host:8883` for TLS.",
        ),
        FieldSpec::required("filters", List(&FieldForm::Filter), "Topic filters, 1 to 100."),
        FieldSpec::preset(
            "qos",
            Integer { least: 0, most: 2 },
            "1",
            "Highest QoS that is asked for.",
        ),
        FieldSpec::optional(
            "client_id",
            Text,
            "Client id; `millrace-<pipeline>-<step>` if left out.",
        ),
        FieldSpec::optional("user", Text, "User name."),
        FieldSpec::optional("password", Secret, "Password."),
        FieldSpec::optional(
            "tls_ca_pem",
            Text,
            "Certificates that are trusted, as PEM; the system's if left out.",
        ),
        FieldSpec::preset(
            "keep_alive_ms",
            Duration { least_ms: 5_000, most_ms: 3_600_000 },
            "30000",
            "Longest silence before the connection is tested.",
        ),
        FieldSpec::preset(
            "clean_start",
            Bool,
            "false",
            "Whether the broker forgets what it kept for this client id.",
        ),
        FieldSpec::preset(
            "payload",
            Enum(&["auto", "json", "text", "base64"]),
            "\"auto\"",
            "How `payload` is read. `auto`: JSON if it is JSON, else text if it is \
             UTF-8, else base64. `json`: what is no JSON starts no run and is counted.",
        ),
    ],
    check,
    ..TRIGGER
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::check_url(fields, &["mqtt", "mqtts"], complaints);
    let filters = fields.get("filters").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    if filters == 0 || filters > 100 {
        complaints.field("filters", format!("takes 1 to 100 filters, not {filters}"));
    }
}
