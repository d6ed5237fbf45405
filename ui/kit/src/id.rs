//! Names for elements that have to point at each other.
//!
//! **Invariants**
//! - No two calls in one page give the same name.

use std::sync::atomic::{AtomicU64, Ordering};
use wasm_bindgen::JsCast as _;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A name that no other element of this page has.
#[must_use]
pub fn unique(word: &str) -> String {
    format!("{word}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Gives an element the focus; whether it is there and took it.
#[must_use]
pub fn focus(name: &str) -> bool {
    let element = leptos::prelude::document().get_element_by_id(name);
    let element = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    element.is_some_and(|element| element.focus().is_ok())
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[test]
    fn never_gives_a_name_twice() {
        assert_ne!(unique("field"), unique("field"));
    }
}
