//! Names for elements that have to point at each other.
//!
//! **Invariants**
//! - No two calls in one page give the same name.

use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A name that no other element of this page has.
#[must_use]
pub fn unique(word: &str) -> String {
    format!("{word}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[test]
    fn never_gives_a_name_twice() {
        assert_ne!(unique("field"), unique("field"));
    }
}
