//! Two panes with a bar between them that can be dragged, or moved with the arrows.
//!
//! **Invariants**
//! - Neither pane gets smaller than a tenth.

use leptos::html;
use leptos::prelude::*;

const SHARE_MIN: f64 = 0.1;
const SHARE_MAX: f64 = 0.9;
/// What one press of an arrow moves.
const STEP: f64 = 0.02;

/// Two panes side by side.
#[component]
pub fn Split(
    /// What the bar divides, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// The share of the first pane, from 0 to 1.
    share: RwSignal<f64>,
    /// The first pane.
    first: ViewFn,
    /// The second pane.
    second: ViewFn,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    let dragging = RwSignal::new(false);
    let set = move |to: f64| share.set(limited(to));
    let drag = move |event: leptos::ev::PointerEvent| {
        let Some(node) = node.get_untracked().filter(|_| dragging.get_untracked()) else { return };
        let place = node.get_bounding_client_rect();
        if place.width() > 0.0 {
            set((f64::from(event.client_x()) - place.left()) / place.width());
        }
    };
    let press = move |event: leptos::ev::KeyboardEvent| {
        let now = share.get_untracked();
        match event.key().as_str() {
            "ArrowLeft" => set(now - STEP),
            "ArrowRight" => set(now + STEP),
            "Home" => set(SHARE_MIN),
            "End" => set(SHARE_MAX),
            _ => return,
        }
        event.prevent_default();
    };
    let width = move || format!("{:.2}%", share.get() * 100.0);
    view! {
        <div
            class="split"
            class:split-dragging=dragging
            node_ref=node
            on:pointermove=drag
            on:pointerup=move |_| dragging.set(false)
            on:pointerleave=move |_| dragging.set(false)
        >
            <div class="split-pane" style:flex-basis=width>{first.run()}</div>
            <div
                class="split-bar"
                role="separator"
                tabindex="0"
                aria-orientation="vertical"
                aria-label=label
                aria-valuemin="10"
                aria-valuemax="90"
                aria-valuenow=move || format!("{:.0}", share.get() * 100.0)
                on:pointerdown=move |event| {
                    event.prevent_default();
                    dragging.set(true);
                }
                on:keydown=press
            ></div>
            <div class="split-pane split-rest">{second.run()}</div>
        </div>
    }
}

fn limited(share: f64) -> f64 {
    if share.is_nan() { 0.5 } else { share.clamp(SHARE_MIN, SHARE_MAX) }
}

#[cfg(test)]
mod tests {
    use super::limited;

    #[test]
    fn leaves_room_for_both_panes() {
        assert!((limited(-3.0) - 0.1).abs() < f64::EPSILON);
        assert!((limited(0.95) - 0.9).abs() < f64::EPSILON);
        assert!((limited(f64::NAN) - 0.5).abs() < f64::EPSILON);
    }
}
