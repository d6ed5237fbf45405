//! Small watchers: each looks at one thing when ticked, raises an issue and clears it again.
//!
//! What they look at comes in as a closure, so they know no part of the product.
//!
//! **Invariants**: raising and clearing are apart by a margin, so that a figure at its limit does
//! not flicker; each watcher's issues are bounded in number.

mod clock_jumped;
mod connected_but_silent;
mod disk_low;
mod limit_near;

pub use clock_jumped::ClockJumped;
pub use connected_but_silent::{ConnectedButSilent, Connection};
pub use disk_low::DiskLow;
pub use limit_near::{LimitNear, NEAR_PERCENT, Usage};

/// Looks once.
pub trait Watch: Send {
    /// Called about once a second, or less often.
    fn tick(&mut self);
}

/// Bytes for people.
fn bytes(count: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in units {
        if count >= size {
            let whole = count / size;
            let tenths = count % size * 10 / size;
            return format!("{whole}.{tenths} {unit}");
        }
    }
    format!("{count} bytes")
}
