//! The estimate in the person's words: what the library says as figures becomes a sentence here.
//!
//! What the library and a profile say as sentences of their own (notes, sources) is English and is
//! shown as it is.
//!
//! **Invariants**
//! - No figure is altered; only written as the person writes.

use crate::words::{Language, Message, sizing};
use millrace_sizing::estimate::{CpuItem, CpuPart, Fit, State, Verdict, percent_below};
use millrace_sizing::profile::Measure;

/// The judgement about the processor.
pub(super) fn fit(language: Language, fit: &Fit, busy: f64) -> String {
    let locale = language.locale();
    let message = match fit.cpu {
        Verdict::Fits => sizing::FITS,
        Verdict::Close => sizing::CLOSE,
        Verdict::Over => sizing::OVER,
    };
    let (busy, line) = (locale.number(busy, 2), locale.amount(fit.line_cores));
    let percent = locale.number(percent_below(fit.growth), 0);
    language.say_with(message, &[("busy", &busy), ("line", &line), ("percent", &percent)])
}

/// A judgement in a word.
pub(super) fn verdict(verdict: Verdict) -> Message {
    match verdict {
        Verdict::Fits => sizing::VERDICT_FITS,
        Verdict::Close => sizing::VERDICT_CLOSE,
        Verdict::Over => sizing::VERDICT_OVER,
    }
}

/// What a row of the processor's table is.
pub(super) fn part(part: CpuPart) -> Message {
    match part {
        CpuPart::Wakes => sizing::PART_WAKES,
        CpuPart::Devices => sizing::PART_DEVICES,
        CpuPart::Pipelines => sizing::PART_PIPELINES,
        CpuPart::Subscribers => sizing::PART_SUBSCRIBERS,
        CpuPart::OpcUa => sizing::PART_OPCUA,
        CpuPart::Routes => sizing::PART_ROUTES,
    }
}

/// The name of a row: the group's own, but for what belongs to nobody.
pub(super) fn item_name(language: Language, item: &CpuItem) -> String {
    match item.part {
        CpuPart::Wakes => language.say(sizing::WAKES),
        _ => item.name.clone(),
    }
}

/// What memory is for. A row that a later library has keeps its own name.
pub(super) fn memory(language: Language, name: &str) -> String {
    let known = [
        ("The box itself", sizing::MEMORY_BASE),
        ("Values on their way to the disk", sizing::MEMORY_RATE),
        ("Topics", sizing::MEMORY_TAGS),
        ("Connections", sizing::MEMORY_CLIENTS),
        ("Deployed pipelines", sizing::MEMORY_PIPELINES),
        ("Warm scripts", sizing::MEMORY_SCRIPTS),
        ("Runs that wait", sizing::MEMORY_PARKED),
    ];
    let found = known.iter().find(|(own, _)| *own == name);
    found.map_or_else(|| name.to_owned(), |(_, text)| language.say(*text))
}

/// What a limit is about.
pub(super) fn measure(measure: Measure) -> Message {
    match measure {
        Measure::ClientRate => sizing::LIMIT_CLIENT_RATE,
        Measure::WorkspaceRate => sizing::LIMIT_WORKSPACE_RATE,
        Measure::Clients => sizing::LIMIT_CLIENTS,
        Measure::ClientTags => sizing::LIMIT_CLIENT_TAGS,
        Measure::Tags => sizing::LIMIT_TAGS,
        Measure::PayloadBytes => sizing::LIMIT_PAYLOAD,
        Measure::SubscriberSecond => sizing::LIMIT_SUBSCRIBER,
        Measure::LaneSlots => sizing::LIMIT_LANE,
        Measure::Parked => sizing::LIMIT_PARKED,
        Measure::ParkedMib => sizing::LIMIT_PARKED_MIB,
        Measure::QueueMinute => sizing::LIMIT_QUEUE,
        Measure::QueueMinuteMib => sizing::LIMIT_QUEUE_MIB,
        Measure::ScriptMs => sizing::LIMIT_SCRIPT,
        Measure::RunHistoryMib => sizing::LIMIT_RUNS,
        Measure::JournalMinuteMib => sizing::LIMIT_JOURNAL,
        Measure::KeepYearMib => sizing::LIMIT_KEEP,
    }
}

/// How a limit stands, in a word.
pub(super) fn state(state: State) -> Message {
    match state {
        State::Good => sizing::STATE_GOOD,
        State::Near => sizing::STATE_NEAR,
        State::Reached => sizing::STATE_REACHED,
        State::Unknown => sizing::STATE_UNKNOWN,
    }
}

/// A setting that leaves room: twice of what is needed, with one digit that counts.
pub(super) fn raised(needed: f64) -> f64 {
    let aim = needed * 2.0;
    let step = 10_f64.powf(aim.max(1.0).log10().floor());
    (aim / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_sizing::{Plan, Profile, estimate};

    #[test]
    fn a_raised_limit_leaves_room_and_is_round() {
        for (needed, aim) in [(10_310.0, 30_000.0), (20_000.0, 40_000.0), (1.0, 2.0), (0.3, 1.0)] {
            assert!((raised(needed) - aim).abs() < 1e-6, "{needed}: {}", raised(needed));
        }
    }

    #[test]
    fn every_row_of_the_memory_has_a_text() {
        let profile = Profile::named("millrace").expect("a profile");
        let found = estimate(&Plan::example(), &profile).expect("an estimate");
        let language = Language(leptos::prelude::RwSignal::new(crate::locale::Locale::German));
        for item in found.memory.items {
            assert_ne!(memory(language, &item.name), item.name, "no German words");
        }
    }
}
