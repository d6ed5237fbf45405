//! A table of any length: only the rows in sight are built.
//!
//! The page says how many rows there are and builds one when it is asked to; what it builds may be
//! reactive. When the meaning of row numbers changes (sorted, filtered, another page loaded), the
//! page moves `version`, and the rows in sight are built anew.
//!
//! **Invariants**
//! - One stop for the Tab key; inside, arrows, PageUp, PageDown, Home, End and Enter.

use crate::id::unique;
use crate::rows::{Move, top_of};
use crate::viewport::Viewport;
use leptos::prelude::*;

/// A column.
#[derive(Clone)]
pub struct Column {
    /// Its title.
    pub title: Signal<String>,
    /// Its width as a track of a grid: `2fr`, `120px`.
    pub width: &'static str,
    /// Numbers stand at the right.
    pub numbers: bool,
}

impl Column {
    /// A column of texts.
    pub fn texts(title: impl Into<Signal<String>>, width: &'static str) -> Self {
        Self { title: title.into(), width, numbers: false }
    }

    /// A column of numbers.
    pub fn numbers(title: impl Into<Signal<String>>, width: &'static str) -> Self {
        Self { title: title.into(), width, numbers: true }
    }
}

/// A table.
#[component]
pub fn Table(
    /// What it is, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// Its columns.
    columns: Vec<Column>,
    /// How many rows there are.
    #[prop(into)]
    count: Signal<usize>,
    /// Builds the cells of a row.
    #[prop(into)]
    row: Callback<usize, Vec<AnyView>>,
    /// Moves when row numbers mean other things.
    #[prop(optional, into)]
    version: Signal<u64>,
    /// The row that is chosen.
    #[prop(optional)]
    chosen: RwSignal<Option<usize>>,
    /// What Enter or a double click on a row does.
    #[prop(optional, into)]
    on_open: Option<Callback<usize>>,
) -> impl IntoView {
    let viewport = Viewport::new();
    let id = unique("table");
    let tracks = columns.iter().map(|column| column.width).collect::<Vec<_>>().join(" ");
    let head_tracks = tracks.clone();
    let numbers: Vec<bool> = columns.iter().map(|column| column.numbers).collect();
    let heads = columns.into_iter().map(|column| {
        view! {
            <div class="table-cell" class:table-number=column.numbers role="columnheader">
                {column.title}
            </div>
        }
    });
    let press = move |event| pressed(&event, viewport, count, chosen, on_open);
    let row_id = {
        let id = id.clone();
        move |at: usize| format!("{id}-{at}")
    };
    let active = {
        let row_id = row_id.clone();
        move || chosen.get().map(&row_id)
    };
    let rows = move || {
        let version = version.get();
        viewport.rows(count.get()).map(|at| (at, version)).collect::<Vec<_>>()
    };
    let build = move |(at, _): (usize, u64)| {
        let cells = numbers.iter().zip(row.run(at)).map(|(is_number, cell)| {
            view! { <div class="table-cell" class:table-number=*is_number role="gridcell">{cell}</div> }
        });
        view! {
            <div
                class="table-row"
                id=row_id(at)
                role="row"
                aria-rowindex=(at + 2).to_string()
                aria-selected=move || (chosen.get() == Some(at)).to_string()
                style:grid-template-columns=tracks.clone()
                style:transform=format!("translateY({}px)", top_of(at))
                on:click=move |_| chosen.set(Some(at))
                on:dblclick=move |_| if let Some(open) = on_open { open.run(at); }
            >
                {cells.collect_view()}
            </div>
        }
    };
    view! {
        <div
            class="table"
            role="grid"
            tabindex="0"
            aria-label=label
            aria-rowcount=move || (count.get() + 1).to_string()
            aria-activedescendant=active
            on:keydown=press
        >
            <div class="table-head" role="row" aria-rowindex="1" style:grid-template-columns=head_tracks>
                {heads.collect_view()}
            </div>
            <div class="table-body" role="rowgroup" node_ref=viewport.node on:scroll=move |_| viewport.measure()>
                <div class="table-canvas" role="presentation" style:height=move || format!("{}px", top_of(count.get()))>
                    <For each=rows key=|key| *key children=build/>
                </div>
            </div>
        </div>
    }
}

/// A key of the table: a move, or opening the row that is chosen.
fn pressed(
    event: &leptos::ev::KeyboardEvent,
    viewport: Viewport,
    count: Signal<usize>,
    chosen: RwSignal<Option<usize>>,
    on_open: Option<Callback<usize>>,
) {
    let key = event.key();
    if let Some(step) = Move::of_key(&key) {
        event.prevent_default();
        let now = chosen.get_untracked();
        let aim = step.from(now, count.get_untracked(), viewport.page());
        chosen.set(aim);
        if let Some(aim) = aim {
            viewport.show(aim);
        }
    } else if key == "Enter"
        && let (Some(open), Some(at)) = (on_open, chosen.get_untracked())
    {
        event.prevent_default();
        open.run(at);
    }
}
