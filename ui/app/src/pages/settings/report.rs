//! The report for support: what the appliance tells of itself to a viewer, as one JSON file.
//!
//! **Invariants**
//! - It holds answers of the API that carry neither secrets nor values, and nothing else.
//! - It is whole or it is not saved.

use crate::api::{Api, Result};
use millrace_model::Timestamp;
use serde_json::{Map, Value};

/// What is in it: its name there, and its address.
const PARTS: &[(&str, &str)] = &[
    ("version", "version"),
    ("system", "system"),
    ("overview", "overview"),
    ("settings", "config"),
    ("issues", "issues"),
    ("ledger", "ledger"),
];

/// Asks for all parts and writes the report.
pub(super) async fn gather(api: &Api) -> Result<String> {
    let mut report = Map::new();
    report.insert("millrace_report".to_owned(), Value::from(1));
    for (name, address) in PARTS {
        let part: Value = api.get(&[address], &[]).await?;
        report.insert((*name).to_owned(), part);
    }
    Ok(format!("{:#}\n", Value::Object(report)))
}

/// `millrace-report-20261130T120000Z.json`.
pub(super) fn file_name(now: Timestamp) -> String {
    let digits = now.to_rfc3339();
    let digits: String = digits.chars().take(19).filter(|c| c.is_alphanumeric()).collect();
    format!("millrace-report-{digits}Z.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_by_its_time() {
        let now = Timestamp::from_rfc3339("2026-11-30T12:00:07.5Z").unwrap();
        assert_eq!(file_name(now), "millrace-report-20261130T120007Z.json");
    }
}
