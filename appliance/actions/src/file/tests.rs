//! The step `file.append`; places, links and rotation are tested where they live.

use crate::testing::Bench;
use serde_json::json as j;

#[tokio::test]
async fn appends_text_as_it_is_and_data_as_json() {
    let bench = Bench::new();
    let append = async |value, more: &str| {
        let fields = j!({"file": "a/b.csv", "value": value, "line_end": more});
        bench.run("file.append", fields, j!({"kept": 1})).await.unwrap()
    };
    append(j!("1;2"), "lf").await;
    append(j!({"a": [1, null]}), "crlf").await;
    append(j!("x"), "none").await;
    let done = append(j!(5), "lf").await;
    assert_eq!(crate::testing::json(&done), j!({"kept": 1}), "the input passes on");
    let text = std::fs::read_to_string(bench.folder.path().join("a/b.csv")).unwrap();
    assert_eq!(text, "1;2\n{\"a\":[1,null]}\r\nx\n5\n");
    // Without a value: the input's own.
    bench.run("file.append", j!({"file": "own.txt"}), j!({"value": 7})).await.unwrap();
    bench.run("file.append", j!({"file": "own.txt"}), j!("whole")).await.unwrap();
    let text = std::fs::read_to_string(bench.folder.path().join("own.txt")).unwrap();
    assert_eq!(text, "7\nwhole\n");
}

#[tokio::test]
async fn refuses_other_places_and_too_long_lines() {
    let bench = Bench::new();
    for file in [j!("../x"), j!("/etc/x"), j!(""), j!(["a"])] {
        let fields = j!({"file": file, "value": "x"});
        let fault = bench.run("file.append", fields, j!({})).await.unwrap_err();
        assert!(["refused", "bad_input"].contains(&fault.code), "{fault}");
    }
    let long = j!({"value": "x".repeat(2 << 20)});
    let fault = bench.run("file.append", j!({"file": "a"}), long).await.unwrap_err();
    assert_eq!(fault.code, "limit", "{fault}");
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0);
    let stub = bench.stub("file.append", j!({"file": "a.txt"}), j!({"value": 3}));
    assert_eq!((&stub["file"], &stub["value"]), (&j!("a.txt"), &j!(3)));
    assert_eq!(
        std::fs::read_dir(bench.folder.path()).unwrap().count(),
        0,
        "a rehearsal writes nothing"
    );
}
