//! A chart over time: several lines, their least and most kept, gaps left open, bad quality marked.
//!
//! The page gives the lines and the window; the chart asks for another window when somebody pans or
//! zooms, and tells where the cursor is. Lines of one unit share a scale; the first two units have an
//! axis, the others their range in the page's legend.
//!
//! **Invariants**
//! - Whatever is in the lines, a path is made of finite numbers.
//! - All that drags or wheels does has a key: arrows, plus and minus, Home, Escape.
//! - A line is told by its dashes and its number, not by its colour alone.

mod line;
mod ticks;
mod window;

pub use line::{ChartLine, ChartPoint, LINES_MAX, Range};
pub use window::Window;

use crate::id::unique;
use crate::surface::{Surface, SurfaceEvent};
use crate::value::Quality;
use leptos::prelude::*;

/// Room for the axes, in pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 24.0;

/// What the page has to say in its words.
#[derive(Clone, Copy)]
pub struct ChartTexts {
    /// What it is, for those who do not see it.
    pub label: Signal<String>,
    /// Its keys.
    pub help: Signal<String>,
    /// A time at a mark of the axis: the time in milliseconds, and the distance of the marks.
    pub time: Callback<(f64, f64), String>,
    /// A number at a mark.
    pub number: Callback<f64, String>,
}

/// What somebody does with the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChartAct {
    /// Another window.
    Window(Window),
    /// Back to now.
    Live,
}

/// A chart over time.
#[component]
pub fn Chart(
    /// Its lines.
    #[prop(into)]
    lines: Signal<Vec<ChartLine>>,
    /// What is shown.
    #[prop(into)]
    window: Signal<Window>,
    /// Where the cursor stands, in milliseconds.
    cursor: RwSignal<Option<f64>>,
    /// Its texts.
    texts: ChartTexts,
    /// Minutes east of UTC, so that marks stand at full hours of the person.
    #[prop(into)]
    offset_minutes: Signal<i32>,
    /// Called when somebody wants another window.
    #[prop(into)]
    on_act: Callback<ChartAct>,
) -> impl IntoView {
    let size = RwSignal::new((800.0_f64, 360.0_f64));
    let dragged = StoredValue::new(None::<(f64, Window)>);
    let help = unique("chart-help");
    let event = move |event: SurfaceEvent| {
        let place = Place { size: size.get_untracked(), window: window.get_untracked() };
        hear(&event, place, size, dragged, cursor, on_act)
    };
    let place = move || Place { size: size.get(), window: window.get() };
    view! {
        <Surface label=texts.label class="surface chart" on_event=event described_by=help.clone()>
            <svg class="chart-picture" aria-hidden="true">
                {move || times(place(), texts, offset_minutes.get())}
                {move || lines.with(|lines| scales(place(), lines, texts))}
                <g>{move || lines.with(|lines| drawn(place(), lines))}</g>
                {move || cursor.get().map(|at| {
                    let place = place();
                    let x = place.x(at);
                    view! { <line class="chart-cursor" x1=x x2=x y1=TOP y2=place.bottom()></line> }
                })}
            </svg>
            <p class="visually-hidden" id=help>{texts.help}</p>
        </Surface>
    }
}

/// Where things are.
#[derive(Clone, Copy)]
struct Place {
    size: (f64, f64),
    window: Window,
}

impl Place {
    fn width(self) -> f64 {
        (self.size.0 - LEFT - RIGHT).max(1.0)
    }

    fn bottom(self) -> f64 {
        (self.size.1 - BOTTOM).max(TOP + 1.0)
    }

    fn x(self, at: f64) -> f64 {
        LEFT + self.window.share(at) * self.width()
    }

    fn at(self, x: f64) -> f64 {
        self.window.at((x - LEFT) / self.width())
    }

    fn frame(self) -> line::Frame {
        let (top, bottom) = (TOP, self.bottom());
        line::Frame { left: LEFT, width: self.width(), top, bottom, window: self.window }
    }
}

/// What a gesture or a key does; whether it did something.
fn hear(
    event: &SurfaceEvent,
    place: Place,
    size: RwSignal<(f64, f64)>,
    dragged: StoredValue<Option<(f64, Window)>>,
    cursor: RwSignal<Option<f64>>,
    on_act: Callback<ChartAct>,
) -> bool {
    let to = |window: Window| on_act.run(ChartAct::Window(window));
    match event {
        SurfaceEvent::Resized(width, height) => size.set((*width, *height)),
        SurfaceEvent::Down(spot, 0 | 1) => dragged.set_value(Some((spot.x, place.window))),
        SurfaceEvent::Up(_) | SurfaceEvent::Lost => dragged.set_value(None),
        SurfaceEvent::Move(spot) => match dragged.get_value() {
            Some((from, window)) if (spot.x - from).abs() > 2.0 => {
                to(window.panned((from - spot.x) / place.width()));
            }
            Some(_) => {}
            None => cursor.set(Some(place.at(spot.x)).filter(|at| place.window.has(*at))),
        },
        SurfaceEvent::Wheel(spot, _, down) if *down != 0.0 => {
            let factor = if *down > 0.0 { 1.25 } else { 0.8 };
            to(place.window.zoomed(factor, (spot.x - LEFT) / place.width()));
        }
        SurfaceEvent::Key(key) if !key.ctrl && !key.alt => {
            return pressed(&key.key, key.shift, place.window, cursor, on_act);
        }
        _ => return false,
    }
    true
}

