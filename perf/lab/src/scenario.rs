//! The scenarios: what a person asks the lab for.

pub(crate) mod bench;
pub(crate) mod beside;
pub(crate) mod climb;
pub(crate) mod fleet;
pub(crate) mod flows;
pub(crate) mod hostile;
pub(crate) mod image;
pub(crate) mod ingest;
pub(crate) mod issues;
pub(crate) mod kill;
pub(crate) mod mixes;
pub(crate) mod options;
pub(crate) mod others;
pub(crate) mod peers;
pub(crate) mod pipelines;
pub(crate) mod powercut;
pub(crate) mod priority;
pub(crate) mod round;
pub(crate) mod row;
pub(crate) mod starve;
pub(crate) mod steps;
pub(crate) mod storm;
pub(crate) mod unreachable;
pub(crate) mod variant;
