//! The load generator: a process of its own, one epoll loop, thousands of MQTT 5 clients.
//!
//! The lab writes a [`Spec`](spec::Spec) to the child's input and reads [`Event`](spec::Event)s
//! from its output, one JSON document a line.

mod answers;
pub(crate) mod book;
pub(crate) mod client;
pub(crate) mod crowd;
pub(crate) mod dial;
pub(crate) mod frame;
pub(crate) mod handle;
pub(crate) mod listener;
pub(crate) mod phase;
pub(crate) mod resend;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod spec;
pub(crate) mod tally;
pub(crate) mod wire;