fn pressed(
    key: &str,
    shift: bool,
    window: Window,
    cursor: RwSignal<Option<f64>>,
    on_act: Callback<ChartAct>,
) -> bool {
    let to = |window: Window| on_act.run(ChartAct::Window(window));
    let step = |share: f64| {
        let now = cursor.get_untracked().unwrap_or_else(|| window.at(0.5));
        cursor.set(Some((now + share * window.length()).clamp(window.from, window.to)));
    };
    match (key, shift) {
        ("ArrowLeft", false) => step(-0.01),
        ("ArrowRight", false) => step(0.01),
        ("ArrowLeft", true) | ("PageUp", _) => to(window.panned(-0.25)),
        ("ArrowRight", true) | ("PageDown", _) => to(window.panned(0.25)),
        ("+" | "=", _) => to(window.zoomed(0.5, 0.5)),
        ("-" | "_", _) => to(window.zoomed(2.0, 0.5)),
        ("Home", _) => on_act.run(ChartAct::Live),
        ("Escape", _) if cursor.with_untracked(Option::is_some) => cursor.set(None),
        _ => return false,
    }
    true
}

fn times(place: Place, texts: ChartTexts, offset_minutes: i32) -> impl IntoView {
    let (step, marks) = ticks::of_time(place.window, offset_minutes, place.width() / 90.0);
    let (top, bottom) = (TOP, place.bottom());
    let mark = move |at: f64| {
        let x = place.x(at);
        view! {
            <line class="chart-grid" x1=x x2=x y1=top y2=bottom></line>
            <text class="chart-text chart-text-time" x=x y={bottom + 16.0}>{texts.time.run((at, step))}</text>
        }
    };
    view! { <g>{marks.into_iter().map(mark).collect_view()}</g> }
}

fn scales(place: Place, lines: &[ChartLine], texts: ChartTexts) -> impl IntoView + use<> {
    let frame = place.frame();
    let axis = |(at, (unit, range)): (usize, (String, Range))| {
        let x = if at == 0 { LEFT - 6.0 } else { place.size.0 - RIGHT + 6.0 };
        let class = if at == 0 { "chart-text chart-text-left" } else { "chart-text" };
        let ends = (LEFT, place.size.0 - RIGHT);
        let mark = move |number: f64| {
            let y = frame.y(number, range);
            let grid = (at == 0).then(|| {
                view! { <line class="chart-grid" x1=ends.0 x2=ends.1 y1=y y2=y></line> }
            });
            view! { {grid} <text class=class x=x y={y + 4.0}>{texts.number.run(number)}</text> }
        };
        let marks = ticks::of_numbers(range, (place.bottom() - TOP) / 48.0);
        view! {
            {marks.into_iter().map(mark).collect_view()}
            <text class=class x=x y={place.bottom() + 16.0}>{unit}</text>
        }
    };
    let axes = line::ranges(lines, place.window).into_iter().take(2).enumerate();
    view! { <g>{axes.map(axis).collect_view()}</g> }
}

fn drawn(place: Place, lines: &[ChartLine]) -> impl IntoView + use<> {
    let frame = place.frame();
    let ranges = line::ranges(lines, place.window);
    let range_of = |unit: &str| {
        let found = ranges.iter().find(|(own, _)| own == unit);
        found.map_or_else(Range::default, |(_, range)| *range)
    };
    let draw = |(at, own): (usize, &ChartLine)| {
        let range = range_of(&own.unit);
        let class = format!("chart-line chart-line-{}", at % LINES_MAX + 1);
        view! {
            <path class=class d=frame.path(own, range)></path>
            <path class="chart-bad" d=frame.marks(own, range, Quality::Bad)></path>
            <path class="chart-uncertain" d=frame.marks(own, range, Quality::Uncertain)></path>
        }
    };
    lines.iter().enumerate().map(draw).collect_view()
}

/// A line's look in a legend.
#[component]
pub fn ChartSign(
    /// Which line, from 0.
    at: usize,
) -> impl IntoView {
    let class = format!("chart-line chart-line-{}", at % LINES_MAX + 1);
    view! {
        <svg class="chart-sign" viewBox="0 0 32 12" aria-hidden="true">
            <path class=class d="M0 6H32"></path>
        </svg>
    }
}
