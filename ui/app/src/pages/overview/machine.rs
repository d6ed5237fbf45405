//! The machine: CPU with starvation, memory, disk.
//!
//! **Invariants**
//! - Starvation is told in words and with a badge; while there is none, nothing is colored.

use super::figure::{Figure, Form};
use super::snapshot::{Pair, Snapshot};
use super::trail::Trail;
use crate::words::{Language, overview, t};
use leptos::prelude::*;
use millrace_kit::{Badge, Freshness, Meter, Panel, Priority};

/// What is asked of the appliance for this panel.
pub(super) const MEASURES: &[&str] = &[
    "process_cpu_seconds",
    "runtime_sched_latency_p99_seconds",
    "runtime_cpu_pressure_percent",
    "runtime_cpu_throttled_percent",
    "runtime_cpu_starved",
    "process_resident_bytes",
    "history_memtable_bytes",
    "history_parts_bytes",
    "journal_bytes",
    "disk_available_bytes",
    "disk_total_bytes",
];

/// Beyond this share of the disk the appliance itself raises an issue soon.
const DISK_SHARE_ABNORMAL: f64 = 0.9;

/// The last minutes of this panel's figures.
#[derive(Clone, Copy)]
pub(super) struct Trails {
    cpu: Trail,
    delay: Trail,
    pressure: Trail,
    throttled: Trail,
    memory: Trail,
    memtable: Trail,
    history: Trail,
    journal: Trail,
    available: Trail,
}

impl Trails {
    pub(super) fn new() -> Self {
        Self {
            cpu: Trail::new(),
            delay: Trail::new(),
            pressure: Trail::new(),
            throttled: Trail::new(),
            memory: Trail::new(),
            memtable: Trail::new(),
            history: Trail::new(),
            journal: Trail::new(),
            available: Trail::new(),
        }
    }

    pub(super) fn add(self, pair: Pair<'_>) {
        let now = pair.now;
        self.cpu.add(pair.rate("process_cpu_seconds").map(|cores| cores * 100.0));
        self.delay.add(now.value("runtime_sched_latency_p99_seconds"));
        self.pressure.add(now.value("runtime_cpu_pressure_percent"));
        self.throttled.add(now.value("runtime_cpu_throttled_percent"));
        self.memory.add(now.value("process_resident_bytes"));
        self.memtable.add(now.value("history_memtable_bytes"));
        self.history.add(now.value("history_parts_bytes"));
        self.journal.add(now.value("journal_bytes"));
        self.available.add(now.value("disk_available_bytes"));
    }
}

/// The machine.
#[component]
pub(super) fn Machine(
    /// The figures' last minutes.
    trails: Trails,
    /// The moment now.
    now: Signal<Option<Snapshot>>,
    /// Whether it is of now.
    freshness: Signal<Freshness>,
) -> impl IntoView {
    let starved = move || {
        now.with(|now| now.as_ref().and_then(|now| now.value("runtime_cpu_starved"))) == Some(1.0)
    };
    let sign = move || {
        starved().then(|| {
            view! {
                <span class="machine-starved">
                    <Badge priority=Priority::Two label=t(overview::STARVED)/>
                    {t(overview::STARVED)}
                </span>
            }
        })
    };
    view! {
        <Panel title=t(overview::CPU) aside=sign>
            <div class="figures-grid">
                <Figure label=overview::CPU_USED trail=trails.cpu form=Form::Percent freshness/>
                <Figure label=overview::CPU_DELAY trail=trails.delay form=Form::Milliseconds freshness/>
                <Figure label=overview::CPU_PRESSURE trail=trails.pressure form=Form::Percent freshness/>
                <Figure label=overview::CPU_THROTTLED trail=trails.throttled form=Form::Percent freshness/>
            </div>
        </Panel>
        <Panel title=t(overview::MEMORY_AND_DISK)>
            <div class="figures-grid">
                <Figure label=overview::MEMORY trail=trails.memory form=Form::Bytes freshness/>
                <Figure label=overview::MEMTABLE trail=trails.memtable form=Form::Bytes freshness/>
                <Figure label=overview::JOURNAL trail=trails.journal form=Form::Bytes freshness/>
                <Figure label=overview::HISTORY trail=trails.history form=Form::Bytes freshness/>
                <Figure label=overview::DISK_AVAILABLE trail=trails.available form=Form::Bytes freshness/>
            </div>
            <Disk now/>
        </Panel>
    }
}

#[component]
fn Disk(now: Signal<Option<Snapshot>>) -> impl IntoView {
    let language = Language::here();
    let disk = move || {
        now.with(|now| {
            let now = now.as_ref()?;
            Some((now.value("disk_available_bytes")?, now.value("disk_total_bytes")?))
        })
    };
    let share = move || {
        disk().filter(|(_, total)| *total > 0.0).map(|(available, total)| 1.0 - available / total)
    };
    let text = move || {
        share().map(|share| {
            let percent = language.locale().number(share * 100.0, 0);
            language.say_with(overview::DISK_USED, &[("percent", &percent)])
        })
    };
    view! {
        <div class="machine-disk">
            <Meter label=t(overview::DISK) share=Signal::derive(share) limit=DISK_SHARE_ABNORMAL/>
            <span class="muted">{text}</span>
        </div>
    }
}
