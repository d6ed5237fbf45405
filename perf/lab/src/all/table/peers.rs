//! The same load on other programs, in turns with ours.

use crate::all::class::{Class, Group, lower, neither, run};

macro_rules! readings {
    ($load:literal) => {
        &[
            lower(
                concat!($load, ": CPU to the floor"),
                "x",
                concat!("/", $load, "/ratio_to_floor_range"),
            ),
            lower(concat!($load, ": CPU to mosquitto"), "x", concat!("/", $load, "/to/mosquitto")),
            lower(concat!($load, ": CPU to rumqttd"), "x", concat!("/", $load, "/to/rumqttd")),
            lower(
                concat!($load, ": CPU to mosquitto + PostgreSQL"),
                "x",
                concat!("/", $load, "/to/postgres"),
            ),
            lower(
                concat!($load, ": CPU per value, ours"),
                "us",
                concat!("/", $load, "/cpu_us/appliance"),
            ),
            neither(
                concat!($load, ": CPU per value, mosquitto"),
                "us",
                concat!("/", $load, "/cpu_us/mosquitto"),
            ),
            neither(
                concat!($load, ": CPU per value, rumqttd"),
                "us",
                concat!("/", $load, "/cpu_us/rumqttd"),
            ),
            neither(
                concat!($load, ": CPU per value, mosquitto + PostgreSQL"),
                "us",
                concat!("/", $load, "/cpu_us/postgres"),
            ),
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
            lower("CPU to Node-RED + mosquitto", "x", "/node_red/pass_through/ratio_range"),
            lower("CPU per run, ours", "us", "/pass_through/cpu_us_per_run"),
            neither("CPU per run, theirs", "us", "/node_red/pass_through/cpu_us_per_run"),
        ],
        limited_by: None,
        lost: &["/pass_through/lost", "/pass_through/duplicated"],
        curve: None,
    },
];
