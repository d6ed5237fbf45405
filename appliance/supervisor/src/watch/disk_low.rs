//! *Disk low*: raised before the disk is full, while there is still time to act.
//!
//! **Invariants**: a disk that cannot be asked raises nothing and clears nothing.

use super::{Watch, bytes};
use crate::issues::{Issue, Issues, Severity};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Key of the issue.
const ISSUE: &str = "disk-low";
/// Default for a warning: about half a day of a busy box.
const WARNING_BYTES: u64 = 4 << 30;
/// Default for critical: a journal and a part still fit.
const CRITICAL_BYTES: u64 = 1 << 30;

/// Bytes free on the disk.
type FreeBytes = Box<dyn Fn() -> io::Result<u64> + Send>;

/// Watches the free bytes of the data folder's disk.
pub struct DiskLow {
    issues: Arc<Issues>,
    free_bytes: FreeBytes,
    warning_bytes: u64,
    critical_bytes: u64,
}

impl fmt::Debug for DiskLow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskLow")
            .field("warning_bytes", &self.warning_bytes)
            .finish_non_exhaustive()
    }
}

impl DiskLow {
    /// Warns below 4 GiB, critical below 1 GiB.
    #[must_use]
    pub fn new(issues: Arc<Issues>, free_bytes: FreeBytes) -> Self {
        Self { issues, free_bytes, warning_bytes: WARNING_BYTES, critical_bytes: CRITICAL_BYTES }
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, warning_bytes: u64, critical_bytes: u64) -> Self {
        self.warning_bytes = warning_bytes;
        self.critical_bytes = critical_bytes;
        self
    }
}

impl Watch for DiskLow {
    fn tick(&mut self) {
        let Ok(free) = (self.free_bytes)() else { return };
        // A quarter above the limit, so that it does not flicker.
        if free >= self.warning_bytes.saturating_add(self.warning_bytes / 4) {
            self.issues.clear(ISSUE);
            return;
        }
        if free >= self.warning_bytes {
            return;
        }
        let is_critical = free < self.critical_bytes;
        self.issues.raise(Issue {
            key: ISSUE.to_owned(),
            severity: if is_critical { Severity::Critical } else { Severity::Warning },
            what: format!("The disk of the data folder has {} left.", bytes(free)),
            effect: "When it is full nothing more is acknowledged: devices keep their values, and \
                     runs are missing in the run history."
                .to_owned(),
            remedy: "Free space on the disk, shorten the retention of topics that nobody reads, \
                     or move the data folder to a larger disk."
                .to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use millrace_model::Timestamp;
    use parking_lot::Mutex;

    #[test]
    fn raises_below_its_limits_and_clears_a_quarter_above() {
        let issues = Arc::new(Issues::new(Arc::new(TestClock::new(Timestamp(0)))));
        let free = Arc::new(Mutex::new(Ok(10_000)));
        let asked = free.clone();
        let ask = move || asked.lock().as_ref().copied().map_err(|()| io::Error::other("gone"));
        let mut watch = DiskLow::new(issues.clone(), Box::new(ask)).with_limits(4_000, 1_000);
        let mut severity_at = |left: Result<u64, ()>| {
            *free.lock() = left;
            watch.tick();
            issues.list().first().map(|issue| issue.severity)
        };
        assert_eq!(severity_at(Ok(4_000)), None);
        assert_eq!(severity_at(Ok(3_999)), Some(Severity::Warning));
        assert_eq!(severity_at(Ok(999)), Some(Severity::Critical));
        assert_eq!(severity_at(Err(())), Some(Severity::Critical), "says nothing new");
        assert_eq!(severity_at(Ok(4_500)), Some(Severity::Critical), "within the margin");
        assert_eq!(severity_at(Ok(5_000)), None);
    }

    #[test]
    fn says_how_much_is_left() {
        assert_eq!(bytes(3 * (1 << 30) / 2), "1.5 GiB");
        assert_eq!(bytes(900), "900 bytes");
    }
}
