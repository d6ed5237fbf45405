//! The API over real loopback connections, around a backend that answers from memory.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod backend;
#[cfg(test)]
mod door;
#[cfg(test)]
mod endpoints;
#[cfg(test)]
mod http;
#[cfg(test)]
mod live;
#[cfg(test)]
mod oauth;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod pipelines;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod server;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod web;
