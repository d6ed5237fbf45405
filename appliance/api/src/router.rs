//! The router: every endpoint at its address, with the guard and the roles table around.

use crate::authorize::authorize;
use crate::backend::Backend;
use crate::endpoints::{
    audit, clients, history, hooks, issues, ledger, oauth, people, pipelines, raw, runs, secrets,
    session, sizing, system, tag_files, tags, trials, values, views,
};
use crate::guard::guard;
use crate::live;
use crate::state::{Api, Settings};
use crate::web;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, patch, post, put};
use std::sync::Arc;

/// The whole API around a backend. Each request must carry its [`crate::Peer`], as
/// [`crate::serve`] gives it.
pub fn router(backend: Arc<dyn Backend>, settings: Settings) -> Router {
    let api = Api::new(backend, settings);
    let v1 = Router::new()
        .route("/openapi.json", get(system::openapi))
        .route("/version", get(system::version))
        .route("/overview", get(system::overview))
        .route("/measures", get(system::measures))
        .route("/config", get(system::config))
        .route("/system", get(system::system))
        .route("/claim", get(session::claim_state).post(session::claim))
        .route("/login", post(session::login))
        .route("/logout", post(session::logout))
        .route("/me", get(session::me))
        .route("/me/password", post(session::change_password))
        .route("/views", get(views::list))
        .route("/views/{name}", put(views::keep).delete(views::remove))
        .route("/live", get(live::live))
        .route("/issues", get(issues::list))
        .route("/issues/{key}/acknowledge", post(issues::acknowledge))
        .route("/ledger", get(ledger::get))
        .route("/audit", get(audit::list))
        .nest("/sizing", sizing_routes())
        .route("/people", get(people::list).post(people::create))
        .route("/people/{name}", patch(people::change))
        .route("/clients", get(clients::list).post(clients::create))
        .route("/clients/{id}", get(clients::get).delete(clients::revoke))
        .route("/clients/{id}/renew", post(clients::renew))
        .route("/clients/{id}/rights", put(clients::change_rights))
        .route("/workspaces", get(tags::workspaces))
        .nest("/workspaces/{workspace}", workspace_routes());
    Router::new()
        .route("/", get(system::root))
        .route("/health/live", get(system::live))
        .route("/health/ready", get(system::ready))
        .route("/metrics", get(system::metrics))
        .route("/oauth/token", post(oauth::token))
        .route("/hooks/{workspace}/{*path}", any(hooks::call))
        .nest("/api/v1", v1)
        .route_layer(from_fn_with_state(api.clone(), authorize))
        .fallback(web::answer)
        .layer(from_fn_with_state(api.clone(), guard))
        .with_state(api)
}

/// What belongs to a workspace.
fn workspace_routes() -> Router<Api> {
    let pipeline = Router::new()
        .route("/", get(pipelines::get).put(pipelines::put).delete(pipelines::remove))
        .route("/revisions", get(pipelines::revisions))
        .route("/revisions/{revision}", get(pipelines::revision))
        .route("/export", get(pipelines::export))
        .route("/diff", get(pipelines::diff))
        .route("/deploy", post(pipelines::deploy))
        .route("/undeploy", post(pipelines::undeploy))
        .route("/rollback", post(pipelines::roll_back))
        .route("/trigger", post(runs::trigger))
        .route("/runs", get(runs::list))
        .route("/runs/{run}", get(runs::get))
        .route("/runs/{run}/again", post(runs::again))
        .route("/runs/{run}/cancel", post(runs::cancel))
        .route("/test", post(trials::test))
        .route("/rehearse", post(trials::rehearse))
        .route("/steps/{step}/test", post(trials::test_step));
    Router::new()
        .route("/pipelines", get(pipelines::list))
        .nest("/pipelines/{name}", pipeline)
        .route("/secrets", get(secrets::list))
        .route("/secrets/{name}", put(secrets::set).delete(secrets::remove))
        .route("/variables", get(secrets::variables))
        .route(
            "/variables/{name}",
            get(secrets::variable).put(secrets::set_variable).delete(secrets::remove_variable),
        )
        .route("/tags", get(tags::list).post(tags::create))
        .route("/tags.csv", get(tag_files::export).post(tag_files::import))
        .route("/levels", get(tags::levels))
        .route("/tag", get(tags::get).patch(tags::update))
        .route("/refusals", get(values::refusals))
        .route("/value", post(values::publish))
        .route("/last", get(history::last))
        .route("/raw", get(raw::raw))
        .route("/range", get(history::range))
}

/// Plan against reality, and calibrations.
fn sizing_routes() -> Router<Api> {
    Router::new()
        .route("/plan", get(sizing::plan).put(sizing::set_plan).delete(sizing::clear_plan))
        .route("/comparison", get(sizing::comparison))
        .route("/profile", get(sizing::profile))
        .route(
            "/calibration",
            get(sizing::calibration)
                .post(sizing::start_calibration)
                .delete(sizing::cancel_calibration),
        )
}
