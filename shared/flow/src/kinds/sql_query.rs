//! `sql.query`: reads from a database. Its connection fields are those of `sql.execute` too.
//!
//! **Invariants**: the statement is fixed; values are bound as parameters, never pasted in.

use crate::kind::field::FieldForm::{Enum, Integer, Json, List, Secret, Sql, Text};
use crate::kind::field::TCP_PORT;
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(super) const DRIVER: FieldSpec = FieldSpec::preset(
    "driver",
    Enum(&["postgres", "sqlite"]),
    "\"postgres\"",
    "PostgreSQL over the network, or a SQLite file in a folder that the box's \
             settings allow.",
);
pub(super) const HOST: FieldSpec = FieldSpec::optional("host", Text, "PostgreSQL: the host.");
pub(super) const PORT: FieldSpec =
    FieldSpec::preset("port", TCP_PORT, "5432", "PostgreSQL: the port.");
pub(super) const DATABASE: FieldSpec =
    FieldSpec::optional("database", Text, "PostgreSQL: the database.");
pub(super) const USER: FieldSpec = FieldSpec::optional("user", Text, "PostgreSQL: the user.");
pub(super) const PASSWORD: FieldSpec =
    FieldSpec::optional("password", Secret, "PostgreSQL: the password.");
pub(super) const TLS: FieldSpec = FieldSpec::preset(
    "tls",
    Enum(&["verify", "require", "off"]),
    "\"verify\"",
    "PostgreSQL: TLS with the server's certificate checked, unchecked, or none.",
);
pub(super) const TLS_CA_PEM: FieldSpec = FieldSpec::optional(
    "tls_ca_pem",
    Text,
    "PostgreSQL: certificates that are trusted, as PEM; the system's if left \
             out.",
);
pub(super) const FILE: FieldSpec =
    FieldSpec::optional("file", Text, "SQLite: the file, relative to the allowed folder.");
pub(super) const STATEMENT: FieldSpec = FieldSpec::required(
    "sql",
    Sql,
    "One statement; parameters are `$1`, `$2`, ... (SQLite: `?1`, `?2`, ... \
             too). It is fixed: expressions are not evaluated in it.",
);
pub(super) const PARAMETERS: FieldSpec = FieldSpec::preset(
    "parameters",
    List(&Json),
    "[]",
    "Values of the placeholders in order. Objects and lists are bound as JSON.",
)
.evaluated();

pub(crate) static KIND: Kind = Kind {
    name: "sql.query",
    summary: "Reads rows from PostgreSQL or a SQLite file: `{ rows, is_cut }`.",
    fields: &[
        DRIVER,
        HOST,
        PORT,
        DATABASE,
        USER,
        PASSWORD,
        TLS,
        TLS_CA_PEM,
        FILE,
        STATEMENT,
        PARAMETERS,
        FieldSpec::preset(
            "rows_max",
            Integer { least: 1, most: 10_000 },
            "1000",
            "Rows beyond this are left out, and `is_cut` is true.",
        ),
    ],
    check,
    ..ACTION
};

pub(super) fn check(fields: &Fields, complaints: &mut Complaints) {
    let driver = fields.get("driver").and_then(serde_json::Value::as_str).unwrap_or("postgres");
    let (needed, foreign): (&[&'static str], &[&'static str]) = match driver {
        "sqlite" => {
            (&["file"], &["host", "port", "database", "user", "password", "tls", "tls_ca_pem"])
        }
        "postgres" => (&["host", "database", "user"], &["file"]),
        // The word itself is wrong: what it needs is not known.
        _ => return,
    };
    for name in needed.iter().filter(|name| !fields.contains_key(**name)) {
        complaints.field(name, format!("is needed by the driver `{driver}`"));
    }
    for name in foreign.iter().filter(|name| fields.contains_key(**name)) {
        complaints.field(name, format!("has no meaning with the driver `{driver}`"));
    }
    if let Some(file) = fields.get("file").and_then(serde_json::Value::as_str) {
        super::check_file("file", file, complaints);
    }
}
