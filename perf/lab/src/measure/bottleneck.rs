//! What limited a step: the reference's classes, from counters read during the step.
//!
//! **Invariants**
//! - The load generator is looked at first: when it was late or full, nothing can be said about
//!   the server.

use serde::Serialize;

/// The class of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    /// Nothing limited: the step stored what was offered.
    Nothing,
    Cpu,
    Disk,
    Network,
    Memory,
    LoadGenerator,
    /// All places for runs were taken while the CPU had room.
    Slots,
    /// Nothing was saturated and the CPU had clear room: a limit in the program.
    Software,
    /// Nothing was saturated, and the CPU was between clear room and full.
    Undetermined,
}

/// What was read in one step; shares are 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) stored_share: f64,
    pub(crate) server_cpu_share: f64,
    pub(crate) generator_cpu_share: f64,
    pub(crate) generator_lag_p99_ms: f64,
    pub(crate) disk_busy_share: f64,
    /// Of the assumed 10 Gbit/s; loopback has no such limit, a real network may.
    pub(crate) network_share: f64,
    pub(crate) memory_free_share: f64,
    /// Runs were dropped at the limits of the queue or of those that wait.
    pub(crate) runs_shed: bool,
}

/// Least share of the offered rate that counts as stored in full (the reference's rule).
pub(crate) const STORED_SHARE_MIN: f64 = 0.99;
/// Above this share a core counts as full.
const FULL: f64 = 0.93;
/// The same for the server's: the capacity rules break there.
const CPU_FULL: f64 = 0.90;
/// Below this share the CPU has clear room.
const CPU_ROOM: f64 = 0.70;
/// The generator's own lag that makes a row worthless.
pub(crate) const LAG_MS_MAX: f64 = 1.0;
/// The generator's CPU that makes a row worthless.
pub(crate) const GENERATOR_CPU_MAX: f64 = 0.90;
/// The same for the rows that look for the guaranteed rate.
pub(crate) const GENERATOR_CPU_MAX_GUARANTEED: f64 = 0.95;
/// Free memory below this share is pressure.
const MEMORY_FREE_MIN: f64 = 0.05;

/// Names what limited the step.
pub(crate) fn classify(load: &Load) -> Limit {
    if load.stored_share >= STORED_SHARE_MIN {
        return Limit::Nothing;
    }
    cause(load)
}

/// Names what was full in a step that broke a rule.
pub(crate) fn cause(load: &Load) -> Limit {
    if load.server_cpu_share >= CPU_FULL {
        return Limit::Cpu;
    }
    if load.generator_cpu_share > GENERATOR_CPU_MAX_GUARANTEED
        || load.generator_lag_p99_ms > LAG_MS_MAX
    {
        return Limit::LoadGenerator;
    }
    if load.memory_free_share < MEMORY_FREE_MIN {
        return Limit::Memory;
    }
    if load.disk_busy_share >= FULL {
        return Limit::Disk;
    }
    if load.network_share >= FULL {
        return Limit::Network;
    }
    if load.runs_shed {
        return Limit::Slots;
    }
    if load.server_cpu_share < CPU_ROOM {
        return Limit::Software;
    }
    Limit::Undetermined
}

/// Why a row may not be used; none when it may.
pub(crate) fn invalid_because(lag_p99_ms: f64, cpu_share: f64, cpu_max: f64) -> Option<String> {
    if lag_p99_ms > LAG_MS_MAX {
        return Some(format!(
            "the load generator was late: lag p99 {lag_p99_ms:.2} ms, at most {LAG_MS_MAX} ms"
        ));
    }
    if cpu_share > cpu_max {
        return Some(format!(
            "the load generator used {:.0} % of its core, at most {:.0} %",
            cpu_share * 100.0,
            cpu_max * 100.0
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Load = Load {
        stored_share: 0.9,
        server_cpu_share: 0.5,
        generator_cpu_share: 0.5,
        generator_lag_p99_ms: 0.1,
        disk_busy_share: 0.2,
        network_share: 0.01,
        memory_free_share: 0.6,
        runs_shed: false,
    };

    #[test]
    fn names_what_was_full() {
        let check = |load, expected| assert_eq!(classify(&load), expected, "{load:?}");
        check(Load { stored_share: 0.995, ..IDLE }, Limit::Nothing);
        check(Load { server_cpu_share: 0.97, ..IDLE }, Limit::Cpu);
        check(Load { generator_cpu_share: 0.99, ..IDLE }, Limit::LoadGenerator);
        check(Load { generator_lag_p99_ms: 20.0, ..IDLE }, Limit::LoadGenerator);
        check(Load { disk_busy_share: 0.98, ..IDLE }, Limit::Disk);
        check(Load { memory_free_share: 0.01, ..IDLE }, Limit::Memory);
        check(Load { network_share: 0.99, ..IDLE }, Limit::Network);
        check(Load { runs_shed: true, ..IDLE }, Limit::Slots);
        check(IDLE, Limit::Software);
        check(Load { server_cpu_share: 0.8, ..IDLE }, Limit::Undetermined);
    }

    #[test]
    fn refuses_a_row_of_a_late_or_full_generator() {
        assert_eq!(invalid_because(0.4, 0.8, GENERATOR_CPU_MAX), None);
        assert!(invalid_because(1.4, 0.8, GENERATOR_CPU_MAX).unwrap().contains("late"));
        assert!(invalid_because(0.4, 0.92, GENERATOR_CPU_MAX).unwrap().contains("92 %"));
        assert_eq!(invalid_because(0.4, 0.92, GENERATOR_CPU_MAX_GUARANTEED), None);
    }
}
