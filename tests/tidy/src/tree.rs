//! The checkout as the rules see it: every text file with its path.
//!
//! **Invariants**
//! - Paths are relative to the checkout and use `/` on every system.
//! - Build products, git's own folder and hidden folders of editors are never read.

use std::path::PathBuf;
use std::sync::OnceLock;

/// Larger files are data, not text that somebody wrote.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Dot-folders that belong to the project; others are an editor's.
const DOT_FOLDERS: &[&str] = &[".cargo", ".ci", ".config"];

/// One text file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    /// Tests, benches, fixtures and generated code: long tables and repetitions are fine there.
    pub(crate) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/').skip(1).peekable();
        let mut last = "";
        while let Some(part) = parts.next() {
            let is_folder = parts.peek().is_some();
            if is_folder && ["tests", "benches", "fixtures", "generated"].contains(&part) {
                return true;
            }
            last = part;
        }
        last == "tests.rs"
    }

    /// Whether the file lies in that folder of the checkout.
    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// The checkout's folder.
pub(crate) fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("tests/tidy lies two folders deep").to_path_buf()
}

/// All text files of the checkout, read once.
pub(crate) fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let root = root();
        let walk = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter();
        let kept = walk.filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            let hidden = name.starts_with('.') && entry.depth() > 0 && entry.file_type().is_dir();
            name != "target" && (!hidden || DOT_FOLDERS.contains(&name.as_ref()))
        });
        kept.filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .filter(|entry| entry.metadata().is_ok_and(|data| data.len() <= FILE_BYTES_MAX))
            .filter_map(|entry| {
                // What is not text has no words to judge; a file that just went away neither.
                let text = std::fs::read_to_string(entry.path()).ok()?;
                let path = entry.path().strip_prefix(&root).ok()?;
                let parts: Vec<_> =
                    path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
                Some(File { path: parts.join("/"), text })
            })
            .collect()
    })
}

/// Fails with every fault on a line of its own.
#[track_caller]
pub(crate) fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{} fault(s):\n  {}\n", faults.len(), faults.join("\n  "));
}

/// A canary: exactly one fault, and it says why.
#[track_caller]
pub(crate) fn one(faults: &[String], says: &str) {
    match faults {
        [fault] => assert!(fault.contains(says), "the fault does not say `{says}`: {fault}"),
        _ => panic!("expected one fault that says `{says}`, got {faults:#?}"),
    }
}

#[test]
fn reads_the_checkout() {
    let files = files();
    assert!(files.iter().any(|file| file.path == "tests/tidy/src/tree.rs"));
    assert!(files.iter().any(|file| file.path == "Cargo.toml"));
    assert!(files.iter().all(|file| !file.path.starts_with("target/")));
}

#[test]
fn knows_what_is_a_test() {
    assert!(File::new("appliance/x/src/foo/tests.rs", "").is_test());
    assert!(File::new("appliance/x/tests/it/main.rs", "").is_test());
    assert!(!File::new("tests/xtask/src/run.rs", "").is_test());
    assert!(!File::new("appliance/x/src/tests_of_time.rs", "").is_test());
}
