//! The test panel: INPUT | CONFIGURATION | OUTPUT of the current step.
//!
//! The draft goes along with each test, so nothing has to be stored for it; the appliance records
//! what would be done outside and does none of it. Pinned outputs stand in for their steps.
//!
//! **Invariants**
//! - What is shown as output belongs to the step that is named beside it.

use super::desk::{Desk, Spoken, Wish};
use super::values::pretty;
use crate::api::Fault;
use crate::words::{offline, pipelines, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_editor::reach::{Direction, reach};
use millrace_flow::Document;
use millrace_kit::{Button, Progress, Weight};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a test gave.
#[derive(Clone)]
enum Tested {
    Nothing,
    Working(String),
    Gave(String, std::sync::Arc<v1::StepTestReport>),
    Cases(std::sync::Arc<v1::TestReport>),
    Refused(String),
}

/// The panel.
#[component]
pub(super) fn TestPanel() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let tested = RwSignal::new(Tested::Nothing);
    let tag = RwSignal::new(String::new());
    let current = Memo::new(move |_| {
        desk.editor.with(|editor| editor.selection().current().map(str::to_owned))
    });
    let done = StoredValue::new(desk.wish.with_untracked(|(count, wish)| {
        // A wish that opened this panel is still to be done.
        if wish.is_some() { count.saturating_sub(1) } else { *count }
    }));
    Effect::new(move |_| {
        let (count, wish) = desk.wish.get();
        let Some(wish) = wish.filter(|_| count > done.get_value()) else { return };
        done.set_value(count);
        desk.wish.write_untracked().1 = None;
        let Some(step) = current.get_untracked() else { return };
        test(desk, step, wish, tag.get_untracked(), tested);
    });
    let off = Signal::derive(move || {
        let no_step =
            || current.with(Option::is_none).then(|| language.say(pipelines::TEST_NO_STEP));
        desk.away().or_else(no_step)
    });
    let away = Signal::derive(move || desk.away());
    let bad = move || {
        let text = desk.input.get();
        let fault = serde_json::from_str::<Value>(&text).err().filter(|_| !text.trim().is_empty());
        fault.map(|why| language.say_with(pipelines::INPUT_BAD, &[("why", &why.to_string())]))
    };
    let configuration = move || {
        desk.version.track();
        let step = current.get()?;
        desk.editor.with_untracked(|editor| {
            let fields = &editor.document().steps.get(&step)?.fields;
            serde_json::to_string_pretty(fields).ok()
        })
    };
    view! {
        <div class="test">
            <section class="test-part" aria-label=t(pipelines::INPUT)>
                <h3>{t(pipelines::INPUT)}</h3>
                <textarea class="field-input field-long test-input" rows="4" spellcheck="false" aria-label=t(pipelines::INPUT)
                    prop:value=desk.input
                    on:input=move |event| desk.input.set(event_target_value(&event))
                ></textarea>
                <p class="field-fault" role="alert">{bad}</p>
                <p class="field-help">{t(pipelines::INPUT_HELP)}</p>
                <label class="test-live">
                    {t(pipelines::LIVE_TAG)}
                    <input class="field-input" spellcheck="false" prop:value=tag on:input=move |event| tag.set(event_target_value(&event))/>
                </label>
                <LastRead tag/>
            </section>
            <section class="test-part" aria-label=t(pipelines::CONFIGURATION)>
                <Show when=move || away.with(Option::is_some)><p class="muted">{away}</p></Show>
                <h3>{t(pipelines::CONFIGURATION)} " " <span class="muted">{move || current.get()}</span></h3>
                <div class="form-actions">
                    <Button on_press=move |()| desk.wish_for(Wish::TestStep) off_because=off>{t(pipelines::TEST_STEP)}</Button>
                    <Button on_press=move |()| desk.wish_for(Wish::TestUpstream) off_because=off>{t(pipelines::TEST_UPSTREAM)}</Button>
                    <Button weight=Weight::Quiet on_press=move |()| cases(desk, tested) off_because=away>{t(pipelines::TEST_CASES)}</Button>
                </div>
                <pre class="datum">{configuration}</pre>
            </section>
            <section class="test-part" aria-label=t(pipelines::OUTPUT) aria-live="polite">
                <h3>{t(pipelines::OUTPUT)}</h3>
                {move || output(desk, tested.get())}
            </section>
        </div>
    }
}

