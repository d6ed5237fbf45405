//! The ledger as the body of a journal record.
//!
//! JSON: `{"through": seq, "clients": [{"client": 3, "received": 10, ...}]}`, see
//! docs/formats/journal.md. A client's reasons are a list in the order of their codes; a record
//! of an older version has fewer of them.
//!
//! **Invariants**: a record with more reasons than this version knows is refused, not cut; one
//! whose numbers cannot be is refused whole.

use millrace_model::{ClientNumber, LedgerCounts, Reason};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a ledger record cannot be taken.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// Not the JSON of a ledger.
    #[error("a ledger record is damaged")]
    Damaged(#[source] serde_json::Error),
    /// Written by a version with more reasons.
    #[error("a ledger record counts {found} reasons, this version knows {known}")]
    UnknownReasons {
        /// How many the record has.
        found: usize,
        /// How many there are here.
        known: usize,
    },
    /// Numbers that no ledger can come to.
    #[error("a ledger record does not add up")]
    Unbalanced,
}

/// Far above what a box can receive, far below where sums would overflow.
const COUNT_MAX: u64 = 1 << 62;

#[derive(Debug)]
pub(super) struct Saved {
    pub(super) through: u64,
    pub(super) clients: Vec<SavedClient>,
}

#[derive(Debug)]
pub(super) struct SavedClient {
    pub(super) client: ClientNumber,
    pub(super) counts: LedgerCounts,
}

/// The written form; the list of reasons may grow from version to version.
#[derive(Serialize, Deserialize)]
struct Written {
    through: u64,
    clients: Vec<WrittenClient>,
}

#[derive(Serialize, Deserialize)]
struct WrittenClient {
    client: ClientNumber,
    received: u64,
    stored: u64,
    redelivered: u64,
    superseded: u64,
    interrupted: u64,
    refused: Vec<u64>,
}

impl Saved {
    pub(super) fn encode(self) -> Vec<u8> {
        let clients =
            self.clients.into_iter().map(|SavedClient { client, counts }| WrittenClient {
                client,
                received: counts.received,
                stored: counts.stored,
                redelivered: counts.redelivered,
                superseded: counts.superseded,
                interrupted: counts.interrupted,
                refused: counts.refused.to_vec(),
            });
        let written = Written { through: self.through, clients: clients.collect() };
        serde_json::to_vec(&written).expect("numbers and lists of numbers always serialize")
    }

    pub(super) fn decode(json: &[u8]) -> Result<Self, RestoreError> {
        let written: Written = serde_json::from_slice(json).map_err(RestoreError::Damaged)?;
        let mut clients = Vec::with_capacity(written.clients.len());
        let mut received_total: u64 = 0;
        for client in written.clients {
            let found = client.refused.len();
            if found > Reason::COUNT {
                return Err(RestoreError::UnknownReasons { found, known: Reason::COUNT });
            }
            let decided = [client.stored, client.redelivered, client.interrupted]
                .into_iter()
                .chain(client.refused.iter().copied())
                .try_fold(0_u64, u64::checked_add);
            received_total = received_total.saturating_add(client.received);
            if decided.is_none_or(|decided| decided > client.received)
                || client.superseded > client.received
                || received_total > COUNT_MAX
            {
                return Err(RestoreError::Unbalanced);
            }
            let mut refused = [0; Reason::COUNT];
            for (count, written) in refused.iter_mut().zip(client.refused) {
                *count = written;
            }
            let counts = LedgerCounts {
                received: client.received,
                stored: client.stored,
                redelivered: client.redelivered,
                superseded: client.superseded,
                refused,
                interrupted: client.interrupted,
            };
            clients.push(SavedClient { client: client.client, counts });
        }
        Ok(Self { through: written.through, clients })
    }
}
