//! CSV as RFC 4180 has it, with line numbers: lines end in CRLF or LF, cells may be quoted and go
//! over several lines then.
//!
//! **Invariants**: no panic on any text; an empty line is no row.

use std::mem;

/// One row of cells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The line that it begins on, from 1.
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Plain,
    Quoted,
    Closed,
}

/// All rows, or the line that cannot be read and why.
pub(super) fn read(text: &str, delimiter: char) -> Result<Vec<Row>, (u64, &'static str)> {
    let (mut rows, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut state, mut line, mut begins) = (State::Start, 1, 1);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if state == State::Quoted {
            match character {
                '"' if rest.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => state = State::Closed,
                other => {
                    line += u64::from(other == '\n');
                    cell.push(other);
                }
            }
            continue;
        }
        match character {
            '"' if state == State::Start => state = State::Quoted,
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' => {
                let was_empty = state == State::Start && cells.is_empty();
                cells.push(mem::take(&mut cell));
                let row = Row { line: begins, cells: mem::take(&mut cells) };
                if !was_empty {
                    rows.push(row);
                }
                line += 1;
                (begins, state) = (line, State::Start);
            }
            other if other == delimiter => {
                cells.push(mem::take(&mut cell));
                state = State::Start;
            }
            _ if state == State::Closed => {
                return Err((line, "Text stands behind a closing quote."));
            }
            other => {
                cell.push(other);
                state = State::Plain;
            }
        }
    }
    if state == State::Quoted {
        return Err((begins, "A quote that opens here is not closed."));
    }
    if state != State::Start || !cells.is_empty() {
        cells.push(cell);
        rows.push(Row { line: begins, cells });
    }
    Ok(rows)
}
