//! Access: the one door for secrets, tokens, passwords and sessions.
//!
//! **Invariants**: what is verified is what was applied; whatever goes wrong in a sign-in, the
//! answer to the outside is the same; no lock that `apply` takes is held while a password is
//! hashed.

use crate::change::{Actor, ChangeError, check_name, check_password};
use crate::claim::{Claim, ClaimError};
use crate::grant::{ClientGrant, Principal};
use crate::keys::{Key, SECRET_KEY, TOKEN_KEY, same};
use crate::limiter::{Limited, Limiter};
use crate::local_token::LocalToken;
use crate::password::{PasswordError, Passwords};
use crate::secret::{RandomError, Secret};
use crate::session::{self, SESSION_LIFETIME, Sessions};
use crate::state::{Ended, State};
use crate::token::{self, TokenFault};
use millrace_model::{
    ApiClient, ClientNumber, Definition, Person, Role, Workspace, WorkspaceNumber,
};
use millrace_supervisor::Clock;
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignInError {
    /// The id, name, secret, password or token is wrong, or its owner is revoked or disabled;
    /// which of these is not told.
    #[error("the credentials are not valid")]
    Refused,
    /// The token was good once.
    #[error("the token has expired")]
    Expired,
    /// Too many failed attempts.
    #[error(transparent)]
    Limited(#[from] Limited),
    /// Too many people sign in at once, or no randomness.
    #[error("signing in is not possible at the moment; try again")]
    Unavailable,
}

/// A person has signed in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The bearer token of the session.
    pub token: Secret,
    /// What the person may do.
    pub role: Role,
    /// When the session ends.
    pub lifetime: Duration,
}

type Hook = Box<dyn Fn(ClientNumber) + Send + Sync>;
type Announce = Box<dyn Fn(&Secret) + Send + Sync>;

