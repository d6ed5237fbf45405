//! Prepared changes: new and revoked clients, people, passwords, each with its audit entry.
//!
//! Nothing here changes what is in force. The caller appends the definitions to the journal in
//! one append and waits until they are durable; the journal's follower applies them.
//!
//! **Invariants**: a client's number is never given out twice; two changes prepared at once never
//! get the same id or name, and never undo one another.

mod own;
mod person;
mod rights;

pub use own::OwnPasswordError;
pub use person::PersonChange;
pub use rights::ClientRights;

use crate::access::Access;
use crate::password::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, PasswordError};
use crate::secret::{RandomError, Secret, random_text};
use crate::state::{State, person_key, setting_key};
use millrace_model::{
    ApiClient, AuditEntry, ClientNumber, Definition, Filter, Retention, WorkspaceNumber,
};
use std::net::IpAddr;
use thiserror::Error;

/// Clients of the box, revoked ones included: all are held in memory.
pub(crate) const CLIENTS_MAX: usize = 100_000;
/// Filters of one direction of one client.
const FILTERS_MAX: usize = 64;
/// Longest name in characters.
const NAME_CHARS_MAX: usize = 64;
/// Changes that are prepared and not applied yet.
const RESERVED_MAX: usize = 20_000;
const SUFFIX: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";

/// Who changes something, and from where.
#[derive(Clone, Debug)]
pub struct Actor {
    /// `user:anna`, `local`: see `Principal::who`.
    pub who: String,
    /// The address, if over a network.
    pub from: Option<IpAddr>,
}

/// What is asked for a new client.
#[derive(Clone, Debug)]
pub struct NewClient {
    /// What a person calls it; its id is made from it.
    pub name: String,
    /// The workspace that it works in.
    pub workspace: WorkspaceNumber,
    /// Tag paths that it may publish on.
    pub publish: Vec<Filter>,
    /// Tag paths that it may subscribe to and query.
    pub subscribe: Vec<Filter>,
    /// Whether its first value on a new path creates the tag.
    pub may_create: bool,
    /// Retention class of the tags that it creates.
    pub retention: Option<Retention>,
    /// Values per second; `None` = the box's setting, 0 = no limit.
    pub rate_per_s: Option<u32>,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The name is empty, too long or has control characters.
    #[error("a name has 1 to {NAME_CHARS_MAX} characters, none of them a control character")]
    NameInvalid,
    /// The name is taken.
    #[error("there is already one named {name}")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The password is too short or too long.
    #[error(
        "a password has at least {PASSWORD_CHARS_MIN} characters and at most \
         {PASSWORD_BYTES_MAX} bytes"
    )]
    PasswordInvalid,
    /// There is none with that id or name.
    #[error("there is none named {name}")]
    Unknown {
        /// The id or name.
        name: String,
    },
    /// There is no such workspace.
    #[error("there is no workspace {}", workspace.0)]
    UnknownWorkspace {
        /// Its number.
        workspace: WorkspaceNumber,
    },
    /// It was revoked before.
    #[error("the client {id} has been revoked already")]
    AlreadyRevoked {
        /// The id.
        id: String,
    },
    /// Nobody could administer the box any more.
    #[error("this is the last admin; make another one first")]
    LastAdmin,
    /// A limit of the box.
    #[error("the limit of {limit} {what} is reached")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The box's keys are not there yet: the first definitions were not applied.
    #[error("the box is not set up yet")]
    NotSetUp,
    /// Too many passwords are being hashed, or another change of the same is not in force yet.
    #[error("too many changes are made at once; try again")]
    Busy,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl From<PasswordError> for ChangeError {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::Busy => Self::Busy,
            PasswordError::Hash => Self::PasswordInvalid,
            PasswordError::Random(error) => Self::Random(error),
        }
    }
}

impl Access {
    /// Gives back the names of prepared changes that could not be made durable.
    pub fn abandon(&self, definitions: &[Definition]) {
        let mut state = self.state.write();
        for definition in definitions {
            match definition {
                Definition::Client(client) => state.reserved.remove(&client.id),
                Definition::Person(person) => {
                    self.sessions.spare_none_of(&person.name);
                    state.reserved.remove(&person_key(&person.name))
                }
                Definition::Setting { name, .. } => state.reserved.remove(&setting_key(name)),
                _ => false,
            };
        }
    }

