//! The islands: parts in JavaScript, each behind a type of its own here.
//!
//! `ui/app/islands/<name>.js` is bundled with its packages and loaded when it is first needed. A
//! bundle without it is a whole one: who asks for it gets a sentence, and has something plainer.

pub mod script;
