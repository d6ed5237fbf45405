//! End to end: the real binary, its command line, its sockets.
//!
//! [`Appliance`] starts `millrace run` in a folder of its own on ports that the
//! system gives, [`mqtt::Device`] speaks MQTT byte by byte, so that tests can also speak it badly.
//!
//! **Invariants**: each test has its own folder; a started process is ended by its own handle;
//! waiting is for a condition with a limit, never for a time.
#![expect(
    clippy::indexing_slicing,
    reason = "a test may end loudly at a packet that is shorter than the standard says"
)]

pub mod appliance;
pub mod browser;
pub mod live;
pub mod mount;
pub mod mqtt;
pub mod wait;

pub use appliance::Appliance;
pub use browser::Browser;
pub use live::Live;
pub use mount::Mount;
pub use mqtt::{Answer, Device};
