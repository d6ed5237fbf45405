//! The studio: the page's first call.
//!
//! **Invariants**
//! - Nothing is decided here but which host this is; the rest is `millrace_app`.

use millrace_app::host::{Browser, desktop::Desktop};
use std::sync::Arc;

fn main() {
    match Desktop::find() {
        Some(desktop) => millrace_app::start_in_program(desktop),
        None => millrace_app::start(Arc::new(Browser::find())),
    }
}
