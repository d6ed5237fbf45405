//! `sql.query` and `sql.execute` on SQLite files, and on a PostgreSQL that the test starts itself.

mod postgres;

use crate::testing::{Bench, json};
use millrace_engine::step::StepFault;
use serde_json::{Value, json as j};
use std::time::Duration;

async fn run(
    bench: &Bench,
    kind: &str,
    file: &str,
    sql: &str,
    rest: Value,
) -> Result<Value, StepFault> {
    let mut fields = j!({"driver": "sqlite", "file": file, "sql": sql});
    for (name, value) in rest.as_object().unwrap() {
        fields[name] = value.clone();
    }
    bench.run(kind, fields, j!({})).await.map(|data| json(&data))
}

async fn change(bench: &Bench, sql: &str, parameters: Value) -> Result<Value, StepFault> {
    run(bench, "sql.execute", "plant.db", sql, j!({"parameters": parameters})).await
}

async fn rows(bench: &Bench, sql: &str, parameters: Value) -> Result<Value, StepFault> {
    run(bench, "sql.query", "plant.db", sql, j!({"parameters": parameters})).await
}

#[tokio::test]
async fn sqlite_keeps_values_exactly() {
    let bench = Bench::new();
    change(&bench, "create table t (a, b, c, d, e, f)", j!([])).await.unwrap();
    let values = j!([9_007_199_254_740_993_i64, 0.1, "gr\u{fc}n'; drop table t; --", null, true, {"x": [1]}]);
    let done =
        change(&bench, "insert into t values ($1, $2, $3, $4, $5, $6)", values).await.unwrap();
    assert_eq!(done, j!({"affected": 1}));
    let done =
        rows(&bench, "select *, x'00ff' as g from t where a = ?1", j!([9_007_199_254_740_993_i64]))
            .await
            .unwrap();
    assert_eq!(
        done,
        j!({"rows": [{
        "a": 9_007_199_254_740_993_i64, "b": 0.1, "c": "gr\u{fc}n'; drop table t; --", "d": null,
        "e": 1, "f": "{\"x\":[1]}", "g": "00ff",
    }], "is_cut": false})
    );
    // Numbered parameters mean their number, wherever they stand.
    let done = rows(&bench, "select $2 as x, $1 as y, $2 as z", j!([1, 2])).await.unwrap();
    assert_eq!(done["rows"][0], j!({"x": 2, "y": 1, "z": 2}));
    for parameters in [j!([]), j!([1]), j!([1, 2, 3]), j!("x")] {
        let fault = rows(&bench, "select $1, $2", parameters).await.unwrap_err();
        assert_eq!(fault.code, "bad_input", "{fault}");
    }
}

#[tokio::test]
async fn sqlite_lists_are_one_transaction() {
    let bench = Bench::new();
    change(&bench, "create table t (a integer not null)", j!([])).await.unwrap();
    let insert = "insert into t values (?)";
    let lists = j!({"parameter_lists": [[1], [2], [3]]});
    let done = run(&bench, "sql.execute", "plant.db", insert, lists).await.unwrap();
    assert_eq!(done, j!({"affected": 3}));
    let lists = j!({"parameter_lists": [[4], [null]]});
    let fault = run(&bench, "sql.execute", "plant.db", insert, lists).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", false), "{fault}");
    assert_eq!(
        rows(&bench, "select count(*) as n from t", j!([])).await.unwrap()["rows"][0]["n"],
        3
    );
}

#[tokio::test]
async fn sqlite_bounds_rows_and_time() {
    let bench = Bench::new();
    change(&bench, "create table t (a)", j!([])).await.unwrap();
    let numbers = "with recursive n(i) as (select 1 union all select i + 1 from n limit 5000) select i from n";
    let done = run(&bench, "sql.query", "plant.db", numbers, j!({"rows_max": 10})).await.unwrap();
    assert_eq!((done["rows"].as_array().unwrap().len(), &done["is_cut"]), (10, &j!(true)));
    let done = run(&bench, "sql.query", "plant.db", numbers, j!({"rows_max": 5000})).await.unwrap();
    assert_eq!((done["rows"].as_array().unwrap().len(), &done["is_cut"]), (5_000, &j!(false)));
    let large = "with recursive n(i) as (select 1 union all select i + 1 from n limit 900) select i, hex(randomblob(8000)) from n";
    let fault = rows(&bench, large, j!([])).await.unwrap_err();
    assert_eq!(fault.code, "limit", "{fault}");
    // An endless statement ends in its time.
    let endless =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let fields = j!({"driver": "sqlite", "file": "plant.db", "sql": endless});
    let fault = bench
        .run_within("sql.query", fields, j!({}), Duration::from_millis(200))
        .await
        .unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("timeout", true), "{fault}");
    assert_eq!(bench.pool.held_bytes(), 0);
}

