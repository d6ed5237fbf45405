//! The words of the HTTP API as types: what requests and answers look like, version by version.
//!
//! Builds for the host and for wasm32. The appliance turns these into the model's types in one
//! place (`api/convert`); the client and the studio use them as they are.
//!
//! **Invariants**: a type under `v1` only ever gains optional fields; request types refuse
//! unknown fields, answer types ignore them; times are RFC 3339 text with up to nine digits.
#![deny(missing_docs)]

pub mod announced;
pub mod v1;
