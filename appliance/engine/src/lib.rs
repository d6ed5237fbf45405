//! The pipeline engine: deployments, triggers, lanes, runs and steps.
//!
//! A deployed pipeline is compiled to a plan; the journal's follower asks per stored value which
//! triggers want its tag; a run is `(pipeline, seq)` and waits in one of three lanes; workers
//! execute it; what it publishes goes back through admission, in one commit with its end.
#![deny(missing_docs)]

pub mod accessor;
pub mod compile;
pub mod json;
pub mod script;
pub mod services;
pub mod state;
pub mod step;
pub mod steps;

pub use compile::{Compile, CompileFault, Compiler, Registry};
pub use state::{StateEntry, StateStore};
