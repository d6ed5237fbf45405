//! The studio in a browser: the page's first call.
//!
//! **Invariants**
//! - Nothing is decided here: the host is the browser, the rest is `millrace_app`.

fn main() {
    millrace_app::start(std::sync::Arc::new(millrace_app::host::Browser::find()));
}
