//! The audit trail's words: who and what, for a person; and the trail as CSV.
//!
//! **Invariants**
//! - What this version does not know is shown as the appliance says it.
//! - A cell of the CSV cannot become a formula in a spreadsheet.

use crate::words::{Message, access};
use millrace_contract::v1;

const DEEDS: &[(&str, Message)] = &[
    ("box.claim", access::DID_CLAIM),
    ("login.failed", access::DID_LOGIN_FAIL),
    ("person.create", access::DID_PERSON_CREATE),
    ("person.role", access::DID_PERSON_ROLE),
    ("person.password", access::DID_PERSON_PASSWORD),
    ("person.disable", access::DID_PERSON_DISABLE),
    ("person.enable", access::DID_PERSON_ENABLE),
    ("client.create", access::DID_CLIENT_CREATE),
    ("client.renew", access::DID_CLIENT_RENEW),
    ("client.revoke", access::DID_CLIENT_REVOKE),
    ("client.rights", access::DID_CLIENT_RIGHTS),
    ("tag.import", access::DID_TAG_IMPORT),
    ("value.publish", access::DID_VALUE_PUBLISH),
    ("view.keep", access::DID_VIEW_KEEP),
    ("view.remove", access::DID_VIEW_REMOVE),
    ("tag.create", access::DID_TAG_CREATE),
    ("tag.change", access::DID_TAG_CHANGE),
    ("pipeline.save", access::DID_PIPELINE_SAVE),
    ("pipeline.deploy", access::DID_PIPELINE_DEPLOY),
    ("pipeline.undeploy", access::DID_PIPELINE_UNDEPLOY),
    ("pipeline.rollback", access::DID_PIPELINE_ROLLBACK),
    ("pipeline.remove", access::DID_PIPELINE_REMOVE),
    ("run.cancel", access::DID_RUN_CANCEL),
    ("secret.set", access::DID_SECRET_SET),
    ("secret.remove", access::DID_SECRET_REMOVE),
    ("variable.set", access::DID_VARIABLE_SET),
    ("variable.remove", access::DID_VARIABLE_REMOVE),
    ("sizing.set", access::DID_SIZING_SET),
    ("sizing.clear", access::DID_SIZING_CLEAR),
    ("sizing.calibrate", access::DID_SIZING_CALIBRATE),
    ("sizing.cancel", access::DID_SIZING_CANCEL),
];

/// What was done, if this version has words for it.
pub(super) fn deed(action: &str) -> Option<Message> {
    DEEDS.iter().find(|(known, _)| *known == action).map(|(_, message)| *message)
}

/// Who did it: a message, or a name as it is.
pub(super) fn who(who: &str) -> Result<Message, &str> {
    match who {
        "local" => Ok(access::LOCAL),
        "nobody" => Ok(access::NOBODY),
        other => Err(other.strip_prefix("user:").unwrap_or(other)),
    }
}

/// The lines as CSV, with ISO times and the appliance's own words.
pub(super) fn csv(lines: &[v1::AuditEntry]) -> String {
    let mut text = String::from("at,who,action,subject,from\r\n");
    for line in lines {
        let from = line.from.as_deref().unwrap_or_default();
        text.push_str(&row(&[&line.at, &line.who, &line.action, &line.subject, from]));
    }
    text
}

/// One row of a CSV file (RFC 4180).
pub(super) fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

/// A cell in quotes where it needs them; one that a spreadsheet would compute is made a text.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if is_formula || text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_who_and_what_in_words_or_as_it_is() {
        assert_eq!(deed("client.revoke"), Some(access::DID_CLIENT_REVOKE));
        assert_eq!(deed("hologram.project"), None);
        assert_eq!(who("user:anna"), Err("anna"));
        assert_eq!(who("client:press-4"), Err("client:press-4"));
        assert_eq!(who("local"), Ok(access::LOCAL));
    }

    #[test]
    fn no_deed_is_told_twice() {
        for (at, (action, _)) in DEEDS.iter().enumerate() {
            assert!(DEEDS.iter().skip(at + 1).all(|(other, _)| other != action), "{action}");
        }
    }

    #[test]
    fn a_cell_of_the_csv_is_a_text_and_nothing_else() {
        let line = v1::AuditEntry {
            at: "2026-11-30T12:00:00Z".to_owned(),
            who: "user:o\"neil".to_owned(),
            action: "tag.create".to_owned(),
            subject: "=cmd|' /C calc'!A0,x".to_owned(),
            from: None,
        };
        let expected = "at,who,action,subject,from\r\n2026-11-30T12:00:00Z,\"user:o\"\"neil\",\
                        tag.create,\"'=cmd|' /C calc'!A0,x\",\r\n";
        assert_eq!(csv(&[line]), expected);
    }
}
