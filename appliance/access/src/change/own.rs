//! What a person changes of the own account: the password, and what the studio keeps for the person.
//!
//! **Invariants**: a password is changed only by whoever knows the old one, in a session that is
//! open; wrong guesses are limited like those of a sign-in; the other sessions end with it.

use super::{Actor, ChangeError, reserve};
use crate::access::{Access, SignInError};
use crate::change::PersonChange;
use crate::state::{person_key, setting_key};
use millrace_model::Definition;
use thiserror::Error;

/// Why somebody's own password stays.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OwnPasswordError {
    /// The old password is wrong, or was changed at the same time.
    #[error("the old password is not right")]
    OldPassword,
    /// The session has ended, or guessing is limited.
    #[error(transparent)]
    SignIn(#[from] SignInError),
    /// The new one will not do.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Access {
    /// Prepares a new password for the person of this session. When it is applied, all other
    /// sessions of the person end. Takes some tens of milliseconds of computing.
    ///
    /// # Errors
    /// Why not. Wrong old passwords are counted; while limited nothing is compared.
    pub fn change_own_password(
        &self,
        (bearer, name): (&str, &str),
        (old, new): (&str, &str),
        actor: &Actor,
    ) -> Result<Vec<Definition>, OwnPasswordError> {
        let key = person_key(name);
        self.limiter.check(actor.from, &key).map_err(SignInError::Limited)?;
        let person = self.state.read().people.get(name).cloned().ok_or(SignInError::Refused)?;
        super::check_password(new)?;
        if !self.passwords.verify(old, Some(&person.password_hash)).map_err(ChangeError::from)? {
            self.limiter.failed(actor.from, &key);
            return Err(OwnPasswordError::OldPassword);
        }
        self.limiter.succeeded(actor.from, &key);
        let change = PersonChange { password: Some(new.to_owned()), ..PersonChange::default() };
        let definitions = self.change_person(name, &change, actor)?;
        // From here on nobody else changes this person; somebody may have done so before.
        if self.state.read().people.get(name) != Some(&person) {
            self.abandon(&definitions);
            return Err(OwnPasswordError::OldPassword);
        }
        if !self.sessions.spare(bearer, self.clock.monotonic()) {
            self.abandon(&definitions);
            return Err(SignInError::Refused.into());
        }
        Ok(definitions)
    }

    /// What is kept under a name of the catalog's settings.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<String> {
        self.state.read().settings.get(name).cloned()
    }

    /// Prepares another value of a setting, computed from the one that is in force.
    ///
    /// # Errors
    /// What `change` says, or [`ChangeError::Busy`] when another change of the same is not in
    /// force yet.
    pub fn change_setting<E: From<ChangeError>>(
        &self,
        name: &str,
        change: impl FnOnce(Option<&str>) -> Result<String, E>,
    ) -> Result<Definition, E> {
        let mut state = self.state.write();
        let value = change(state.settings.get(name).map(String::as_str))?;
        if !reserve(&mut state, setting_key(name)).map_err(E::from)? {
            return Err(ChangeError::Busy.into());
        }
        Ok(Definition::Setting { name: name.to_owned(), value })
    }
}
