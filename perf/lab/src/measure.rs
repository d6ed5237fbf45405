//! Reading the machine and judging figures.

pub(crate) mod bottleneck;
pub(crate) mod histogram;
pub(crate) mod machine;
pub(crate) mod process;
pub(crate) mod statistics;
