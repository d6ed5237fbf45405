//! What each kind of group has to say: its fields in order, with how they are read and set.
//!
//! **Invariants**
//! - The name of an entry is the field's name in the plan, so that a fault of the plan finds it.

use super::sheet::{Row, Sheet};
use crate::words::{Message, sizing};
use millrace_model::Retention;
use millrace_sizing::estimate::CpuPart;
use millrace_sizing::plan::{
    Detail, DeviceGroup, Machine, OpcUaGroup, Payload, PipelineGroup, Plan, Priority, RouteGroup,
    SubscriberGroup, Trigger,
};

/// One field.
pub(super) enum Entry<T: 'static> {
    /// A name.
    Text {
        /// In the plan.
        field: &'static str,
        /// For the person.
        label: Message,
        /// Reads it.
        get: fn(&T) -> &str,
        /// Sets it.
        set: fn(&mut T, String),
    },
    /// A number.
    Number {
        /// In the plan.
        field: &'static str,
        /// For the person.
        label: Message,
        /// Behind the input.
        unit: &'static str,
        /// Whether it may be left empty.
        optional: bool,
        /// Whether there is anything to say.
        when: fn(&T) -> bool,
        /// Reads it.
        get: fn(&T) -> Option<f64>,
        /// Sets it; `None` = the field is empty.
        set: fn(&mut T, Option<f64>),
    },
    /// One of a few.
    Choice {
        /// For the person.
        label: Message,
        /// All of them.
        choices: fn() -> Vec<(&'static str, Message)>,
        /// Reads it.
        get: fn(&T) -> &'static str,
        /// Sets it.
        set: fn(&mut T, &str),
    },
    /// Yes or no.
    Switch {
        /// For the person.
        label: Message,
        /// Reads it.
        get: fn(&T) -> bool,
        /// Sets it.
        set: fn(&mut T, bool),
    },
}

/// A part of the plan with fields.
pub(super) trait Part: Clone + Send + Sync + 'static {
    /// Its fields.
    const ENTRIES: &'static [Entry<Self>];
    /// Where it is.
    fn find(sheet: &Sheet, id: u64) -> Option<&Self>;
    /// Where it is, to be changed.
    fn find_mut(sheet: &mut Sheet, id: u64) -> Option<&mut Self>;
    /// Its path in the plan: `devices[2]`.
    fn path(sheet: &Sheet, id: u64) -> Option<String>;
}

/// A kind of group.
pub(super) trait Group: Part {
    /// What its rows of the estimate are.
    const PART: CpuPart;
    /// The kind.
    const TITLE: Message;
    /// "Add devices".
    const ADD: Message;
    /// All of the kind.
    fn rows(sheet: &Sheet) -> &Vec<Row<Self>>;
    /// All of the kind, to be changed.
    fn rows_mut(sheet: &mut Sheet) -> &mut Vec<Row<Self>>;
    /// One more, with figures to begin with.
    fn fresh() -> Self;
    /// Its name.
    fn name(&self) -> &str;
}

/// A number that has to be there.
macro_rules! number {
    ($field:ident, $label:expr, $unit:literal) => {
        Entry::Number {
            field: stringify!($field),
            label: $label,
            unit: $unit,
            optional: false,
            when: |_| true,
            get: |part| Some(part.$field),
            set: |part, number| part.$field = number.unwrap_or(f64::NAN),
        }
    };
}

macro_rules! text {
    ($field:ident, $label:expr) => {
        Entry::Text {
            field: stringify!($field),
            label: $label,
            get: |part| &part.$field,
            set: |part, text| part.$field = text,
        }
    };
}

/// One of a table's choices.
macro_rules! choice {
    ($field:ident, $label:expr, $table:ident) => {
        Entry::Choice {
            label: $label,
            choices: || $table.iter().map(|(_, key, text)| (*key, *text)).collect(),
            get: |part| key_of($table, part.$field),
            set: |part, key| {
                if let Some(value) = value_of($table, key) {
                    part.$field = value;
                }
            },
        }
    };
}

