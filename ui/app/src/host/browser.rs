//! The host in a browser: fetch, WebSocket, storage.
//!
//! **Invariants**
//! - Only the appliance that served the page is spoken with: addresses are paths, never names.
//! - The session is kept for this tab alone and forgotten with it.

mod panic;

use super::{ANSWER_BYTES_MAX, Answer, Host, Kept, Later, LiveLink, Method, Request, Unreachable};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _, future};
use gloo_net::http::RequestBuilder;
use gloo_net::websocket::{Message, futures::WebSocket};
use gloo_timers::future::TimeoutFuture;
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_MILLI;
use std::time::Duration;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{AbortController, Storage, Window};

/// The browser.
pub struct Browser {
    live_address: String,
}

impl Browser {
    /// The browser that this runs in.
    #[must_use]
    pub fn find() -> Self {
        let location = window().map(|window| window.location());
        let part = |read: fn(&web_sys::Location) -> Result<String, JsValue>| {
            location.as_ref().and_then(|location| read(location).ok()).unwrap_or_default()
        };
        let scheme = if part(web_sys::Location::protocol) == "https:" { "wss" } else { "ws" };
        let host = part(web_sys::Location::host);
        Self { live_address: format!("{scheme}://{host}/api/v1/live") }
    }
}

impl Host for Browser {
    fn prepare(&self) {
        panic::show_instead_of_a_dead_page();
    }

    fn send(&self, request: Request) -> Later<Result<Answer, Unreachable>> {
        Box::pin(async move {
            let abort = AbortController::new().ok();
            let limit = wait(request.timeout);
            let asked = fetch(request, abort.clone());
            match future::select(Box::pin(asked), limit).await {
                future::Either::Left((answer, _)) => answer,
                future::Either::Right(((), _)) => {
                    if let Some(abort) = abort {
                        abort.abort();
                    }
                    Err(Unreachable::TimedOut)
                }
            }
        })
    }

    fn open_live(&self) -> Result<LiveLink, Unreachable> {
        let socket = WebSocket::open(&self.live_address).map_err(|_| Unreachable::NoConnection)?;
        let (sink, frames) = socket.split();
        let frames = frames.take_while(|frame| future::ready(frame.is_ok())).filter_map(|frame| {
            future::ready(match frame {
                Ok(Message::Text(text)) => Some(text),
                _ => None,
            })
        });
        let sink = sink
            .sink_map_err(|_| Unreachable::NoConnection)
            .with(|text| future::ready(Ok(Message::Text(text))));
        Ok(LiveLink { frames: Box::pin(frames), sink: Box::pin(sink) })
    }

    fn wait(&self, time: Duration) -> Later<()> {
        wait(time)
    }

    fn now(&self) -> Timestamp {
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds of this century")]
        let millis = js_sys::Date::now() as i64;
        Timestamp(millis.saturating_mul(NANOS_PER_MILLI))
    }

    fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
        let millis = at.split_millis().0 as f64;
        let date = js_sys::Date::new(&JsValue::from_f64(millis));
        #[expect(clippy::cast_possible_truncation, reason = "at most a day of minutes")]
        let west = date.get_timezone_offset() as i32;
        west.saturating_neg()
    }

    fn languages(&self) -> Vec<String> {
        let all = window().map(|window| window.navigator().languages());
        all.iter().flat_map(js_sys::Array::iter).filter_map(|name| name.as_string()).collect()
    }

    fn prefers_dark(&self) -> bool {
        let query = window()
            .and_then(|window| window.match_media("(prefers-color-scheme: dark)").ok().flatten());
        query.is_some_and(|query| query.matches())
    }

    fn kept(&self, what: Kept) -> Option<String> {
        storage(what)?.get_item(name(what)).ok().flatten()
    }

    fn keep(&self, what: Kept, value: Option<&str>) {
        let Some(storage) = storage(what) else { return };
        // A browser that keeps nothing is asked again next time; nothing is lost by that.
        let _not_kept = match value {
            Some(value) => storage.set_item(name(what), value),
            None => storage.remove_item(name(what)),
        }
        .is_err();
    }

    fn mark_root(&self, name: &'static str, value: &str) {
        let root = window().and_then(|window| window.document()?.document_element());
        let _unmarked = root.is_some_and(|root| root.set_attribute(name, value).is_err());
    }

    fn set_title(&self, title: &str) {
        if let Some(document) = window().and_then(|window| window.document()) {
            document.set_title(title);
        }
    }

    fn copy_text(&self, text: &str) -> Later<bool> {
        let promise = window().map(|window| window.navigator().clipboard().write_text(text));
        Box::pin(async move {
            match promise {
                Some(promise) => wasm_bindgen_futures::JsFuture::from(promise).await.is_ok(),
                None => false,
            }
        })
    }

    fn save_file(&self, name: &str, media_type: &str, bytes: &[u8]) {
        // A browser that refuses says so itself.
        let _refused = offer(name, media_type, bytes).is_err();
    }
}

fn window() -> Option<Window> {
    web_sys::window()
}

fn wait(time: Duration) -> Later<()> {
    let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
    Box::pin(TimeoutFuture::new(millis).map(drop))
}

async fn fetch(request: Request, abort: Option<AbortController>) -> Result<Answer, Unreachable> {
    let method = match request.method {
        Method::Get => gloo_net::http::Method::GET,
        Method::Post => gloo_net::http::Method::POST,
        Method::Put => gloo_net::http::Method::PUT,
        Method::Patch => gloo_net::http::Method::PATCH,
        Method::Delete => gloo_net::http::Method::DELETE,
    };
    let signal = abort.as_ref().map(AbortController::signal);
    let mut builder =
        RequestBuilder::new(&request.address).method(method).abort_signal(signal.as_ref());
    if let Some(token) = &request.token {
        builder = builder.header("authorization", &format!("Bearer {token}"));
    }
    let built = match request.body {
        Some(body) => builder.header("content-type", "application/json").body(body),
        None => builder.build(),
    };
    let sent = built.map_err(|_| Unreachable::NoConnection)?.send();
    let answer = sent.await.map_err(|_| Unreachable::NoConnection)?;
    let length = answer.headers().get("content-length").and_then(|text| text.parse().ok());
    if length.is_some_and(|length: usize| length > ANSWER_BYTES_MAX) {
        return Err(Unreachable::TooLarge);
    }
    let body = answer.binary().await.map_err(|_| Unreachable::NoConnection)?;
    if body.len() > ANSWER_BYTES_MAX {
        return Err(Unreachable::TooLarge);
    }
    Ok(Answer { status: answer.status(), body })
}

fn storage(what: Kept) -> Option<Storage> {
    let window = window()?;
    let storage = match what {
        Kept::Session => window.session_storage(),
        Kept::Language | Kept::Theme | Kept::Page(_) => window.local_storage(),
    };
    storage.ok().flatten()
}

fn name(what: Kept) -> &'static str {
    match what {
        Kept::Session => "millrace.session",
        Kept::Language => "millrace.language",
        Kept::Theme => "millrace.theme",
        Kept::Page(name) => name,
    }
}

/// Lets the person save bytes as a file.
fn offer(name: &str, media_type: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(media_type);
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let blob = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let address = web_sys::Url::create_object_url_with_blob(&blob)?;
    let document = window().and_then(|window| window.document()).ok_or(JsValue::NULL)?;
    let link: web_sys::HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&address);
    link.set_download(name);
    link.click();
    web_sys::Url::revoke_object_url(&address)
}
