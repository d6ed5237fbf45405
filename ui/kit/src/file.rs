//! Choosing a file whose text is read.
//!
//! **Invariants**
//! - A file of more than [`FILE_BYTES_MAX`] is not read.

use crate::id::unique;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;

/// Largest file that is read.
pub const FILE_BYTES_MAX: f64 = 8.0 * 1024.0 * 1024.0;

/// A file to choose.
#[component]
pub fn FileText(
    /// What is chosen.
    #[prop(into)]
    label: Signal<String>,
    /// Kinds of files that the browser offers; JSON when not given.
    #[prop(default = ".json,application/json")]
    accept: &'static str,
    /// Called with the file's text.
    #[prop(into)]
    on_text: Callback<String>,
) -> impl IntoView {
    let id = unique("file");
    let choose = move |event: leptos::ev::Event| {
        let target =
            event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        let file = target.and_then(|input| input.files()).and_then(|files| files.get(0));
        let Some(file) = file.filter(|file| file.size() <= FILE_BYTES_MAX) else { return };
        let Ok(reader) = web_sys::FileReader::new() else { return };
        let done = reader.clone();
        let read = Closure::once(move || {
            let text = done.result().ok().and_then(|text| text.as_string());
            on_text.run(text.unwrap_or_default());
        });
        reader.set_onload(Some(read.as_ref().unchecked_ref()));
        // Once for each file that a person chooses; a file that cannot be read calls nothing.
        read.forget();
        let _unread = reader.read_as_text(&file).is_err();
    };
    view! {
        <div class="field">
            <label class="field-label" for=id.clone()>{label}</label>
            <input id=id type="file" accept=accept on:change=choose/>
        </div>
    }
}
