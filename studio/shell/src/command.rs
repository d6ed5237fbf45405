//! The one command: a page asks, the studio answers.
#![expect(clippy::let_underscore_must_use, reason = "inside of the framework's macro")]

use millrace_studio_core::{Answer, Call, Fault, Studio};
use tauri::{State, WebviewWindow};

/// Hands a page's call to the studio, with the window that it came from.
#[tauri::command]
pub(crate) async fn call(
    window: WebviewWindow,
    studio: State<'_, Studio>,
    call: Call,
) -> Result<Answer, Fault> {
    studio.call(window.label(), call).await
}
