//! `http.request`: the client, its connections, and the step.
//!
//! **Invariants**: every connection, also of a redirect, is made by the dialer; an answer is read
//! up to its limit and no further.

pub(crate) mod client;
mod connections;
pub(crate) mod step;

pub(crate) use connections::Connections;

#[cfg(test)]
mod tests;