/// Without the appliance: the tag's value as it was last read.
#[component]
fn LastRead(tag: RwSignal<String>) -> impl IntoView {
    let desk = Desk::here();
    let none = RwSignal::new(false);
    let take = move |()| take_sample(desk, tag.get_untracked(), none);
    view! {
        <Show when=move || desk.away().is_some()>
            <Button weight=Weight::Quiet on_press=take>{t(offline::SAMPLE)}</Button>
            <Show when=move || none.get()><p class="field-fault" role="alert">{t(offline::SAMPLE_NONE)}</p></Show>
        </Show>
    }
}

/// Makes the value of a topic as it was last read the input, so that previews stand on it.
fn take_sample(desk: Desk, path: String, none: RwSignal<bool>) {
    leptos::task::spawn_local(async move {
        let (topics, _) = desk.studio().project.topics(path.trim()).await;
        let found = topics.into_iter().find(|topic| topic.path == path.trim());
        let sample = found.and_then(|topic| topic.sample);
        none.try_set(sample.is_none());
        let Some(sample) = sample else { return };
        // The value's digits stay: it is text in a text.
        let [path, time] = [path.trim(), &sample.time].map(|text| Value::from(text).to_string());
        let value = &sample.value;
        desk.input.try_set(format!("{{\"path\": {path}, \"value\": {value}, \"time\": {time}}}"));
    });
}

fn raw(document: &Document) -> Option<Box<RawValue>> {
    RawValue::from_string(serde_json::to_string(document).ok()?).ok()
}

fn test(desk: Desk, step: String, wish: Wish, tag: String, tested: RwSignal<Tested>) {
    let document = desk.document();
    let input = desk.input.get_untracked();
    let live = Some(tag.trim().to_owned()).filter(|tag| !tag.is_empty());
    let upstream = (wish == Wish::TestUpstream).then(|| trigger_of(&document, &step)).flatten();
    let request = v1::StepTestRequest {
        revision: None,
        document: raw(&document),
        input: serde_json::from_str(&input).ok().filter(|_| live.is_none()),
        live,
        upstream,
        pinned: desk.pinned.get_untracked(),
    };
    tested.set(Tested::Working(step.clone()));
    // Faults of a draft that was changed meanwhile would stand at the wrong lines.
    let version = desk.version.get_untracked();
    let is_same = move || desk.version.try_get_untracked() == Some(version);
    leptos::task::spawn_local(async move {
        let studio = desk.studio();
        let at = desk.at.get_value();
        let answer: Result<v1::StepTestReport, Fault> =
            studio.api.post(&at.segments(&["steps", &step, "test"]), &request).await;
        let outcome = match answer {
            Ok(report) => {
                // The sample that was taken can be used again, and previews stand on it.
                if desk.input.with_untracked(|input| input.trim().is_empty())
                    && let (text, true) = report.input.text()
                {
                    desk.input.set(pretty(text));
                }
                if is_same() {
                    let fault = report.fault.clone();
                    let step = Some(step.clone());
                    desk.ran.set(fault.map(|of| v1::RunFault { step: of.step.or(step), ..of }));
                }
                Tested::Gave(step, std::sync::Arc::new(report))
            }
            Err(fault) => {
                if let Fault::Refused { detail, .. } = &fault
                    && is_same()
                {
                    desk.told.set(detail.faults.clone());
                }
                Tested::Refused(fault.text(studio.language))
            }
        };
        tested.try_set(outcome);
    });
}

/// The trigger that leads to a step: the first one by name.
fn trigger_of(document: &Document, step: &str) -> Option<String> {
    let before = reach(document, [step.to_owned()], Direction::Upstream);
    let is_trigger = |id: &String| document.steps.get(id).is_some_and(|step| step.is_trigger());
    before.into_iter().find(is_trigger)
}

fn cases(desk: Desk, tested: RwSignal<Tested>) {
    let request = v1::TestRequest { document: raw(&desk.document()), ..Default::default() };
    tested.set(Tested::Working(desk.at.with_value(|at| at.name.clone())));
    leptos::task::spawn_local(async move {
        let studio = desk.studio();
        let at = desk.at.get_value();
        let answer: Result<v1::TestReport, Fault> =
            studio.api.post(&at.segments(&["test"]), &request).await;
        tested.try_set(match answer {
            Ok(report) => Tested::Cases(std::sync::Arc::new(report)),
            Err(fault) => Tested::Refused(fault.text(studio.language)),
        });
    });
}

