//! `mail`: the message, the conversation with the server, and the step.
//!
//! **Invariants**: no line break of a field reaches a header or a command; no password goes over a
//! connection without TLS.

pub(crate) mod message;
pub(crate) mod server;
pub(crate) mod step;

pub(crate) use server::Mails;

#[cfg(test)]
mod tests;
