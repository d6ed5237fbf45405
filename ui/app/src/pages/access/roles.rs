//! What each role may do, in words: the appliance's own table, told for people.
//!
//! **Invariants**
//! - A role includes the smaller ones.

use super::role_name;
use crate::words::{Message, access, t};
use leptos::prelude::*;
use millrace_contract::v1::Role;
use millrace_kit::Panel;

/// What one may do, and the smallest role that may.
const ABILITIES: [(Message, Role); 10] = [
    (access::MAY_READ, Role::Viewer),
    (access::MAY_READ_BOX, Role::Viewer),
    (access::MAY_ACKNOWLEDGE, Role::Engineer),
    (access::MAY_TAGS, Role::Engineer),
    (access::MAY_CLIENTS, Role::Engineer),
    (access::MAY_PIPELINES, Role::Engineer),
    (access::MAY_SECRETS, Role::Engineer),
    (access::MAY_SIZING, Role::Engineer),
    (access::MAY_PEOPLE, Role::Admin),
    (access::MAY_AUDIT, Role::Admin),
];

const ROLES: [Role; 3] = [Role::Viewer, Role::Engineer, Role::Admin];

/// The table.
#[component]
pub(super) fn Roles() -> impl IntoView {
    let heads = ROLES.map(|role| view! { <th scope="col">{t(role_name(role))}</th> });
    let rows = ABILITIES.map(|(what, smallest)| {
        let cells = ROLES.map(|role| {
            let (sign, word) =
                if role >= smallest { ("✓", access::YES) } else { ("–", access::NO) };
            view! { <td><span aria-hidden="true">{sign}" "</span>{t(word)}</td> }
        });
        view! { <tr><th scope="row">{t(what)}</th>{cells.into_iter().collect_view()}</tr> }
    });
    view! {
        <div class="access-part">
            <Panel title=t(access::ROLES)>
                <p class="access-text">{t(access::ROLES_TEXT)}</p>
                <table class="access-table roles">
                    <thead><tr><th scope="col">{t(access::ABILITY)}</th>{heads.into_iter().collect_view()}</tr></thead>
                    <tbody>{rows.into_iter().collect_view()}</tbody>
                </table>
                <p class="access-text">{t(access::ROLES_CLIENTS)}</p>
            </Panel>
        </div>
    }
}
