//! A surface: a focusable area that tells what pointer, wheel and keys do on it, in plain types.
//!
//! Places are pixels from its corner. The pointer is captured while a button is down, so that a
//! drag that leaves the surface still ends on it.
//!
//! **Invariants**
//! - What its owner does not take is left to the browser: Tab leads on, a menu opens.
//! - Its size is told before the first event, and again when the window changes.

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

/// What happens on a surface.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceEvent {
    /// A button goes down: 0 the main one, 1 the wheel, 2 the one for menus.
    Down(Spot, u8),
    /// The pointer moves.
    Move(Spot),
    /// A button goes up.
    Up(Spot),
    /// The browser took the pointer away.
    Lost,
    /// Two clicks.
    DoubleClick(Spot),
    /// The wheel turns, in pixels to the right and downwards.
    Wheel(Spot, f64, f64),
    /// A key goes down.
    Key(SurfaceKey),
    /// The space bar goes up.
    SpaceUp,
    /// Text was pasted.
    Pasted(String),
    /// Width and height.
    Resized(f64, f64),
}

/// A place and what is held down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spot {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// Shift.
    pub shift: bool,
    /// Ctrl, or Cmd on a Mac.
    pub ctrl: bool,
}

/// A key and what is held down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceKey {
    /// As the browser names it.
    pub key: String,
    /// Ctrl, or Cmd on a Mac.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
}

/// A surface.
#[expect(clippy::too_many_lines, reason = "one piece of markup, with what it listens to")]
#[component]
pub fn Surface(
    /// What it is, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// Its class.
    class: &'static str,
    /// Takes an event; whether it did.
    #[prop(into)]
    on_event: Callback<SurfaceEvent, bool>,
    /// Where the surface is, for whoever wants to focus it.
    #[prop(optional)]
    node: NodeRef<Div>,
    /// The id of what describes it.
    #[prop(optional, into)]
    described_by: Option<String>,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    let measure = move || {
        if let Some(node) = node.get_untracked() {
            let place = node.get_bounding_client_rect();
            if place.width() > 0.0 {
                on_event.run(SurfaceEvent::Resized(place.width(), place.height()));
            }
        }
    };
    Effect::new(move |_| {
        if node.get().is_some() {
            request_animation_frame(measure);
        }
    });
    let resized = window_event_listener(ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let spot = move |event: &web_sys::MouseEvent| {
        let corner = node.get_untracked().map(|node| node.get_bounding_client_rect());
        let (left, top) = corner.map_or((0.0, 0.0), |rect| (rect.left(), rect.top()));
        Spot {
            x: f64::from(event.client_x()) - left,
            y: f64::from(event.client_y()) - top,
            shift: event.shift_key(),
            ctrl: event.ctrl_key() || event.meta_key(),
        }
    };
    let down = move |event: ev::PointerEvent| {
        measure();
        if let Some(node) = node.get_untracked() {
            // Without capture a drag ends at the edge; that is no reason not to begin it.
            let _uncaptured = node.set_pointer_capture(event.pointer_id()).is_err();
        }
        let button = u8::try_from(event.button()).unwrap_or(0);
        on_event.run(SurfaceEvent::Down(spot(&event), button));
    };
    let wheel = move |event: ev::WheelEvent| {
        let taken = SurfaceEvent::Wheel(spot(&event), event.delta_x(), event.delta_y());
        if on_event.run(taken) {
            event.prevent_default();
        }
    };
    let press = move |event: ev::KeyboardEvent| {
        let key = SurfaceKey {
            key: event.key(),
            ctrl: event.ctrl_key() || event.meta_key(),
            alt: event.alt_key(),
            shift: event.shift_key(),
        };
        if on_event.run(SurfaceEvent::Key(key)) {
            event.prevent_default();
            event.stop_propagation();
        }
    };
    let release = move |event: ev::KeyboardEvent| {
        if event.key() == " " {
            on_event.run(SurfaceEvent::SpaceUp);
        }
    };
    let paste = move |event: web_sys::ClipboardEvent| {
        let text = event.clipboard_data().and_then(|data| data.get_data("text/plain").ok());
        if on_event.run(SurfaceEvent::Pasted(text.unwrap_or_default())) {
            event.prevent_default();
        }
    };
    view! {
        <div
            class=class
            node_ref=node
            tabindex="0"
            role="application"
            aria-label=label
            aria-describedby=described_by
            on:pointerdown=down
            on:pointermove=move |event| { on_event.run(SurfaceEvent::Move(spot(&event))); }
            on:pointerup=move |event| { on_event.run(SurfaceEvent::Up(spot(&event))); }
            on:pointercancel=move |_| { on_event.run(SurfaceEvent::Lost); }
            on:dblclick=move |event| { on_event.run(SurfaceEvent::DoubleClick(spot(&event))); }
            on:contextmenu=move |event| event.prevent_default()
            on:wheel=wheel
            on:keydown=press
            on:keyup=release
            on:paste=paste
        >
            {children()}
        </div>
    }
}
