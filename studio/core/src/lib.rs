//! The studio without a window: everything that the desktop program does for its pages.
//!
//! A page asks by [`Call`], gets an [`Answer`] or a [`Fault`], and fetches [`Event`]s; that closed
//! list is the only way from a page to the network, the disk and the keyring. [`Studio`] executes
//! it. The shell adds windows, menus and the system's keyring and decides nothing.
//!
//! **Invariants**: no secret is in an answer, event, file or log; no appliance is spoken to but
//! under the certificate that was pinned for it; whatever kills the program, its files stay whole;
//! every queue, answer and list is bounded.
#![deny(missing_docs)]

mod address;
mod call;
mod clock;
mod connection;
mod discovery;
mod event;
mod fault;
mod file;
mod http;
pub mod limits;
mod live;
mod profile;
mod project;
mod studio;
mod trust;
mod vault;

pub use address::Address;
pub use call::{Answer, ApiAnswer, Call, FileText, Greeting};
pub use clock::{Clock, SystemClock};
pub use connection::{ClockDifference, ConnectionState};
pub use discovery::{Announcement, Browser, Found, LocalNetwork, SERVICE};
pub use event::{Event, Notice};
pub use fault::{Fault, FaultCode};
pub use profile::{Profile, ProfileId};
pub use project::{Comparison, Draft, Entry, KeptSample, Known, Reading, Relation, Topic};
pub use studio::{Folders, Studio, StudioParts};
pub use trust::{Fingerprint, Pin};
pub use vault::{MemoryVault, Secret, Vault, VaultError};
