//! A climb as a picture: one panel for each thing that was seen, over the same steps.
//!
//! **Invariants**
//! - All numbers are written with fixed digits, so that the same curve gives the same bytes.
//! - What was not seen leaves a gap; nothing is drawn where there is no figure.

use crate::all::figures::shown;
use crate::set::{Curve, Point};

const PANEL_WIDTH: f64 = 400.0;
const HEIGHT: f64 = 260.0;
/// Around the drawing: left for the figures, bottom for the steps, top for the name.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 46.0;
/// Lines across a panel.
const TICKS: u32 = 4;
const COLORS: [&str; 4] = ["#0b6e4f", "#8a3ffc", "#b4530a", "#1d4ed8"];

/// Draws a curve.
pub(super) fn draw(title: &str, curve: &Curve) -> String {
    let panels = curve.y.len().max(1);
    let width = PANEL_WIDTH * panels as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {HEIGHT:.0}\" \
         width=\"{width:.0}\" height=\"{HEIGHT:.0}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{}, step by step</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(title)
    );
    for (number, name) in curve.y.iter().enumerate() {
        let color = COLORS.get(number % COLORS.len()).copied().unwrap_or("#000000");
        let panel = Panel::new(number, name, color, curve);
        panel.draw(&mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

/// One thing over the steps.
struct Panel<'a> {
    number: usize,
    name: &'a str,
    color: &'static str,
    curve: &'a Curve,
    x_most: f64,
    y_most: f64,
}

impl<'a> Panel<'a> {
    fn new(number: usize, name: &'a str, color: &'static str, curve: &'a Curve) -> Self {
        let most = |values: &mut dyn Iterator<Item = f64>| {
            round_up(values.filter(|value| value.is_finite()).fold(0.0, f64::max))
        };
        let x_most = most(&mut curve.points.iter().map(|point| point.x));
        let y_most = most(&mut curve.points.iter().filter_map(|point| seen(point, number)));
        Self { number, name, color, curve, x_most, y_most }
    }

    fn draw(&self, svg: &mut String) {
        let offset = PANEL_WIDTH * self.number as f64;
        svg.push_str(&format!("<g transform=\"translate({offset:.0} 0)\">\n"));
        self.text(svg, (LEFT, 18.0), "start", self.name);
        for tick in 0..=TICKS {
            let share = f64::from(tick) / f64::from(TICKS);
            let (x, y) = (self.x(self.x_most * share), self.y(self.y_most * share));
            svg.push_str(&format!(
                "<path d=\"M{LEFT:.1} {y:.1}H{:.1}\" stroke=\"#d4d4d8\"/>\n",
                PANEL_WIDTH - RIGHT
            ));
            self.text(svg, (LEFT - 6.0, y + 4.0), "end", &shown(self.y_most * share));
            self.text(svg, (x, HEIGHT - BOTTOM + 16.0), "middle", &shown(self.x_most * share));
        }
        let middle = (LEFT + PANEL_WIDTH - RIGHT) / 2.0;
        self.text(svg, (middle, HEIGHT - 10.0), "middle", &format!("offered {}", self.curve.x));
        self.line(svg);
        svg.push_str("</g>\n");
    }

    /// The line, its points, and what limited the last of them.
    fn line(&self, svg: &mut String) {
        let mut path = String::new();
        let mut pen_is_down = false;
        for point in self.sorted() {
            let Some(value) = seen(point, self.number) else {
                pen_is_down = false;
                continue;
            };
            let (x, y) = (self.x(point.x), self.y(value));
            path.push_str(&format!("{}{x:.1} {y:.1}", if pen_is_down { "L" } else { "M" }));
            pen_is_down = true;
            svg.push_str(&format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"/>\n",
                self.color
            ));
        }
        svg.push_str(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
            self.color
        ));
        let last = self.sorted().into_iter().rev().find(|point| seen(point, self.number).is_some());
        if let Some((point, limit)) = last.and_then(|point| Some((point, limit(point)?))) {
            let y = self.y(seen(point, self.number).unwrap_or(0.0));
            self.text(svg, (self.x(point.x), (y - 8.0).max(TOP - 8.0)), "end", limit);
        }
    }

    fn sorted(&self) -> Vec<&Point> {
        let mut points: Vec<&Point> = self.curve.points.iter().collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    fn text(&self, svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
        svg.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#27272a\">{}</text>\n",
            escape(text)
        ));
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (PANEL_WIDTH - LEFT - RIGHT) * value / self.x_most
    }

    fn y(&self, value: f64) -> f64 {
        let room = HEIGHT - TOP - BOTTOM;
        TOP + room - room * value / self.y_most
    }
}

fn seen(point: &Point, number: usize) -> Option<f64> {
    point.y.get(number).copied().flatten().filter(|value| value.is_finite())
}

/// What limited a step, if anything did.
fn limit(point: &Point) -> Option<&str> {
    point.limited_by.as_deref().filter(|limit| *limit != "nothing")
}

/// The next of 1, 2, 4, 5, 8 by a power of ten: it is divided by four without many digits.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0];
    // A little room: what was rounded in a result may be the number itself.
    let step = steps.into_iter().find(|step| step * power >= value * 0.999_999);
    step.unwrap_or(10.0) * power
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_numbers_that_divide_well() {
        let check = |value: f64, expected: f64| {
            assert!((round_up(value) - expected).abs() < expected * 1e-9, "{value}");
        };
        check(0.0, 1.0);
        check(0.83, 1.0);
        check(1.0, 1.0);
        check(3.0, 4.0);
        check(57_600.0, 80_000.0);
        check(99_999.0, 100_000.0);
    }

    #[test]
    fn leaves_a_gap_where_nothing_was_seen_and_escapes_words() {
        let point = |x, y, limit: Option<&str>| Point {
            x,
            y: vec![y],
            limited_by: limit.map(str::to_owned),
        };
        let curve = Curve {
            x: "runs/s".into(),
            y: vec!["p99 < 1 s".into()],
            points: vec![
                point(1.0, Some(1.0), None),
                point(2.0, None, None),
                point(3.0, Some(2.0), Some("cpu")),
            ],
        };
        let svg = draw("a <b>", &curve);
        assert!(svg.contains("a &lt;b&gt;") && svg.contains("p99 &lt; 1 s"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains(">cpu</text>"));
        // Two pens down, no line between.
        assert!(!svg.contains('L'), "{svg}");
    }
}
