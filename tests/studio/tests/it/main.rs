//! The window of the desktop program, driven as a person would, against the real appliance.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod offline;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod plant;
#[cfg(test)]
mod state;
#[cfg(test)]
mod window;
