//! Contrast of every pair that meets on the screen, in both themes.

use super::CSS;
use std::collections::BTreeMap;

/// Text against what it stands on.
const TEXT: f64 = 4.5;
/// Lines, marks, focus rings.
const GRAPHICS: f64 = 3.0;

type Colours = BTreeMap<String, [f64; 3]>;

fn colours_of(block: &str) -> Colours {
    let declarations = block.split(';').filter_map(|line| line.trim().strip_prefix("--"));
    let pairs = declarations.filter_map(|line| line.split_once(':'));
    pairs.filter_map(|(name, value)| Some((name.to_owned(), rgb(value.trim())?))).collect()
}

fn rgb(text: &str) -> Option<[f64; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at: usize| {
        let two = digits.get(at..at + 2)?;
        u8::from_str_radix(two, 16).ok().map(f64::from)
    };
    Some([part(0)?, part(2)?, part(4)?])
}

fn block(selector: &str) -> &'static str {
    let (_, rest) = CSS.split_once(&format!("{selector} {{")).expect("the block is there");
    rest.split_once('}').expect("the block ends").0
}

fn theme(dark: bool) -> Colours {
    let mut colours = colours_of(block("\n:root"));
    if dark {
        colours.extend(colours_of(block("[data-theme=\"dark\"]")));
    }
    colours
}

/// Relative luminance, WCAG 2.2.
fn luminance(colour: [f64; 3]) -> f64 {
    let linear = colour.map(|part| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn worst(colours: &Colours, name: &str) -> f64 {
    let surfaces = ["surface-0", "surface-1", "surface-2"];
    surfaces.iter().map(|on| contrast(colours[name], colours[*on])).fold(f64::MAX, f64::min)
}

#[track_caller]
fn check(colours: &Colours, names: &[&str], least: f64) {
    for name in names {
        let found = worst(colours, name);
        assert!(found >= least, "{name} has {found:.2} against its worst surface, needs {least}");
    }
}

#[test]
fn text_reads_on_every_surface() {
    let names = [
        "ink",
        "ink-muted",
        "live",
        "focus",
        "priority-1",
        "priority-2",
        "priority-3",
        "priority-4",
    ];
    for dark in [false, true] {
        check(&theme(dark), &names, TEXT);
    }
}

#[test]
fn lines_are_seen_on_every_surface() {
    for dark in [false, true] {
        let names = ["line", "trend-1", "trend-2", "trend-3", "trend-4"];
        check(&theme(dark), &names, GRAPHICS);
    }
}

#[test]
fn digits_read_on_their_badges() {
    for dark in [false, true] {
        let colours = theme(dark);
        for digit in 1..=4 {
            let ink = colours[&format!("on-badge-{digit}")];
            let found = contrast(ink, colours[&format!("badge-{digit}")]);
            assert!(found >= TEXT, "badge {digit} has {found:.2}");
        }
    }
}

#[test]
fn text_reads_on_the_selection() {
    for dark in [false, true] {
        let colours = theme(dark);
        let found = contrast(colours["on-focus"], colours["focus"]);
        assert!(found >= TEXT, "text on the selection has {found:.2}");
    }
}

#[test]
fn measures_contrast_as_the_standard_does() {
    assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 0.01);
    // The table of the design: the light theme's worst cases.
    let light = theme(false);
    assert!((worst(&light, "ink") - 11.4).abs() < 0.1, "{}", worst(&light, "ink"));
    assert!((worst(&light, "line") - 3.2).abs() < 0.1, "{}", worst(&light, "line"));
}

#[test]
fn a_pale_grey_would_be_found() {
    let mut colours = theme(false);
    colours.insert("pale".to_owned(), [150.0; 3]);
    assert!(worst(&colours, "pale") < GRAPHICS);
}
