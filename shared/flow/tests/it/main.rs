//! The page of the document's format against the code: its example and its tables are generated.
//!
//! **Invariants**: a page that differs fails the test, which leaves the right one to be copied.

#[cfg(test)]
mod page;
