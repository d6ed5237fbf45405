//! The sheet of costs: each figure of the profile with its source, and the machines.
//!
//! A reader who has measured better changes a figure here and all sheets follow.

use super::cell::{Cell, NOT_MEASURED, Range, Sheet, Style, input, text, title, wrapped};
use crate::profile::{CostKey, Profile};
use std::collections::BTreeMap;

pub(super) struct Costs {
    pub(super) sheet: Sheet,
    rows: BTreeMap<CostKey, usize>,
    pub(super) size_names: Range,
    pub(super) size_cores: Range,
    pub(super) size_memory: Range,
}

impl Costs {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut sheet = Sheet::new("Costs", &[28.0, 14.0, 8.0, 60.0, 90.0]);
        sheet.push(vec![title(&format!("Costs: profile {}", profile.name))]);
        sheet.push(vec![text(&profile.title)]);
        sheet.push(vec![text(&format!("Machine: {}", profile.machine))]);
        sheet.push(vec![text(&format!("Measured {}: {}", profile.measured, profile.source))]);
        sheet.heading(&["Figure", "Value", "Unit", "What it is", "Where it comes from"]);
        let mut rows = BTreeMap::new();
        for key in CostKey::ALL {
            let value = match profile.cost(key) {
                Some(value) => input(value),
                None => Cell::Text(NOT_MEASURED.to_owned(), Style::InputText),
            };
            let row = vec![
                text(key.name()),
                value,
                text(key.unit()),
                wrapped(key.meaning()),
                wrapped(profile.source_of(key)),
            ];
            rows.insert(key, sheet.push(row));
        }
        sheet.heading(&["Machine", "Logical cores", "", "Memory, GB"]);
        let (first, count) = (sheet.next(), profile.sizes.len());
        for size in &profile.sizes {
            sheet.push(vec![
                Cell::Text(size.name.clone(), Style::InputText),
                input(size.logical_cores),
                Cell::Empty,
                input(size.memory_gb),
            ]);
        }
        let range = |column| Range::new("Costs", column, first, count);
        let (size_names, size_cores, size_memory) = (range('A'), range('B'), range('D'));
        Self { sheet, rows, size_names, size_cores, size_memory }
    }

    /// The cell of a figure; arithmetic on one that nobody measured is an error that the formula
    /// turns into words.
    pub(super) fn of(&self, key: CostKey) -> String {
        // Every key has a row: `new` goes through them all.
        self.sheet.address('B', self.rows.get(&key).copied().unwrap_or(1))
    }

    /// The same, taken as 0 where nobody measured it.
    pub(super) fn or_0(&self, key: CostKey) -> String {
        format!("N({})", self.of(key))
    }
}
