//! The library `mill`.

use millrace_flow::Data;

use crate::stage::Stage;

#[test]
fn does_what_the_page_says() {
    let mut stage = Stage::new();
    for check in
        include_str!("mill.js").lines().filter(|line| !line.is_empty() && !line.starts_with("//"))
    {
        assert_eq!(stage.value(check), Data::Bool(true), "{check}");
        assert_eq!(stage.body(&format!("return ({check})")), Ok(Data::Bool(true)), "{check}");
    }
}

#[test]
fn is_documented_function_by_function() {
    let mut stage = Stage::new();
    let page = include_str!("../../../../docs/operate/scripts.md");
    let Data::List(names) = stage.value("Object.keys(mill)") else { panic!("no list") };
    assert!(names.len() >= 15, "{names:?}");
    for name in names.iter().filter_map(Data::as_text) {
        assert!(
            page.contains(&format!("`mill.{name}(")),
            "docs/operate/scripts.md misses mill.{name}"
        );
    }
}
