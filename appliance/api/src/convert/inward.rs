//! From the contract's types to the model's, with every rule of shape.

use crate::backend::{ClientRights, NewClients, NewPerson, NewTag, PersonChange, TagChange};
use crate::error::{ApiError, Result};
use crate::limits::{
    CHOICES_MAX, CLIENTS_CREATED_MAX, DESCRIPTION_BYTES_MAX, FILTERS_MAX, NAME_BYTES_MAX,
    PASSWORD_BYTES_MAX, PASSWORD_CHARACTERS_MIN, UNIT_BYTES_MAX,
};
use millrace_contract::v1;
use millrace_model as model;
use millrace_model::{Filter, WorkspaceNumber};

/// A name that people read: trimmed, no control characters, bounded.
pub(crate) fn name(field: &str, text: &str) -> Result<String> {
    let bad = text.is_empty() || text.trim().len() != text.len();
    if bad || text.len() > NAME_BYTES_MAX || text.chars().any(char::is_control) {
        let message = format!(
            "A name has 1 to {NAME_BYTES_MAX} bytes, no space at its ends and no control character."
        );
        return Err(ApiError::invalid(field, message));
    }
    Ok(text.to_owned())
}

/// A password that somebody chooses.
pub(crate) fn password(field: &str, text: &str) -> Result<String> {
    let characters = text.chars().count();
    if characters < PASSWORD_CHARACTERS_MIN || text.len() > PASSWORD_BYTES_MAX {
        let message = format!(
            "A password has at least {PASSWORD_CHARACTERS_MIN} characters and at most \
             {PASSWORD_BYTES_MAX} bytes."
        );
        return Err(ApiError::invalid(field, message));
    }
    Ok(text.to_owned())
}

fn role(role: v1::Role) -> model::Role {
    match role {
        v1::Role::Viewer => model::Role::Viewer,
        v1::Role::Engineer => model::Role::Engineer,
        v1::Role::Admin => model::Role::Admin,
    }
}

pub(crate) fn new_person(person: &v1::NewPerson) -> Result<NewPerson> {
    Ok(NewPerson {
        name: name("name", &person.name)?,
        password: password("password", &person.password)?,
        role: role(person.role),
    })
}

pub(crate) fn person_change(change: &v1::PersonChange) -> Result<PersonChange> {
    let new = change.password.as_deref().map(|text| password("password", text)).transpose()?;
    Ok(PersonChange { role: change.role.map(role), password: new, disabled: change.disabled })
}

/// Filters below a workspace.
pub(crate) fn filters(field: &str, texts: &[String]) -> Result<Vec<Filter>> {
    if texts.len() > FILTERS_MAX {
        return Err(ApiError::invalid(field, format!("At most {FILTERS_MAX} filters.")));
    }
    let check = |(at, text): (usize, &String)| {
        Filter::new(text)
            .map_err(|error| ApiError::invalid(format!("{field}[{at}]"), sentence(&error)))
    };
    texts.iter().enumerate().map(check).collect()
}

pub(crate) fn new_clients(new: &v1::NewClients, workspace: WorkspaceNumber) -> Result<NewClients> {
    if !(1..=CLIENTS_CREATED_MAX).contains(&new.count) {
        let message = format!("1 to {CLIENTS_CREATED_MAX} clients at once.");
        return Err(ApiError::invalid("count", message));
    }
    Ok(NewClients {
        name: name("name", &new.name)?,
        count: new.count,
        workspace,
        publish: filters("publish", &new.publish)?,
        subscribe: filters("subscribe", &new.subscribe)?,
        may_create: new.may_create,
        retention: new.retention.map(retention),
        rate_per_s: new.rate_per_s,
    })
}

pub(crate) fn client_rights(rights: &v1::ClientRights) -> Result<ClientRights> {
    Ok(ClientRights {
        publish: filters("publish", &rights.publish)?,
        subscribe: filters("subscribe", &rights.subscribe)?,
        may_create: rights.may_create,
        retention: rights.retention.map(retention),
        rate_per_s: rights.rate_per_s,
    })
}

fn retention(class: v1::Retention) -> model::Retention {
    match class {
        v1::Retention::Days1 => model::Retention::Days1,
        v1::Retention::Days7 => model::Retention::Days7,
        v1::Retention::Days14 => model::Retention::Days14,
        v1::Retention::Days32 => model::Retention::Days32,
        v1::Retention::Keep => model::Retention::Keep,
    }
}

fn kind(kind: v1::Kind) -> model::Kind {
    match kind {
        v1::Kind::Null => model::Kind::Null,
        v1::Kind::Bool => model::Kind::Bool,
        v1::Kind::Int => model::Kind::Int,
        v1::Kind::Uint => model::Kind::UInt,
        v1::Kind::Float => model::Kind::Float,
        v1::Kind::Text => model::Kind::Text,
        v1::Kind::Json => model::Kind::Json,
    }
}

pub(crate) fn new_tag(new: v1::NewTag, workspace: WorkspaceNumber) -> Result<NewTag> {
    model::topic::check_path(&new.path)
        .map_err(|error| ApiError::invalid("path", sentence(&error)))?;
    Ok(NewTag {
        workspace,
        path: new.path,
        kind: kind(new.kind),
        unit: unit(new.unit)?,
        description: description(new.description)?,
        retention: new.retention.map(retention),
        schema: schema(new.schema)?,
    })
}

pub(crate) fn tag_change(change: v1::TagChange) -> Result<TagChange> {
    Ok(TagChange {
        unit: change.unit.map(unit).transpose()?,
        description: change.description.map(description).transpose()?,
        retention: change.retention.map(retention),
        schema: change.schema.map(schema).transpose()?,
    })
}

fn unit(text: String) -> Result<String> {
    if text.len() > UNIT_BYTES_MAX || text.chars().any(char::is_control) {
        let message = format!("A unit has at most {UNIT_BYTES_MAX} bytes, no control character.");
        return Err(ApiError::invalid("unit", message));
    }
    Ok(text)
}

fn description(text: String) -> Result<String> {
    if text.len() > DESCRIPTION_BYTES_MAX {
        let message = format!("A description has at most {DESCRIPTION_BYTES_MAX} bytes.");
        return Err(ApiError::invalid("description", message));
    }
    Ok(text)
}

fn schema(schema: v1::Schema) -> Result<model::Schema> {
    if let (Some(min), Some(max)) = (schema.min, schema.max)
        && min > max
    {
        return Err(ApiError::invalid("schema.min", "The smallest is above the largest number."));
    }
    if schema.choices.len() > CHOICES_MAX {
        let message = format!("At most {CHOICES_MAX} choices.");
        return Err(ApiError::invalid("schema.choices", message));
    }
    Ok(model::Schema {
        kinds: schema.kinds.into_iter().map(kind).collect(),
        min: schema.min,
        max: schema.max,
        choices: schema.choices,
        strict: schema.strict,
    })
}

/// An error's text as a sentence.
fn sentence(error: &model::topic::TopicError) -> String {
    let text = error.to_string();
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}
