//! The HTTP API: everything that people and programs do with the box, other than MQTT.
//!
//! `router` builds the endpoints around one [`Backend`], which the service implements; `serve`
//! accepts connections, plain or TLS, and hands each request its [`Peer`]. A request passes, in
//! this order: connection and header limits (`serve`), `Host` and `Origin` (`guard`), the roles
//! table (`authorize`), its endpoint, and `convert`, where the contract's types end.
//!
//! **Invariants**: an endpoint that the roles table does not name cannot be reached; blocking
//! work never runs on the async pool; every list, body, queue and wait has a limit (`limits`);
//! no secret is in an answer other than the one that creates it, and none is ever logged.

mod authorize;
pub mod backend;
mod convert;
mod csv;
mod cursor;
mod document;
mod endpoints;
mod error;
mod extract;
mod guard;
pub mod limits;
mod live;
mod openapi;
mod query_time;
mod router;
mod serve;
mod state;
mod tag_file;
pub mod tls;
mod web;

pub use authorize::{ENDPOINTS, Endpoint, Need};
pub use backend::{Backend, Fault, LiveSink, Principal, PrincipalKind};
pub use extract::Peer;
pub use openapi::document as openapi_document;
pub use router::router;
pub use serve::{Listener, serve};
pub use state::Settings;
