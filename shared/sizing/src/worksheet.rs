//! The worksheet that a buyer takes away: the same estimate as live formulas.
//!
//! It is a plain model of sheets and cells, so that a page can show it too; [`worksheet`] writes it as
//! a spreadsheet that Excel and LibreOffice recalculate with no Millrace at hand. Every formula carries
//! the library's own result, for readers that do not calculate, and a test lets LibreOffice recalculate
//! all of them.
//!
//! **Invariants**
//! - Names and other words of a plan are always text: one that begins with `=`, `+`, `-` or `@` is
//!   never a formula.
//! - The same plan and profile give the same bytes: no clock, no random name.

mod cell;
mod costs;
mod ground;
mod html;
mod inputs;
mod limits;
mod notes;
mod result;
#[cfg(test)]
mod tests;
mod xlsx;

pub use cell::{Cell, Chart, Sheet, Style};
pub use html::html;

use crate::estimate::estimate;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::profile::Profile;

/// The sheets of a plan, in their order: Plan, Result, Limits, Costs, Notes.
///
/// # Errors
/// As [`estimate`].
pub fn sheets(plan: &Plan, profile: &Profile) -> Result<Vec<Sheet>, Vec<Problem>> {
    let found = estimate(plan, profile)?;
    let costs = costs::Costs::new(profile);
    let inputs = inputs::Inputs::new(plan, profile, &costs);
    let ground = ground::Ground { plan, profile, found: &found, inputs: &inputs, costs: &costs };
    let (result, cells) = result::sheet(&ground);
    let limits = limits::sheet(&ground, &cells);
    Ok(vec![inputs.sheet, result, limits, costs.sheet, notes::sheet(&found)])
}

/// The worksheet as a file (xlsx).
///
/// # Errors
/// As [`estimate`].
pub fn worksheet(plan: &Plan, profile: &Profile) -> Result<Vec<u8>, Vec<Problem>> {
    Ok(xlsx::write(&sheets(plan, profile)?))
}
