//! Verdicts as JSON, for the response topic and for `_verdict/<client id>`.
//!
//! ```text
//! {"stored":true,"seq":17}
//! {"stored":false,"reason":"rate_limited","message":"this client is over its rate limit"}
//! {"stored":1,"refused":1,"elements":[{"stored":true,"seq":18},{"path":"b","stored":false,..}]}
//! ```
//! A verdict that nobody asked for carries `"topic"` as well, so that it can be told apart.
//!
//! **Invariants**: written only after what it says is durable.

use std::fmt::Write as _;

use bytes::Bytes;
use millrace_journal::Seq;
use millrace_model::Refusal;
use millrace_model::json::write_string;

use super::acknowledge::Outcome;

/// The verdict's text. `submit_first` is the seq of the submit's record 0.
pub(crate) fn json(outcome: &Outcome, seq: Seq, submit_first: Seq, topic: Option<&str>) -> Bytes {
    let mut text = String::with_capacity(96);
    text.push('{');
    if let Some(topic) = topic {
        text.push_str("\"topic\":");
        write_string(topic, &mut text);
        text.push(',');
    }
    match outcome {
        Outcome::Stored => stored(seq, &mut text),
        Outcome::Refused(refusal) => refused(refusal, &mut text),
        Outcome::Batch(batch) => {
            let stored_count = batch.stored_count();
            put_number(&mut text, "\"stored\":", stored_count as u64);
            put_number(&mut text, ",\"refused\":", (batch.elements.len() - stored_count) as u64);
            text.push_str(",\"elements\":[");
            for (place, element) in batch.elements.iter().enumerate() {
                text.push_str(if place == 0 { "{" } else { ",{" });
                if let Some(path) = &element.path {
                    text.push_str("\"path\":");
                    write_string(path, &mut text);
                    text.push(',');
                }
                match &element.verdict {
                    Ok(record) => stored(Seq(submit_first.0 + u64::from(*record)), &mut text),
                    Err(refusal) => refused(refusal, &mut text),
                }
                text.push('}');
            }
            text.push(']');
        }
    }
    text.push('}');
    text.into()
}

fn stored(seq: Seq, text: &mut String) {
    put_number(text, "\"stored\":true,\"seq\":", seq.0);
}

fn refused(refusal: &Refusal, text: &mut String) {
    text.push_str("\"stored\":false,\"reason\":\"");
    text.push_str(refusal.reason.name());
    text.push_str("\",\"message\":");
    write_string(refusal.sentence(), text);
}

fn put_number(text: &mut String, name: &str, number: u64) {
    // Writing to a String cannot fail.
    let _infallible = write!(text, "{name}{number}");
}