#[tokio::test]
async fn sqlite_cannot_leave_its_file() {
    let bench = Bench::new();
    change(&bench, "create table t (a)", j!([])).await.unwrap();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("x.db");
    let other = other.to_str().unwrap();
    for sql in [
        format!("attach '{other}' as x"),
        format!("vacuum into '{other}'"),
        "pragma journal_mode = off".to_owned(),
        "pragma temp_store_directory = '/tmp'".to_owned(),
        "pragma writable_schema = on".to_owned(),
        "select load_extension('x')".to_owned(),
    ] {
        let fault = change(&bench, &sql, j!([])).await.unwrap_err();
        assert!(["refused", "answer"].contains(&fault.code), "{sql}: {fault}");
    }
    assert!(!std::path::Path::new(other).exists());
    for sql in [" -- nothing", "select 1; select 2", "insert into t values (1); drop table t"] {
        let fault = run(&bench, "sql.execute", "plant.db", sql, j!({})).await.unwrap_err();
        assert_eq!(fault.code, "bad_input", "{sql}: {fault}");
    }
    let fault = rows(&bench, "insert into t values (1)", j!([])).await.unwrap_err();
    assert!(["bad_input", "answer"].contains(&fault.code), "{fault}");
    assert_eq!(
        rows(&bench, "select count(*) as n from t", j!([])).await.unwrap()["rows"][0]["n"],
        0
    );
    rows(&bench, "pragma table_info(t)", j!([])).await.unwrap();
    for file in ["../x.db", "/etc/x.db", "a/../../x.db", "file:x.db?mode=memory"] {
        let fault = run(&bench, "sql.query", file, "select 1", j!({})).await.unwrap_err();
        assert_eq!(fault.code, "refused", "{file}: {fault}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn sqlite_follows_no_links() {
    let bench = Bench::new();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("x.db");
    std::fs::File::create(&other).unwrap();
    std::os::unix::fs::symlink(&other, bench.folder.path().join("link.db")).unwrap();
    std::os::unix::fs::symlink(outside.path(), bench.folder.path().join("dir")).unwrap();
    for file in ["link.db", "dir/x.db"] {
        let fault =
            run(&bench, "sql.execute", file, "create table t (a)", j!({})).await.unwrap_err();
        assert_eq!(fault.code, "refused", "{file}: {fault}");
    }
    assert_eq!(std::fs::metadata(&other).unwrap().len(), 0);
}

#[tokio::test]
async fn a_rehearsal_records_statement_and_parameters() {
    let bench = Bench::new();
    let fields = j!({"driver": "sqlite", "file": "plant.db", "sql": "delete from t where a = $1", "parameters": [5]});
    let stub = bench.stub("sql.execute", fields, j!({}));
    assert_eq!((&stub["sql"], &stub["parameters"]), (&j!("delete from t where a = $1"), &j!([5])));
    assert!(!bench.folder.path().join("plant.db").exists());
    let fields = j!({"host": "db", "database": "d", "user": "u", "password": {"secret": "s1"}, "sql": "select 1"});
    let stub = bench.stub("sql.query", fields, j!({}));
    assert_eq!(stub["password"], "<secret s1>");
}

#[tokio::test]
async fn postgres_that_is_none_is_told_apart() {
    let garbage = crate::testing::server::serve(
        |mut stream: tokio::net::TcpStream, _: crate::testing::Notes<()>| async move {
            use tokio::io::AsyncWriteExt;
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok()?;
            std::future::pending().await
        },
    )
    .await;
    let bench = Bench::new();
    let fields = |port: u16| {
        j!({
            "host": "127.0.0.1", "port": port, "database": "d", "user": "u", "tls": "off",
            "password": {"secret": "s1"}, "sql": "select 1",
        })
    };
    let run = async |port| {
        bench
            .run_within("sql.query", fields(port), j!({}), Duration::from_millis(500))
            .await
            .unwrap_err()
    };
    let fault = run(garbage.port).await;
    assert!(
        ["bad_answer", "timeout", "unreachable"].contains(&fault.code) && fault.is_transient,
        "{fault}"
    );
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fault = run(free).await;
    assert_eq!((fault.code, fault.is_transient), ("unreachable", true), "{fault}");
    assert!(!fault.message.contains("value-of"), "{fault}");
    let closed = Bench::with(&[]);
    let fault = closed.run("sql.query", fields(5432), j!({})).await.unwrap_err();
    assert_eq!(fault.code, "refused", "{fault}");
    let socket = j!({"host": "/var/run/postgresql", "database": "d", "user": "u", "tls": "off", "sql": "select 1"});
    let fault = closed.run("sql.query", socket, j!({})).await.unwrap_err();
    assert_eq!(fault.code, "bad_input", "{fault}");
}
