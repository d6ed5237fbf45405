//! People.

use crate::convert;
use crate::error::Result;
use crate::extract::{Body, Caller, Segments};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use millrace_contract::v1;

/// All people, in one page: a box has dozens, not thousands.
#[utoipa::path(
    get, path = "/api/v1/people", tag = "people", security(("bearer" = [])),
    responses((status = 200, description = "By name.", body = v1::Page<v1::Person>))
)]
pub(crate) async fn list(State(api): State<Api>, _caller: Caller) -> Json<v1::Page<v1::Person>> {
    let items = api.backend().people().iter().map(convert::person).collect();
    Json(v1::Page { items, next: None })
}

/// Creates a person.
#[utoipa::path(
    post, path = "/api/v1/people", tag = "people", security(("bearer" = [])),
    request_body = v1::NewPerson,
    responses((status = 201, description = "Created.", body = v1::Person))
)]
pub(crate) async fn create(
    State(api): State<Api>,
    caller: Caller,
    Body(person): Body<v1::NewPerson>,
) -> Result<(StatusCode, Json<v1::Person>)> {
    let person = convert::new_person(&person)?;
    let actor = caller.actor();
    let created = api
        .hashing(move |backend| Ok(convert::person(&backend.create_person(person, &actor)?)))
        .await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Changes a person's role or password, takes the account out of use or brings it back. The
/// person's sessions end; the last admin stays one.
#[utoipa::path(
    patch, path = "/api/v1/people/{name}", tag = "people", security(("bearer" = [])),
    params(("name" = String, Path, description = "The person's name.")),
    request_body = v1::PersonChange,
    responses((status = 200, description = "The person.", body = v1::Person))
)]
pub(crate) async fn change(
    State(api): State<Api>,
    caller: Caller,
    Segments(name): Segments<String>,
    Body(change): Body<v1::PersonChange>,
) -> Result<Json<v1::Person>> {
    let change = convert::person_change(&change)?;
    let actor = caller.actor();
    let changed = api
        .hashing(move |backend| Ok(convert::person(&backend.change_person(&name, change, &actor)?)))
        .await?;
    Ok(Json(changed))
}