type Table<T> = &'static [(T, &'static str, Message)];

fn key_of<T: Copy + PartialEq>(table: Table<T>, value: T) -> &'static str {
    table.iter().find(|(own, _, _)| *own == value).map_or("", |(_, key, _)| *key)
}

fn value_of<T: Copy>(table: Table<T>, key: &str) -> Option<T> {
    table.iter().find(|(_, own, _)| *own == key).map(|(value, _, _)| *value)
}

const PAYLOADS: Table<Payload> = &[
    (Payload::Number, "number", sizing::PAYLOAD_NUMBER),
    (Payload::Bool, "bool", sizing::PAYLOAD_BOOL),
    (Payload::Text, "text", sizing::PAYLOAD_TEXT),
    (Payload::Structured, "structured", sizing::PAYLOAD_STRUCTURED),
];
const RETENTIONS: Table<Retention> = &[
    (Retention::Days1, "1d", sizing::DAYS_1),
    (Retention::Days7, "7d", sizing::DAYS_7),
    (Retention::Days14, "14d", sizing::DAYS_14),
    (Retention::Days32, "32d", sizing::DAYS_32),
    (Retention::Keep, "keep", sizing::KEEP),
];
const TRIGGERS: Table<Trigger> = &[
    (Trigger::Separate, "separate", sizing::TRIGGER_SEPARATE),
    (Trigger::Device, "device", sizing::TRIGGER_DEVICE),
    (Trigger::Timer, "timer", sizing::TRIGGER_TIMER),
];
const DETAILS: Table<Detail> = &[
    (Detail::Minimal, "minimal", sizing::DETAIL_MINIMAL),
    (Detail::Standard, "standard", sizing::DETAIL_STANDARD),
    (Detail::Full, "full", sizing::DETAIL_FULL),
];
const PRIORITIES: Table<Priority> = &[
    (Priority::High, "high", sizing::LANE_HIGH),
    (Priority::Normal, "normal", sizing::LANE_NORMAL),
    (Priority::Low, "low", sizing::LANE_LOW),
];

/// Where a kind of group is found.
macro_rules! kind {
    ($group:ty, $field:ident, $part:expr, $title:expr, $add:expr, $fresh:expr, $entries:expr) => {
        impl Part for $group {
            const ENTRIES: &'static [Entry<Self>] = $entries;
            fn find(sheet: &Sheet, id: u64) -> Option<&Self> {
                sheet.$field.iter().find(|row| row.id == id).map(|row| &row.group)
            }
            fn find_mut(sheet: &mut Sheet, id: u64) -> Option<&mut Self> {
                sheet.$field.iter_mut().find(|row| row.id == id).map(|row| &mut row.group)
            }
            fn path(sheet: &Sheet, id: u64) -> Option<String> {
                let at = sheet.$field.iter().position(|row| row.id == id)?;
                Some(format!("{}[{at}]", stringify!($field)))
            }
        }
        impl Group for $group {
            const PART: CpuPart = $part;
            const TITLE: Message = $title;
            const ADD: Message = $add;
            fn rows(sheet: &Sheet) -> &Vec<Row<Self>> {
                &sheet.$field
            }
            fn rows_mut(sheet: &mut Sheet) -> &mut Vec<Row<Self>> {
                &mut sheet.$field
            }
            fn fresh() -> Self {
                $fresh
            }
            fn name(&self) -> &str {
                &self.name
            }
        }
    };
}

