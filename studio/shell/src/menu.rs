//! The menu. An entry is told to the page of the window in front, which does what it means; what
//! is about windows is done here.
//!
//! Shortcuts that a text field or the designer has too (undo, find, save) are the page's own, so
//! that a key means one thing where the focus is.

use crate::window;
use millrace_studio_core::Studio;
use tauri::menu::{
    Menu, MenuBuilder, MenuItemBuilder, PredefinedMenuItem, Submenu, SubmenuBuilder,
};
use tauri::{AppHandle, Manager as _, Wry};

/// Each step larger or smaller.
const ZOOM_STEP: f64 = 1.1;
/// What the page is told: name, text.
const PIPELINE: &[(&str, &str)] =
    &[("new-pipeline", "New pipeline"), ("save", "Save draft"), ("deploy", "Deploy…")];
const EDIT: &[(&str, &str)] = &[("undo", "Undo"), ("redo", "Redo"), ("find", "Find…")];
const VIEW: &[(&str, &str)] =
    &[("larger", "Larger"), ("smaller", "Smaller"), ("normal-size", "Normal size")];
const HELP: &[(&str, &str)] = &[("palette", "All commands…"), ("keys", "Keys")];

/// Builds the menu.
pub(crate) fn build(app: &AppHandle) -> tauri::Result<Menu<Wry>> {
    let appliances = item(app, "appliances", "Appliances", Some("CmdOrCtrl+Shift+A"))?;
    let new_window = item(app, "new-window", "New window", Some("CmdOrCtrl+Shift+N"))?;
    let reload = item(app, "reload", "Load the page again", Some("CmdOrCtrl+Shift+R"))?;
    let file = SubmenuBuilder::new(app, "File")
        .items(&[&appliances, &new_window, &reload])
        .separator()
        .items(&[
            &PredefinedMenuItem::close_window(app, Some("Close window"))?,
            &PredefinedMenuItem::quit(app, Some("Quit"))?,
        ])
        .build()?;
    let edit = submenu(app, "Edit", EDIT)?;
    edit.append(&PredefinedMenuItem::separator(app)?)?;
    edit.append_items(&[
        &PredefinedMenuItem::cut(app, None)?,
        &PredefinedMenuItem::copy(app, None)?,
        &PredefinedMenuItem::paste(app, None)?,
        &PredefinedMenuItem::select_all(app, None)?,
    ])?;
    let pipeline = submenu(app, "Pipeline", PIPELINE)?;
    let view = submenu(app, "View", VIEW)?;
    let help = submenu(app, "Help", HELP)?;
    MenuBuilder::new(app).items(&[&file, &edit, &view, &pipeline, &help]).build()
}

fn submenu(app: &AppHandle, title: &str, entries: &[(&str, &str)]) -> tauri::Result<Submenu<Wry>> {
    let submenu = SubmenuBuilder::new(app, title).build()?;
    for (name, text) in entries {
        submenu.append(&item(app, name, text, None)?)?;
    }
    Ok(submenu)
}

fn item(
    app: &AppHandle,
    name: &str,
    text: &str,
    keys: Option<&str>,
) -> tauri::Result<tauri::menu::MenuItem<Wry>> {
    let builder = MenuItemBuilder::with_id(name, text);
    match keys {
        Some(keys) => builder.accelerator(keys).build(app),
        None => builder.build(app),
    }
}

/// An entry was chosen.
pub(crate) fn chosen(app: &AppHandle, name: &str) {
    let outcome = match name {
        "larger" => window::zoom(app, Some(ZOOM_STEP)).map_err(anyhow::Error::from),
        "smaller" => window::zoom(app, Some(1.0 / ZOOM_STEP)).map_err(anyhow::Error::from),
        "normal-size" => window::zoom(app, None).map_err(anyhow::Error::from),
        "new-window" => window::open_another(app).map_err(anyhow::Error::from),
        "reload" => match window::focused(app) {
            Some(window) => window.reload().map_err(anyhow::Error::from),
            None => Ok(()),
        },
        name => match window::focused(app) {
            Some(window) => {
                app.state::<Studio>().command(window.label(), name).map_err(anyhow::Error::from)
            }
            None => Ok(()),
        },
    };
    if let Err(error) = outcome {
        tracing::warn!(error = format!("{error:#}"), name, "A menu entry did nothing.");
    }
}
