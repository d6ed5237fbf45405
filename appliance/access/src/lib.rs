//! Who may do what: API clients and their secrets, tokens, people, roles, the first claim.
//!
//! Everything is held in memory and is authoritative there. A change is *prepared* here as
//! [`millrace_model::Definition`]s, made durable by the caller through the journal, and only then
//! comes back through [`Access::apply`]; so what is in force is what is on disk.
//!
//! **Invariants**: no secret is kept, only its hash; secrets are compared in constant time and
//! never printed; a revoked client never comes back; every table has a limit.

mod access;
mod change;
mod claim;
mod grant;
mod keys;
mod limiter;
mod local_token;
mod password;
mod policy;
mod secret;
mod session;
mod state;
mod token;

pub use access::{Access, SignInError, SignedIn};
pub use change::{Actor, ChangeError, ClientRights, NewClient, OwnPasswordError, PersonChange};
pub use claim::ClaimError;
pub use grant::{ClientGrant, Principal};
pub use limiter::{Limited, Limiter};
pub use local_token::LocalToken;
pub use policy::{Action, may, may_read};
pub use secret::{RandomError, Secret};
pub use session::SESSION_LIFETIME;
