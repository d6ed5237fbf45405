//! Sizing: what a plant's load takes of a machine, from measured costs.
//!
//! A [`Plan`] says what the plant sends and what is done with it, a [`Profile`] what each of that
//! costs and where the figure comes from, [`estimate`] adds it up and holds it against the machine
//! and every limit. One crate for the command line, the appliance and the browser.
//!
//! **Invariants**
//! - No file, clock, socket or thread.
//! - No figure without a source; what was not measured is said, never taken as nothing.
//! - Whatever the input, the answer holds finite numbers or sentences about the fault.
#![deny(missing_docs)]

pub mod calibration;
pub mod estimate;
pub mod plan;
pub mod problem;
pub mod profile;
pub mod worksheet;

pub use estimate::{Estimate, estimate};
pub use plan::Plan;
pub use problem::Problem;
pub use profile::Profile;
pub use worksheet::worksheet;
