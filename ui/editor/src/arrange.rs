//! Arranging steps: columns by the longest way from a trigger, rows by where neighbours are.
//!
//! Wires lead from one column to a later one; a wire that would lead back (a document may hold a
//! cycle while it is edited) does not count. Within a column steps are put near the middle of what
//! they are wired to, in a few sweeps there and back.
//!
//! **Invariants**: the same document gives the same places; no two boxes overlap; the first column
//! begins at the origin; the work is linear but for sorting columns.

use crate::shape::{self, HEIGHT, PORT_PITCH, WIDTH};
use crate::snap::GRID;
use millrace_flow::Document;
use std::collections::{BTreeMap, BTreeSet};

/// From one column to the next, in pixels of the canvas.
pub const COLUMN: i32 = 260;
/// Free space between two steps of a column.
const GAP: f64 = 40.0;
/// How often the columns are put in order, there and back.
const SWEEPS: usize = 4;

/// Places for some of a document's steps, from the origin on.
#[must_use]
pub fn arrange(document: &Document, steps: &BTreeSet<String>) -> BTreeMap<String, [i32; 2]> {
    let graph = Graph::new(document, steps);
    let columns = graph.in_order(graph.columns());
    let mut places = BTreeMap::new();
    for (column, ids) in (0_i32..).zip(columns) {
        let mut y = 0.0;
        for id in ids {
            places.insert(id.to_owned(), [column.saturating_mul(COLUMN), y as i32]);
            let ports =
                document.steps.get(id).map_or(1, |step| shape::ports(document, id, step).len());
            let height = HEIGHT + ports.saturating_sub(1) as f64 * PORT_PITCH;
            y += ((height + GAP) / GRID).ceil() * GRID;
        }
    }
    // Wide enough for every box, whatever is changed above.
    debug_assert!(f64::from(COLUMN) > WIDTH);
    places
}

