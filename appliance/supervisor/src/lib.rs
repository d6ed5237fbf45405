//! What every part of the appliance stands on: clock, issues, named spawn, shutdown, metrics.
//!
//! **Invariants**: nothing here knows a part of the product by name; every thread and task of
//! the appliance is started through [`spawn`] and so has a name in a debugger and in `top`.

pub mod clock;
pub mod issues;
pub mod metrics;
pub mod probe;
pub mod shutdown;
pub mod spawn;
pub mod watch;

pub use clock::{Clock, SystemClock, TestClock};
pub use issues::{Issue, IssueChange, IssueChanges, IssueState, Issues, Severity};
pub use metrics::{Buckets, Measure, Metrics};
pub use probe::Probe;
pub use shutdown::Shutdown;
