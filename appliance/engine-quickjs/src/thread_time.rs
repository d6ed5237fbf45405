//! CPU time of the calling thread, and giving a thread up to the idle priority.
//!
//! On Unix the thread's CPU clock has a resolution of nanoseconds. On Windows the system counts in
//! steps of about 16 ms, so a CPU budget may be overdrawn by one step there.
//!
//! **Invariants**
//! - [`now`] never goes back within a thread.

use std::time::Duration;

/// CPU time that this thread has used.
#[cfg(unix)]
pub(crate) fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPU time that this thread has used.
#[cfg(windows)]
pub(crate) fn now() -> Duration {
    cpu_time::ThreadTime::now().as_duration()
}

/// The system's own number of this thread, if it has one that others can use.
#[cfg(target_os = "linux")]
pub(crate) fn thread_number() -> Option<i32> {
    Some(rustix::thread::gettid().as_raw_nonzero().get())
}

/// The system's own number of this thread, if it has one that others can use.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_number() -> Option<i32> {
    None
}

/// CPU time that another thread of this process has used, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn of_thread(number: i32) -> Option<Duration> {
    schedstat(&format!("/proc/self/task/{number}/schedstat"), 0)
}

/// Time that this thread could have computed and had no CPU, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn waited() -> Option<Duration> {
    schedstat("/proc/thread-self/schedstat", 1)
}

/// Time that this thread could have computed and had no CPU, where the system tells.
#[cfg(not(target_os = "linux"))]
pub(crate) fn waited() -> Option<Duration> {
    None
}

/// A figure of a thread: time on a CPU, then time in a run queue.
#[cfg(target_os = "linux")]
fn schedstat(file: &str, place: usize) -> Option<Duration> {
    let text = std::fs::read_to_string(file).ok()?;
    text.split_whitespace().nth(place)?.parse().ok().map(Duration::from_nanos)
}

/// CPU time that another thread of this process has used, where the system tells.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of_thread(_number: i32) -> Option<Duration> {
    None
}

/// Lets a thread run only when nothing else wants the CPU. Tells whether that was possible: on
/// Linux a thread has a niceness of its own; elsewhere it keeps its priority.
#[cfg(target_os = "linux")]
pub(crate) fn make_idle(number: i32) -> bool {
    rustix::process::Pid::from_raw(number)
        .is_some_and(|thread| rustix::process::setpriority_process(Some(thread), 19).is_ok())
}

/// Lets a thread run only when nothing else wants the CPU: not possible here without unsafe code.
#[cfg(not(target_os = "linux"))]
pub(crate) fn make_idle(_number: i32) -> bool {
    false
}

/// Lets the calling thread run only when nothing else wants the CPU, where the system has a
/// priority of its own for a thread (Linux); elsewhere it stays as it is.
pub fn step_back() {
    if !thread_number().is_some_and(make_idle) {
        tracing::debug!("The thread for endless scripts has the priority of the others.");
    }
}
