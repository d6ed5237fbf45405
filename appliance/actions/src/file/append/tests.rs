//! Appending, rotation, and every way out of the folder that must be closed.

use super::*;
use std::path::Path;

fn write(path: impl AsRef<Path>, text: &str) {
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

struct Room {
    dir: tempfile::TempDir,
    files: Files,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("allowed")).unwrap();
        let files = Files::new(Some(dir.path().join("allowed")));
        Self { dir, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    async fn append(&self, file: &str, line: &str) -> Result<(), StepFault> {
        self.append_up_to(file, line, 1_000, 2).await
    }

    async fn append_up_to(
        &self,
        file: &str,
        line: &str,
        size_bytes_max: u64,
        keep_files: u32,
    ) -> Result<(), StepFault> {
        let place = self.files.place(file)?;
        let line = line.as_bytes().to_vec();
        self.files.append(Append { place, line, line_end: "\n", size_bytes_max, keep_files }).await
    }
}

#[tokio::test]
async fn appends_lines_and_creates_folders() {
    let room = Room::new();
    room.append("line-1/2026/a.csv", "1,2").await.unwrap();
    room.append("line-1/2026/a.csv", "3,4").await.unwrap();
    assert_eq!(read(room.path("allowed/line-1/2026/a.csv")), "1,2\n3,4\n");
    let closed = Files::new(None);
    assert_eq!(closed.place("a").unwrap_err().code, "refused");
}

#[tokio::test]
async fn refuses_names_that_lead_elsewhere() {
    let room = Room::new();
    for file in [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../../x",
        "a//b",
        "./a",
        "a/",
        "a\\b",
        "c:x",
        "a\0b",
        "a\nb",
        "nul",
        "COM1.txt",
        "x.",
        "x ",
        " x",
    ] {
        let fault = room.append(file, "x").await.unwrap_err();
        assert_eq!((fault.code, fault.is_transient), ("refused", false), "{file:?}");
    }
    let deep = vec!["a"; 40].join("/");
    assert_eq!(room.append(&deep, "x").await.unwrap_err().code, "refused");
    assert_eq!(fs::read_dir(room.dir.path()).unwrap().count(), 1, "nothing was made outside");
}

#[cfg(unix)]
#[tokio::test]
async fn does_not_follow_links_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    fs::create_dir(room.path("outside")).unwrap();
    write(room.path("outside/secret.txt"), "before\n");
    // A link as a folder, as the file, and as a rotated file.
    symlink(room.path("outside"), room.path("allowed/folder")).unwrap();
    symlink(room.path("outside/secret.txt"), room.path("allowed/file.txt")).unwrap();
    symlink(room.path("outside/new.txt"), room.path("allowed/dangling.txt")).unwrap();
    for file in ["folder/x.txt", "folder/secret.txt", "file.txt", "dangling.txt"] {
        let fault = room.append(file, "evil").await.unwrap_err();
        assert_eq!(fault.code, "refused", "{file}: {fault}");
    }
    symlink(room.path("outside/secret.txt"), room.path("allowed/log.1")).unwrap();
    write(room.path("allowed/log"), &"x".repeat(999));
    room.append("log", "more").await.unwrap_err();
    assert_eq!(read(room.path("outside/secret.txt")), "before\n");
    assert!(!room.path("outside/x.txt").exists() && !room.path("outside/new.txt").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn an_opened_file_must_be_the_one_that_was_checked() {
    // Given a file that was opened, and a link that has taken its folder's place since
    let room = Room::new();
    room.append("f/a.txt", "1").await.unwrap();
    let place = room.files.place("f/a.txt").unwrap();
    let path = place.checked().unwrap();
    fs::create_dir(room.path("outside")).unwrap();
    write(room.path("outside/a.txt"), "");
    let foreign = File::open(room.path("outside/a.txt")).unwrap();
    assert_eq!(place.prove_for_test(&path, &foreign).unwrap_err().code, "refused");
    place.prove_for_test(&path, &File::open(&path).unwrap()).unwrap();
}

#[tokio::test]
async fn rotates_at_its_size_and_keeps_the_newest() {
    let room = Room::new();
    for number in 0..10 {
        room.append_up_to("r.log", &format!("{number}{}", "x".repeat(40)), 100, 2).await.unwrap();
    }
    let first = |name: &str| read(room.path(&format!("allowed/{name}"))).chars().next();
    assert_eq!(
        (first("r.log"), first("r.log.1"), first("r.log.2")),
        (Some('8'), Some('6'), Some('4'))
    );
    assert!(!room.path("allowed/r.log.3").exists());
    assert!(read(room.path("allowed/r.log")).len() <= 100);
    // None kept: begins anew.
    for _ in 0..5 {
        room.append_up_to("n.log", &"y".repeat(60), 100, 0).await.unwrap();
    }
    assert_eq!(read(room.path("allowed/n.log")).len(), 61);
    assert!(!room.path("allowed/n.log.1").exists());
}

#[tokio::test]
async fn ends_what_a_crash_left_of_a_line() {
    let room = Room::new();
    write(room.path("allowed/a.csv"), "1,2\n3,");
    room.append("a.csv", "5,6").await.unwrap();
    assert_eq!(read(room.path("allowed/a.csv")), "1,2\n3,\n5,6\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lines_of_many_pipelines_do_not_mix() {
    let room = Arc::new(Room::new());
    let mut tasks = Vec::new();
    for writer in 0..8 {
        let room = Arc::clone(&room);
        tasks.push(millrace_supervisor::spawn::task("writer", async move {
            for line in 0..20 {
                let text = format!("{writer}-{line}-{}", "z".repeat(200));
                room.append_up_to("m.log", &text, 1 << 20, 1).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let text = read(room.path("allowed/m.log"));
    assert_eq!(text.lines().count(), 160);
    assert!(text.lines().all(|line| line.len() >= 204 && line.ends_with('z')));
}
