//! What is shown when the studio itself fails: a sentence and a way on, not a page that is dead.
//!
//! **Invariants**
//! - The text is put in as text; whatever a panic says cannot become markup.

use wasm_bindgen::JsValue;

/// Installs the hook.
pub(super) fn show_instead_of_a_dead_page() {
    std::panic::set_hook(Box::new(|fault| {
        let text = fault.to_string();
        web_sys::console::error_1(&JsValue::from_str(&text));
        // Nothing more can be done when even this fails.
        let _unseen = show(&text).is_err();
    }));
}

fn show(text: &str) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or(JsValue::NULL)?;
    let body = document.body().ok_or(JsValue::NULL)?;
    let bar = document.create_element("p")?;
    bar.set_class_name("stopped");
    bar.set_attribute("role", "alert")?;
    bar.set_text_content(Some(&format!(
        "The studio stopped by a fault of its own. Load the page again. / Das Studio hat wegen eines \
         eigenen Fehlers angehalten. Bitte die Seite neu laden. ({text})"
    )));
    body.prepend_with_node_1(&bar)?;
    Ok(())
}
