//! Seeded fuzz runners for every parser, on the stable toolchain.
//!
//! A [`Target`] is a parser with a corpus of good inputs, words that matter to it, and a check
//! that knows more than "it did not panic": what is accepted must come back as it went in. The
//! runner changes good inputs at random and reports the first that a target fails on, made small,
//! with the seed and round that find it again. It has no coverage feedback; the words of each
//! target stand in for it.
//!
//! `cargo test -p millrace-fuzz` gives each target a moment; `cargo run -p millrace-fuzz -- all 60`
//! a minute.
//!
//! **Invariants**: the same seed and round always give the same input; a planted bug is found
//! (the canary in the tests).

pub mod mutate;
pub mod random;
pub mod runner;
pub mod targets;

pub use random::Random;
pub use runner::{Finding, Target, hunt, input_of};
