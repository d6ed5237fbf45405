//! End to end: what a person can do with the real program, and what faults do to it.

mod access;
mod crash;
mod damage;
mod operate;
mod recording;
mod refusal;
mod story;
