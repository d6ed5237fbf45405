//! *Measure this box*: what each thing costs on the appliance's own machine.
//!
//! **Invariants**
//! - It says beforehand how long it takes and what it does beside the plant, shows how far it is, and
//!   can be cancelled.

use super::desk::{BOX_PROFILE, Desk};
use super::files::take_measured;
use crate::host::Method;
use crate::poll::poll;
use crate::words::{overview, shell, sizing, t};
use leptos::prelude::*;
use millrace_contract::v1::{self, CalibrationState};
use millrace_kit::{Button, Panel, Priority, Progress, Toasts};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(2);

/// Measuring.
#[component]
pub(super) fn Measure() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let polled = poll(&studio, PERIOD, |api| async move {
        api.get::<v1::Calibration>(&["sizing", "calibration"], &[]).await
    });
    let state = Memo::new(move |_| {
        polled.value.with(|value| value.as_ref().map(|calibration| calibration.state))
    });
    take_when_done(desk, state);
    let toasts: Toasts = expect_context();
    let tell = move |method: Method| {
        move |()| {
            leptos::task::spawn_local(async move {
                let studio = desk.studio();
                if let Err(fault) = studio.api.act(method, &["sizing", "calibration"]).await {
                    toasts.bad(Priority::Three, fault.text(studio.language));
                }
                polled.refresh();
            });
        }
    };
    let may = studio.sessions.may(v1::Role::Engineer);
    let off = Signal::derive(move || (!may).then(|| language.say(overview::NEEDS_ENGINEER)));
    let is_running = move || state.get() == Some(CalibrationState::Running);
    let text = move || {
        polled.value.with(|value| value.as_ref().map(|now| now.text.clone())).unwrap_or_default()
    };
    let label = Signal::derive(move || {
        let left = polled.value.with(|value| value.as_ref().map_or(0.0, |now| now.left_s));
        let left = language.locale().number(left, 0);
        language.say_with(sizing::MEASURING, &[("left", &left)])
    });
    let share =
        Signal::derive(move || polled.value.with(|value| value.as_ref().map(|now| now.done)));
    let told = move || state.get().map(|state| language.say(word(state)));
    let has_profile = move || desk.measured.with(Option::is_some);
    view! {
        <Panel title=t(sizing::MEASURE)>
            <div class="sizing-measure">
                <p class="muted">{t(sizing::MEASURE_TEXT)}</p>
                <Show
                    when=is_running
                    fallback=move || view! {
                        <p><strong>{told}</strong> " " <span class="muted" lang="en">{text}</span></p>
                        <div class="form-actions">
                            <Button on_press=tell(Method::Post) off_because=off>{t(sizing::MEASURE_DO)}</Button>
                            <Show when=has_profile>
                                <Button on_press=move |()| desk.profile_name.set(BOX_PROFILE.to_owned())>
                                    {t(sizing::USE_MEASURED)}
                                </Button>
                            </Show>
                        </div>
                    }
                >
                    <Progress label share>
                        <Button on_press=tell(Method::Delete) off_because=off>{t(shell::CANCEL)}</Button>
                    </Progress>
                    <p class="muted" lang="en">{text}</p>
                </Show>
            </div>
        </Panel>
    }
}

/// A measurement that has just ended may have left a profile; so may one from long ago.
fn take_when_done(desk: Desk, state: Memo<Option<CalibrationState>>) {
    Effect::new(move |before: Option<Option<CalibrationState>>| {
        let now = state.get();
        if now.is_some() && now != Some(CalibrationState::Running) && before != Some(now) {
            leptos::task::spawn_local(take_measured(desk));
        }
        now
    });
}

fn word(state: CalibrationState) -> crate::words::Message {
    match state {
        CalibrationState::Idle => sizing::CALIBRATION_IDLE,
        CalibrationState::Running => sizing::CALIBRATION_RUNNING,
        CalibrationState::Done => sizing::CALIBRATION_DONE,
        CalibrationState::Cancelled => sizing::CALIBRATION_CANCELLED,
        CalibrationState::Yielded => sizing::CALIBRATION_YIELDED,
        CalibrationState::Failed => sizing::CALIBRATION_FAILED,
    }
}
