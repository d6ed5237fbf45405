//! Windows: each shows the same pages and has a name of its own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

/// The first window.
pub(crate) const FIRST: &str = "main";
/// Windows at once.
const WINDOWS_MAX: usize = 16;

/// Smallest size against the normal one.
const ZOOM_MIN: f64 = 0.5;
/// Largest size against the normal one.
const ZOOM_MAX: f64 = 4.0;

/// How large everything is shown, in all windows.
pub(crate) struct Zoom(Mutex<f64>);

impl Default for Zoom {
    fn default() -> Self {
        Self(Mutex::new(1.0))
    }
}

static LAST: AtomicU32 = AtomicU32::new(0);

/// Opens a window.
pub(crate) fn open(app: &AppHandle, label: &str) -> tauri::Result<WebviewWindow> {
    let window = WebviewWindowBuilder::new(app, label, WebviewUrl::App("/".into()))
        .title("Millrace Studio")
        .inner_size(1_360.0, 860.0)
        .min_inner_size(800.0, 560.0)
        // The pages are in the program: a window never shows anything else.
        .on_navigation(is_own)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    let factor = *app.state::<Zoom>().0.lock().unwrap_or_else(PoisonError::into_inner);
    window.set_zoom(factor)?;
    Ok(window)
}

/// Opens one more window, unless there are enough.
pub(crate) fn open_another(app: &AppHandle) -> tauri::Result<()> {
    if app.webview_windows().len() >= WINDOWS_MAX {
        tracing::warn!(WINDOWS_MAX, "There are enough windows.");
        return Ok(());
    }
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 2;
    open(app, &format!("window-{number}")).map(drop)
}

/// Makes everything larger or smaller, or as it was.
pub(crate) fn zoom(app: &AppHandle, change: Option<f64>) -> tauri::Result<()> {
    let state = app.state::<Zoom>();
    let factor = {
        let mut factor = state.0.lock().unwrap_or_else(PoisonError::into_inner);
        *factor = change.map_or(1.0, |change| (*factor * change).clamp(ZOOM_MIN, ZOOM_MAX));
        *factor
    };
    app.webview_windows().into_values().try_for_each(|window| window.set_zoom(factor))
}

/// The window that a person works in.
pub(crate) fn focused(app: &AppHandle) -> Option<WebviewWindow> {
    let mut windows: Vec<_> = app.webview_windows().into_values().collect();
    windows.sort_by_key(|window| (!window.is_focused().unwrap_or(false), window.label() != FIRST));
    windows.into_iter().next()
}

fn is_own(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    (url.scheme() == "tauri" && host == "localhost")
        || (url.scheme() == "http" && host == "tauri.localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_stays_with_the_pages() {
        let own = |text: &str| is_own(&text.parse().unwrap());
        assert!(own("tauri://localhost/index.html"));
        assert!(own("tauri://localhost/pipelines/x"));
        assert!(own("http://tauri.localhost/"));
        for other in [
            "https://example.com/",
            "http://localhost:8080/",
            "https://tauri.localhost.example.com/",
            "tauri://other/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
        ] {
            assert!(!own(other), "{other}");
        }
    }
}
