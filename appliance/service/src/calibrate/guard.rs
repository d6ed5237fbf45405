//! Watching production while something else loads the machine: as soon as its commits or its threads
//! wait longer than before, it is time to stop.
//!
//! What production says at `/metrics` is asked twice a second: how long its last commit took, which is
//! what an acknowledgement waits for, and how long its runnable work waits for a core (p99).
//!
//! **Invariants**
//! - It judges against what it saw before the load began.
//! - A single slow commit is no reason: three looks in a row are.

use millrace_client::Client;
use std::time::{Duration, Instant};

/// How long production is watched before the load begins.
pub(super) const CALM: Duration = Duration::from_secs(5);
/// Time between two questions.
const EVERY: Duration = Duration::from_millis(500);
/// So many looks in a row have to be bad.
const PATIENCE: u32 = 3;
/// Worse by this factor and by this much.
const FACTOR: f64 = 3.0;
const MARGIN_S: f64 = 0.02;

/// What is watched, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Waits {
    commit: f64,
    core: f64,
}

/// The judgement alone, without a clock or a network.
#[derive(Debug, Default)]
struct Judge {
    calm: Waits,
    bad: u32,
}

impl Judge {
    /// A look before the load began.
    fn learn(&mut self, now: Waits) {
        self.calm.commit = self.calm.commit.max(now.commit);
        self.calm.core = self.calm.core.max(now.core);
    }

    /// A look beside the load: why to stop, if so.
    fn judge(&mut self, now: Waits) -> Option<String> {
        let over = |now: f64, calm: f64| now > calm * FACTOR && now > calm + MARGIN_S;
        let (commit, core) = (over(now.commit, self.calm.commit), over(now.core, self.calm.core));
        if !commit && !core {
            self.bad = 0;
            return None;
        }
        self.bad += 1;
        if self.bad < PATIENCE {
            return None;
        }
        let (what, now, calm) = match commit {
            true => ("commits took", now.commit, self.calm.commit),
            false => ("threads waited (p99)", now.core, self.calm.core),
        };
        Some(format!(
            "production's {what} {:.0} ms, {:.0} before: the measurement gave way",
            now * 1e3,
            calm * 1e3
        ))
    }
}

/// Watches a running box.
#[derive(Debug)]
pub(crate) struct Guard {
    production: Client,
    began: Instant,
    asked: Option<Instant>,
    judge: Judge,
}

impl Guard {
    pub(crate) fn new(production: Client) -> Self {
        Self { production, began: Instant::now(), asked: None, judge: Judge::default() }
    }

    /// Looks, if it is time to; why to stop, if so.
    pub(super) async fn look(&mut self) -> Option<String> {
        if self.asked.is_some_and(|asked| asked.elapsed() < EVERY) {
            return None;
        }
        if self.asked.is_none() {
            self.began = Instant::now();
        }
        self.asked = Some(Instant::now());
        let waits = match tokio::time::timeout(EVERY * 4, self.production.metrics()).await {
            Ok(Ok(text)) => waits(&text),
            // A box that was stopped meanwhile is nobody's traffic.
            Ok(Err(_)) => return None,
            Err(_) => Waits { commit: (EVERY * 4).as_secs_f64(), core: 0.0 },
        };
        if self.began.elapsed() < CALM {
            self.judge.learn(waits);
            return None;
        }
        self.judge.judge(waits)
    }
}

fn waits(text: &str) -> Waits {
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<f64>().ok().filter(|value| value.is_finite())
    };
    Waits {
        commit: figure("millrace_journal_last_commit_seconds ").unwrap_or(0.0),
        core: figure("millrace_runtime_sched_latency_p99_seconds ").unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, Waits, waits};

    #[test]
    fn reads_the_two_figures() {
        let text = "# HELP x\nmillrace_journal_last_commit_seconds 0.0021\n\
                    millrace_runtime_sched_latency_p99_seconds 0.0005\n";
        assert_eq!(waits(text), Waits { commit: 0.0021, core: 0.0005 });
        assert_eq!(waits("nothing"), Waits::default());
    }

    #[test]
    fn gives_way_after_three_bad_looks_in_a_row() {
        let mut judge = Judge::default();
        judge.learn(Waits { commit: 0.002, core: 0.001 });
        judge.learn(Waits { commit: 0.004, core: 0.000 });
        let slow = Waits { commit: 0.050, core: 0.001 };
        let good = Waits { commit: 0.010, core: 0.001 };
        // Three times as much, but no 20 ms: that is noise.
        assert_eq!(judge.judge(Waits { commit: 0.015, core: 0.001 }), None);
        assert_eq!((judge.judge(slow), judge.judge(slow), judge.judge(good)), (None, None, None));
        assert_eq!((judge.judge(slow), judge.judge(slow)), (None, None));
        let why = judge.judge(slow).unwrap();
        assert!(why.contains("commits took 50 ms, 4 before"), "{why}");
        let mut judge = Judge::default();
        let starved = Waits { commit: 0.0, core: 0.3 };
        assert_eq!((judge.judge(starved), judge.judge(starved)), (None, None));
        assert!(judge.judge(starved).unwrap().contains("threads waited (p99) 300 ms"));
    }
}
