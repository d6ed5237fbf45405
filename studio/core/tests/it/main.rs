//! The studio against an appliance that lives in the test: TLS, sessions, pipelines.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod appliance;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod windows;
#[cfg(test)]
mod world;
