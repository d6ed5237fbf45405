//! The library `mill`.

use millrace_flow::Data;
use millrace_flow::script;

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
fn is_named_and_documented_function_by_function() {
    let mut stage = Stage::new();
    let page = include_str!("../../../../docs/operate/scripts.md");
    for (root, table) in
        [("mill", script::LIBRARY), ("state", script::STATE), ("console", script::CONSOLE)]
    {
        let Data::List(names) = stage.body(&format!("return Object.keys({root})")).unwrap() else {
            panic!("no list")
        };
        let mut there: Vec<&str> = names.iter().filter_map(Data::as_text).collect();
        let mut told: Vec<&str> = table.iter().map(|name| name.name).collect();
        there.sort_unstable();
        told.sort_unstable();
        assert_eq!(there, told, "{root}");
    }
    for name in script::LIBRARY {
        let call = format!("`mill.{}{}`", name.name, name.arguments);
        assert!(page.contains(&call), "docs/operate/scripts.md misses {call}");
    }
    for root in script::ROOTS.iter().filter(|root| root.name.starts_with('$')) {
        assert!(
            page.contains(&format!("`{}", root.name)),
            "docs/operate/scripts.md misses {root:?}"
        );
    }
}
