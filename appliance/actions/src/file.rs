//! Files in the allowed folder: where a step may reach, and the step `file.append`.
//!
//! **Invariants**: nothing outside the folder is read, written, created or renamed, whatever a
//! file is called and whatever lies in the folder.

mod append;
pub(crate) mod place;
pub(crate) mod step;

pub(crate) use append::{Append, Files};

#[cfg(test)]
mod tests;
