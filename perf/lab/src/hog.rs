//! A CPU hog: a child of the lab that computes without end, to starve what runs beside it.
//!
//! **Invariants**
//! - It ends by itself after its seconds, and with the lab whatever ends that (`launch`).

use std::ffi::OsString;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::launch::{Child, Speech, own_program};

/// Turns between two looks at the clock.
const TURNS: u64 = 1_000_000;

/// The body of the hidden `hog` subcommand.
pub(crate) fn compute(seconds: u64) {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut sum = 0_u64;
    while Instant::now() < end {
        for turn in 0..TURNS {
            sum = black_box(sum.rotate_left(7) ^ turn);
        }
    }
}

/// Hogs that are ended when this is dropped, or by themselves after `seconds`.
pub(crate) struct Hogs {
    children: Vec<Child>,
}

impl Hogs {
    /// Starts `count` hogs on `core`, or anywhere.
    pub(crate) fn start(count: usize, core: Option<usize>, seconds: u64) -> Result<Self> {
        let own = own_program()?;
        let arguments: [OsString; 3] =
            ["hog".into(), "--seconds".into(), seconds.to_string().into()];
        let children = (0..count)
            .map(|_| Child::start("a CPU hog", &own, &arguments, core, Speech::Silent))
            .collect::<Result<_>>()?;
        Ok(Self { children })
    }

    /// Ends them, one by one.
    pub(crate) fn end(self) -> Result<()> {
        self.children.into_iter().try_for_each(Child::kill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_by_itself() {
        let began = Instant::now();
        compute(0);
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
