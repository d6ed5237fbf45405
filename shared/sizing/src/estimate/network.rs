//! Network: bytes per second in and out of the box.

use crate::plan::Plan;
use crate::profile::{CostKey, Profile};
use serde::{Deserialize, Serialize};

/// Network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Received; `None` = the profile has no figure.
    pub in_bytes_per_s: Option<f64>,
    /// Sent: acknowledgements and live deliveries; `None` = the profile has no figure.
    pub out_bytes_per_s: Option<f64>,
}

/// Sends of devices per second, those that start runs included.
pub(crate) fn messages_per_s(plan: &Plan) -> f64 {
    let devices = plan.devices.iter().map(|group| group.messages_per_s()).sum::<f64>();
    devices + plan.pipelines.iter().map(|group| group.separate_per_s()).sum::<f64>()
}

/// Bytes per second of text and structured values.
pub(crate) fn payload_per_s(plan: &Plan) -> f64 {
    plan.devices.iter().map(|group| group.values_per_s() * group.length()).sum()
}

pub(super) fn network(plan: &Plan, profile: &Profile) -> Network {
    let cost = |key| profile.cost(key);
    let messages = messages_per_s(plan);
    let values = plan.incoming_values_per_s();
    let in_bytes = || {
        let sends = messages * cost(CostKey::NetworkInBytes)?;
        Some(sends + values * cost(CostKey::NetworkValueBytes)? + payload_per_s(plan))
    };
    let deliveries = plan.subscribers.iter().map(|group| group.deliveries_per_s()).sum::<f64>();
    let out_bytes = || {
        let each = cost(CostKey::NetworkAckBytes)?;
        let delivered = deliveries * (each + cost(CostKey::NetworkValueBytes)?);
        Some(messages * each + delivered)
    };
    Network { in_bytes_per_s: in_bytes(), out_bytes_per_s: out_bytes() }
}
