//! What the desktop program asks of the pages: files that a person opened, entries of its menu.
//!
//! They come at any time, also before an appliance is chosen, and wait here until a page that can do
//! something with them stands.
//!
//! **Invariants**
//! - A file waits until a person has imported it or put it aside; past [`FILES_MAX`] the oldest goes.
//! - An entry is taken once; a newer one replaces one that nobody took.

use crate::host::desktop::OpenedFile;
use leptos::prelude::*;

/// Files that wait at most.
pub const FILES_MAX: usize = 32;

/// An entry of the menu that a page does. The program does the others itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Makes a pipeline.
    NewPipeline,
    /// Stores the draft.
    Save,
    /// Asks for a deployment.
    Deploy,
    /// Takes the last change back.
    Undo,
    /// Makes it again.
    Redo,
    /// Looks for a step, or for a page.
    Find,
    /// Opens the command palette.
    Palette,
    /// Shows the keys.
    Keys,
}

/// All of them, by the name that the program gives them.
const ENTRIES: &[(&str, Entry)] = &[
    ("new-pipeline", Entry::NewPipeline),
    ("save", Entry::Save),
    ("deploy", Entry::Deploy),
    ("undo", Entry::Undo),
    ("redo", Entry::Redo),
    ("find", Entry::Find),
    ("palette", Entry::Palette),
    ("keys", Entry::Keys),
];

/// What waits for a page.
#[derive(Clone, Copy)]
pub struct Asked {
    files: RwSignal<Vec<OpenedFile>>,
    entry: RwSignal<Option<Entry>>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { files: RwSignal::new(Vec::new()), entry: RwSignal::new(None) }
    }
}

impl Asked {
    /// The files that wait, followed.
    #[must_use]
    pub fn files(self) -> Vec<OpenedFile> {
        self.files.get()
    }

    /// A person opened a file. One with the same name and content waits once.
    pub fn open(self, file: OpenedFile) {
        self.files.update(|files| keep(files, file));
    }

    /// A file is dealt with.
    pub fn put_aside(self, file: &OpenedFile) {
        self.files.update(|files| files.retain(|waiting| waiting != file));
    }

    /// An entry of the menu was chosen. One that no page knows is left out.
    pub fn choose(self, name: &str) {
        let known = ENTRIES.iter().find(|(known, _)| *known == name);
        self.entry.set(known.map(|(_, entry)| *entry));
    }

    /// The entry that waits to be done, followed.
    #[must_use]
    pub fn chosen(self) -> Option<Entry> {
        self.entry.get()
    }

    /// The entry is done.
    pub fn done(self) {
        self.entry.set(None);
    }
}

fn keep(files: &mut Vec<OpenedFile>, file: OpenedFile) {
    files.retain(|waiting| *waiting != file);
    files.push(file);
    let over = files.len().saturating_sub(FILES_MAX);
    files.drain(..over);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> OpenedFile {
        OpenedFile { name: name.to_owned(), text: Some("{}".to_owned()), fault: None }
    }

    #[test]
    fn every_entry_of_the_programs_menu_is_known() {
        let menu = include_str!("../../../studio/shell/src/menu.rs");
        let (lists, _) = menu.split_once("const VIEW").expect("the menu's lists");
        let help = menu.split_once("const HELP").expect("the help menu").1;
        let help = help.split_once(';').expect("its end").0;
        let of_menu = [lists, help].concat();
        for (name, entry) in ENTRIES {
            assert!(of_menu.contains(&format!("(\"{name}\", ")), "{entry:?} is in no menu");
        }
        assert_eq!(of_menu.matches("(\"").count(), ENTRIES.len(), "each entry has a page");
    }

    #[test]
    fn the_same_file_waits_once_and_the_oldest_goes_first() {
        let mut files = Vec::new();
        keep(&mut files, file("a"));
        keep(&mut files, file("b"));
        keep(&mut files, file("a"));
        assert_eq!(files, [file("b"), file("a")]);
        for number in 0..FILES_MAX {
            keep(&mut files, file(&number.to_string()));
        }
        assert_eq!(files.len(), FILES_MAX);
        assert_eq!(files.first(), Some(&file("0")));
    }
}
