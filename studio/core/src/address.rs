//! The address of an appliance as a person types it: `https://box:8443`, or just `box`.
//!
//! **Invariants**: an address holds scheme, host and port and nothing else, so no path, user or
//! query of a pasted text reaches a request.

use crate::fault::{Fault, Result};
use crate::limits::ADDRESS_BYTES_MAX;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::{Host, Url};

/// The port of HTTP that the appliance's documentation names.
const PLAIN_PORT: u16 = 8080;
/// The port of HTTPS that the appliance's documentation names.
const TLS_PORT: u16 = 8443;

/// Where an appliance answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    is_tls: bool,
    host: String,
    port: u16,
    is_loopback: bool,
}

impl Address {
    /// Reads what a person typed: a host with or without scheme and port.
    ///
    /// # Errors
    /// A sentence that says what is not right.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        if text.len() > ADDRESS_BYTES_MAX {
            return Err(format!("An address has at most {ADDRESS_BYTES_MAX} bytes."));
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let url = Url::parse(&whole).map_err(|fault| format!("This is no address: {fault}."))?;
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            other => {
                return Err(format!("An address begins with https:// or http://, not {other}."));
            }
        };
        let has_more = !matches!(url.path(), "" | "/")
            || url.query().is_some()
            || url.fragment().is_some()
            || !url.username().is_empty()
            || url.password().is_some();
        if has_more {
            return Err("An address is scheme, host and port only: https://box:8443.".to_owned());
        }
        let host = url.host().ok_or("The address has no host.")?;
        let is_loopback = match &host {
            Host::Domain(name) => *name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let port = explicit_port(&whole).unwrap_or(if is_tls { TLS_PORT } else { PLAIN_PORT });
        Ok(Self { is_tls, host: host.to_string(), port, is_loopback })
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Whether it is this computer itself.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// The host without the brackets of an IPv6 address.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, as the `Host` header has it.
    #[must_use]
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Refuses to send passwords in the clear, unless somebody decided that.
    pub(crate) fn check_plain(&self, plain_allowed: bool) -> Result<()> {
        if self.is_tls || self.is_loopback || plain_allowed {
            return Ok(());
        }
        Err(Fault::invalid(
            "address",
            "Without https, everybody on the way can read the password. Use https://, or allow it \
             for this appliance by name.",
        ))
    }
}

/// The port as typed: a URL drops the one that its scheme has by default.
fn explicit_port(whole: &str) -> Option<u16> {
    let rest = whole.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let port = authority.rsplit_once(':')?.1;
    port.parse().ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl TryFrom<String> for Address {
    type Error = String;
    fn try_from(text: String) -> std::result::Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, whole: &str) {
        let address = Address::parse(typed).unwrap();
        assert_eq!(address.to_string(), whole, "{typed}");
        assert_eq!(Address::parse(whole).unwrap(), address, "it reads back");
    }

    #[test]
    fn reads_what_people_type() {
        check("box", "https://box:8443");
        check(" https://Box.Example/ ", "https://box.example:8443");
        check("https://box:443", "https://box:443");
        check("http://127.0.0.1", "http://127.0.0.1:8080");
        check("http://127.0.0.1:80", "http://127.0.0.1:80");
        check("10.0.0.7:9000", "https://10.0.0.7:9000");
        check("[::1]:9", "https://[::1]:9");
        check("https://[fe80::1]", "https://[fe80::1]:8443");
    }

    #[test]
    fn refuses_what_is_more_than_an_address() {
        for (typed, why) in [
            ("ftp://box", "https:// or http://"),
            ("https://box/api", "scheme, host and port"),
            ("https://anna:x@box", "scheme, host and port"),
            ("https://box?x", "scheme, host and port"),
            ("", "no address"),
            ("https://a b", "no address"),
            ("box:99999", "no address"),
        ] {
            let said = Address::parse(typed).unwrap_err();
            assert!(said.contains(why), "{typed}: {said}");
        }
        assert!(Address::parse(&"a".repeat(600)).unwrap_err().contains("512"));
    }

    #[test]
    fn a_password_goes_in_the_clear_only_to_this_computer_or_by_decision() {
        let plain = Address::parse("http://10.0.0.7").unwrap();
        assert_eq!(plain.check_plain(false).unwrap_err().field, Some("address"));
        plain.check_plain(true).unwrap();
        for fine in ["http://localhost", "http://127.0.0.1:1", "http://[::1]", "https://box"] {
            Address::parse(fine).unwrap().check_plain(false).unwrap();
        }
    }
}
