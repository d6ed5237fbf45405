//! The script host from outside: what scripts may do, what stops them, what comes back.
#![cfg(test)]

mod bombs;
mod compile;
mod conversion;
mod fuzz;
mod library;
mod limits;
mod sandbox;
mod stage;
mod watchdog;
