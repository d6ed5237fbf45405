//! Starting threads and tasks by name.
//!
//! **Invariants**: a thread's name is at most 15 bytes long on Linux (the kernel cuts it there),
//! so names are short nouns; a thread that cannot be started is an error, never ignored.

use std::future::Future;
use std::io;
use std::thread::JoinHandle;

/// Starts an operating-system thread with a name.
///
/// # Errors
/// When the operating system has no thread to give.
pub fn thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Starts a task on the current runtime; the name goes to the trace.
///
/// # Panics
/// Outside of a runtime, as tokio's own spawn.
#[expect(clippy::disallowed_methods, reason = "this is the named spawn that the rule asks for")]
pub fn task<F>(name: &'static str, future: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tracing::trace!(name, "Started task.");
    tokio::spawn(future)
}