kind!(
    DeviceGroup,
    devices,
    CpuPart::Devices,
    sizing::DEVICES,
    sizing::ADD_DEVICES,
    DeviceGroup {
        name: "Devices".to_owned(),
        count: 100.0,
        tags: 10.0,
        interval_ms: 1000.0,
        at_once: 1.0,
        payload: Payload::Number,
        payload_bytes: None,
        retention: Retention::Days1,
    },
    &[
        text!(name, sizing::NAME),
        number!(count, sizing::COUNT, ""),
        number!(tags, sizing::TAGS_EACH, ""),
        number!(interval_ms, sizing::INTERVAL, "ms"),
        number!(at_once, sizing::AT_ONCE, ""),
        Entry::Choice {
            label: sizing::PAYLOAD,
            choices: || PAYLOADS.iter().map(|(_, key, text)| (*key, *text)).collect(),
            get: |part| key_of(PAYLOADS, part.payload),
            set: |part, key| {
                part.payload = value_of(PAYLOADS, key).unwrap_or_default();
                // Only what has a length may have one.
                part.payload_bytes = match part.payload.has_length() {
                    true => Some(part.payload_bytes.unwrap_or(100.0)),
                    false => None,
                };
            },
        },
        Entry::Number {
            field: "payload_bytes",
            label: sizing::PAYLOAD_BYTES,
            unit: "B",
            optional: false,
            when: |part| part.payload.has_length(),
            get: |part| part.payload_bytes,
            set: |part, number| part.payload_bytes = Some(number.unwrap_or(f64::NAN)),
        },
        choice!(retention, sizing::RETENTION, RETENTIONS),
    ]
);

kind!(
    PipelineGroup,
    pipelines,
    CpuPart::Pipelines,
    sizing::PIPELINES,
    sizing::ADD_PIPELINES,
    PipelineGroup {
        name: "Pipelines".to_owned(),
        count: 10.0,
        runs_per_s: 1.0,
        script_ms: 0.0,
        waiting_ms: 0.0,
        in_order: false,
        trigger: Trigger::Device,
        publishes: 1.0,
        history: Detail::Standard,
        priority: Priority::Normal,
        retention: Retention::Days1,
    },
    &[
        text!(name, sizing::NAME),
        number!(count, sizing::COUNT, ""),
        number!(runs_per_s, sizing::RUNS_EACH, "1/s"),
        number!(script_ms, sizing::SCRIPT, "ms"),
        number!(waiting_ms, sizing::WAITING, "ms"),
        number!(publishes, sizing::PUBLISHES, ""),
        choice!(trigger, sizing::TRIGGER, TRIGGERS),
        choice!(history, sizing::DETAIL, DETAILS),
        choice!(priority, sizing::LANE, PRIORITIES),
        choice!(retention, sizing::RETENTION, RETENTIONS),
        Entry::Switch {
            label: sizing::IN_ORDER,
            get: |part| part.in_order,
            set: |part, on| part.in_order = on,
        },
    ]
);

kind!(
    SubscriberGroup,
    subscribers,
    CpuPart::Subscribers,
    sizing::SUBSCRIBERS,
    sizing::ADD_SUBSCRIBERS,
    SubscriberGroup { name: "Live pages".to_owned(), count: 1.0, values_per_s: 100.0 },
    &[
        text!(name, sizing::NAME),
        number!(count, sizing::COUNT, ""),
        number!(values_per_s, sizing::VALUES_EACH, "1/s"),
    ]
);

kind!(
    OpcUaGroup,
    opcua,
    CpuPart::OpcUa,
    sizing::OPCUA,
    sizing::ADD_OPCUA,
    OpcUaGroup { name: "OPC UA".to_owned(), items: 1000.0, interval_ms: 1000.0 },
    &[
        text!(name, sizing::NAME),
        number!(items, sizing::ITEMS, ""),
        number!(interval_ms, sizing::UPDATE_INTERVAL, "ms"),
    ]
);

kind!(
    RouteGroup,
    routes,
    CpuPart::Routes,
    sizing::ROUTES,
    sizing::ADD_ROUTES,
    RouteGroup { name: "Cloud".to_owned(), count: 1.0, values_per_s: 100.0 },
    &[
        text!(name, sizing::NAME),
        number!(count, sizing::COUNT, ""),
        number!(values_per_s, sizing::VALUES_EACH, "1/s"),
    ]
);

