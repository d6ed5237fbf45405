//! The script editor, CodeMirror in a shadow root: `ui/app/islands/script.js`.
//!
//! **Invariants**
//! - The editor ends with its handle.
//! - Nothing is called after that, and a call that fails leaves the page as it is.

use js_sys::{Function, Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

/// How an editor begins.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// What it is, for people who hear it.
    pub label: String,
    /// The text.
    pub text: String,
    /// Whether it may only be looked at.
    pub is_read_only: bool,
    /// Whether it is JavaScript; else it has lines and nothing more.
    pub is_script: bool,
    /// What is said where the text is not JavaScript.
    pub syntax: String,
    /// How a line is named, `{n}` for its number.
    pub at_line: String,
}

/// Something wrong at a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineFault {
    /// The first is 1.
    pub line: u32,
    /// What is wrong.
    pub text: String,
}

/// An editor that stands in a page.
#[derive(Debug)]
pub struct ScriptEditor {
    handle: JsValue,
    /// Called by the editor as long as it stands.
    _changed: Closure<dyn FnMut(String)>,
}

impl ScriptEditor {
    /// Loads the editor and puts one into an element, which `host` gives when it is loaded; `None`
    /// when there is no such element any more.
    ///
    /// # Errors
    /// Why it could not be loaded.
    pub async fn open(
        host: impl FnOnce() -> Option<(JsValue, Options)>,
        changed: impl FnMut(String) + 'static,
    ) -> Result<Option<Self>, String> {
        let module = load().await.map_err(|why| told(&why))?;
        let Some((host, options)) = host() else { return Ok(None) };
        let options = serde_json::to_string(&options).map_err(|why| why.to_string())?;
        let changed = Closure::new(changed);
        let mount: Function = member(&module, "mount").map_err(|why| told(&why))?;
        let handle = mount.call3(&module, &host, &options.into(), changed.as_ref());
        let handle = handle.map_err(|why| told(&why))?;
        Ok(Some(Self { handle, _changed: changed }))
    }

    /// Puts another text in, if it is another.
    pub fn set_text(&self, text: &str) {
        self.call("setText", Some(text.to_owned()));
    }

    /// Shows what is wrong at its lines.
    pub fn set_faults(&self, faults: &[LineFault]) {
        self.call("setFaults", serde_json::to_string(faults).ok());
    }

    /// What is offered while a script is typed.
    pub fn set_hints(&self, hints: &impl Serialize) {
        self.call("setHints", serde_json::to_string(hints).ok());
    }

    fn call(&self, name: &str, argument: Option<String>) {
        let argument = argument.map_or(JsValue::UNDEFINED, JsValue::from);
        if let Ok(function) = member::<Function>(&self.handle, name) {
            // An editor that fails is still a text on view.
            let _failed = function.call1(&self.handle, &argument).is_err();
        }
    }
}

impl Drop for ScriptEditor {
    fn drop(&mut self) {
        self.call("destroy", None);
    }
}

async fn load() -> Result<JsValue, JsValue> {
    let loader: JsValue = Reflect::get(&js_sys::global(), &"millrace".into())?;
    let load: Function = member(&loader, "load")?;
    let promise: Promise = load.call1(&loader, &"script".into())?.dyn_into()?;
    JsFuture::from(promise).await
}

fn member<T: wasm_bindgen::JsCast>(of: &JsValue, name: &str) -> Result<T, JsValue> {
    Reflect::get(of, &name.into())?.dyn_into()
}

fn told(why: &JsValue) -> String {
    why.dyn_ref::<js_sys::Error>().map_or_else(|| format!("{why:?}"), |why| why.message().into())
}