struct Graph<'a> {
    ids: Vec<&'a str>,
    next: BTreeMap<&'a str, Vec<&'a str>>,
    before: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn new(document: &'a Document, steps: &'a BTreeSet<String>) -> Self {
        let ids: Vec<&str> =
            document.steps.keys().filter(|id| steps.contains(*id)).map(String::as_str).collect();
        let mut graph = Self { ids, next: BTreeMap::new(), before: BTreeMap::new() };
        let known: BTreeSet<&str> = graph.ids.iter().copied().collect();
        for wire in &document.wires {
            let (from, to) = (wire.from.as_str(), wire.to.as_str());
            if known.contains(from) && known.contains(to) && from != to {
                graph.next.entry(from).or_default().push(to);
            }
        }
        graph.cut_cycles();
        for (from, all) in &graph.next {
            for to in all {
                graph.before.entry(to).or_default().push(from);
            }
        }
        graph
    }

    /// Drops wires that lead back to a step whose way is being followed.
    fn cut_cycles(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            Open,
            Done,
        }
        let mut marks: BTreeMap<&str, Mark> = BTreeMap::new();
        let mut back: BTreeSet<(&str, &str)> = BTreeSet::new();
        for start in &self.ids {
            // A stack of our own: a chain of a thousand steps must not be a thousand calls deep.
            let mut stack = vec![(*start, 0)];
            while let Some((id, at)) = stack.pop() {
                if at == 0 {
                    if marks.contains_key(id) {
                        continue;
                    }
                    marks.insert(id, Mark::Open);
                }
                match self.next.get(id).and_then(|next| next.get(at)) {
                    None => drop(marks.insert(id, Mark::Done)),
                    Some(to) => {
                        stack.push((id, at + 1));
                        match marks.get(to) {
                            Some(Mark::Open) => drop(back.insert((id, *to))),
                            Some(Mark::Done) => {}
                            None => stack.push((to, 0)),
                        }
                    }
                }
            }
        }
        for (from, all) in &mut self.next {
            all.retain(|to| !back.contains(&(*from, *to)));
        }
    }

    /// The column of each step: the longest way that leads to it.
    fn columns(&self) -> Vec<Vec<&'a str>> {
        let mut waiting: BTreeMap<&str, usize> =
            self.ids.iter().map(|id| (*id, self.before.get(id).map_or(0, Vec::len))).collect();
        let mut column: BTreeMap<&str, usize> = BTreeMap::new();
        let mut free: Vec<&str> =
            waiting.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
        while let Some(id) = free.pop() {
            let own = *column.entry(id).or_default();
            for to in self.next.get(id).into_iter().flatten() {
                let of_next = column.entry(to).or_default();
                *of_next = (*of_next).max(own + 1);
                if let Some(count) = waiting.get_mut(to) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        free.push(to);
                    }
                }
            }
        }
        let mut columns: Vec<Vec<&str>> = Vec::new();
        for id in &self.ids {
            let at = column.get(id).copied().unwrap_or_default();
            if columns.len() <= at {
                columns.resize(at + 1, Vec::new());
            }
            columns.get_mut(at).into_iter().for_each(|column| column.push(id));
        }
        columns
    }

    /// The columns with each step near what it is wired to.
    fn in_order(&self, mut columns: Vec<Vec<&'a str>>) -> Vec<Vec<&'a str>> {
        let mut rows: BTreeMap<&str, f64> = BTreeMap::new();
        for sweep in 0..SWEEPS {
            let (neighbors, is_forward) = match sweep % 2 {
                0 => (&self.before, true),
                _ => (&self.next, false),
            };
            let count = columns.len();
            for step in 0..count {
                let at = if is_forward { step } else { count - 1 - step };
                let Some(column) = columns.get_mut(at) else { continue };
                let mut wanted: Vec<(f64, &str)> = column
                    .iter()
                    .zip(0_u32..)
                    .map(|(id, row)| (middle(neighbors.get(id), &rows, f64::from(row)), *id))
                    .collect();
                wanted.sort_by(|one, other| one.0.total_cmp(&other.0));
                *column = wanted.into_iter().map(|(_, id)| id).collect();
                rows.extend(column.iter().zip(0_u32..).map(|(id, row)| (*id, f64::from(row))));
            }
        }
        columns
    }
}

/// The mean row of a step's neighbours; its own row where it has none.
fn middle(neighbors: Option<&Vec<&str>>, rows: &BTreeMap<&str, f64>, own: f64) -> f64 {
    let known: Vec<f64> =
        neighbors.into_iter().flatten().filter_map(|id| rows.get(id).copied()).collect();
    if known.is_empty() { own } else { known.iter().sum::<f64>() / known.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    fn places(text: &str) -> BTreeMap<String, [i32; 2]> {
        let document = document(text);
        let all = document.steps.keys().cloned().collect();
        arrange(&document, &all)
    }

    #[test]
    fn the_longest_way_decides_the_column() {
        let places = places("t:manual a:map b:map c:map | t-a a-b b-c t-c");
        let columns: Vec<_> = ["t", "a", "b", "c"].iter().map(|id| places[*id][0] / 260).collect();
        assert_eq!(columns, [0, 1, 2, 3]);
    }

    #[test]
    fn steps_of_a_column_do_not_overlap_and_wires_do_not_cross() {
        let places = places("t:manual u:manual x:condition y:map | t-y u-x");
        assert!(places["t"][1] < places["u"][1]);
        assert!(places["y"][1] < places["x"][1], "as their triggers are: {places:?}");
        assert!((places["x"][1] - places["y"][1]).abs() >= 60);
    }

    #[test]
    fn a_cycle_and_a_chain_of_a_thousand_steps_end() {
        let ring = places("a:map b:map c:map | a-b b-c c-a");
        assert_eq!(ring.len(), 3);
        let mut text: String = (0..1_000).map(|step| format!("s{step}:map ")).collect();
        text.push('|');
        (1..1_000).for_each(|step| text.push_str(&format!(" s{}-s{step}", step - 1)));
        assert_eq!(places(&text)["s999"], [999 * COLUMN, 0]);
    }
}
