//! What is in force: clients, people, workspaces, keys, as the applied definitions left them.
//!
//! **Invariants**: applying a definition twice changes nothing; a revoked client stays revoked
//! whatever is applied after; the highest client number ever seen is never forgotten.

use crate::grant::ClientGrant;
use crate::keys::{Key, SECRET_KEY, TOKEN_KEY};
use millrace_model::{ApiClient, ClientNumber, Definition, Person, Workspace, WorkspaceNumber};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A client and the grant that its connections hold.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) client: ApiClient,
    pub(crate) grant: Arc<ClientGrant>,
    pub(crate) secret_hash: Option<[u8; 32]>,
}

/// What an applied definition has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Nothing,
    /// Connections of this client must go.
    Grant(ClientNumber),
    /// Sessions of this person must go.
    Sessions(String),
}

/// Everything in force, and the names that prepared changes have taken already.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) by_id: HashMap<String, Arc<Known>>,
    pub(crate) by_number: BTreeMap<ClientNumber, Arc<Known>>,
    pub(crate) people: BTreeMap<String, Person>,
    pub(crate) workspaces: BTreeMap<WorkspaceNumber, Workspace>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) secret_key: Option<Key>,
    pub(crate) token_key: Option<Key>,
    /// Client ids, people's and settings' names of changes that are not applied yet.
    pub(crate) reserved: HashSet<String>,
    pub(crate) highest_client: u32,
}

impl State {
    pub(crate) fn apply(&mut self, definition: &Definition) -> Ended {
        match definition {
            Definition::Client(client) => return self.apply_client(client),
            Definition::Person(person) => return self.apply_person(person),
            Definition::Workspace(workspace) => {
                self.workspaces.insert(workspace.number, workspace.clone());
            }
            Definition::Setting { name, value } => self.apply_setting(name, value),
            Definition::Tag(_)
            | Definition::Audit(_)
            | Definition::PipelineRevision(_)
            | Definition::Deployment(_)
            | Definition::PipelineRemoved(_)
            | Definition::Secret(_) => {}
        }
        Ended::Nothing
    }

    /// The state as definitions, for a snapshot. Workspaces are the namespace's.
    pub(crate) fn definitions(&self) -> Vec<Definition> {
        let settings = self
            .settings
            .iter()
            .map(|(name, value)| Definition::Setting { name: name.clone(), value: value.clone() });
        let clients = self.by_number.values().map(|k| Definition::Client(k.client.clone()));
        let people = self.people.values().map(|person| Definition::Person(person.clone()));
        settings.chain(clients).chain(people).collect()
    }

    fn apply_client(&mut self, client: &ApiClient) -> Ended {
        self.reserved.remove(&client.id);
        self.highest_client = self.highest_client.max(client.number.0);
        let before = self.by_number.get(&client.number).cloned();
        let mut client = client.clone();
        if let Some(before) = &before {
            client.revoked = before.client.revoked.or(client.revoked);
            if before.client == client {
                return Ended::Nothing;
            }
            before.grant.end();
            self.by_id.remove(&before.client.id);
        }
        let known = Arc::new(Known {
            grant: Arc::new(ClientGrant::new(&client)),
            secret_hash: blake3::Hash::from_hex(&client.secret_hash).ok().map(|h| *h.as_bytes()),
            client,
        });
        self.by_number.insert(known.client.number, Arc::clone(&known));
        self.by_id.insert(known.client.id.clone(), Arc::clone(&known));
        if before.is_some() { Ended::Grant(known.client.number) } else { Ended::Nothing }
    }

    fn apply_person(&mut self, person: &Person) -> Ended {
        self.reserved.remove(&person_key(&person.name));
        let before = self.people.insert(person.name.clone(), person.clone());
        match before {
            Some(before) if before != *person => Ended::Sessions(person.name.clone()),
            _ => Ended::Nothing,
        }
    }

    fn apply_setting(&mut self, name: &str, value: &str) {
        let key = || {
            let key = Key::from_hex(value);
            if key.is_none() {
                tracing::error!(
                    name,
                    "Left out a key of the box: it is not 64 hexadecimal digits."
                );
            }
            key
        };
        match name {
            SECRET_KEY => self.secret_key = key().or(self.secret_key.take()),
            TOKEN_KEY => self.token_key = key().or(self.token_key.take()),
            _ => {}
        }
        self.reserved.remove(&setting_key(name));
        self.settings.insert(name.to_owned(), value.to_owned());
    }
}

/// A setting in the list of reserved names.
pub(crate) fn setting_key(name: &str) -> String {
    format!("setting {name}")
}

/// People's names and client ids are told apart in the list of reserved names.
pub(crate) fn person_key(name: &str) -> String {
    // No client id has a space.
    format!("person {name}")
}
