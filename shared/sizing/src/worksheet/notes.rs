//! The sheet of notes: what a reader has to know to judge the figures.

use super::cell::{Sheet, title, wrapped};
use crate::estimate::Estimate;

pub(super) fn sheet(found: &Estimate) -> Sheet {
    let mut sheet = Sheet::new("Notes", &[140.0]);
    sheet.push(vec![title("Notes")]);
    for note in &found.notes {
        sheet.push(vec![wrapped(note)]);
    }
    sheet
}
