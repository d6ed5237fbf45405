//! The tables and how older files come to them. `user_version` counts the steps.
//!
//! Times are nanoseconds since 1970, UTC. Enumerations are the names that the API uses.
//!
//! **Invariants**: a step, once released, never changes; each runs in one transaction with its
//! version number.

use crate::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

const STEPS: &[&str] = &[
    "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE workspaces (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        created_ns INTEGER NOT NULL
    );
    CREATE TABLE tags (
        id INTEGER PRIMARY KEY,
        workspace INTEGER NOT NULL,
        path TEXT NOT NULL,
        kind TEXT NOT NULL,
        unit TEXT NOT NULL,
        description TEXT NOT NULL,
        retention TEXT NOT NULL,
        schema TEXT NOT NULL,
        created_ns INTEGER NOT NULL,
        created_by INTEGER NOT NULL
    );
    CREATE INDEX tags_by_path ON tags (workspace, path);
    CREATE TABLE clients (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        workspace INTEGER NOT NULL,
        secret_hash TEXT NOT NULL,
        may_create INTEGER NOT NULL,
        retention TEXT,
        rate_per_s INTEGER,
        created_ns INTEGER NOT NULL,
        revoked_ns INTEGER
    );
    CREATE INDEX clients_by_id ON clients (id);
    CREATE TABLE permissions (
        client INTEGER NOT NULL,
        direction TEXT NOT NULL,
        position INTEGER NOT NULL,
        filter TEXT NOT NULL,
        PRIMARY KEY (client, direction, position)
    ) WITHOUT ROWID;
    CREATE TABLE people (
        name TEXT PRIMARY KEY,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL,
        created_ns INTEGER NOT NULL,
        disabled_ns INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        at_ns INTEGER NOT NULL,
        who TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        from_address TEXT
    );
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    ",
    "
    CREATE TABLE pipeline_revisions (
        pipeline INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        workspace INTEGER NOT NULL,
        name TEXT NOT NULL,
        at_ns INTEGER NOT NULL,
        author TEXT NOT NULL,
        note TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (pipeline, revision)
    );
    CREATE TABLE deployments (
        pipeline INTEGER PRIMARY KEY,
        workspace INTEGER NOT NULL,
        deployed INTEGER,
        previous INTEGER,
        at_ns INTEGER NOT NULL,
        by TEXT NOT NULL,
        note TEXT NOT NULL
    );
    CREATE TABLE secrets (
        workspace INTEGER NOT NULL,
        name TEXT NOT NULL,
        sealed TEXT NOT NULL,
        at_ns INTEGER NOT NULL,
        by TEXT NOT NULL,
        PRIMARY KEY (workspace, name)
    ) WITHOUT ROWID;
",
];

/// Runs the steps that are missing.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for (version, step) in (1u32..).zip(STEPS).filter(|(version, _)| *version > found) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}
