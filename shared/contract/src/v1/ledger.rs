//! The ledger: received = stored + redelivered + refused + interrupted + in flight.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The ledger in total and by client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ledger {
    /// All clients together; for an API client's token its own counts.
    pub total: Counts,
    /// By client, in the order of ids, one page.
    pub clients: Vec<ClientLedger>,
    /// Pass it as `after` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One client's counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClientLedger {
    /// The client's id.
    pub id: String,
    /// Its counts.
    pub counts: Counts,
}

/// Counts of values since the appliance was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// Values that came in and were judged.
    pub received: u64,
    /// Values that are durable (superseded ones among them).
    pub stored: u64,
    /// Values that were durable already.
    pub redelivered: u64,
    /// Of the stored: replaced by a later value with the same source time.
    pub superseded: u64,
    /// Refused values in total.
    pub refused: u64,
    /// Refused values by reason; reasons without any are left out.
    pub refused_by_reason: BTreeMap<String, u64>,
    /// Values whose fate a crash cut off; the device was told nothing and still holds them.
    pub interrupted: u64,
    /// Values judged but not yet durable.
    pub in_flight: u64,
    /// Whether the counts add up.
    pub balanced: bool,
}
