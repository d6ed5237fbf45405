//! Disks for tests: one that fails where it is told, one that forgets what was not synced.

mod faulty;
mod forgetful;

pub use faulty::{Fault, FaultyDisk};
pub use forgetful::ForgetfulDisk;
