//! Scripts of pipelines in QuickJS: sandbox, limits, conversion.
//!
//! [`QuickJs`] is the engine's script host. A pipeline's scripts and expressions are checked at
//! deployment and kept as text; a worker makes a runtime for a pipeline when it runs, keeps it warm
//! for a while, converts what a script names, calls it within its budget and converts the result.
//! docs/operate/scripts.md says what scripts may do, docs/decisions/0009-script-limits.md why the
//! limits are held the way they are.
//!
//! **Invariants**
//! - No script takes more CPU time, memory, stack or output than its budget, but for operators on
//!   huge operands, whose thread is given up (see `watch`).
//! - Nothing of the host is within reach: no files, no network, no clock but the run's.
//! - Integers pass exactly, both ways.

mod fault;
mod from_js;
mod host;
mod into_js;
mod memory;
mod meter;
mod natives;
mod prelude;
mod render;
mod roots;
mod thread_time;
mod unit;
mod warm;
mod watch;
mod worker;

pub use host::{QuickJs, Settings};
pub use thread_time::step_back;
