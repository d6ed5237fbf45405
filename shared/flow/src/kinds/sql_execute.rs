//! `sql.execute`: changes a database.
//!
//! **Invariants**: as `sql.query`; the statement of one execution is one transaction.

use super::sql_query::{
    DATABASE, DRIVER, FILE, HOST, PARAMETERS, PASSWORD, PORT, STATEMENT, TLS, TLS_CA_PEM, USER,
    check,
};
use crate::kind::field::FieldForm::Json;
use crate::kind::{ACTION, Complaints, FieldSpec, Fields, Kind};

pub(crate) static KIND: Kind = Kind {
    name: "sql.execute",
    summary: "Changes a PostgreSQL database or a SQLite file: `{ affected }`.",
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
        FieldSpec::optional(
            "parameter_lists",
            Json,
            "A list of lists of parameters instead of `parameters`, at most 10,000: the \
             statement is executed for each, all in one transaction.",
        )
        .evaluated(),
    ],
    check: check_lists,
    ..ACTION
};

fn check_lists(fields: &Fields, complaints: &mut Complaints) {
    check(fields, complaints);
    if fields.contains_key("parameters") && fields.contains_key("parameter_lists") {
        complaints.field("parameter_lists", "stands instead of `parameters`, not beside it");
    }
}
