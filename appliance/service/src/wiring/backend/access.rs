//! Signing in, clients and people.

use super::{Answers, failed};
use millrace_access::{
    Actor, ChangeError, ClaimError, ClientRights, NewClient, OwnPasswordError, PersonChange,
    SignInError,
};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_model::{ApiClient, Definition, Person};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long a client's token is good.
const TOKEN_LIFETIME: Duration = Duration::from_secs(3_600);

pub(super) fn fault(error: &SignInError) -> Fault {
    match error {
        SignInError::Refused | SignInError::Expired => Fault::Unauthorized,
        SignInError::Limited(limited) => Fault::RateLimited { retry_after: limited.retry_after },
        SignInError::Unavailable => Fault::Unavailable(error.to_string()),
    }
}

pub(super) fn change_fault(error: ChangeError) -> Fault {
    let message = error.to_string();
    match error {
        ChangeError::NameInvalid => Fault::Invalid { field: "name".to_owned(), message },
        ChangeError::PasswordInvalid => Fault::Invalid { field: "password".to_owned(), message },
        ChangeError::UnknownWorkspace { .. } => {
            Fault::Invalid { field: "workspace".to_owned(), message }
        }
        ChangeError::NameTaken { .. }
        | ChangeError::AlreadyRevoked { .. }
        | ChangeError::LastAdmin
        | ChangeError::TooMany { .. } => Fault::Conflict(message),
        ChangeError::Unknown { .. } => Fault::NotFound(message),
        ChangeError::NotSetUp | ChangeError::Busy | ChangeError::Random(_) => {
            Fault::Unavailable(message)
        }
    }
}

pub(super) fn actor(by: &api::Actor) -> Actor {
    Actor { who: by.who.clone(), from: Some(by.from) }
}

impl Answers {
    pub(super) fn token_for(
        &self,
        id: &str,
        secret: &str,
        from: IpAddr,
    ) -> Result<api::Token, Fault> {
        let access = &self.0.access;
        let grant = access.sign_in_client(id, secret, Some(from)).map_err(|error| fault(&error))?;
        let token = access.issue_token(&grant, TOKEN_LIFETIME).map_err(|error| fault(&error))?;
        Ok(api::Token { access_token: token.reveal().to_owned(), expires_in: TOKEN_LIFETIME })
    }

    pub(super) fn sign_in(
        &self,
        name: &str,
        password: &str,
        from: IpAddr,
    ) -> Result<api::Session, Fault> {
        let access = &self.0.access;
        match access.sign_in_person(name, password, Some(from)) {
            Ok(signed) => Ok(api::Session {
                token: api::Token {
                    access_token: signed.token.reveal().to_owned(),
                    expires_in: signed.lifetime,
                },
                name: name.to_owned(),
                role: signed.role,
            }),
            Err(error) => {
                if error == SignInError::Refused {
                    let who = Actor { who: "nobody".to_owned(), from: Some(from) };
                    self.note(&access.audit(&who, "login.failed", name));
                }
                Err(fault(&error))
            }
        }
    }

    /// Journals an audit entry of its own; the answer does not wait for it.
    fn note(&self, entry: &Definition) {
        if let Err(error) = self.durable_blocking(std::slice::from_ref(entry)) {
            tracing::warn!("An audit entry was not kept: {error}.");
        }
    }

    pub(super) fn claim_box(
        &self,
        code: &str,
        person: &api::NewPerson,
        from: IpAddr,
    ) -> Result<api::Session, Fault> {
        let definitions =
            self.0.access.claim(code, &person.name, &person.password, Some(from)).map_err(
                |error| match error {
                    ClaimError::Refused(change) => change_fault(change),
                    ClaimError::AlreadyClaimed => {
                        Fault::Conflict("the box has its first admin already".to_owned())
                    }
                    ClaimError::Wait { retry_after } => Fault::RateLimited { retry_after },
                    ClaimError::WrongCode | ClaimError::Expired => Fault::Unauthorized,
                },
            )?;
        self.durable_blocking(&definitions)?;
        self.sign_in(&person.name, &person.password, from)
    }

    pub(super) fn new_person(
        &self,
        person: &api::NewPerson,
        by: &api::Actor,
    ) -> Result<Person, Fault> {
        let definitions = self
            .0
            .access
            .new_person(&person.name, &person.password, person.role, &actor(by))
            .map_err(change_fault)?;
        self.durable_blocking(&definitions)?;
        let made = definitions.into_iter().find_map(|definition| match definition {
            Definition::Person(person) => Some(person),
            _ => None,
        });
        made.ok_or_else(|| Fault::Internal("no person was made".to_owned()))
    }

