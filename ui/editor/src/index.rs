//! A grid of cells that finds what lies in a part of the canvas without looking at everything.
//!
//! Things are numbers; each is entered in the cells that its rectangles touch. What would fill too
//! many cells is kept in a list that is always looked at, so that no document makes the index
//! large. Every search tells how many entries it looked at, which is what tests hold it to.
//!
//! **Invariants**: a search finds everything whose rectangle touches the part, and may find more;
//! entries are bounded by [`CELLS_MAX`] for each rectangle.

use crate::geometry::Rect;
use std::collections::{BTreeSet, HashMap};

/// Width and height of a cell, in pixels of the canvas.
pub const CELL: f64 = 320.0;
/// Most cells that one rectangle is entered in.
pub const CELLS_MAX: usize = 256;

/// The grid.
#[derive(Clone, Debug, Default)]
pub struct Index {
    cells: HashMap<(i32, i32), Vec<usize>>,
    everywhere: Vec<usize>,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The things, in ascending order, each once.
    pub things: BTreeSet<usize>,
    /// How many entries and cells were looked at.
    pub looked_at: usize,
}

impl Index {
    /// Enters a thing; call it again for each of its rectangles.
    pub fn insert(&mut self, thing: usize, rect: Rect) {
        match cells_of(rect).filter(|cells| cells.count() <= CELLS_MAX) {
            None => {
                if self.everywhere.last() != Some(&thing) {
                    self.everywhere.push(thing);
                }
            }
            Some(cells) => {
                for cell in cells.all() {
                    let entries = self.cells.entry(cell).or_default();
                    // The rectangles of one thing come one after the other.
                    if entries.last() != Some(&thing) {
                        entries.push(thing);
                    }
                }
            }
        }
    }

    /// What may lie in a part of the canvas.
    #[must_use]
    pub fn find(&self, part: Rect) -> Found {
        let mut found = Found::default();
        let mut take = |entries: &[usize]| {
            found.looked_at += entries.len();
            found.things.extend(entries);
        };
        take(&self.everywhere);
        let cells = cells_of(part).filter(|cells| cells.count() <= self.cells.len());
        let mut cells_looked_at = 0;
        if let Some(cells) = cells {
            cells_looked_at = cells.count();
            for cell in cells.all() {
                take(self.cells.get(&cell).map_or(&[], Vec::as_slice));
            }
        } else {
            // Fewer cells are filled than the part has.
            cells_looked_at += self.cells.len();
            let part = cells_of(part);
            for (cell, entries) in &self.cells {
                if part.is_none_or(|part| part.contains(*cell)) {
                    take(entries);
                }
            }
        }
        found.looked_at += cells_looked_at;
        found
    }
}

/// A block of cells.
#[derive(Clone, Copy)]
struct Cells {
    x: (i32, i32),
    y: (i32, i32),
}

impl Cells {
    fn count(self) -> usize {
        let side = |(first, last): (i32, i32)| {
            usize::try_from(i64::from(last) - i64::from(first) + 1).unwrap_or(usize::MAX)
        };
        side(self.x).saturating_mul(side(self.y))
    }

    fn all(self) -> impl Iterator<Item = (i32, i32)> {
        (self.x.0..=self.x.1).flat_map(move |x| (self.y.0..=self.y.1).map(move |y| (x, y)))
    }

    fn contains(self, (x, y): (i32, i32)) -> bool {
        (self.x.0..=self.x.1).contains(&x) && (self.y.0..=self.y.1).contains(&y)
    }
}

/// `None` where a rectangle is not finite.
fn cells_of(rect: Rect) -> Option<Cells> {
    let is_finite = rect.corner().is_finite() && rect.middle().is_finite();
    let cell = |at: f64| (at / CELL).floor() as i32;
    let x = (cell(rect.x), cell(rect.right()));
    is_finite.then(|| Cells { x, y: (cell(rect.y), cell(rect.bottom())) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there_and_looks_at_little_else() {
        let mut index = Index::default();
        for thing in 0..10_000_usize {
            let (x, y) = ((thing % 100) as f64 * 400.0, (thing / 100) as f64 * 400.0);
            index.insert(thing, Rect::new(x, y, 180.0, 40.0));
        }
        let found = index.find(Rect::new(4_000.0, 4_000.0, 800.0, 800.0));
        assert!(found.things.contains(&1_010));
        assert!(found.looked_at < 60, "{}", found.looked_at);
    }

    #[test]
    fn a_huge_rectangle_costs_one_entry_and_is_always_found() {
        let mut index = Index::default();
        index.insert(7, Rect::new(-1e9, -1e9, 2e9, 2e9));
        index.insert(8, Rect::new(f64::NAN, 0.0, 1.0, 1.0));
        index.insert(9, Rect::new(0.0, 0.0, 1.0, 1.0));
        let found = index.find(Rect::new(5e5, 0.0, 1.0, 1.0));
        assert_eq!(found.things, BTreeSet::from([7, 8]));
        let all = index.find(Rect::new(-1e12, -1e12, 2e12, 2e12));
        assert_eq!(all.things, BTreeSet::from([7, 8, 9]));
        assert!(all.looked_at < 10);
    }
}
