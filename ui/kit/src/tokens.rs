//! The tokens' contrasts, recomputed: what reads well must go on reading well.
//!
//! The limits are those of WCAG 2.2 AA: text 4.5, graphics and focus 3.0, each against the worst
//! surface of its theme. The style sheet `tokens.css` is the only place where colours are written.
//!
//! **Invariants**
//! - The dark theme gives a value to every colour of the light one that changes, so none is left
//!   unreadable by accident.

/// The style sheet.
pub const CSS: &str = include_str!("tokens.css");

#[cfg(test)]
mod tests;