impl Part for Machine {
    const ENTRIES: &'static [Entry<Self>] = &[
        text!(name, sizing::NAME),
        number!(cores, sizing::CORES, ""),
        number!(memory_gb, sizing::MEMORY, "GB"),
        number!(disk_gb, sizing::DISK, "GB"),
        Entry::Number {
            field: "iops",
            label: sizing::IOPS,
            unit: "1/s",
            optional: true,
            when: |_| true,
            get: |part| part.iops,
            set: |part, number| part.iops = number,
        },
        Entry::Switch {
            label: sizing::HYPER_THREADS,
            get: |part| part.hyper_threads,
            set: |part, on| part.hyper_threads = on,
        },
    ];
    fn find(sheet: &Sheet, _id: u64) -> Option<&Self> {
        sheet.machine.as_ref()
    }
    fn find_mut(sheet: &mut Sheet, _id: u64) -> Option<&mut Self> {
        sheet.machine.as_mut()
    }
    fn path(_sheet: &Sheet, _id: u64) -> Option<String> {
        Some("machine".to_owned())
    }
}

/// A machine to begin with.
pub(super) fn machine() -> Machine {
    Plan::example().machine.unwrap_or(Machine {
        name: "4 vCPU".to_owned(),
        cores: 2.0,
        hyper_threads: true,
        memory_gb: 8.0,
        disk_gb: 100.0,
        iops: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<T: Part>() -> Vec<&'static str> {
        let field = |entry: &'static Entry<T>| match entry {
            Entry::Text { field, .. } | Entry::Number { field, .. } => Some(*field),
            Entry::Choice { .. } | Entry::Switch { .. } => None,
        };
        T::ENTRIES.iter().filter_map(field).collect()
    }

    fn names<T: serde::Serialize>(value: &T) -> Vec<String> {
        let value = serde_json::to_value(value).expect("a document");
        value.as_object().expect("an object").keys().cloned().collect()
    }

    #[test]
    fn every_field_is_one_of_the_plan() {
        let mut devices = DeviceGroup::fresh();
        devices.payload_bytes = Some(1.0);
        let known = names(&devices);
        assert!(fields::<DeviceGroup>().iter().all(|field| known.iter().any(|own| own == field)));
        let known = names(&PipelineGroup::fresh());
        assert!(fields::<PipelineGroup>().iter().all(|field| known.iter().any(|own| own == field)));
        let known = names(&machine());
        assert!(fields::<Machine>().iter().all(|field| known.iter().any(|own| own == field)));
    }

    #[test]
    fn what_is_added_can_be_computed_with() {
        let mut sheet = Sheet::of(Plan::empty("p"));
        sheet.devices = vec![Row { id: 1, group: DeviceGroup::fresh() }];
        sheet.pipelines = vec![Row { id: 2, group: PipelineGroup::fresh() }];
        sheet.subscribers = vec![Row { id: 3, group: SubscriberGroup::fresh() }];
        sheet.opcua = vec![Row { id: 4, group: OpcUaGroup::fresh() }];
        sheet.routes = vec![Row { id: 5, group: RouteGroup::fresh() }];
        sheet.machine = Some(machine());
        assert_eq!(sheet.plan().check(), Vec::new());
    }

    #[test]
    fn a_number_has_no_length() {
        let mut group = DeviceGroup::fresh();
        let payload = DeviceGroup::ENTRIES.iter().find_map(|entry| match entry {
            Entry::Choice { label, set, .. } if *label == sizing::PAYLOAD => Some(*set),
            _ => None,
        });
        let set = payload.expect("an entry");
        set(&mut group, "text");
        assert_eq!(group.payload_bytes, Some(100.0));
        set(&mut group, "number");
        assert_eq!(group.payload_bytes, None);
    }

    #[test]
    fn every_choice_is_named_as_the_plan_names_it() {
        for (value, key, _) in PAYLOADS {
            assert_eq!(serde_json::to_value(value).expect("a word"), *key);
        }
        for (value, key, _) in RETENTIONS {
            assert_eq!(serde_json::to_value(value).expect("a word"), *key);
        }
        for (value, key, _) in TRIGGERS {
            assert_eq!(serde_json::to_value(value).expect("a word"), *key);
        }
    }
}
