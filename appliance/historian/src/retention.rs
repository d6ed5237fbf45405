//! Letting old parts go: whole files, when their newest sample is older than their class allows.
//!
//! The class `keep` has no age but a byte budget: its oldest parts go first. Only a clock that is
//! believed removes anything by age (see [`ClockGuard`]). Removing works on a full disk: if the
//! manifest cannot be written first, the files go all the same, and the manifest follows.
//!
//! **Invariants**: whole files only; a part's own newest sample decides, never another part's; a
//! clock that jumped removes nothing.

mod clock_guard;

pub(crate) use clock_guard::ClockGuard;

use crate::config::RETENTION_MARGIN;
use crate::part::{Part, Standing};
use crate::seal::Sealer;
use crate::shared::Shared;
use millrace_model::Retention;
use millrace_supervisor::Severity;
use std::path::Path;
use std::sync::Arc;

/// Share of the byte budget of `keep` above which people are told, in percent.
const KEEP_WARN_PERCENT: u64 = 80;
const KEEP_KEY: &str = "historian-keep-nearly-full";
const CLOCK_KEY: &str = "clock-in-doubt";
/// Wall time that may pass without being noted in the manifest, in nanoseconds.
const NOTE_INTERVAL: i64 = 3_600 * 1_000_000_000;

/// Whether a part's time has come.
pub(crate) fn is_expired(class: Retention, time_max: i64, now: i64) -> bool {
    let margin = i64::try_from(RETENTION_MARGIN.as_nanos()).unwrap_or(0);
    let limit = class.age_nanos().map(|age| time_max.saturating_add(age).saturating_add(margin));
    limit.is_some_and(|limit| limit < now)
}

impl Sealer {
    /// Removes what may go. `now` is the believed wall time, `None` while none is believed.
    pub(crate) fn remove_expired(&mut self, now: Option<i64>) {
        let parts = Arc::clone(&self.shared.memory.read().parts);
        let mut doomed: Vec<Arc<Part>> = Vec::new();
        if let Some(now) = now {
            let expired =
                parts.iter().filter(|part| is_expired(part.facts.class, part.facts.time_max, now));
            doomed.extend(expired.cloned());
        }
        let kept = parts.iter().filter(|part| part.facts.class == Retention::Keep);
        doomed.extend(self.over_budget(kept.cloned().collect()));
        if !doomed.is_empty() {
            self.remove(&doomed);
        } else if !self.manifest.removed.is_empty() {
            self.unlink_removed();
        }
    }

    fn over_budget(&self, mut kept: Vec<Arc<Part>>) -> Vec<Arc<Part>> {
        kept.sort_by_key(|part| (part.facts.time_max, part.facts.seal));
        let budget = self.shared.config.keep_bytes_max;
        let total: u64 = kept.iter().map(|part| part.facts.bytes).sum();
        let mut left = total;
        let mut doomed = Vec::new();
        for part in kept {
            if left <= budget {
                break;
            }
            left -= part.facts.bytes;
            doomed.push(part);
        }
        if total > budget / 100 * KEEP_WARN_PERCENT {
            self.shared.raise(
                KEEP_KEY,
                Severity::Warning,
                [
                    format!("Topics that are kept take {left} of {budget} bytes."),
                    "When the budget is used up, their oldest history is removed.".to_owned(),
                    "Raise the byte budget, export old history, or give topics another retention class."
                        .to_owned(),
                ],
            );
        } else {
            self.shared.around.issues.clear(KEEP_KEY);
        }
        doomed
    }

    fn remove(&mut self, doomed: &[Arc<Part>]) {
        for part in doomed {
            part.set_standing(Standing::Removed);
            self.shared.cache.forget(&part.facts.name);
            self.shared.around.issues.clear(&format!("part-damaged:{}", part.facts.name));
            tracing::info!(part = part.facts.name, rows = part.facts.rows, "Removed a part.");
        }
        {
            let mut memory = self.shared.memory.write();
            let parts = memory.parts.without_removed();
            memory.parts = Arc::new(parts);
        }
        Shared::count(&self.shared.counters.removed_parts, doomed.len() as u64);
        let names = doomed.iter().map(|part| part.facts.name.clone());
        self.manifest.removed.extend(names);
        let removed = &self.manifest.removed;
        self.manifest.parts.retain(|facts| !removed.contains(&facts.name));
        self.store_manifest();
        self.unlink_removed();
    }

    /// Removes the files of parts that the manifest has given up.
    fn unlink_removed(&mut self) {
        let parts = self.shared.config.dir.join("parts");
        let disk = Arc::clone(&self.shared.around.disk);
        let mut left = Vec::new();
        for name in std::mem::take(&mut self.manifest.removed) {
            let path = parts.join(&name);
            let gone = match disk.remove(&path) {
                Ok(()) => true,
                Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            };
            if !gone {
                // Open elsewhere (Windows), or a read-only disk: tried again.
                left.push(name);
            }
        }
        for class in Retention::ALL {
            sync(disk.as_ref(), &parts.join(class.name()));
        }
        self.manifest.removed = left;
    }

    /// Writes the manifest if that is possible; the next one is complete in any case.
    fn store_manifest(&self) {
        let stored = self.manifest.store(self.shared.around.disk.as_ref(), &self.shared.config.dir);
        if let Err(error) = stored {
            tracing::warn!(%error, "The manifest of history cannot be written now.");
        }
    }

    /// Notes that wall time has passed, so that the next start believes the clock.
    pub(crate) fn note_time(&mut self, believed: i64) {
        if believed.saturating_sub(self.manifest.wall_time_max) > NOTE_INTERVAL {
            self.manifest.wall_time_max = believed;
            self.store_manifest();
        }
    }

    /// Says whether the clock is believed.
    pub(crate) fn tell_clock(&self, is_believed: bool) {
        if is_believed {
            self.shared.around.issues.clear(CLOCK_KEY);
            return;
        }
        self.shared.raise(
            CLOCK_KEY,
            Severity::Critical,
            [
                "The clock is far ahead of the time that passed.".to_owned(),
                "No history is removed by age until the clock agrees again.".to_owned(),
                "Correct the clock; or, if it is right, acknowledge this issue.".to_owned(),
            ],
        );
    }
}

fn sync(disk: &dyn millrace_journal::Disk, folder: &Path) {
    if let Err(error) = disk.sync_folder(folder) {
        tracing::debug!(%error, "A folder of parts cannot be synced now.");
    }
}
