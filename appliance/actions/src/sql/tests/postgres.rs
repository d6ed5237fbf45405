//! A real PostgreSQL: a cluster of its own in a temporary folder, on a free port of loopback.
//!
//! Skipped, with a word, where there is no PostgreSQL.

use crate::testing::tls::Identity;
use crate::testing::{Bench, json};
use millrace_engine::step::StepFault;
use serde_json::{Value, json as j};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

struct Cluster {
    server: Child,
    port: u16,
    /// What clients have to trust.
    pem: String,
    _dir: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.server.kill().and_then(|()| self.server.wait().map(drop)) {
            eprintln!("PostgreSQL was not stopped: {error}");
        }
    }
}

/// The folder of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<_> = debian.flatten().map(|entry| entry.path().join("bin")).collect();
    found.sort();
    found.into_iter().rev().find(|path| path.join("initdb").exists())
}

impl Cluster {
    /// Starts one, or says why not.
    fn start() -> Result<Self, String> {
        let programs = programs().ok_or("no PostgreSQL on this machine")?;
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let data = dir.path().join("data");
        let is_root = is_root();
        if is_root {
            // PostgreSQL does not run as root: as its own user, if there is one.
            let owned = Command::new("chown").arg("postgres").arg(dir.path()).status();
            if !owned.is_ok_and(|status| status.success()) {
                return Err(
                    "PostgreSQL does not run as root, and there is no user for it".to_owned()
                );
            }
        }
        let password = dir.path().join("password");
        write(&password, "value-of-s1");
        let done = command(&programs.join("initdb"), is_root)
            .args(["-U", "plant", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N"])
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(&data)
            .output()
            .map_err(|error| error.to_string())?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        let identity = Identity::new();
        let (certificate, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        write(&certificate, &identity.pem);
        write(&key, &identity.key_pem);
        // PostgreSQL refuses a key that others may read.
        let locked = Command::new("chmod").arg("600").arg(&key).status();
        let owned = !is_root || Command::new("chown").arg("postgres").arg(&key).status().is_ok();
        if !(owned && locked.is_ok_and(|status| status.success())) {
            return Err("the key cannot be given to PostgreSQL".to_owned());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = command(&programs.join("postgres"), is_root)
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .args(["-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", "ssl=on"])
            .args(["-c", &format!("ssl_cert_file={}", certificate.display())])
            .args(["-c", &format!("ssl_key_file={}", key.display())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        Ok(Self { server, port, pem: identity.pem, _dir: dir })
    }
}

fn write(path: &Path, text: &str) {
    std::io::Write::write_all(&mut std::fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|done| done.stdout.trim_ascii() == b"0")
}

fn command(program: &Path, is_root: bool) -> Command {
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--clear-groups", "--regid=postgres"]).arg(program);
    command
}

struct Plant {
    bench: Bench,
    port: u16,
    pem: String,
}

impl Plant {
    async fn run(&self, kind: &str, sql: &str, rest: Value) -> Result<Value, StepFault> {
        let mut fields = j!({
            "host": "127.0.0.1", "port": self.port, "database": "postgres", "user": "plant",
            "password": {"secret": "s1"}, "tls": "off", "sql": sql,
        });
        for (name, value) in rest.as_object().unwrap() {
            fields[name] = value.clone();
        }
        let time = Duration::from_secs(2);
        self.bench.run_within(kind, fields, j!({}), time).await.map(|data| json(&data))
    }

    async fn change(&self, sql: &str, parameters: Value) -> Result<Value, StepFault> {
        self.run("sql.execute", sql, j!({"parameters": parameters})).await
    }

    async fn rows(&self, sql: &str, parameters: Value) -> Result<Value, StepFault> {
        self.run("sql.query", sql, j!({"parameters": parameters}))
            .await
            .map(|done| done["rows"].clone())
    }
}

#[tokio::test]
async fn postgres_reads_and_changes() {
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let bench = Bench::with(&["127.0.0.1", "localhost"]);
    let plant = Plant { bench, port: cluster.port, pem: cluster.pem.clone() };
    let mut attempts = 0;
    while let Err(fault) = plant.rows("select 1", j!([])).await {
        attempts += 1;
        assert!(attempts < 100 && fault.is_transient, "{fault}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    values_pass_exactly(&plant).await;
    changes_are_transactions(&plant).await;
    everything_is_bounded(&plant).await;
    faults_say_what_and_show_no_secret(&plant).await;
    survives_a_lost_connection(&plant).await;
    tls_is_checked(&plant).await;
    assert_eq!(plant.bench.pool.held_bytes(), 0);
}

async fn values_pass_exactly(plant: &Plant) {
    plant
        .change(
            "create table v (i2 int2, i8 int8, f4 float4, f8 float8, n numeric(30,10), t text,
             b bytea, u uuid, d date, tm time, ts timestamp, tz timestamptz, j jsonb, l int8[], o bool)",
            j!([]),
        )
        .await
        .unwrap();
    let values = j!([
        -5, i64::MAX, 0.1, 1e300, "12345678901234567890.0123456789", "gr\u{fc}n'; drop table v; --",
        "00ff", "0123e567-e89b-12d3-a456-426614174000", "2026-11-30", "17:14:32.5",
        "2026-11-30T17:14:32.123456", "2026-11-30T18:14:32.5+01:00",
        {"a": [1, null, 9_007_199_254_740_993_i64]}, [1, null, 3], true
    ]);
    let insert = "insert into v values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15)";
    assert_eq!(plant.change(insert, values.clone()).await.unwrap(), j!({"affected": 1}));
    let rows = plant
        .rows("select * from v where t = $1 and i8 = $2", j!([values[5], i64::MAX]))
        .await
        .unwrap();
    let row = &rows[0];
    for (place, name) in
        ["i2", "i8", "f4", "f8", "n", "t", "b", "u", "d", "tm", "ts"].into_iter().enumerate()
    {
        assert_eq!(row[name], values[place], "{name}");
    }
    assert_eq!(row["tz"], "2026-11-30T17:14:32.5Z");
    assert_eq!((&row["j"], &row["l"], &row["o"]), (&values[12], &values[13], &values[14]));
    let nulls = j!([
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
    ]);
    plant.change(insert, nulls).await.unwrap();
    let texts = "select '1 day 2 hours'::interval as i, 'a'::\"char\" as c, '10.0.0.0/8'::inet as n, 1.50 as d, 7::numeric as w, null as x, array['a','b'] as l";
    assert_eq!(
        plant.rows(texts, j!([])).await.unwrap(),
        j!([{
            "i": "P1DT2H", "c": "a", "n": "10.0.0.0/8", "d": 1.5, "w": 7, "x": null, "l": ["a", "b"],
        }])
    );
    plant.change("create type color as enum ('red', 'green')", j!([])).await.unwrap();
    plant.change("create table c (c color, m money)", j!([])).await.unwrap();
    plant.change("insert into c values ($1, $2::text::money)", j!(["red", "1.50"])).await.unwrap();
    assert_eq!(
        plant.rows("select c, m::text from c", j!([])).await.unwrap(),
        j!([{"c": "red", "m": "$1.50"}])
    );
    let fault = plant.rows("select m from c", j!([])).await.unwrap_err();
    assert!(fault.message.contains("MONEY") && fault.message.contains("::text"), "{fault}");
    let fault = plant.change("insert into v (i2) values ($1)", j!([40_000])).await.unwrap_err();
    assert_eq!(fault.code, "bad_input", "{fault}");
}

async fn changes_are_transactions(plant: &Plant) {
    plant.change("create table k (id int primary key, name text)", j!([])).await.unwrap();
    let insert = "insert into k values ($1, $2)";
    let lists = |range: std::ops::Range<i32>| j!({"parameter_lists": range.map(|id| j!([id, format!("n{id}")])).collect::<Vec<_>>()});
    assert_eq!(
        plant.run("sql.execute", insert, lists(0..500)).await.unwrap(),
        j!({"affected": 500})
    );
    // One of them is there already: none is added.
    let fault = plant.run("sql.execute", insert, lists(490..510)).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", false), "{fault}");
    let fault = plant.run("sql.execute", insert, lists(499..500)).await.unwrap_err();
    assert!(fault.message.contains("23505"), "{fault}");
    let count = "select count(*) as n, current_setting('transaction_read_only') as r from k";
    assert_eq!(plant.rows(count, j!([])).await.unwrap(), j!([{"n": 500, "r": "on"}]));
    let fault = plant.rows("delete from k returning id", j!([])).await.unwrap_err();
    assert!(fault.message.contains("read-only"), "{fault}");
    let done = plant.change("delete from k where id >= $1 returning id", j!([100])).await.unwrap();
    assert_eq!(done, j!({"affected": 400}));
}

async fn everything_is_bounded(plant: &Plant) {
    let numbers = "select i from generate_series(1, $1::int8) as i";
    let done = plant
        .run("sql.query", numbers, j!({"parameters": [1_000_000], "rows_max": 10}))
        .await
        .unwrap();
    assert_eq!((done["rows"].as_array().unwrap().len(), &done["is_cut"]), (10, &j!(true)));
    let done =
        plant.run("sql.query", numbers, j!({"parameters": [10], "rows_max": 10})).await.unwrap();
    assert_eq!((done["rows"].as_array().unwrap().len(), &done["is_cut"]), (10, &j!(false)));
    let large = "select repeat('x', 100000) as x from generate_series(1, 900)";
    assert_eq!(plant.rows(large, j!([])).await.unwrap_err().code, "limit");
    let mut fields = j!({
        "host": "127.0.0.1", "port": plant.port, "database": "postgres", "user": "plant", "tls": "off",
        "sql": "select pg_sleep(30)",
    });
    fields["password"] = j!({"secret": "s1"});
    let slow = plant.bench.run_within("sql.query", fields, j!({}), Duration::from_millis(300));
    let fault = slow.await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("timeout", true), "{fault}");
    // The server gives up soon after the step: nothing goes on sleeping there.
    let sleeping = "select count(*) as n from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()";
    for attempt in 0.. {
        if plant.rows(sleeping, j!([])).await.unwrap() == j!([{"n": 0}]) {
            break;
        }
        assert!(attempt < 40, "the statement goes on");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn faults_say_what_and_show_no_secret(plant: &Plant) {
    let fault = plant.rows("select * from nowhere", j!([])).await.unwrap_err();
    assert_eq!((fault.code, fault.is_transient), ("answer", false));
    assert!(fault.message.contains("nowhere") && fault.message.contains("42P01"), "{fault}");
    let wrong = j!({"password": {"secret": "s2"}});
    let fault = plant.run("sql.query", "select 1", wrong).await.unwrap_err();
    assert!(fault.message.contains("28P01") && !fault.message.contains("value-of"), "{fault}");
    let fault = plant.rows("select $1::text; select 2", j!(["x"])).await.unwrap_err();
    assert_eq!(fault.code, "answer", "one statement: {fault}");
    let fault = plant.rows("select 'value-of-s1'::int", j!([])).await.unwrap_err();
    assert!(!fault.message.contains("value-of-s1"), "{fault}");
}

async fn survives_a_lost_connection(plant: &Plant) {
    plant.change("create table lost (a int)", j!([])).await.unwrap();
    let kill = "select count(pg_terminate_backend(pid)) as n from pg_stat_activity where application_name = 'millrace' and pid <> pg_backend_pid()";
    plant.rows(kill, j!([])).await.unwrap();
    for number in 0..3 {
        plant.change("insert into lost values ($1)", j!([number])).await.unwrap();
    }
    assert_eq!(plant.rows("select count(*) as n from lost", j!([])).await.unwrap(), j!([{"n": 3}]));
}

async fn tls_is_checked(plant: &Plant) {
    let encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    let run = async |more: Value| plant.run("sql.query", encrypted, more).await;
    let is_encrypted = |done: Result<Value, StepFault>| done.unwrap()["rows"][0]["ssl"].clone();
    assert_eq!(is_encrypted(run(j!({"tls": "off"})).await), false);
    assert_eq!(is_encrypted(run(j!({"tls": "require"})).await), true);
    let verified = j!({"tls": "verify", "host": "localhost", "tls_ca_pem": plant.pem});
    assert_eq!(is_encrypted(run(verified).await), true);
    // For another name, or trusted by nobody.
    for more in [
        j!({"tls": "verify", "host": "127.0.0.1", "tls_ca_pem": plant.pem}),
        j!({"tls": "verify", "host": "localhost"}),
    ] {
        let fault = run(more).await.unwrap_err();
        assert_eq!(fault.code, "tls", "{fault}");
    }
}
