//! A tree of any size: the page gives the rows that are open, in order; only those in sight are built.
//!
//! The page keeps what is open and loads branches when they are opened, so that a tree of a hundred
//! thousand leaves costs what is in sight.
//!
//! **Invariants**
//! - The keys of a tree as everybody knows them: up, down, right opens or goes in, left closes or goes
//!   out, Home, End, Enter.

use crate::id::unique;
use crate::rows::{Move, top_of};
use crate::viewport::Viewport;
use leptos::prelude::*;

/// One row of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeRow {
    /// Names it, for the page.
    pub key: String,
    /// What stands there.
    pub text: String,
    /// How deep it lies; 0 at the top.
    pub depth: usize,
    /// Whether something is below it, and whether that is shown; `None` = a leaf.
    pub open: Option<bool>,
}

/// A tree.
#[component]
pub fn Tree(
    /// What it is, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// The rows that are open, in order.
    #[prop(into)]
    rows: Signal<Vec<TreeRow>>,
    /// The key of the row that is chosen.
    chosen: RwSignal<Option<String>>,
    /// Opens or closes a row.
    #[prop(into)]
    on_toggle: Callback<String>,
    /// What Enter or a double click does.
    #[prop(optional, into)]
    on_open: Option<Callback<String>>,
    /// What stands at the right end of a row: a live value.
    #[prop(optional, into)]
    aside: Option<Callback<TreeRow, AnyView>>,
) -> impl IntoView {
    let viewport = Viewport::new();
    let id = unique("tree");
    let at = move || {
        let chosen = chosen.get();
        rows.with(|rows| rows.iter().position(|row| Some(&row.key) == chosen.as_ref()))
    };
    let press = move |event: leptos::ev::KeyboardEvent| {
        let now = untrack(at);
        let page = viewport.page();
        let aim = rows.with_untracked(|rows| Go::of_key(&event.key(), rows, now, page));
        if aim != Go::Nowhere {
            event.prevent_default();
        }
        match aim {
            Go::Toggle(key) => on_toggle.run(key),
            Go::Open(key) => on_open.unwrap_or(on_toggle).run(key),
            Go::Row(row) => {
                let key = rows.with_untracked(|rows| rows.get(row).map(|row| row.key.clone()));
                if let Some(key) = key {
                    chosen.set(Some(key));
                    viewport.show(row);
                }
            }
            Go::Nowhere => {}
        }
    };
    let count = Memo::new(move |_| rows.with(Vec::len));
    let in_sight = move || {
        let range = viewport.rows(count.get());
        rows.with(|rows| {
            let first = range.start;
            let shown = rows.get(range).unwrap_or_default();
            shown.iter().cloned().enumerate().map(|(at, row)| (first + at, row)).collect::<Vec<_>>()
        })
    };
    let row_id = {
        let id = id.clone();
        move |at: usize| format!("{id}-{at}")
    };
    let active = {
        let row_id = row_id.clone();
        move || at().map(&row_id)
    };
    let build = move |(at, row): (usize, TreeRow)| {
        view! { <TreeLine at row id=row_id(at) chosen on_toggle on_open aside/> }
    };
    view! {
        <div
            class="tree"
            role="tree"
            tabindex="0"
            aria-label=label
            aria-activedescendant=active
            node_ref=viewport.node
            on:keydown=press
            on:scroll=move |_| viewport.measure()
        >
            <div class="tree-canvas" role="presentation" style:height=move || format!("{}px", top_of(count.get()))>
                <For each=in_sight key=Clone::clone children=build/>
            </div>
        </div>
    }
}

/// What a key of the tree does.
#[derive(Debug, PartialEq)]
enum Go {
    Toggle(String),
    Open(String),
    Row(usize),
    Nowhere,
}

impl Go {
    fn of_key(key: &str, rows: &[TreeRow], now: Option<usize>, page: usize) -> Self {
        let here = now.and_then(|at| rows.get(at));
        let to = |row: Option<usize>| row.map_or(Self::Nowhere, Self::Row);
        match (key, here) {
            ("ArrowRight", Some(row)) if row.open == Some(false) => Self::Toggle(row.key.clone()),
            ("ArrowRight", Some(row)) if row.open == Some(true) => to(now.map(|at| at + 1)),
            ("ArrowLeft", Some(row)) if row.open == Some(true) => Self::Toggle(row.key.clone()),
            ("ArrowLeft", Some(row)) => to(parent(rows, now, row.depth)),
            ("Enter", Some(row)) => Self::Open(row.key.clone()),
            _ => to(Move::of_key(key).and_then(|step| step.from(now, rows.len(), page))),
        }
    }
}

fn parent(rows: &[TreeRow], now: Option<usize>, depth: usize) -> Option<usize> {
    rows.get(..now?)?.iter().rposition(|row| row.depth < depth)
}

/// One row: its place, its sign, its text and what stands beside it.
#[component]
fn TreeLine(
    at: usize,
    row: TreeRow,
    id: String,
    chosen: RwSignal<Option<String>>,
    on_toggle: Callback<String>,
    on_open: Option<Callback<String>>,
    aside: Option<Callback<TreeRow, AnyView>>,
) -> impl IntoView {
    let key = StoredValue::new(row.key.clone());
    let sign = match row.open {
        Some(true) => "▾",
        Some(false) => "▸",
        None => "",
    };
    let indent = format!("{}px", 8 + row.depth * 16);
    let level = (row.depth + 1).to_string();
    let open = row.open;
    let text = row.text.clone();
    view! {
        <div
            class="tree-row"
            id=id
            role="treeitem"
            attr:aria-level=level
            aria-expanded=open.map(|open| open.to_string())
            aria-selected=move || key.with_value(|key| chosen.with(|chosen| chosen.as_ref() == Some(key))).to_string()
            style:transform=format!("translateY({}px)", top_of(at))
            style:padding-left=indent
            on:click=move |_| chosen.set(Some(key.get_value()))
            on:dblclick=move |_| match on_open {
                Some(open) => open.run(key.get_value()),
                None => on_toggle.run(key.get_value()),
            }
        >
            <span
                class="tree-sign"
                aria-hidden="true"
                on:click=move |event| if open.is_some() {
                    event.stop_propagation();
                    on_toggle.run(key.get_value());
                }
            >
                {sign}
            </span>
            <span class="tree-text">{text}</span>
            {aside.map(|aside| aside.run(row))}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_open_close_and_walk() {
        let row = |key: &str, depth, open| TreeRow {
            key: key.to_owned(),
            text: String::new(),
            depth,
            open,
        };
        let rows = [row("a", 0, Some(true)), row("a/b", 1, None), row("c", 0, Some(false))];
        let go = |key, now| Go::of_key(key, &rows, Some(now), 10);
        assert_eq!(go("ArrowRight", 0), Go::Row(1));
        assert_eq!(go("ArrowLeft", 1), Go::Row(0));
        assert_eq!(go("ArrowLeft", 0), Go::Toggle("a".to_owned()));
        assert_eq!(go("ArrowRight", 2), Go::Toggle("c".to_owned()));
        assert_eq!(go("End", 0), Go::Row(2));
        assert_eq!(go("x", 0), Go::Nowhere);
    }

    #[test]
    fn finds_the_branch_that_a_row_hangs_on() {
        let row = |depth| TreeRow { key: String::new(), text: String::new(), depth, open: None };
        let rows = [row(0), row(1), row(2), row(1), row(2)];
        assert_eq!(parent(&rows, Some(4), 2), Some(3));
        assert_eq!(parent(&rows, Some(3), 1), Some(0));
        assert_eq!(parent(&rows, Some(0), 0), None);
    }
}