fn output(desk: Desk, tested: Tested) -> AnyView {
    let language = desk.spoken();
    match tested {
        Tested::Nothing => view! { <p class="muted">{t(pipelines::OUTPUT_NONE)}</p> }.into_any(),
        Tested::Working(step) => {
            let label = Signal::derive(move || {
                language.say_with(pipelines::TEST_WORKING, &[("step", &step)])
            });
            view! { <Progress label/> }.into_any()
        }
        Tested::Refused(why) => view! { <p class="field-fault" role="alert">{why}</p> }.into_any(),
        Tested::Gave(step, report) => gave(language, &step, &report),
        Tested::Cases(report) => {
            let rows = report.cases.iter().map(|case| {
                let (sign, class) =
                    if case.passed { ("✓", "muted") } else { ("!", "fault-sign step-error") };
                let problems = case.problems.join("; ");
                view! { <li><span class=class>{sign}</span> " " {case.name.clone()} " " <span class="field-fault">{problems}</span></li> }
            });
            view! { <ul>{rows.collect_view()}</ul> }.into_any()
        }
    }
}

/// A datum, and whether all of it is there.
fn datum(language: Spoken, item: &v1::Item) -> impl IntoView + use<> {
    let (text, is_whole) = item.text();
    let cut =
        (!is_whole).then(|| language.say_with(pipelines::CUT, &[("n", &item.bytes.to_string())]));
    view! { <pre class="datum">{pretty(text)}</pre> {cut} }
}

fn gave(language: Spoken, step: &str, report: &v1::StepTestReport) -> AnyView {
    let outputs = report.outputs.iter().map(|output| {
        let port = language.say_with(pipelines::PORT, &[("port", &output.port)]);
        view! { <p class="muted">{step.to_owned()} ", " {port}</p> {datum(language, &output.value)} }
    });
    let nothing = (report.outputs.is_empty() && report.fault.is_none())
        .then(|| view! { <p class="muted">{t(pipelines::OUTPUT_NOTHING)}</p> });
    let fault = report.fault.as_ref().map(|fault| {
        let place = fault.step.clone().unwrap_or_default();
        view! { <p class="field-fault" role="alert">{place} " " {fault.message.clone()} " (" {fault.code.clone()} ")"</p> }
    });
    let effects = report.effects.iter().map(|effect| {
        let value = effect.value.as_ref().map(|item| item.text().0.to_owned()).unwrap_or_default();
        let kind = kind_word(effect.kind);
        view! { <li>{kind} " " {effect.target.clone()} " " <code>{value}</code></li> }
    });
    let effects = (!report.effects.is_empty()).then(
        || view! { <p class="muted">{t(pipelines::WOULD)}</p> <ul>{effects.collect_view()}</ul> },
    );
    let lines = report.lines.iter().map(|line| {
        view! { <li><code>{line.level.clone()} " " {line.text.clone()}</code></li> }
    });
    let took = language.say_with(
        pipelines::TOOK,
        &[
            ("took", &format!("{:.2}", report.took_us as f64 / 1_000.0)),
            ("cpu", &format!("{:.2}", report.cpu_us as f64 / 1_000.0)),
        ],
    );
    let value = report.outputs.first().and_then(|output| {
        let (text, is_whole) = output.value.text();
        serde_json::from_str::<Value>(text).ok().filter(|_| is_whole)
    });
    let pin = value.map(|value| view! { <Pin step=step.to_owned() value/> });
    view! {
        {fault}
        {outputs.collect_view()}
        {nothing}
        {effects}
        <ul>{lines.collect_view()}</ul>
        <p class="muted figures">{took}</p>
        {pin}
    }
    .into_any()
}

/// The word of an effect's kind, as the API writes it.
pub(super) fn kind_word(kind: v1::EffectKind) -> &'static str {
    match kind {
        v1::EffectKind::Publish => "publish",
        v1::EffectKind::Call => "call",
        v1::EffectKind::Variable => "variable",
        v1::EffectKind::Issue => "issue",
    }
}

#[component]
fn Pin(step: String, value: Value) -> impl IntoView {
    let desk = Desk::here();
    let step = StoredValue::new(step);
    let is_pinned = Memo::new(move |_| {
        step.with_value(|step| desk.pinned.with(|pinned| pinned.contains_key(step)))
    });
    let pin = {
        let value = StoredValue::new(value);
        move |()| {
            desk.pinned.update(|pinned| {
                let step = step.get_value();
                if pinned.remove(&step).is_none() {
                    pinned.insert(step, value.get_value());
                }
            });
        }
    };
    view! {
        <div class="form-actions">
            <Button on_press=pin>
                {move || { let language = desk.studio().language; language.say(if is_pinned.get() { pipelines::UNPIN } else { pipelines::PIN }) }}
            </Button>
            <Show when=move || is_pinned.get()><span class="muted">{t(pipelines::PINNED)}</span></Show>
        </div>
    }
}
