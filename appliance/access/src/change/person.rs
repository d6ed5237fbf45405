//! People: new ones, other roles, new passwords, accounts out of use and back.
//!
//! **Invariants**: the last admin cannot be disabled or made smaller, however many changes are
//! prepared at once; a change carries the whole person, so two of the same person never overlap.

use super::{Actor, ChangeError, check_name, check_password, reserve, unknown};
use crate::access::Access;
use crate::state::{State, person_key};
use millrace_model::{Definition, Person, Role};
use std::fmt;

/// People of the box.
const PEOPLE_MAX: usize = 1_000;

/// What changes of a person; `None` stays.
#[derive(Clone, Default)]
pub struct PersonChange {
    /// Another role.
    pub role: Option<Role>,
    /// A new password, in clear; to be hashed and dropped.
    pub password: Option<String>,
    /// Whether the account is out of use.
    pub disabled: Option<bool>,
}

impl fmt::Debug for PersonChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, password, disabled } = self;
        let password = password.as_ref().map(|_| "hidden");
        f.debug_struct("PersonChange")
            .field("role", role)
            .field("password", &password)
            .field("disabled", disabled)
            .finish()
    }
}

impl Access {
    /// Prepares a person.
    ///
    /// # Errors
    /// When the name or password will not do, or the name is taken.
    pub fn new_person(
        &self,
        name: &str,
        password: &str,
        role: Role,
        actor: &Actor,
    ) -> Result<Vec<Definition>, ChangeError> {
        check_name(name)?;
        check_password(password)?;
        let password_hash = self.passwords.hash(password)?;
        let mut state = self.state.write();
        if state.people.len() >= PEOPLE_MAX {
            return Err(ChangeError::TooMany { what: "people", limit: PEOPLE_MAX });
        }
        if state.people.contains_key(name) || !reserve(&mut state, person_key(name))? {
            return Err(ChangeError::NameTaken { name: name.to_owned() });
        }
        drop(state);
        let created = self.clock.now();
        let name = name.to_owned();
        let audit = self.audit(actor, "person.create", &name);
        let person = Person { name, password_hash, role, created, disabled: None };
        Ok(vec![Definition::Person(person), audit])
    }

    /// Prepares a change of a person; the person's sessions end when it is applied. What is as it
    /// should be already leaves no trace, and if all of it is, there is nothing to make durable.
    ///
    /// # Errors
    /// When there is no such person, the password will not do, nobody would be left who may
    /// administer the box, or another change is not in force yet.
    pub fn change_person(
        &self,
        name: &str,
        change: &PersonChange,
        actor: &Actor,
    ) -> Result<Vec<Definition>, ChangeError> {
        let hash = match &change.password {
            None => None,
            Some(password) => {
                check_password(password)?;
                Some(self.passwords.hash(password)?)
            }
        };
        let mut state = self.state.write();
        let before = state.people.get(name).cloned().ok_or_else(|| unknown(name))?;
        let mut person = before.clone();
        let mut traces = Vec::new();
        if let Some(role) = change.role.filter(|role| *role != before.role) {
            person.role = role;
            traces.push("person.role");
        }
        if let Some(hash) = hash {
            person.password_hash = hash;
            traces.push("person.password");
        }
        match (change.disabled, before.disabled) {
            (Some(true), None) => {
                person.disabled = Some(self.clock.now());
                traces.push("person.disable");
            }
            (Some(false), Some(_)) => {
                person.disabled = None;
                traces.push("person.enable");
            }
            _ => {}
        }
        if traces.is_empty() {
            return Ok(Vec::new());
        }
        if is_admin(&before) && !is_admin(&person) {
            check_another_admin(&state, name)?;
        }
        // A definition carries the whole person: a second change must not undo the first.
        if !reserve(&mut state, person_key(name))? {
            return Err(ChangeError::Busy);
        }
        drop(state);
        let traces = traces.into_iter().map(|action| self.audit(actor, action, name));
        Ok(std::iter::once(Definition::Person(person)).chain(traces).collect())
    }
}

fn is_admin(person: &Person) -> bool {
    person.role == Role::Admin && person.disabled.is_none()
}

/// Whether somebody else stays admin. One whose own change is not in force yet is not counted on.
fn check_another_admin(state: &State, name: &str) -> Result<(), ChangeError> {
    let mut others =
        state.people.values().filter(|person| person.name != name && is_admin(person)).peekable();
    if others.peek().is_none() {
        return Err(ChangeError::LastAdmin);
    }
    let is_settled = |person: &Person| !state.reserved.contains(&person_key(&person.name));
    if others.any(is_settled) { Ok(()) } else { Err(ChangeError::Busy) }
}
