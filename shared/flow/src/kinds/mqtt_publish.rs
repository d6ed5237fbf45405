//! `mqtt.publish`: publishes to another broker.

use crate::kind::field::FieldForm::{Bool, Enum, Integer, Secret, Text, Topic};
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "mqtt.publish",
    summary: "Publishes to an external MQTT broker; done when the broker has acknowledged \
             it.",
    fields: &[
        FieldSpec::required(
            "url",
            Text,
            "The broker: `mqtt://host:1883`, or `mqtts://host:8883` for TLS.",
        ),
        FieldSpec::required("topic", Topic, "The topic.").evaluated(),
        FieldSpec::VALUE,
        FieldSpec::preset(
            "payload",
            Enum(&["auto", "json", "base64"]),
            "\"auto\"",
            "How `value` becomes bytes. `auto`: text as it is, anything else as JSON. \
             `base64`: text is decoded.",
        ),
        FieldSpec::preset(
            "qos",
            Integer { least: 0, most: 2 },
            "1",
            "The QoS. With 0 it is done when it is sent.",
        ),
        FieldSpec::preset(
            "retain",
            Bool,
            "false",
            "Whether the broker keeps it for new subscribers.",
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
    ],
    check,
    ..ACTION
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    super::check_url(fields, &["mqtt", "mqtts"], complaints);
}
