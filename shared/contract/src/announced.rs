//! How an appliance announces itself on the local network: multicast DNS with these words.
//!
//! **Invariants**: what is announced is for everybody on the network, so no secret is among it; it
//! is a rumor to whoever hears it, who looks at the certificate itself.

/// The service that appliances announce.
pub const SERVICE: &str = "_millrace._tcp.local.";
/// `1`: it speaks TLS on the port that is announced.
pub const TLS: &str = "tls";
/// The appliance's version.
pub const VERSION: &str = "version";
/// The SHA-256 fingerprint of its certificate, as the appliance prints it at its start.
pub const FINGERPRINT: &str = "fingerprint";