    /// An audit entry on its own, for what is not a change of definitions (`login.failed`).
    #[must_use]
    pub fn audit(&self, actor: &Actor, action: &str, subject: &str) -> Definition {
        Definition::Audit(AuditEntry {
            at: self.clock.now(),
            who: actor.who.clone(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            from: actor.from.map(|address| address.to_string()),
        })
    }

    /// Prepares a client. The secret is shown once; only its hash is in the definitions.
    ///
    /// # Errors
    /// What is wrong with the request, or the limit that is reached.
    pub fn new_client(
        &self,
        new: NewClient,
        actor: &Actor,
    ) -> Result<(ApiClient, Secret, Vec<Definition>), ChangeError> {
        check_name(&new.name)?;
        if new.publish.len() > FILTERS_MAX || new.subscribe.len() > FILTERS_MAX {
            return Err(ChangeError::TooMany { what: "filters", limit: FILTERS_MAX });
        }
        let secret = Secret::generate()?;
        let mut state = self.state.write();
        if !state.workspaces.contains_key(&new.workspace) {
            return Err(ChangeError::UnknownWorkspace { workspace: new.workspace });
        }
        if state.by_number.len() >= CLIENTS_MAX {
            return Err(ChangeError::TooMany { what: "clients", limit: CLIENTS_MAX });
        }
        let hash = state.secret_key.as_ref().ok_or(ChangeError::NotSetUp)?;
        let hash = hash.hash(secret.reveal().as_bytes());
        let id = reserve_id(&mut state, &new.name)?;
        state.highest_client = state.highest_client.saturating_add(1);
        let client = ApiClient {
            number: ClientNumber(state.highest_client),
            id,
            name: new.name,
            workspace: new.workspace,
            secret_hash: blake3::Hash::from_bytes(hash).to_hex().to_string(),
            publish: new.publish,
            subscribe: new.subscribe,
            may_create: new.may_create,
            retention: new.retention,
            rate_per_s: new.rate_per_s,
            created: self.clock.now(),
            revoked: None,
        };
        drop(state);
        let audit = self.audit(actor, "client.create", &client.id);
        Ok((client.clone(), secret, vec![Definition::Client(client), audit]))
    }

    /// Prepares many clients at once.
    ///
    /// # Errors
    /// The first that cannot be made; none is in force then.
    #[expect(clippy::type_complexity, reason = "a pair of lists, taken apart at once")]
    pub fn new_clients(
        &self,
        new: Vec<NewClient>,
        actor: &Actor,
    ) -> Result<(Vec<(ApiClient, Secret)>, Vec<Definition>), ChangeError> {
        let mut clients = Vec::with_capacity(new.len());
        let mut definitions = Vec::with_capacity(2 * new.len());
        for new in new {
            let made = self.new_client(new, actor);
            let (client, secret, more) = made.inspect_err(|_| self.abandon(&definitions))?;
            clients.push((client, secret));
            definitions.extend(more);
        }
        Ok((clients, definitions))
    }

    /// Prepares the end of a client.
    ///
    /// # Errors
    /// When there is none, or it is revoked already.
    pub fn revoke(&self, id: &str, actor: &Actor) -> Result<Vec<Definition>, ChangeError> {
        let state = self.state.read();
        let known = state.by_id.get(id).ok_or_else(|| unknown(id))?;
        if known.client.revoked.is_some() {
            return Err(ChangeError::AlreadyRevoked { id: id.to_owned() });
        }
        let client = ApiClient { revoked: Some(self.clock.now()), ..known.client.clone() };
        Ok(vec![Definition::Client(client), self.audit(actor, "client.revoke", id)])
    }

    /// Prepares a new secret in the place of the old one, which is refused once this is applied;
    /// the client's connections are cut. Tokens that it has fetched are good until they expire.
    ///
    /// # Errors
    /// When there is none, or it is revoked.
    pub fn renew(
        &self,
        id: &str,
        actor: &Actor,
    ) -> Result<(ApiClient, Secret, Vec<Definition>), ChangeError> {
        let secret = Secret::generate()?;
        let mut state = self.state.write();
        let known = state.by_id.get(id).cloned().ok_or_else(|| unknown(id))?;
        if known.client.revoked.is_some() {
            return Err(ChangeError::AlreadyRevoked { id: id.to_owned() });
        }
        let key = state.secret_key.as_ref().ok_or(ChangeError::NotSetUp)?;
        let hash = key.hash(secret.reveal().as_bytes());
        // Of two new secrets one would be dead when it is shown.
        if !reserve(&mut state, id.to_owned())? {
            return Err(ChangeError::Busy);
        }
        drop(state);
        let secret_hash = blake3::Hash::from_bytes(hash).to_hex().to_string();
        let client = ApiClient { secret_hash, ..known.client.clone() };
        let audit = self.audit(actor, "client.renew", id);
        Ok((client.clone(), secret, vec![Definition::Client(client), audit]))
    }
}

fn unknown(name: &str) -> ChangeError {
    ChangeError::Unknown { name: name.to_owned() }
}

pub(crate) fn check_name(name: &str) -> Result<(), ChangeError> {
    let count = name.chars().count();
    let fits = (1..=NAME_CHARS_MAX).contains(&count)
        && !name.chars().any(char::is_control)
        && name.trim() == name;
    if fits { Ok(()) } else { Err(ChangeError::NameInvalid) }
}

pub(crate) fn check_password(password: &str) -> Result<(), ChangeError> {
    let fits =
        password.chars().count() >= PASSWORD_CHARS_MIN && password.len() <= PASSWORD_BYTES_MAX;
    if fits { Ok(()) } else { Err(ChangeError::PasswordInvalid) }
}

/// Takes a name until its change is applied; `false` if another change has it.
fn reserve(state: &mut State, name: String) -> Result<bool, ChangeError> {
    if state.reserved.len() >= RESERVED_MAX {
        return Err(ChangeError::TooMany { what: "pending changes", limit: RESERVED_MAX });
    }
    Ok(state.reserved.insert(name))
}

/// The name's own slug if it is free, else with four random characters. A revoked client's id is
/// not free: its tags and audit entries speak of it.
fn reserve_id(state: &mut State, name: &str) -> Result<String, ChangeError> {
    let slug = slug(name);
    let mut id = slug.clone();
    while state.by_id.contains_key(&id) || !reserve(state, id.clone())? {
        id = format!("{slug}-{}", random_text(SUFFIX, 4)?);
    }
    Ok(id)
}

/// Lower-case letters, digits, `.`, `_` and `-`: one topic level that needs no quoting anywhere.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for character in name.chars().map(|character| character.to_ascii_lowercase()) {
        match character {
            'a'..='z' | '0'..='9' | '.' | '_' => slug.push(character),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_matches(['-', '_', '.']);
    if slug.is_empty() { "client".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_readable_and_one_level() {
        let check = |name, expected| assert_eq!(slug(name), expected, "{name}");
        check("press-4", "press-4");
        check("Press 4 (Halle/Süd)", "press-4-halle-s-d");
        check("$SYS/#", "sys");
        check("__", "client");
        check("ポンプ", "client");
        check("a.b_c", "a.b_c");
    }
}
