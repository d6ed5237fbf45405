//! Who may call which endpoint: one table, and the middleware that holds every request to it.
//!
//! **Invariants**: an address or method that is not in the table is refused even if a handler
//! stands behind it. Endpoints only narrow further (a client sees only what its filters cover).

use crate::backend::{Principal, PrincipalKind};
use crate::error::ApiError;
use crate::extract::{Peer, bearer};
use crate::state::Api;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1::ErrorCode;
use millrace_model::Role;

/// What a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Open,
    /// Nothing to connect; the endpoint looks at the token, or its own secret, itself.
    Itself,
    /// Any good token, or to be on the box.
    OnTheBoxOrToken,
    /// Any good token: a person's or a client's.
    Token,
    /// A person with at least this role.
    Person(Role),
}

/// One endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The method.
    pub method: &'static str,
    /// The address, with its parameters in braces.
    pub path: &'static str,
    /// What a caller needs.
    pub need: Need,
}

const fn endpoint(method: &'static str, path: &'static str, need: Need) -> Endpoint {
    Endpoint { method, path, need }
}

const VIEWER: Need = Need::Person(Role::Viewer);
const ENGINEER: Need = Need::Person(Role::Engineer);
const ADMIN: Need = Need::Person(Role::Admin);

/// Every endpoint.
pub const ENDPOINTS: &[Endpoint] = &[
    endpoint("GET", "/", Need::Open),
    endpoint("GET", "/health/live", Need::Open),
    endpoint("GET", "/health/ready", Need::Open),
    endpoint("GET", "/metrics", Need::OnTheBoxOrToken),
    endpoint("POST", "/oauth/token", Need::Open),
    endpoint("GET", "/api/v1/openapi.json", Need::Open),
    endpoint("GET", "/api/v1/version", Need::Open),
    endpoint("GET", "/api/v1/claim", Need::Open),
    endpoint("POST", "/api/v1/claim", Need::Open),
    endpoint("POST", "/api/v1/login", Need::Open),
    endpoint("POST", "/api/v1/logout", Need::Token),
    endpoint("GET", "/api/v1/me", Need::Token),
    endpoint("POST", "/api/v1/me/password", VIEWER),
    // A person's own: of no weight for the plant.
    endpoint("GET", "/api/v1/views", VIEWER),
    endpoint("PUT", "/api/v1/views/{name}", VIEWER),
    endpoint("DELETE", "/api/v1/views/{name}", VIEWER),
    endpoint("GET", "/api/v1/live", Need::Itself),
    endpoint("GET", "/api/v1/overview", VIEWER),
    endpoint("GET", "/api/v1/measures", VIEWER),
    endpoint("GET", "/api/v1/config", VIEWER),
    endpoint("GET", "/api/v1/system", VIEWER),
    endpoint("GET", "/api/v1/issues", VIEWER),
    endpoint("POST", "/api/v1/issues/{key}/acknowledge", ENGINEER),
    endpoint("GET", "/api/v1/ledger", Need::Token),
    endpoint("GET", "/api/v1/audit", ADMIN),
    endpoint("GET", "/api/v1/sizing/plan", VIEWER),
    endpoint("PUT", "/api/v1/sizing/plan", ENGINEER),
    endpoint("DELETE", "/api/v1/sizing/plan", ENGINEER),
    endpoint("GET", "/api/v1/sizing/comparison", VIEWER),
    endpoint("GET", "/api/v1/sizing/profile", VIEWER),
    endpoint("GET", "/api/v1/sizing/calibration", VIEWER),
    endpoint("POST", "/api/v1/sizing/calibration", ENGINEER),
    endpoint("DELETE", "/api/v1/sizing/calibration", ENGINEER),
    endpoint("GET", "/api/v1/people", VIEWER),
    endpoint("POST", "/api/v1/people", ADMIN),
    endpoint("PATCH", "/api/v1/people/{name}", ADMIN),
    endpoint("GET", "/api/v1/clients", VIEWER),
    endpoint("POST", "/api/v1/clients", ENGINEER),
    endpoint("GET", "/api/v1/clients/{id}", VIEWER),
    endpoint("DELETE", "/api/v1/clients/{id}", ENGINEER),
    endpoint("POST", "/api/v1/clients/{id}/renew", ENGINEER),
    endpoint("PUT", "/api/v1/clients/{id}/rights", ENGINEER),
    endpoint("GET", "/api/v1/workspaces", Need::Token),
    endpoint("GET", "/api/v1/workspaces/{workspace}/tags", Need::Token),
    endpoint("POST", "/api/v1/workspaces/{workspace}/tags", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/tags.csv", VIEWER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/tags.csv", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/levels", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/tag", Need::Token),
    endpoint("PATCH", "/api/v1/workspaces/{workspace}/tag", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/refusals", VIEWER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/value", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/last", Need::Token),
    endpoint("GET", "/api/v1/workspaces/{workspace}/raw", Need::Token),
    endpoint("GET", "/api/v1/workspaces/{workspace}/range", Need::Token),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}", VIEWER),
    endpoint("PUT", "/api/v1/workspaces/{workspace}/pipelines/{name}", ENGINEER),
    endpoint("DELETE", "/api/v1/workspaces/{workspace}/pipelines/{name}", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/revisions", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/revisions/{revision}", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/export", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/diff", VIEWER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/deploy", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/undeploy", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/rollback", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/trigger", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/runs", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}", VIEWER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}/again", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/runs/{run}/cancel", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/test", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/rehearse", ENGINEER),
    endpoint("POST", "/api/v1/workspaces/{workspace}/pipelines/{name}/steps/{step}/test", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/secrets", ENGINEER),
    endpoint("PUT", "/api/v1/workspaces/{workspace}/secrets/{name}", ENGINEER),
    endpoint("DELETE", "/api/v1/workspaces/{workspace}/secrets/{name}", ENGINEER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/variables", VIEWER),
    endpoint("GET", "/api/v1/workspaces/{workspace}/variables/{name}", VIEWER),
    endpoint("PUT", "/api/v1/workspaces/{workspace}/variables/{name}", ENGINEER),
    endpoint("DELETE", "/api/v1/workspaces/{workspace}/variables/{name}", ENGINEER),
    endpoint("GET", "/hooks/{workspace}/{*path}", Need::Itself),
    endpoint("POST", "/hooks/{workspace}/{*path}", Need::Itself),
    endpoint("PUT", "/hooks/{workspace}/{*path}", Need::Itself),
    endpoint("PATCH", "/hooks/{workspace}/{*path}", Need::Itself),
    endpoint("DELETE", "/hooks/{workspace}/{*path}", Need::Itself),
];

/// The middleware behind the router: finds the principal and holds it against the table.
pub(crate) async fn authorize(
    State(api): State<Api>,
    peer: Peer,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(&api, &peer, &request) {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Ok(None) => next.run(request).await,
        Err(error) => {
            let is_method = error.code == ErrorCode::MethodNotAllowed;
            let mut response = error.into_response();
            if is_method && let Ok(methods) = HeaderValue::from_str(&methods_of(&request)) {
                response.headers_mut().insert(header::ALLOW, methods);
            }
            response
        }
    }
}

/// The methods that the table has for the request's address.
fn methods_of(request: &Request) -> String {
    let path = matched_path(request);
    let methods = ENDPOINTS.iter().filter(|entry| entry.path == path).map(|entry| entry.method);
    methods.collect::<Vec<_>>().join(", ")
}

fn matched_path(request: &Request) -> &str {
    request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str)
}

