//! End to end: the real binary, its command line, its sockets.
//!
//! [`Box`](appliance::Appliance) starts `millrace run` in a folder of its own on ports that the
//! system gives, [`mqtt::Device`] speaks MQTT byte by byte, so that tests can also speak it badly.
//!
//! **Invariants**: each test has its own folder; a started process is ended by its own handle;
//! waiting is for a condition with a limit, never for a time.

pub mod appliance;
pub mod mqtt;
pub mod wait;

pub use appliance::Appliance;
pub use mqtt::{Answer, Device};
