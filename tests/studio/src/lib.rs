//! The desktop program from outside: a display, a keyring, and a driver that clicks.
//!
//! [`Desktop`] starts what a person's session has (a virtual display, a message bus, a keyring that
//! is unlocked) and `WebKitWebDriver`; [`Window`] is the program under that driver. On a machine
//! without these programs [`missing`] names their packages.
//!
//! **Invariants**: each test has its own display, bus, keyring and folder; a started process is
//! ended by its own handle.

pub mod desktop;
pub mod window;

pub use desktop::{Desktop, missing};
pub use window::Window;
