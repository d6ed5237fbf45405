//! The studio in a real browser, against the real appliance.
//!
//! Without a bundle (`cargo xtask ui`) or a browser (chromium, chromium-driver) there is nothing to
//! look at, and each test says that it was skipped.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod access;
#[cfg(test)]
mod first_run;
#[cfg(test)]
mod namespace;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod script;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod sizing;
#[cfg(test)]
mod trends;