/// Clients, people, tokens and sessions of the box.
pub struct Access {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: RwLock<State>,
    pub(crate) passwords: Passwords,
    pub(crate) limiter: Limiter,
    pub(crate) sessions: Sessions,
    claim: Claim,
    announce: Mutex<Option<Announce>>,
    hooks: Mutex<Vec<Hook>>,
    local: RwLock<Option<[u8; 32]>>,
    /// Hashes what lives no longer than the process.
    process_key: Key,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    /// Nobody is known yet.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn new(clock: Arc<dyn Clock>) -> Result<Self, RandomError> {
        Ok(Self {
            limiter: Limiter::new(Arc::clone(&clock)),
            clock,
            state: RwLock::default(),
            passwords: Passwords::default(),
            sessions: Sessions::default(),
            claim: Claim::new(Key::generate()?),
            announce: Mutex::default(),
            hooks: Mutex::default(),
            local: RwLock::default(),
            process_key: Key::generate()?,
        })
    }

    /// Takes over a new state. Called on the journal's thread after the commit, and at start with
    /// what was loaded. A revoked client's grant is ended before this returns.
    pub fn apply(&self, definition: &Definition) {
        let ended = self.state.write().apply(definition);
        match ended {
            Ended::Nothing => {}
            Ended::Sessions(name) => self.sessions.close_all_of(&name),
            Ended::Grant(client) => {
                for hook in self.hooks.lock().iter() {
                    hook(client);
                }
            }
        }
        if matches!(definition, Definition::Person(_)) {
            self.claim.close();
        }
    }

    /// Calls `hook` with the number of each client that is revoked or changed, after its grant
    /// has ended, on the journal's thread: it must not wait.
    pub fn on_revoked(&self, hook: impl Fn(ClientNumber) + Send + Sync + 'static) {
        self.hooks.lock().push(Box::new(hook));
    }

    /// What a box needs and this one lacks: the workspace `main` and its two keys. Made durable
    /// by the caller before anything else at start.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn first_definitions(&self) -> Result<Vec<Definition>, RandomError> {
        let state = self.state.read();
        let mut missing = Vec::new();
        if state.workspaces.is_empty() {
            let (number, name) = (WorkspaceNumber(1), "main".to_owned());
            let created = self.clock.now();
            missing.push(Definition::Workspace(Workspace { number, name, created }));
        }
        if state.secret_key.is_none() {
            missing.push(Key::generate()?.setting(SECRET_KEY));
        }
        if state.token_key.is_none() {
            missing.push(Key::generate()?.setting(TOKEN_KEY));
        }
        Ok(missing)
    }

    /// Clients, people and settings, for a snapshot. Workspaces and tags are the namespace's.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        self.state.read().definitions()
    }

    /// All clients by number, revoked ones included.
    #[must_use]
    pub fn clients(&self) -> Vec<ApiClient> {
        self.state.read().by_number.values().map(|known| known.client.clone()).collect()
    }

    /// The client with this id.
    #[must_use]
    pub fn client(&self, id: &str) -> Option<ApiClient> {
        self.state.read().by_id.get(id).map(|known| known.client.clone())
    }

    /// The client with this number.
    #[must_use]
    pub fn client_by_number(&self, number: ClientNumber) -> Option<ApiClient> {
        self.state.read().by_number.get(&number).map(|known| known.client.clone())
    }

    /// The grant of a client that the box runs itself (simulated devices), if it is in force.
    #[must_use]
    pub fn grant(&self, number: ClientNumber) -> Option<Arc<ClientGrant>> {
        let state = self.state.read();
        state.by_number.get(&number).map(|k| Arc::clone(&k.grant)).filter(|g| !g.is_ended())
    }

    /// All people by name. Their password hashes are not for showing.
    #[must_use]
    pub fn people(&self) -> Vec<Person> {
        self.state.read().people.values().cloned().collect()
    }

    /// Keeps new client numbers above `highest`: history and the ledger may speak of clients
    /// whose definitions are lost.
    pub fn reserve_clients_through(&self, highest: ClientNumber) {
        let mut state = self.state.write();
        state.highest_client = state.highest_client.max(highest.0);
    }

    /// Holds an id and secret against what is in force; counts no failures.
    ///
    /// # Errors
    /// [`SignInError::Refused`], whatever was wrong.
    pub fn verify_secret(&self, id: &str, secret: &str) -> Result<Arc<ClientGrant>, SignInError> {
        let state = self.state.read();
        let key = state.secret_key.as_ref().ok_or(SignInError::Unavailable)?;
        let hash = key.hash(secret.as_bytes());
        let known = state.by_id.get(id);
        // An id that is not known costs the same comparison.
        let expected = known.and_then(|known| known.secret_hash);
        let fits = same(&hash, &expected.unwrap_or([0; 32])) && expected.is_some();
        let grant = known.map(|known| &known.grant).filter(|grant| fits && !grant.is_ended());
        grant.cloned().ok_or(SignInError::Refused)
    }

    /// Lets a client in by secret, or by a token of its own in the secret's place (MQTT's
    /// password). A right secret is taken even while its address or id is limited.
    ///
    /// # Errors
    /// Why not. Failures are counted.
    pub fn sign_in_client(
        &self,
        id: &str,
        secret: &str,
        from: Option<IpAddr>,
    ) -> Result<Arc<ClientGrant>, SignInError> {
        let found = if token::has_form(secret) {
            let grant = self.verify_client_token(secret);
            grant.and_then(|g| if g.id == id { Ok(g) } else { Err(SignInError::Refused) })
        } else {
            self.verify_secret(id, secret)
        };
        match found {
            Ok(grant) => {
                self.limiter.succeeded(from, id);
                Ok(grant)
            }
            // An expired token is no guess: it was made here.
            Err(error @ (SignInError::Expired | SignInError::Unavailable)) => Err(error),
            Err(error) => {
                self.limiter.check(from, id)?;
                self.limiter.failed(from, id);
                Err(error)
            }
        }
    }

    /// A bearer token for a signed-in client (OAuth2 client credentials).
    ///
    /// # Errors
    /// When the grant has ended or no token can be made.
    pub fn issue_token(
        &self,
        grant: &ClientGrant,
        lifetime: Duration,
    ) -> Result<Secret, SignInError> {
        if grant.is_ended() {
            return Err(SignInError::Refused);
        }
        let state = self.state.read();
        let key = state.token_key.as_ref().ok_or(SignInError::Unavailable)?;
        token::issue(key, grant.number, self.clock.now(), lifetime)
            .map_err(|RandomError| SignInError::Unavailable)
    }

    /// Who a bearer token belongs to: a client's token, a person's session or the local token.
    ///
    /// # Errors
    /// [`SignInError::Refused`] or [`SignInError::Expired`].
    pub fn verify_bearer(&self, bearer: &str) -> Result<Principal, SignInError> {
        if token::has_form(bearer) {
            return self.verify_client_token(bearer).map(Principal::Client);
        }
        if bearer.starts_with(session::PREFIX) {
            let name = self.sessions.person(bearer, self.clock.monotonic());
            let name = name.ok_or(SignInError::Refused)?;
            let state = self.state.read();
            let person = state.people.get(&name).filter(|person| person.disabled.is_none());
            // The role is the one of now, not of the login.
            let role = person.ok_or(SignInError::Refused)?.role;
            return Ok(Principal::Person { name, role });
        }
        let hash = self.process_key.hash(bearer.as_bytes());
        match *self.local.read() {
            Some(local) if same(&hash, &local) => Ok(Principal::Local),
            _ => Err(SignInError::Refused),
        }
    }

    /// Takes the token that the service wrote into the data folder.
    pub fn set_local_token(&self, token: &LocalToken) {
        *self.local.write() = Some(self.process_key.hash(token.reveal().as_bytes()));
    }

    /// Lets a person in. Takes some tens of milliseconds of computing: not for a socket's task.
    ///
    /// # Errors
    /// Why not. Failures are counted; while limited nothing is compared.
    pub fn sign_in_person(
        &self,
        name: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, SignInError> {
        let key = crate::state::person_key(name);
        self.limiter.check(from, &key)?;
        let person = self.state.read().people.get(name).cloned();
        let person = person.filter(|person| person.disabled.is_none());
        let phc = person.as_ref().map(|person| person.password_hash.as_str());
        let fits = self.passwords.verify(password, phc).map_err(|error| match error {
            PasswordError::Busy | PasswordError::Hash | PasswordError::Random(_) => {
                SignInError::Unavailable
            }
        })?;
        let Some(person) = person.filter(|_| fits) else {
            self.limiter.failed(from, &key);
            return Err(SignInError::Refused);
        };
        self.limiter.succeeded(from, &key);
        let token = self.sessions.open(&person.name, self.clock.monotonic());
        let token = token.map_err(|RandomError| SignInError::Unavailable)?;
        // Disabled or changed while the password was being hashed: the session was opened after
        // the others were closed.
        if self.state.read().people.get(name) != Some(&person) {
            self.sessions.close(token.reveal());
            return Err(SignInError::Refused);
        }
        Ok(SignedIn { token, role: person.role, lifetime: SESSION_LIFETIME })
    }

    /// Ends a session; `false` if there was none.
    pub fn sign_out(&self, bearer: &str) -> bool {
        self.sessions.close(bearer)
    }

    /// Whether the box waits to be claimed.
    #[must_use]
    pub fn is_unclaimed(&self) -> bool {
        self.state.read().people.is_empty()
    }

    /// Makes the claim code while there is no person; `announce` shows it, now and each time it
    /// is replaced after too many wrong attempts.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn open_claim(
        &self,
        announce: impl Fn(&Secret) + Send + Sync + 'static,
    ) -> Result<(), RandomError> {
        if self.is_unclaimed() {
            let code = self.claim.issue(self.clock.monotonic())?;
            announce(&code);
            *self.announce.lock() = Some(Box::new(announce));
        }
        Ok(())
    }

    /// Prepares the first admin for whoever has the code.
    ///
    /// # Errors
    /// Why not. A name or password that will not do leaves the code good.
    pub fn claim(
        &self,
        code: &str,
        name: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<Vec<Definition>, ClaimError> {
        if !self.is_unclaimed() {
            return Err(ClaimError::AlreadyClaimed);
        }
        let announce = |code: &Secret| {
            if let Some(announce) = self.announce.lock().as_ref() {
                announce(code);
            }
        };
        self.claim.redeem(code, self.clock.monotonic(), announce, || {
            check_name(name)?;
            check_password(password)?;
            let actor = Actor { who: format!("user:{name}"), from };
            let mut definitions = self.new_person(name, password, Role::Admin, &actor)?;
            definitions.push(self.audit(&actor, "box.claim", name));
            Ok(definitions)
        })
    }

    fn verify_client_token(&self, bearer: &str) -> Result<Arc<ClientGrant>, SignInError> {
        let state = self.state.read();
        let key = state.token_key.as_ref().ok_or(SignInError::Unavailable)?;
        let number = token::verify(key, bearer, self.clock.now()).map_err(|fault| match fault {
            TokenFault::Forged => SignInError::Refused,
            TokenFault::Expired => SignInError::Expired,
        })?;
        let grant = state.by_number.get(&number).map(|known| Arc::clone(&known.grant));
        grant.filter(|grant| !grant.is_ended()).ok_or(SignInError::Refused)
    }
}

impl From<RandomError> for ClaimError {
    fn from(error: RandomError) -> Self {
        Self::Refused(ChangeError::Random(error))
    }
}

#[cfg(test)]
mod tests;
