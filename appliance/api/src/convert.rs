//! Between the contract's types and the model's: the only place where both meet.
//!
//! `outward` cannot fail. `inward` checks every rule that a request's shape must keep, and names
//! the field at fault.

mod inward;
mod outward;
mod system;

pub(crate) use inward::{
    client_rights, filters, name, new_clients, new_person, new_tag, password, person_change,
    tag_change,
};
pub(crate) use outward::{
    Workspaces, audit_entry, bucket, client, config_entry, counts, health, issue, level, measure,
    overview, person, role, sample, tag, time, workspace,
};
pub(crate) use system::system;
