//! Pipelines and secrets in the file.
//!
//! The file holds the documents of the last [`REVISIONS_MAX`] revisions of a pipeline; memory
//! holds only those that matter now, so a start loads no others. Documents that only the file
//! holds are read on a connection of their own.
//!
//! **Invariants**: what is deployed, what ran before it and what was stored last are never
//! trimmed; writing a definition twice changes nothing.

use crate::store::{BUSY_WAIT, Store, StoreError};
use millrace_model::{
    Definition, Deployment, PipelineRemoved, PipelineRevision, Secret, Timestamp, WorkspaceNumber,
};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use std::path::Path;
use std::sync::Arc;

/// Revisions of a pipeline whose documents are kept, the deployed ones apart.
pub const REVISIONS_MAX: u32 = 50;

/// A revision without its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionLine {
    /// Its number.
    pub revision: u32,
    /// When it was stored.
    pub at: Timestamp,
    /// Who stored it.
    pub author: String,
    /// What is new in it.
    pub note: String,
}

pub(super) fn write_revision(db: &Connection, row: &PipelineRevision) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO pipeline_revisions
        (pipeline, revision, workspace, name, at_ns, author, note, document)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    db.prepare_cached(sql)?.execute(params![
        row.pipeline,
        row.revision,
        row.workspace.0,
        row.name,
        row.at.0,
        row.author,
        row.note,
        &*row.document,
    ])?;
    let Some(oldest) = row.revision.checked_sub(REVISIONS_MAX) else { return Ok(()) };
    let sql = "DELETE FROM pipeline_revisions WHERE pipeline = ?1 AND revision <= ?2
        AND revision NOT IN (SELECT max(revision) FROM pipeline_revisions WHERE pipeline = ?1)
        AND NOT EXISTS (SELECT 1 FROM deployments WHERE pipeline = ?1
                        AND (deployed = revision OR previous = revision))";
    db.prepare_cached(sql)?.execute([row.pipeline, oldest])?;
    Ok(())
}

pub(super) fn write_deployment(db: &Connection, row: &Deployment) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO deployments
        (pipeline, workspace, deployed, previous, at_ns, by, note)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    db.prepare_cached(sql)?.execute(params![
        row.pipeline,
        row.workspace.0,
        row.revision,
        row.previous,
        row.at.0,
        row.by,
        row.note,
    ])?;
    Ok(())
}

pub(super) fn remove(db: &Connection, row: &PipelineRemoved) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM pipeline_revisions WHERE pipeline = ?1",
        "DELETE FROM deployments WHERE pipeline = ?1",
    ] {
        db.prepare_cached(sql)?.execute([row.pipeline])?;
    }
    Ok(())
}

pub(super) fn write_secret(db: &Connection, row: &Secret) -> Result<(), StoreError> {
    let Some(sealed) = &row.sealed else {
        let sql = "DELETE FROM secrets WHERE workspace = ?1 AND name = ?2";
        db.prepare_cached(sql)?.execute(params![row.workspace.0, row.name])?;
        return Ok(());
    };
    let sql = "INSERT OR REPLACE INTO secrets (workspace, name, sealed, at_ns, by)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![row.workspace.0, row.name, sealed, row.at.0, row.by];
    db.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

impl Store {
    /// Deployments before revisions, so that what is deployed is known when it comes.
    pub(super) fn load_pipelines(&self, all: &mut Vec<Definition>) -> Result<(), StoreError> {
        let deployments = "SELECT pipeline, workspace, deployed, previous, at_ns, by, note
                           FROM deployments ORDER BY pipeline";
        self.rows(deployments, all, |row| {
            Ok(Definition::Deployment(Deployment {
                pipeline: row.get(0)?,
                workspace: WorkspaceNumber(row.get(1)?),
                revision: row.get(2)?,
                previous: row.get(3)?,
                at: Timestamp(row.get(4)?),
                by: row.get(5)?,
                note: row.get(6)?,
            }))
        })?;
        let revisions = "SELECT r.pipeline, r.revision, r.workspace, r.name, r.at_ns, r.author,
                                r.note, r.document
             FROM pipeline_revisions r LEFT JOIN deployments d ON d.pipeline = r.pipeline
             WHERE r.revision IN (d.deployed, d.previous,
                 (SELECT max(revision) FROM pipeline_revisions WHERE pipeline = r.pipeline))
             ORDER BY r.pipeline, r.revision";
        self.rows(revisions, all, |row| Ok(Definition::PipelineRevision(revision(row)?)))?;
        let secrets = "SELECT workspace, name, sealed, at_ns, by FROM secrets";
        self.rows(secrets, all, |row| {
            Ok(Definition::Secret(Secret {
                workspace: WorkspaceNumber(row.get(0)?),
                name: row.get(1)?,
                sealed: Some(row.get(2)?),
                at: Timestamp(row.get(3)?),
                by: row.get(4)?,
            }))
        })
    }
}

fn revision(row: &Row<'_>) -> rusqlite::Result<PipelineRevision> {
    let document: String = row.get(7)?;
    Ok(PipelineRevision {
        pipeline: row.get(0)?,
        revision: row.get(1)?,
        workspace: WorkspaceNumber(row.get(2)?),
        name: row.get(3)?,
        at: Timestamp(row.get(4)?),
        author: row.get(5)?,
        note: row.get(6)?,
        document: Arc::from(document),
    })
}

/// The revisions of a pipeline below a number, newest first.
pub(crate) fn read_revisions(
    path: &Path,
    pipeline: u32,
    before: Option<u32>,
    limit: usize,
) -> Result<Vec<RevisionLine>, StoreError> {
    let db = open_to_read(path)?;
    let sql = "SELECT revision, at_ns, author, note FROM pipeline_revisions
               WHERE pipeline = ?1 AND revision < ?2 ORDER BY revision DESC LIMIT ?3";
    let mut statement = db.prepare(sql)?;
    let before = before.map_or(i64::MAX, i64::from);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![pipeline, before, limit], |row| {
        Ok(RevisionLine {
            revision: row.get(0)?,
            at: Timestamp(row.get(1)?),
            author: row.get(2)?,
            note: row.get(3)?,
        })
    })?;
    rows.collect::<Result<_, _>>().map_err(StoreError::from)
}

/// One revision with its document.
pub(crate) fn read_revision(
    path: &Path,
    pipeline: u32,
    number: u32,
) -> Result<Option<PipelineRevision>, StoreError> {
    let db = open_to_read(path)?;
    let sql = "SELECT pipeline, revision, workspace, name, at_ns, author, note, document
               FROM pipeline_revisions WHERE pipeline = ?1 AND revision = ?2";
    Ok(db.query_row(sql, [pipeline, number], revision).optional()?)
}

fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY_WAIT)?;
    Ok(db)
}
