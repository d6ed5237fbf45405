//! Reads the whole state back as definitions (the audit trail stays in the file).
//!
//! **Invariants**: a row that cannot be understood is damage, not something to guess at.

use crate::store::{Store, StoreError};
use millrace_model::{
    ApiClient, ClientNumber, Definition, Filter, Kind, Person, Retention, Role, Tag, TagId,
    Timestamp, Workspace, WorkspaceNumber,
};
use rusqlite::Row;
use std::collections::HashMap;

impl Store {
    /// Everything but the audit trail, in an order in which it can be applied.
    pub(crate) fn load(&self) -> Result<Vec<Definition>, StoreError> {
        let mut all = Vec::new();
        self.rows("SELECT name, value FROM settings", &mut all, |row| {
            Ok(Definition::Setting { name: row.get(0)?, value: row.get(1)? })
        })?;
        self.rows("SELECT number, name, created_ns FROM workspaces", &mut all, |row| {
            Ok(Definition::Workspace(Workspace {
                number: WorkspaceNumber(row.get(0)?),
                name: row.get(1)?,
                created: Timestamp(row.get(2)?),
            }))
        })?;
        let tags = "SELECT id, workspace, path, kind, unit, description, retention, schema,
                    created_ns, created_by FROM tags";
        self.rows(tags, &mut all, |row| tag(row).map(Definition::Tag))?;
        let mut filters = self.permissions()?;
        let clients = "SELECT number, id, name, workspace, secret_hash, may_create, retention,
                       rate_per_s, created_ns, revoked_ns FROM clients";
        self.rows(clients, &mut all, |row| client(row, &mut filters).map(Definition::Client))?;
        let people = "SELECT name, password_hash, role, created_ns, disabled_ns FROM people";
        self.rows(people, &mut all, |row| person(row).map(Definition::Person))?;
        self.load_pipelines(&mut all)?;
        Ok(all)
    }

    pub(super) fn rows(
        &self,
        sql: &str,
        into: &mut Vec<Definition>,
        mut read: impl FnMut(&Row<'_>) -> Result<Definition, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            into.push(read(row)?);
        }
        Ok(())
    }

    fn permissions(&self) -> Result<Filters, StoreError> {
        let mut filters = Filters::new();
        let sql = "SELECT client, direction, filter FROM permissions
                   ORDER BY client, direction, position";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(2)?;
            let filter = Filter::new(&text)
                .map_err(|error| StoreError::Damaged(format!("the filter {text}: {error}")))?;
            filters.entry((row.get(0)?, row.get(1)?)).or_default().push(filter);
        }
        Ok(filters)
    }
}

type Filters = HashMap<(u32, String), Vec<Filter>>;

fn tag(row: &Row<'_>) -> Result<Tag, StoreError> {
    let schema: String = row.get(7)?;
    Ok(Tag {
        id: TagId(row.get(0)?),
        workspace: WorkspaceNumber(row.get(1)?),
        path: row.get(2)?,
        kind: word(row, 3, kind_from_name)?,
        unit: row.get(4)?,
        description: row.get(5)?,
        retention: word(row, 6, Retention::from_name)?,
        schema: serde_json::from_str(&schema)
            .map_err(|error| StoreError::Damaged(format!("a tag's schema: {error}")))?,
        created: Timestamp(row.get(8)?),
        created_by: ClientNumber(row.get(9)?),
    })
}

fn client(row: &Row<'_>, filters: &mut Filters) -> Result<ApiClient, StoreError> {
    let number = row.get(0)?;
    let mut take = |way: &str| filters.remove(&(number, way.to_owned())).unwrap_or_default();
    let retention: Option<String> = row.get(6)?;
    Ok(ApiClient {
        number: ClientNumber(number),
        id: row.get(1)?,
        name: row.get(2)?,
        workspace: WorkspaceNumber(row.get(3)?),
        secret_hash: row.get(4)?,
        publish: take("publish"),
        subscribe: take("subscribe"),
        may_create: row.get(5)?,
        retention: retention.map(|_| word(row, 6, Retention::from_name)).transpose()?,
        rate_per_s: row.get(7)?,
        created: Timestamp(row.get(8)?),
        revoked: row.get::<_, Option<i64>>(9)?.map(Timestamp),
    })
}

fn person(row: &Row<'_>) -> Result<Person, StoreError> {
    Ok(Person {
        name: row.get(0)?,
        password_hash: row.get(1)?,
        role: word(row, 2, role_from_name)?,
        created: Timestamp(row.get(3)?),
        disabled: row.get::<_, Option<i64>>(4)?.map(Timestamp),
    })
}

fn word<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| StoreError::Damaged(format!("the unknown word {text:?}")))
}

fn kind_from_name(name: &str) -> Option<Kind> {
    (0..=u8::MAX).map_while(Kind::from_code).find(|kind| kind.name() == name)
}

const ROLES: [(Role, &str); 3] =
    [(Role::Viewer, "viewer"), (Role::Engineer, "engineer"), (Role::Admin, "admin")];

pub(super) fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(known, _)| *known == role).map_or("viewer", |(_, name)| name)
}

fn role_from_name(name: &str) -> Option<Role> {
    ROLES.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
}
