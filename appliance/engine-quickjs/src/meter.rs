//! What one call has used, and whether it has to end.
//!
//! The interrupt handler, the guarded natives and the conversions ask [`Meter::is_over`]. The
//! thread's CPU clock costs a system call, so it is read only when so much time has passed on the
//! wall that the budget could be used up: CPU time is never more than that.
//!
//! **Invariants**
//! - A verdict stands until the next call begins: no script can catch or outlive it.
//! - CPU time is measured to within [`BASE_AGE_MAX`] of the truth.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use millrace_engine::script::{Budget, FaultKind};
use millrace_supervisor::{Clock, SystemClock};

use crate::memory::Memory;
use crate::natives;
use crate::thread_time;

/// The CPU clock read at a call's start may be as old as this; the time since counts as used.
const BASE_AGE_MAX: Duration = Duration::from_millis(1);
/// How old the reading of the time without a CPU may be at a call's start; what was waited since is
/// not counted either.
const WAITED_AGE_MAX: Duration = Duration::from_secs(1);

/// The clocks of a worker's thread.
#[derive(Debug)]
pub(crate) struct Clocks {
    wall: Arc<SystemClock>,
    /// The last reading of both clocks.
    base: Cell<(Duration, Duration)>,
    /// When the time that the thread waited for a CPU was last read, and that time.
    waited: Cell<(Duration, Duration)>,
}

impl Clocks {
    pub(crate) fn new(wall: Arc<SystemClock>) -> Rc<Self> {
        let now = wall.monotonic();
        let base = Cell::new((now, thread_time::now()));
        let waited = Cell::new((now, thread_time::waited().unwrap_or_default()));
        Rc::new(Self { wall, base, waited })
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall.monotonic()
    }

    /// The time that the thread had waited for a CPU, at most [`WAITED_AGE_MAX`] ago.
    fn waited_at(&self, wall: Duration) -> Duration {
        let (read, waited) = self.waited.get();
        if wall.saturating_sub(read) <= WAITED_AGE_MAX {
            return waited;
        }
        let waited = thread_time::waited().unwrap_or_default();
        self.waited.set((wall, waited));
        waited
    }

    /// The thread's CPU time now, at most [`BASE_AGE_MAX`] too early.
    fn cpu_at(&self, wall: Duration) -> Duration {
        let (base_wall, base_cpu) = self.base.get();
        if wall.saturating_sub(base_wall) <= BASE_AGE_MAX {
            return base_cpu;
        }
        let cpu = thread_time::now();
        self.base.set((wall, cpu));
        cpu
    }
}

/// The running call's use.
#[derive(Debug)]
pub(crate) struct Meter {
    clocks: Rc<Clocks>,
    memory: Rc<Memory>,
    /// When the watchdog last heard of this thread, nanoseconds on the wall.
    heard: Arc<AtomicU64>,
    is_running: Cell<bool>,
    verdict: Cell<Option<FaultKind>>,
    cpu_max: Cell<Duration>,
    wall_max: Cell<Duration>,
    started_wall: Cell<Duration>,
    started_cpu: Cell<Duration>,
    /// What the thread had waited for a CPU before.
    started_waited: Cell<Duration>,
    memory_bytes_max: Cell<u64>,
    output_bytes_max: Cell<usize>,
    console_bytes_left: Cell<usize>,
    random: Cell<u64>,
    /// Why a converted argument of `state.set` or a console line was refused.
    note: RefCell<String>,
}

impl Meter {
    pub(crate) fn new(clocks: Rc<Clocks>, memory: Rc<Memory>, heard: Arc<AtomicU64>) -> Rc<Self> {
        Rc::new(Self {
            clocks,
            memory,
            heard,
            is_running: Cell::new(false),
            verdict: Cell::new(None),
            cpu_max: Cell::new(Duration::ZERO),
            wall_max: Cell::new(Duration::ZERO),
            started_wall: Cell::new(Duration::ZERO),
            started_cpu: Cell::new(Duration::ZERO),
            started_waited: Cell::new(Duration::ZERO),
            memory_bytes_max: Cell::new(0),
            output_bytes_max: Cell::new(0),
            console_bytes_left: Cell::new(0),
            random: Cell::new(0),
            note: RefCell::new(String::new()),
        })
    }

