//! Holds the house rules, so that nobody has to remember them in a review.
//!
//! Each module is one kind of rule: a function from files (or cargo's metadata) to faults, a test that
//! the workspace has none, and canaries: forged input that the rule must object to.
//!
//! **Invariants**
//! - A rule without a canary is not a rule: it may have stopped working unnoticed.
//! - Exceptions are lists in the rule's own file; they may shrink and never grow.

#[cfg(test)]
mod docs;
#[cfg(test)]
mod heads;
#[cfg(test)]
mod layering;
#[cfg(test)]
mod licenses;
#[cfg(test)]
mod links;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod places;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod source;
#[cfg(test)]
mod top_level;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod words;
