//! What live subscribers receive for a stored sample:
//! `{"value":42.7,"timestamp":"…","received":"…","quality":0}`.

use bytes::Bytes;
use millrace_model::SampleRecord;

/// The JSON of a live message. 64-bit integers keep all digits; see `ValueRef::write_json`.
pub(super) fn live_payload(sample: &SampleRecord<'_>) -> Bytes {
    let mut text = String::with_capacity(128);
    text.push_str("{\"value\":");
    sample.value.write_json(&mut text);
    text.push_str(",\"timestamp\":\"");
    text.push_str(&sample.source_time.to_rfc3339());
    text.push_str("\",\"received\":\"");
    text.push_str(&sample.receive_time.to_rfc3339());
    text.push_str("\",\"quality\":");
    text.push_str(&sample.quality.0.to_string());
    text.push('}');
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::{ClientNumber, Quality, TagId, Timestamp, ValueRef};

    #[test]
    fn a_live_message_keeps_all_digits() {
        let sample = SampleRecord {
            tag: TagId(1),
            client: ClientNumber(1),
            source_time: Timestamp(1_500_000_000),
            receive_time: Timestamp(2_000_000_001),
            quality: Quality::UNCERTAIN,
            has_source_time: true,
            hops: 0,
            value: ValueRef::UInt(u64::MAX),
        };
        assert_eq!(
            live_payload(&sample),
            r#"{"value":18446744073709551615,"timestamp":"1970-01-01T00:00:01.5Z","received":"1970-01-01T00:00:02.000000001Z","quality":1073741824}"#
        );
    }
}
