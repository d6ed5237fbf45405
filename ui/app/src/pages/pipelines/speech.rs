//! What the editor says, in the person's language.
//!
//! **Invariants**
//! - In English it is word for word what the editor itself would say.

use crate::locale::Locale;
use crate::words::{Message, designer, fill};
use millrace_editor::connect::Misfit;
use millrace_editor::{Action, Said, Side};

/// A sentence of the editor.
pub(super) fn say(locale: Locale, said: &Said) -> String {
    let plain = |message: Message| message.in_locale(locale).to_owned();
    let with = |message: Message, values: &[(&str, &str)]| fill(message.in_locale(locale), values);
    let steps = |count: usize| counted(locale, count, 0);
    match said {
        Said::At { name, kind, number: (at, of), wires: (into, out) } => with(
            designer::SAID_AT,
            &[
                ("name", name),
                ("kind", kind),
                ("at", &at.to_string()),
                ("of", &of.to_string()),
                ("into", &into.to_string()),
                ("out", &out.to_string()),
            ],
        ),
        Said::Selected { steps: 0, wires: 0 } => plain(designer::SAID_NOTHING),
        Said::Selected { steps, wires } => {
            with(designer::SAID_SELECTED, &[("what", &counted(locale, *steps, *wires))])
        }
        Said::Moved { steps: count, to: [x, y] } => with(
            designer::SAID_MOVED,
            &[("what", &steps(*count)), ("x", &x.to_string()), ("y", &y.to_string())],
        ),
        Said::Added(name) => with(designer::SAID_ADDED, &[("what", name)]),
        Said::Removed { steps, wires } => {
            with(designer::SAID_REMOVED, &[("what", &counted(locale, *steps, *wires))])
        }
        Said::Connected(wire) => with(
            designer::SAID_CONNECTED,
            &[("from", &wire.from), ("port", &wire.port), ("to", &wire.to)],
        ),
        Said::Connecting { from, port, to, number: (at, of) } => with(
            designer::SAID_CONNECTING,
            &[
                ("from", from),
                ("port", port),
                ("to", to),
                ("at", &at.to_string()),
                ("of", &of.to_string()),
            ],
        ),
        Said::Copied(count) => with(designer::SAID_COPIED, &[("what", &steps(*count))]),
        Said::Pasted(count) => with(designer::SAID_PASTED, &[("what", &steps(*count))]),
        Said::Undone(name) => with(designer::SAID_UNDONE, &[("what", name)]),
        Said::Redone(name) => with(designer::SAID_REDONE, &[("what", name)]),
        Said::Canceled => plain(designer::SAID_CANCELED),
        Said::NothingThere(Side::Left) => plain(designer::SAID_LEFT),
        Said::NothingThere(Side::Right) => plain(designer::SAID_RIGHT),
        Said::NothingThere(Side::Up) => plain(designer::SAID_UP),
        Said::NothingThere(Side::Down) => plain(designer::SAID_DOWN),
        Said::NothingTo(action) => {
            let name = name(locale, *action).to_lowercase();
            with(designer::SAID_NOTHING_TO, &[("what", &name)])
        }
        Said::NoPartner(port) => with(designer::SAID_NO_PARTNER, &[("port", port)]),
        Said::Refused(misfit) => refused(locale, misfit),
        Said::ReadOnly => plain(designer::SAID_READ_ONLY),
        // Numbers, and what others have said already.
        Said::Zoomed(_) | Said::Done(_) | Said::Failed(_) => said.to_string(),
    }
}

