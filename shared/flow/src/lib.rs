//! The pipeline document: steps, wires, edits, rules, and the data that flows.
//!
//! One crate for the browser and the appliance, so that what the designer accepts is what can be
//! deployed. No files, clocks or threads.
#![deny(missing_docs)]

pub mod case;
pub mod cron;
pub mod data;
pub mod diff;
pub mod document;
pub mod edit;
mod examine;
pub mod expression;
pub mod kind;
pub mod kinds;
mod near;
pub mod script;
pub mod secret;
pub mod text;
pub mod transaction;
pub mod validate;

pub use data::{Data, Map};
pub use diff::diff;
pub use document::Document;
pub use edit::{Edit, EditError};
pub use examine::{Examined, examine};
pub use kind::{FieldForm, FieldSpec, Group, Kind};
pub use text::ParseFault;
pub use transaction::{Transaction, TransactionError};
pub use validate::{Fault, Severity, has_errors, validate};
