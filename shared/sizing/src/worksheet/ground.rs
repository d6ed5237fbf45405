//! What the sheets of results and limits stand on, and the totals that their formulas share.

use super::cell::Range;
use super::costs::Costs;
use super::inputs::Inputs;
use crate::estimate::Estimate;
use crate::plan::Plan;
use crate::profile::{CostKey, Profile};
use millrace_model::Retention;

pub(super) struct Ground<'a> {
    pub(super) plan: &'a Plan,
    pub(super) profile: &'a Profile,
    pub(super) found: &'a Estimate,
    pub(super) inputs: &'a Inputs,
    pub(super) costs: &'a Costs,
}

impl Ground<'_> {
    /// Arrivals per second that have to be woken up for and committed.
    pub(super) fn wakes(&self) -> String {
        let (devices, pipelines) = (&self.inputs.devices, &self.inputs.pipelines);
        format!(
            "{}+{}+{}*{}",
            devices.sends.sum(),
            pipelines.separate.sum(),
            pipelines.runs.sum(),
            self.costs.or_0(CostKey::RunWakes)
        )
    }

    /// Commits per second.
    pub(super) fn commits(&self) -> String {
        // Plus nothing: MIN would skip the words of a figure that is missing.
        format!("MIN({},{}+0)", self.wakes(), self.costs.of(CostKey::CommitsPerSMax))
    }

    /// Sends of devices per second.
    pub(super) fn sends(&self) -> String {
        let (devices, pipelines) = (&self.inputs.devices, &self.inputs.pipelines);
        format!("({}+{})", devices.sends.sum(), pipelines.separate.sum())
    }

    /// Values per second that devices and OPC UA items send.
    pub(super) fn device_values(&self) -> String {
        format!("({}+{})", self.inputs.devices.values.sum(), self.inputs.opcua.per_s.sum())
    }

    /// Values per second that come in.
    pub(super) fn incoming(&self) -> String {
        format!("({}+{})", self.device_values(), self.inputs.pipelines.separate.sum())
    }

    /// Values per second that are stored.
    pub(super) fn stored(&self) -> String {
        format!("({}+{})", self.incoming(), self.inputs.pipelines.published.sum())
    }

    /// All topics.
    pub(super) fn tags(&self) -> String {
        let inputs = self.inputs;
        format!(
            "({}+{}+{})",
            inputs.devices.topics.sum(),
            inputs.opcua.counts.sum(),
            inputs.pipelines.topics.sum()
        )
    }

    /// Connections.
    pub(super) fn clients(&self) -> String {
        let (devices, subscribers) = (&self.inputs.devices, &self.inputs.subscribers);
        format!("({}+{})", devices.counts.sum(), subscribers.counts.sum())
    }

    /// Per second: commits, stored values and runs by what each takes.
    pub(super) fn rate(&self, keys: [CostKey; 3]) -> String {
        let [commit, value, run] = keys.map(|key| self.costs.of(key));
        let runs = self.inputs.pipelines.runs.sum();
        format!("{}*{commit}+{}*{value}+IF({runs}>0,{runs}*{run},0)", self.commits(), self.stored())
    }

    /// Values and bytes per second of a retention class; an error where a part was not measured.
    pub(super) fn class(&self, class: Retention) -> (String, String) {
        let (devices, pipelines) = (&self.inputs.devices, &self.inputs.pipelines);
        let name = class.name();
        let of = |column: &Range, classes: &Range| column.sum_if(classes, name);
        let number = self.costs.of(CostKey::StoredNumberBytes);
        let opcua = match class == Retention::default() {
            true => self.inputs.opcua.per_s.sum(),
            false => "0".to_owned(),
        };
        let derived = format!(
            "({}+{}+{opcua})",
            of(&pipelines.separate, &pipelines.retention),
            of(&pipelines.published, &pipelines.retention),
        );
        let values = format!("{}+{derived}", of(&devices.values, &devices.retention));
        let bytes = format!(
            "IF({}>0,NA(),{}+{derived}*{number})",
            devices.history.unmeasured_if(&devices.retention, name),
            of(&devices.history, &devices.retention),
        );
        (values, bytes)
    }
}
