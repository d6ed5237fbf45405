//! Client of the HTTP API: one typed method per thing that can be asked or done.
//!
//! Plain HTTP for now: the command line talks to the appliance on the same machine. Lists that
//! fit in memory come whole; history comes page by page or goes straight to a writer.
//!
//! **Invariants**: the token is sent to the given address only (redirects are not followed) and
//! is in no error and no debug output; every answer is bounded.
#![deny(missing_docs)]

mod client;
mod error;
mod history;
mod pipelines;
mod sizing;

pub use client::Client;
pub use error::{Error, Result};
pub use history::{RawPages, RawQuery};
pub use pipelines::RunsQuery;
