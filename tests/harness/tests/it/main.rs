//! End to end: what a person can do with the real program, and what faults do to it.

mod access;
mod crash;
mod damage;
mod fault_clock;
mod fault_disk;
mod fault_input;
mod operate;
mod recording;
mod refusal;
mod story;
