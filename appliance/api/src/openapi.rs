//! The OpenAPI document, made from the endpoints' own descriptions.

use crate::endpoints::{
    audit, clients, history, hooks, issues, ledger, oauth, people, pipelines, raw, runs, secrets,
    session, sizing, system, tag_files, tags, trials, values, views,
};
use crate::live;
use millrace_contract::v1;
use std::sync::OnceLock;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Millrace",
        version = "1.0.0",
        description = "The HTTP API of a Millrace appliance. Lists come in pages: pass a page's \
                       `next` as `after` for the one behind it. Errors have a closed list of \
                       codes, a sentence, and the field at fault.",
        license(name = "MIT OR Apache-2.0"),
    ),
    paths(
        oauth::token, session::login, session::logout, session::claim_state, session::claim,
        session::me, session::change_password, views::list, views::keep, views::remove, people::list, people::create, people::change, audit::list, clients::list, clients::get,
        clients::create, clients::revoke, clients::renew, clients::change_rights, tag_files::export,
        tag_files::import, values::refusals, values::publish, tags::workspaces, tags::list, tags::levels, tags::get, tags::create,
        tags::update, history::last, history::range, raw::raw, ledger::get, issues::list,
        issues::acknowledge, system::root, system::live, system::ready, system::metrics,
        system::version, system::overview, system::measures, system::config, system::system, system::openapi, live::live,
        pipelines::list, pipelines::get, pipelines::put, pipelines::remove, pipelines::revisions,
        pipelines::revision, pipelines::export, pipelines::diff, pipelines::deploy,
        pipelines::undeploy, pipelines::roll_back, runs::trigger, runs::list, runs::get,
        runs::again, runs::cancel, trials::test, trials::rehearse, trials::test_step, secrets::list,
        secrets::set, secrets::remove, secrets::variables, secrets::variable,
        secrets::set_variable, secrets::remove_variable, hooks::call, sizing::plan,
        sizing::set_plan, sizing::clear_plan, sizing::comparison, sizing::profile,
        sizing::calibration, sizing::start_calibration, sizing::cancel_calibration,
    ),
    components(schemas(v1::ErrorBody, v1::FromClient, v1::ToClient<'_>)),
    modifiers(&Common),
)]
struct Document;

/// What holds for every endpoint.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        let items = document.paths.paths.iter_mut();
        for (id, operation) in items.flat_map(|(path, item)| operations(path, item)) {
            operation.operation_id = Some(id);
            if operation.responses.responses.contains_key("default") {
                continue;
            }
            let body =
                ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
            let response = ResponseBuilder::new()
                .description("An error; its code tells which.")
                .content("application/json", body)
                .build();
            operation.responses.responses.insert("default".to_owned(), response.into());
        }
    }
}

/// The operations of an address, each with a name of its own: `get_workspaces_workspace_tags`.
fn operations<'a>(
    path: &str,
    item: &'a mut PathItem,
) -> impl Iterator<Item = (String, &'a mut Operation)> + use<'a> {
    let words = path.trim_start_matches("/api/v1").split(['/', '{', '}', '.']);
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let methods = [
        ("get", &mut item.get),
        ("post", &mut item.post),
        ("put", &mut item.put),
        ("patch", &mut item.patch),
        ("delete", &mut item.delete),
    ];
    methods.into_iter().filter_map(move |(method, operation)| {
        let id =
            if name.is_empty() { format!("{method}_root") } else { format!("{method}_{name}") };
        operation.as_mut().map(|operation| (id, operation))
    })
}

/// The document as JSON text.
pub fn document() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = Document::openapi()
            .to_pretty_json()
            .expect("the document has string keys and no failing serializers");
        text.push('\n');
        text
    })
}
