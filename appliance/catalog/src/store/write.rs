//! Writes a group of definitions and the checkpoint in one transaction.
//!
//! **Invariants**: all of the group or nothing; writing a group twice changes nothing.

use crate::store::{Store, StoreError, audit, pipelines};
use millrace_journal::Seq;
use millrace_model::{ApiClient, Definition, Filter, Person, Tag, Workspace};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;

impl Store {
    /// Writes the group; afterwards the file holds everything up to `checkpoint`.
    pub(crate) fn write(
        &mut self,
        group: &[(Seq, Definition)],
        checkpoint: Seq,
    ) -> Result<(), StoreError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut audit_entries = 0;
        for (seq, definition) in group {
            write_one(&transaction, *seq, definition)?;
            audit_entries += usize::from(matches!(definition, Definition::Audit(_)));
        }
        let audit_entries = self.audit_since_trim + audit_entries;
        let due = audit::trim_if_due(&transaction, audit_entries, self.audit_rows_max)?;
        let sql = "INSERT INTO meta (name, value) VALUES ('checkpoint', ?1)
                   ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)";
        transaction.prepare_cached(sql)?.execute([number(checkpoint.0)])?;
        transaction.commit()?;
        self.audit_since_trim = due;
        Ok(())
    }
}

fn write_one(db: &Connection, seq: Seq, definition: &Definition) -> Result<(), StoreError> {
    match definition {
        Definition::Workspace(workspace) => write_workspace(db, workspace),
        Definition::Tag(tag) => write_tag(db, tag),
        Definition::Client(client) => write_client(db, client),
        Definition::Person(person) => write_person(db, person),
        Definition::Audit(entry) => audit::write(db, seq, entry),
        Definition::Setting { name, value } => {
            let sql = "INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)";
            db.prepare_cached(sql)?.execute([name, value])?;
            Ok(())
        }
        Definition::PipelineRevision(revision) => pipelines::write_revision(db, revision),
        Definition::Deployment(deployment) => pipelines::write_deployment(db, deployment),
        Definition::PipelineRemoved(removed) => pipelines::remove(db, removed),
        Definition::Secret(secret) => pipelines::write_secret(db, secret),
    }
}

fn write_workspace(db: &Connection, workspace: &Workspace) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO workspaces (number, name, created_ns) VALUES (?1, ?2, ?3)";
    let row = params![workspace.number.0, workspace.name, workspace.created.0];
    db.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

fn write_tag(db: &Connection, tag: &Tag) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO tags
        (id, workspace, path, kind, unit, description, retention, schema, created_ns, created_by)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.prepare_cached(sql)?.execute(params![
        tag.id.0,
        tag.workspace.0,
        tag.path,
        tag.kind.name(),
        tag.unit,
        tag.description,
        tag.retention.name(),
        json(&tag.schema)?,
        tag.created.0,
        tag.created_by.0,
    ])?;
    Ok(())
}

fn write_client(db: &Connection, client: &ApiClient) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO clients
        (number, id, name, workspace, secret_hash, may_create, retention, rate_per_s, created_ns,
         revoked_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.prepare_cached(sql)?.execute(params![
        client.number.0,
        client.id,
        client.name,
        client.workspace.0,
        client.secret_hash,
        client.may_create,
        client.retention.map(|class| class.name()),
        client.rate_per_s,
        client.created.0,
        client.revoked.map(|at| at.0),
    ])?;
    let sql = "DELETE FROM permissions WHERE client = ?1";
    db.prepare_cached(sql)?.execute([client.number.0])?;
    let sql = "INSERT INTO permissions (client, direction, position, filter)
               VALUES (?1, ?2, ?3, ?4)";
    let mut insert = db.prepare_cached(sql)?;
    let mut all = |direction: &str, filters: &[Filter]| -> Result<(), StoreError> {
        for (position, filter) in (0i64..).zip(filters) {
            insert.execute(params![client.number.0, direction, position, filter.as_str()])?;
        }
        Ok(())
    };
    all("publish", &client.publish)?;
    all("subscribe", &client.subscribe)
}

fn write_person(db: &Connection, person: &Person) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO people (name, password_hash, role, created_ns, disabled_ns)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    db.prepare_cached(sql)?.execute(params![
        person.name,
        person.password_hash,
        super::load::role_name(person.role),
        person.created.0,
        person.disabled.map(|at| at.0),
    ])?;
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// SQLite's integers are signed; no journal lives to see 2^63 records.
pub(super) fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
