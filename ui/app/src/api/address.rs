//! Addresses of the API, with every part percent-encoded as a whole.
//!
//! **Invariants**
//! - Whatever a name holds, it stays one segment or one parameter.

use std::fmt::Write as _;

/// The address of something below `/api/v1`.
pub(super) fn below_api(segments: &[&str], query: &[(&str, &str)]) -> String {
    let mut address = "/api/v1".to_owned();
    for segment in segments {
        address.push('/');
        encode(segment, &mut address);
    }
    for (at, (name, value)) in query.iter().enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        encode(name, &mut address);
        address.push('=');
        encode(value, &mut address);
    }
    address
}

/// RFC 3986: everything but unreserved characters. A segment of dots alone is encoded too, since
/// browsers would walk up the path at it.
fn encode(text: &str, into: &mut String) {
    let only_dots = text.bytes().all(|byte| byte == b'.');
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
        if plain || (byte == b'.' && !only_dots) {
            into.push(char::from(byte));
        } else {
            // Writing into a text cannot fail.
            let _written = write!(into, "%{byte:02X}").is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::below_api;

    #[test]
    fn keeps_a_name_in_its_segment() {
        assert_eq!(below_api(&["clients", "a/b?c#d e"], &[]), "/api/v1/clients/a%2Fb%3Fc%23d%20e");
        assert_eq!(below_api(&["clients", "ünï"], &[]), "/api/v1/clients/%C3%BCn%C3%AF");
    }

    #[test]
    fn keeps_a_value_in_its_parameter() {
        let address = below_api(&["tags"], &[("prefix", "a&limit=1"), ("limit", "5")]);
        assert_eq!(address, "/api/v1/tags?prefix=a%26limit%3D1&limit=5");
    }

    #[test]
    fn encodes_dots_that_a_browser_would_walk() {
        assert_eq!(below_api(&["clients", ".."], &[]), "/api/v1/clients/%2E%2E");
        assert_eq!(below_api(&["clients", "v1.2"], &[]), "/api/v1/clients/v1.2");
    }
}
