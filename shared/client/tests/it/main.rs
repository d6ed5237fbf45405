//! The client against a server that answers from a script.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod pipelines;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod script;
