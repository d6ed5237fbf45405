//! The table of kinds: one file per kind, one line here.
//!
//! What a kind's own check needs of its fields' texts is here too.
//!
//! **Invariants**: the order is that of the designer's palette: triggers, transforms, logic,
//! actions, system.

mod call;
mod cast;
mod condition;
mod counter;
mod csv_format;
mod csv_parse;
mod deadband;
mod debounce;
mod dedupe;
mod delay;
mod edge;
mod enrich;
mod file_append;
mod filter;
mod foreach;
mod history_query;
mod http;
mod http_request;
mod issue;
mod issue_clear;
mod issue_raise;
mod javascript;
mod join;
mod json_format;
mod json_parse;
mod log;
mod lookup;
mod mail;
mod manual;
mod map;
mod merge;
mod mqtt_publish;
mod mqtt_subscribe;
mod schedule;
mod set;
mod split;
mod sql_execute;
mod sql_query;
mod startup;
mod stop;
mod switch;
mod throttle;
mod try_catch;
pub mod unit;
mod uns_last;
mod uns_publish;
mod uns_publish_batch;
mod uns_search;
mod uns_subscribe;
mod variable_get;
mod variable_set;
mod wait;
pub mod window;

use crate::expression::outline;
use crate::kind::{Complaints, Fields, Kind};
use serde_json::Value;

/// All kinds.
pub static ALL: &[&Kind] = &[
    &uns_subscribe::KIND,
    &schedule::KIND,
    &http::KIND,
    &manual::KIND,
    &mqtt_subscribe::KIND,
    &issue::KIND,
    &startup::KIND,
    &set::KIND,
    &map::KIND,
    &cast::KIND,
    &unit::KIND,
    &json_parse::KIND,
    &json_format::KIND,
    &csv_parse::KIND,
    &csv_format::KIND,
    &split::KIND,
    &join::KIND,
    &deadband::KIND,
    &dedupe::KIND,
    &throttle::KIND,
    &debounce::KIND,
    &window::KIND,
    &lookup::KIND,
    &enrich::KIND,
    &condition::KIND,
    &switch::KIND,
    &filter::KIND,
    &merge::KIND,
    &foreach::KIND,
    &javascript::KIND,
    &edge::KIND,
    &counter::KIND,
    &delay::KIND,
    &call::KIND,
    &try_catch::KIND,
    &stop::KIND,
    &wait::KIND,
    &http_request::KIND,
    &sql_query::KIND,
    &sql_execute::KIND,
    &mqtt_publish::KIND,
    &file_append::KIND,
    &mail::KIND,
    &log::KIND,
    &uns_publish::KIND,
    &uns_publish_batch::KIND,
    &uns_last::KIND,
    &uns_search::KIND,
    &history_query::KIND,
    &variable_get::KIND,
    &variable_set::KIND,
    &issue_raise::KIND,
    &issue_clear::KIND,
];

/// Exactly one of two fields is given.
fn exactly_one(fields: &Fields, names: [&'static str; 2], complaints: &mut Complaints) {
    if names.iter().filter(|name| fields.contains_key(**name)).count() != 1 {
        let [one, other] = names;
        complaints.step(format!("needs exactly one of `{one}` and `{other}`"));
    }
}

/// The field `url` has one of the schemes, a host, and no user or password in it. One that begins
/// with an expression is known at execution only.
fn check_url(fields: &Fields, schemes: &[&str], complaints: &mut Complaints) {
    let Some(url) = fields.get("url").and_then(Value::as_str) else { return };
    if url.starts_with("{{") {
        return;
    }
    let url = outline(url);
    let rest = url.split_once("://").filter(|(scheme, _)| schemes.contains(scheme));
    let Some((_, rest)) = rest else {
        return complaints.field("url", format!("must begin with {}://", schemes.join(":// or ")));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        complaints.field("url", "names no host");
    }
    if host.contains('@') {
        complaints.field("url", "holds a user or password: those have fields of their own");
    }
}

/// A file lies below the allowed folder, as far as its text tells.
fn check_file(field: &'static str, file: &str, complaints: &mut Complaints) {
    let file = outline(file);
    let is_outside = file.starts_with(['/', '\\', '~'])
        || file.contains(['\\', '\0'])
        || file.chars().nth(1) == Some(':')
        || file.split('/').any(|level| level == ".." || level == ".");
    if file.is_empty() || file.ends_with('/') || is_outside {
        complaints.field(
            field,
            "names a file relative to the allowed folder: no `..`, `\\`, drive or `/` in \
             front",
        );
    }
}

/// The fields `separator` and `quote` are one ASCII character each, and differ.
fn check_separators(fields: &Fields, complaints: &mut Complaints) {
    let text = |name, default| fields.get(name).and_then(Value::as_str).unwrap_or(default);
    let (separator, quote) = (text("separator", ","), text("quote", "\""));
    for (name, mark) in [("separator", separator), ("quote", quote)] {
        let is_one = mark.len() == 1 && mark.is_ascii() && !mark.contains(['\n', '\r']);
        if !is_one {
            complaints.field(name, "is one ASCII character");
        }
    }
    if separator == quote {
        complaints.field("quote", "is the separator");
    }
}

pub(crate) fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= 100 && name.bytes().all(is_token)
}

/// Headers that carry credentials, in lower case.
const CREDENTIALS: &[&str] =
    &["authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "api-key"];

/// Whether a header carries credentials, and so takes a secret only.
pub(crate) fn carries_credentials(name: &str) -> bool {
    CREDENTIALS.contains(&name.to_ascii_lowercase().as_str())
}
