//! People sign in and out; the first admin claims the box; whoever has a token asks who it is.

use crate::backend::{Fault, NewPerson, Principal, PrincipalKind, Session};
use crate::convert;
use crate::error::{ApiError, Result};
use crate::extract::{Body, Caller, Peer, bearer};
use crate::limits::{NAME_BYTES_MAX, PASSWORD_BYTES_MAX};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use millrace_contract::v1;
use millrace_contract::v1::ErrorCode;
use millrace_model::Role;

/// Longest claim code that is looked at.
const CODE_BYTES_MAX: usize = 128;

/// A person signs in.
#[utoipa::path(
    post, path = "/api/v1/login", tag = "sign-in", request_body = v1::Login,
    responses((status = 200, description = "A session.", body = v1::Session))
)]
pub(crate) async fn login(
    State(api): State<Api>,
    peer: Peer,
    Body(login): Body<v1::Login>,
) -> Result<Json<v1::Session>> {
    // What no account can have is not worth a hashing, and is answered like any wrong pair.
    if login.name.len() > NAME_BYTES_MAX || login.password.len() > PASSWORD_BYTES_MAX {
        return Err(ApiError::sign_in_failed());
    }
    let from = peer.remote.ip().to_canonical();
    let session = api.hashing(move |backend| {
        backend.login(&login.name, &login.password, from).map_err(constant)
    });
    Ok(Json(outward(session.await?)))
}

/// Ends the session of the token that the request carries.
#[utoipa::path(
    post, path = "/api/v1/logout", tag = "sign-in", security(("bearer" = [])),
    responses((status = 204, description = "The token is refused from now on."))
)]
pub(crate) async fn logout(
    State(api): State<Api>,
    _caller: Caller,
    headers: HeaderMap,
) -> Result<StatusCode> {
    api.backend().logout(bearer(&headers).ok_or_else(ApiError::unauthorized)?);
    Ok(StatusCode::NO_CONTENT)
}

/// Whether the box still waits for its first admin.
#[utoipa::path(
    get, path = "/api/v1/claim", tag = "sign-in",
    responses((status = 200, description = "The state.", body = v1::ClaimState))
)]
pub(crate) async fn claim_state(State(api): State<Api>) -> Json<v1::ClaimState> {
    Json(v1::ClaimState { open: api.backend().claim_open() })
}

/// Creates the first admin with the claim code that the appliance shows at its first start.
#[utoipa::path(
    post, path = "/api/v1/claim", tag = "sign-in", request_body = v1::Claim,
    responses((status = 200, description = "The admin's session.", body = v1::Session))
)]
pub(crate) async fn claim(
    State(api): State<Api>,
    peer: Peer,
    Body(claim): Body<v1::Claim>,
) -> Result<Json<v1::Session>> {
    let person = NewPerson {
        name: convert::name("name", &claim.name)?,
        password: convert::password("password", &claim.password)?,
        role: Role::Admin,
    };
    if claim.code.len() > CODE_BYTES_MAX {
        return Err(ApiError::sign_in_failed());
    }
    let from = peer.remote.ip().to_canonical();
    let session = api
        .hashing(move |backend| backend.claim(&claim.code, person, from).map_err(constant))
        .await?;
    Ok(Json(outward(session)))
}

/// Who the token stands for.
#[utoipa::path(
    get, path = "/api/v1/me", tag = "sign-in", security(("bearer" = [])),
    responses((status = 200, description = "The principal.", body = v1::Identity))
)]
pub(crate) async fn me(caller: Caller) -> Json<v1::Identity> {
    let kind = match caller.principal.kind {
        PrincipalKind::Local => v1::IdentityKind::Local,
        PrincipalKind::Person(_) => v1::IdentityKind::Person,
        PrincipalKind::Client(_) => v1::IdentityKind::Client,
    };
    let role = caller.principal.role().map(convert::role);
    Json(v1::Identity { name: caller.principal.name, kind, role })
}

/// Changes the password of whoever is signed in. The person's other sessions end.
#[utoipa::path(
    post, path = "/api/v1/me/password", tag = "sign-in", security(("bearer" = [])),
    request_body = v1::OwnPassword,
    responses((status = 204, description = "The new one is in force."))
)]
pub(crate) async fn change_password(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    Body(change): Body<v1::OwnPassword>,
) -> Result<StatusCode> {
    let name = own_name(&caller.principal)?.to_owned();
    let new = convert::password("new_password", &change.new_password)?;
    let old = change.old_password;
    if old.len() > PASSWORD_BYTES_MAX {
        return Err(ApiError::invalid("old_password", "The old password is not right."));
    }
    let bearer = bearer(&headers).ok_or_else(ApiError::unauthorized)?.to_owned();
    let actor = caller.actor();
    api.hashing(move |backend| {
        Ok(backend.change_own_password((&bearer, &name), (&old, &new), &actor)?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The name of the person who asks; the command line on the box is none.
pub(crate) fn own_name(principal: &Principal) -> Result<&str> {
    match principal.kind {
        PrincipalKind::Person(_) => principal.name.strip_prefix("user:"),
        PrincipalKind::Local | PrincipalKind::Client(_) => None,
    }
    .ok_or_else(|| ApiError::new(ErrorCode::Conflict, "This is about a person; sign in as one."))
}

/// Whatever was wrong with a name, password or code is answered the same.
fn constant(fault: Fault) -> ApiError {
    match fault {
        Fault::Unauthorized | Fault::Forbidden(_) | Fault::NotFound(_) => {
            ApiError::sign_in_failed()
        }
        other => other.into(),
    }
}

fn outward(session: Session) -> v1::Session {
    v1::Session {
        access_token: session.token.access_token,
        token_type: "Bearer".to_owned(),
        expires_in: session.token.expires_in.as_secs(),
        name: session.name,
        role: convert::role(session.role),
    }
}