fn refused(locale: Locale, misfit: &Misfit) -> String {
    let with = |message: Message, values: &[(&str, &str)]| fill(message.in_locale(locale), values);
    match misfit {
        Misfit::Trigger(step) => with(designer::MISFIT_TRIGGER, &[("step", step)]),
        Misfit::Itself => with(designer::MISFIT_ITSELF, &[]),
        Misfit::Cycle(step) => with(designer::MISFIT_CYCLE, &[("step", step)]),
        Misfit::Exists => with(designer::MISFIT_EXISTS, &[]),
        Misfit::NoPort { step, port } => {
            with(designer::MISFIT_NO_PORT, &[("step", step), ("port", port)])
        }
        Misfit::TooMany => with(designer::MISFIT_TOO_MANY, &[]),
        Misfit::SameSide => with(designer::MISFIT_SAME_SIDE, &[]),
    }
}

/// `3 steps and 1 wire`.
fn counted(locale: Locale, steps: usize, wires: usize) -> String {
    let part = |count: usize, one: Message, many: Message| match count {
        1 => one.in_locale(locale).to_owned(),
        count => fill(many.in_locale(locale), &[("n", &count.to_string())]),
    };
    let (of_steps, of_wires) = (
        part(steps, designer::ONE_STEP, designer::STEPS),
        part(wires, designer::ONE_WIRE, designer::WIRES),
    );
    match (steps, wires) {
        (_, 0) => of_steps,
        (0, _) => of_wires,
        _ => fill(designer::BOTH.in_locale(locale), &[("steps", &of_steps), ("wires", &of_wires)]),
    }
}

/// What a command is called.
pub(super) fn name(locale: Locale, action: Action) -> &'static str {
    let spec = action.spec();
    find(&spec.word.to_uppercase()).map_or(spec.name, |message| message.in_locale(locale))
}

/// What a command does.
pub(super) fn sentence(locale: Locale, action: Action) -> &'static str {
    let spec = action.spec();
    let word = format!("{}_DOES", spec.word.to_uppercase());
    find(&word).map_or(spec.sentence, |message| message.in_locale(locale))
}

fn find(name: &str) -> Option<Message> {
    designer::ALL.iter().find(|(known, _)| *known == name).map(|(_, message)| *message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_editor::action;
    use millrace_flow::document::Wire;

    #[test]
    fn every_command_is_there_and_says_the_same_in_english() {
        for spec in action::ALL {
            let name = find(&spec.word.to_uppercase()).expect(spec.word);
            assert_eq!(name.en, spec.name);
            let does = find(&format!("{}_DOES", spec.word.to_uppercase())).expect(spec.word);
            assert_eq!(does.en, spec.sentence);
        }
    }

    #[test]
    fn the_editor_is_quoted_word_for_word_in_english() {
        let wire = || Wire { from: "a".into(), port: "out".into(), to: "b".into() };
        let text = || "x".to_owned();
        let all = [
            Said::At { name: text(), kind: text(), number: (1, 3), wires: (0, 2) },
            Said::Selected { steps: 0, wires: 0 },
            Said::Selected { steps: 3, wires: 1 },
            Said::Moved { steps: 1, to: [20, -40] },
            Said::Added(text()),
            Said::Removed { steps: 0, wires: 2 },
            Said::Connected(wire()),
            Said::Connecting { from: text(), port: text(), to: text(), number: (1, 2) },
            Said::Copied(1),
            Said::Pasted(2),
            Said::Undone(text()),
            Said::Redone(text()),
            Said::Canceled,
            Said::NothingThere(Side::Left),
            Said::NothingThere(Side::Down),
            Said::NothingTo(Action::DeleteAndReconnect),
            Said::NoPartner(text()),
            Said::Refused(Misfit::Trigger(text())),
            Said::Refused(Misfit::Cycle(text())),
            Said::Refused(Misfit::NoPort { step: text(), port: text() }),
            Said::Refused(Misfit::TooMany),
            Said::Refused(Misfit::SameSide),
            Said::ReadOnly,
            Said::Zoomed(80),
        ];
        for said in all {
            assert_eq!(say(Locale::English, &said), said.to_string());
        }
        assert_eq!(say(Locale::German, &Said::Copied(2)), "2 Schritte kopiert");
    }
}
