//! The same load on other programs, in turns with ours.

use crate::all::class::{Class, Group, Reading, Run};
use crate::set::Better::{Lower, Neither};

const fn run(arguments: &'static str, seconds: u64) -> Run {
    Run { arguments, seconds }
}

macro_rules! readings {
    ($load:literal) => {
        &[
            Reading {
                name: concat!($load, ": CPU to the floor"),
                unit: "x",
                better: Lower,
                at: concat!("/", $load, "/ratio_to_floor_range"),
            },
            Reading {
                name: concat!($load, ": CPU to mosquitto"),
                unit: "x",
                better: Lower,
                at: concat!("/", $load, "/to/mosquitto"),
            },
            Reading {
                name: concat!($load, ": CPU to rumqttd"),
                unit: "x",
                better: Lower,
                at: concat!("/", $load, "/to/rumqttd"),
            },
            Reading {
                name: concat!($load, ": CPU to mosquitto + PostgreSQL"),
                unit: "x",
                better: Lower,
                at: concat!("/", $load, "/to/postgres"),
            },
            Reading {
                name: concat!($load, ": CPU per value, ours"),
                unit: "us",
                better: Lower,
                at: concat!("/", $load, "/cpu_us/appliance"),
            },
            Reading {
                name: concat!($load, ": CPU per value, mosquitto"),
                unit: "us",
                better: Neither,
                at: concat!("/", $load, "/cpu_us/mosquitto"),
            },
            Reading {
                name: concat!($load, ": CPU per value, rumqttd"),
                unit: "us",
                better: Neither,
                at: concat!("/", $load, "/cpu_us/rumqttd"),
            },
            Reading {
                name: concat!($load, ": CPU per value, mosquitto + PostgreSQL"),
                unit: "us",
                better: Neither,
                at: concat!("/", $load, "/cpu_us/postgres"),
            },
        ]
    };
}

const PEERS: &str = "The same packets on the same core, the servers one after another in each \
    repetition, ratios within a repetition. mosquitto and rumqttd acknowledge without storing and \
    let everyone in. `mosquitto + PostgreSQL` is what plants build by hand: a broker, and a program \
    that writes each value as a row of a table with COPY, a transaction for each batch, committed \
    with a sync; the broker acknowledges before that.";

macro_rules! peer_class {
    ($name:literal, $load:literal, $title:literal, $quick:expr, $full:expr) => {
        Class {
            name: $name,
            group: Group::Peers,
            title: $title,
            how: PEERS,
            smoke: None,
            quick: $quick,
            full: $full,
            readings: readings!($load),
            limited_by: None,
            lost: &[],
            curve: None,
        }
    };
}

pub(super) const CLASSES: &[Class] = &[
    peer_class!(
        "peers-plant",
        "plant",
        "Other programs: 1,000 devices, 20,000 values/s",
        Some(run("peers --loads plant --repeat 5 --seconds 1", 85)),
        run("peers --loads plant --repeat 7 --seconds 10", 480)
    ),
    peer_class!(
        "peers-quiet",
        "quiet",
        "Other programs: 1,000 devices, 5,000 values/s",
        None,
        run("peers --loads quiet --repeat 7 --seconds 10", 480)
    ),
    peer_class!(
        "peers-hundred",
        "hundred",
        "Other programs: 100 devices, 20,000 values/s",
        None,
        run("peers --loads hundred --repeat 7 --seconds 10", 480)
    ),
    peer_class!(
        "peers-bunched",
        "bunched",
        "Other programs: 50 devices as fast as their windows let them",
        None,
        run("peers --loads bunched --repeat 7", 200)
    ),
    Class {
        name: super::NODE_RED,
        group: Group::Peers,
        title: "Node-RED and mosquitto: the pass-through pipeline",
        how: "The pass-through class at 2,000 runs/s, and the same flow through mosquitto and \
            Node-RED, which stores nothing, in the same call.",
        smoke: None,
        quick: Some(run("pipelines --class pass-through --rate 2000 --repeat 5 --seconds 1", 40)),
        full: run("pipelines --class pass-through --rate 2000 --repeat 5 --seconds 20", 240),
        readings: &[
            Reading {
                name: "CPU to Node-RED + mosquitto",
                unit: "x",
                better: Lower,
                at: "/node_red/pass_through/ratio_range",
            },
            Reading {
                name: "CPU per run, ours",
                unit: "us",
                better: Lower,
                at: "/pass_through/cpu_us_per_run",
            },
            Reading {
                name: "CPU per run, theirs",
                unit: "us",
                better: Neither,
                at: "/node_red/pass_through/cpu_us_per_run",
            },
        ],
        limited_by: None,
        lost: &["/pass_through/lost", "/pass_through/duplicated"],
        curve: None,
    },
];