fn admit(api: &Api, peer: &Peer, request: &Request) -> Result<Option<Principal>, ApiError> {
    let path = matched_path(request);
    // Axum answers HEAD with the GET handler.
    let method = match request.method().as_str() {
        "HEAD" => "GET",
        method => method,
    };
    let found = ENDPOINTS.iter().find(|entry| entry.path == path && entry.method == method);
    let Some(endpoint) = found else {
        let message = "This address does not take this method.";
        return Err(ApiError::new(ErrorCode::MethodNotAllowed, message));
    };
    let needed = match endpoint.need {
        Need::Open | Need::Itself => return Ok(None),
        Need::OnTheBoxOrToken if peer.is_on_the_box(request.headers()) => return Ok(None),
        Need::OnTheBoxOrToken | Need::Token => None,
        Need::Person(role) => Some(role),
    };
    let token = bearer(request.headers()).ok_or_else(ApiError::unauthorized)?;
    let principal = api.backend().principal(token)?;
    match (needed, &principal.kind) {
        (None, _) => Ok(Some(principal)),
        (Some(_), PrincipalKind::Client(_)) => {
            Err(ApiError::forbidden("API clients may not do this; a person must sign in."))
        }
        (Some(role), _) if principal.role() >= Some(role) => Ok(Some(principal)),
        (Some(role), _) => {
            let role = format!("{role:?}").to_lowercase();
            Err(ApiError::forbidden(format!("This needs the role {role}.")))
        }
    }
}