    pub(super) fn changed_person(
        &self,
        name: &str,
        change: api::PersonChange,
        by: &api::Actor,
    ) -> Result<Person, Fault> {
        let api::PersonChange { role, password, disabled } = change;
        let change = PersonChange { role, password, disabled };
        let access = &self.0.access;
        let definitions = access.change_person(name, &change, &actor(by)).map_err(change_fault)?;
        if !definitions.is_empty() {
            self.durable_blocking(&definitions)?;
        }
        let found = access.people().into_iter().find(|person| person.name == name);
        found.ok_or_else(|| Fault::Internal("the person is gone".to_owned()))
    }

    pub(super) fn changed_own_password(
        &self,
        bearer_name: (&str, &str),
        old_new: (&str, &str),
        by: &api::Actor,
    ) -> Result<(), Fault> {
        let change = self.0.access.change_own_password(bearer_name, old_new, &actor(by));
        let definitions = change.map_err(|error| match error {
            OwnPasswordError::OldPassword => Fault::Invalid {
                field: "old_password".to_owned(),
                message: "The old password is not right.".to_owned(),
            },
            OwnPasswordError::SignIn(error) => fault(&error),
            OwnPasswordError::Change(ChangeError::PasswordInvalid) => Fault::Invalid {
                field: "new_password".to_owned(),
                message: ChangeError::PasswordInvalid.to_string(),
            },
            OwnPasswordError::Change(error) => change_fault(error),
        })?;
        self.durable_blocking(&definitions)
    }

    pub(super) fn changed_rights(
        &self,
        id: &str,
        rights: api::ClientRights,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<ApiClient, Fault>> {
        let api::ClientRights { publish, subscribe, may_create, retention, rate_per_s } = rights;
        let rights = ClientRights { publish, subscribe, may_create, retention, rate_per_s };
        match self.0.access.change_rights(id, rights, &actor(by)) {
            Err(error) => failed(change_fault(error)),
            Ok((client, definitions)) if definitions.is_empty() => {
                Box::pin(std::future::ready(Ok(client)))
            }
            Ok((client, definitions)) => self.durable(definitions, client),
        }
    }

    pub(super) fn client_page(&self, after: Option<&str>, limit: usize) -> api::PageOf<ApiClient> {
        let mut all = self.0.access.clients();
        all.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let from =
            after.map_or(0, |after| all.partition_point(|client| client.id.as_str() <= after));
        let mut items: Vec<_> = all.into_iter().skip(from).take(limit + 1).collect();
        let more = items.len() > limit;
        items.truncate(limit);
        api::PageOf { items, more }
    }

    pub(super) fn new_clients(
        &self,
        new: &api::NewClients,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<Vec<api::CreatedClient>, Fault>> {
        let one = |name: String| NewClient {
            name,
            workspace: new.workspace,
            publish: new.publish.clone(),
            subscribe: new.subscribe.clone(),
            may_create: new.may_create,
            retention: new.retention,
            rate_per_s: new.rate_per_s,
        };
        let wanted = if new.count == 1 {
            vec![one(new.name.clone())]
        } else {
            (1..=new.count).map(|number| one(format!("{}-{number}", new.name))).collect()
        };
        match self.0.access.new_clients(wanted, &actor(by)) {
            Err(error) => failed(change_fault(error)),
            Ok((made, definitions)) => {
                let made = made.into_iter().map(|(client, secret)| api::CreatedClient {
                    client,
                    secret: secret.reveal().to_owned(),
                });
                self.durable(definitions, made.collect())
            }
        }
    }

    pub(super) fn renew(
        &self,
        id: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<api::CreatedClient, Fault>> {
        match self.0.access.renew(id, &actor(by)) {
            Err(error) => failed(change_fault(error)),
            Ok((client, secret, definitions)) => {
                let secret = secret.reveal().to_owned();
                self.durable(definitions, api::CreatedClient { client, secret })
            }
        }
    }

    pub(super) fn revoke(
        &self,
        id: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<ApiClient, Fault>> {
        let Some(client) = self.0.access.client(id) else {
            return failed(Fault::NotFound(format!("there is no API client '{id}'")));
        };
        if client.revoked.is_some() {
            return Box::pin(std::future::ready(Ok(client)));
        }
        let definitions = match self.0.access.revoke(id, &actor(by)) {
            Ok(definitions) => definitions,
            Err(error) => return failed(change_fault(error)),
        };
        let shared = Arc::clone(&self.0);
        let id = id.to_owned();
        Box::pin(async move {
            shared.make_durable(&definitions).await.map_err(|error| super::unavailable(&error))?;
            shared.access.client(&id).ok_or(Fault::Internal("the client is gone".to_owned()))
        })
    }
}
