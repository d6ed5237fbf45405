//! End to end: what a person can do with the real program, and what faults do to it.

// The attribute tells clippy that these modules are tests; an integration test is nothing else.
#[cfg(test)]
mod access;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod fault_clock;
#[cfg(test)]
mod fault_disk;
#[cfg(test)]
mod fault_input;
#[cfg(test)]
mod fault_pipelines;
#[cfg(test)]
mod operate;
#[cfg(test)]
mod people;
#[cfg(test)]
mod pipelines;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod refusal;
#[cfg(test)]
mod sizing;
#[cfg(test)]
mod story;
#[cfg(test)]
mod words;
