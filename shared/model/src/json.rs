//! Writing JSON text without a tree, for verdicts and live payloads.

/// Appends `text` as a JSON string with its quotes (RFC 8259, section 7).
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                use std::fmt::Write as _;
                // Writing to a String cannot fail.
                let _infallible = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
