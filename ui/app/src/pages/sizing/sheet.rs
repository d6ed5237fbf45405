//! The plan as it is edited: its groups with numbers of their own, so that a field stays at its group
//! when another one goes.
//!
//! **Invariants**
//! - `Sheet::of(plan).plan()` is the plan.
//! - A number is never given to two groups.

use millrace_sizing::plan::{
    DeviceGroup, Machine, OpcUaGroup, PipelineGroup, Plan, RouteGroup, SubscriberGroup,
};
use std::collections::BTreeMap;

/// A group with its number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row<T> {
    /// Its number on this page.
    pub(super) id: u64,
    /// The group.
    pub(super) group: T,
}

/// The plan as it is edited.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sheet {
    next: u64,
    pub(super) name: String,
    pub(super) devices: Vec<Row<DeviceGroup>>,
    pub(super) pipelines: Vec<Row<PipelineGroup>>,
    pub(super) subscribers: Vec<Row<SubscriberGroup>>,
    pub(super) opcua: Vec<Row<OpcUaGroup>>,
    pub(super) routes: Vec<Row<RouteGroup>>,
    pub(super) machine: Option<Machine>,
    pub(super) settings: BTreeMap<String, f64>,
}

impl Sheet {
    /// A plan to edit.
    pub(super) fn of(plan: Plan) -> Self {
        let mut sheet = Self {
            next: 0,
            name: String::new(),
            devices: Vec::new(),
            pipelines: Vec::new(),
            subscribers: Vec::new(),
            opcua: Vec::new(),
            routes: Vec::new(),
            machine: None,
            settings: BTreeMap::new(),
        };
        sheet.replace(plan);
        sheet
    }

    /// Another plan in the place of this one; its groups get numbers that none had before.
    pub(super) fn replace(&mut self, plan: Plan) {
        self.name = plan.name;
        self.devices = numbered(&mut self.next, plan.devices);
        self.pipelines = numbered(&mut self.next, plan.pipelines);
        self.subscribers = numbered(&mut self.next, plan.subscribers);
        self.opcua = numbered(&mut self.next, plan.opcua);
        self.routes = numbered(&mut self.next, plan.routes);
        self.machine = plan.machine;
        self.settings = plan.settings;
    }

    /// The plan.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            devices: groups(&self.devices),
            pipelines: groups(&self.pipelines),
            subscribers: groups(&self.subscribers),
            opcua: groups(&self.opcua),
            routes: groups(&self.routes),
            machine: self.machine.clone(),
            settings: self.settings.clone(),
            ..Plan::empty(&self.name)
        }
    }

    /// A number that no group has had.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

fn numbered<T>(next: &mut u64, all: Vec<T>) -> Vec<Row<T>> {
    let mut row = |group| {
        *next += 1;
        Row { id: *next, group }
    };
    all.into_iter().map(&mut row).collect()
}

fn groups<T: Clone>(rows: &[Row<T>]) -> Vec<T> {
    rows.iter().map(|row| row.group.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_plan_back() {
        let mut plan = Plan::example();
        plan.settings.insert("broker.clients_max".to_owned(), 9000.0);
        assert_eq!(Sheet::of(plan.clone()).plan(), plan);
    }

    #[test]
    fn never_gives_a_number_twice() {
        let mut sheet = Sheet::of(Plan::example());
        let before: Vec<u64> = sheet.pipelines.iter().map(|row| row.id).collect();
        sheet.replace(Plan::example());
        let next = sheet.number();
        let after = sheet.devices.iter().map(|row| row.id);
        for id in after.chain(sheet.pipelines.iter().map(|row| row.id)) {
            assert!(!before.contains(&id) && id != next, "{id} was given before");
        }
    }
}