    /// A call begins, at this time on the wall.
    pub(crate) fn begin(&self, now: Duration, budget: &Budget, memory_bytes_max: u64, seed: u64) {
        self.started_wall.set(now);
        self.started_cpu.set(self.clocks.cpu_at(now));
        self.started_waited.set(self.clocks.waited_at(now));
        self.cpu_max.set(budget.cpu);
        self.wall_max.set(budget.wall);
        self.output_bytes_max.set(budget.output_bytes_max);
        self.console_bytes_left.set(budget.console_bytes_max);
        self.memory_bytes_max.set(memory_bytes_max);
        self.verdict.set(None);
        self.random.set(seed);
        self.memory.begin();
        self.is_running.set(true);
    }

    /// The call has ended; what it used.
    pub(crate) fn end(&self) -> Duration {
        self.is_running.set(false);
        let elapsed = self.clocks.wall().saturating_sub(self.started_wall.get());
        // Short calls: CPU time is as good as all of it, and reading the clock would cost a tenth
        // of them.
        if elapsed < BASE_AGE_MAX { elapsed } else { self.cpu_used(elapsed) }
    }

    fn cpu_used(&self, elapsed: Duration) -> Duration {
        thread_time::now().saturating_sub(self.started_cpu.get()).min(elapsed)
    }

    /// The time on the wall without that in which the thread had no CPU: a starved box is not the
    /// script's fault.
    fn active(&self, elapsed: Duration) -> Duration {
        let waited = thread_time::waited().unwrap_or_default();
        elapsed.saturating_sub(waited.saturating_sub(self.started_waited.get()))
    }

    /// Whether the call has to end. Asked by everything that may take long.
    pub(crate) fn is_over(&self) -> bool {
        if !self.is_running.get() {
            return false;
        }
        if self.verdict.get().is_some() {
            return true;
        }
        if self.memory.is_exhausted() {
            self.verdict.set(Some(FaultKind::Memory));
            return true;
        }
        if natives::in_scope(|scope| scope.is_stopped()) {
            self.verdict.set(Some(FaultKind::Stopped));
            return true;
        }
        let now = self.clocks.wall();
        self.heard.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let elapsed = now.saturating_sub(self.started_wall.get());
        if elapsed < self.cpu_max.get().min(self.wall_max.get()) {
            return false;
        }
        if elapsed >= self.wall_max.get() && self.active(elapsed) >= self.wall_max.get() {
            self.verdict.set(Some(FaultKind::Wall));
        }
        if self.cpu_used(elapsed) >= self.cpu_max.get() {
            self.verdict.set(Some(FaultKind::Cpu));
        }
        self.verdict.get().is_some()
    }

    /// Ends the call for this reason.
    pub(crate) fn condemn(&self, kind: FaultKind) {
        if self.verdict.get().is_none() {
            self.verdict.set(Some(kind));
        }
    }

    /// Why the call has to end, if it has.
    pub(crate) fn verdict(&self) -> Option<FaultKind> {
        // The last allocation may have failed after the last poll.
        if self.verdict.get().is_none() && self.memory.is_exhausted() {
            self.verdict.set(Some(FaultKind::Memory));
        }
        self.verdict.get()
    }

    pub(crate) fn cpu_max(&self) -> Duration {
        self.cpu_max.get()
    }

    pub(crate) fn wall_max(&self) -> Duration {
        self.wall_max.get()
    }

    pub(crate) fn memory_bytes_max(&self) -> u64 {
        self.memory_bytes_max.get()
    }

    pub(crate) fn output_bytes_max(&self) -> usize {
        self.output_bytes_max.get()
    }

    /// Takes so much of the console's bytes; `false` if they are used up.
    pub(crate) fn take_console(&self, bytes: usize) -> bool {
        let left = self.console_bytes_left.get();
        self.console_bytes_left.set(left.saturating_sub(bytes));
        left >= bytes
    }

    /// The next number of `Math.random`: SplitMix64, 53 bits of it.
    pub(crate) fn random(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a double")]
        let number = (mixed >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }

    /// Keeps a sentence about the verdict.
    pub(crate) fn note(&self, text: String) {
        *self.note.borrow_mut() = text;
    }

    /// Takes that sentence.
    pub(crate) fn take_note(&self) -> String {
        std::mem::take(&mut self.note.borrow_mut())
    }
}
