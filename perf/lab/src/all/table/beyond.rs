//! What the reference says that it does not cover.

use crate::all::class::{Class, Group, Reading, Run, higher, lower, neither, run};

const PAIRS: &str = "Pairs of rows in turns, the plain case and this one: what differs is this one \
    thing. All values of 40 topics are read back.";
const READINGS: &[Reading] = &[
    lower("CPU to the plain case", "x", "/ratio"),
    lower("CPU per value", "us", "/cpu_us_per_value"),
    lower("publish to stored p99", "ms", "/p99_ms"),
    neither("the same in the plain case", "ms", "/p99_ms_plain"),
    neither("stored", "values/s", "/stored_per_s"),
    neither("delivered live", "1/s", "/delivered_per_s"),
    lower("dropped for slow subscribers", "", "/dropped"),
    neither("queries", "1/s", "/queries_per_s"),
    lower("last value of all topics p99", "ms", "/last_p99_ms"),
    lower("chart of a topic p99", "ms", "/range_p99_ms"),
];

/// A class that differs from the plain case in one thing.
const fn variant(
    name: &'static str,
    title: &'static str,
    smoke: Option<Run>,
    quick: Option<Run>,
    full: Run,
) -> Class {
    Class {
        name,
        group: Group::Beyond,
        title,
        how: PAIRS,
        smoke,
        quick,
        full,
        readings: READINGS,
        limited_by: Some("/limited_by"),
        lost: &["/lost", "/duplicated"],
        curve: None,
    }
}

pub(super) const CLASSES: &[Class] = &[
    variant(
        "payload-string",
        "Payloads: strings of 200 bytes",
        None,
        Some(run("variant string --seconds 1 --repeat 2", 11)),
        run("variant string --seconds 20 --repeat 5", 250),
    ),
    variant(
        "payload-object",
        "Payloads: objects of 1 KB",
        Some(run("variant object --seconds 1 --repeat 1 --rate 500 --devices 50", 5)),
        Some(run("variant object --seconds 1 --repeat 2", 11)),
        run("variant object --seconds 20 --repeat 5", 250),
    ),
    variant(
        "payload-array",
        "Payloads: arrays of 100 numbers",
        None,
        Some(run("variant array --seconds 1 --repeat 2", 11)),
        run("variant array --seconds 20 --repeat 5", 250),
    ),
    variant(
        "payload-large",
        "Payloads: strings of 64 KB",
        None,
        Some(run("variant large --seconds 1 --repeat 2", 11)),
        run("variant large --seconds 20 --repeat 5", 250),
    ),
    variant(
        "subscribers",
        "100 live subscribers on all values",
        None,
        Some(run("variant subscribers --seconds 1 --repeat 2", 11)),
        run("variant subscribers --seconds 20 --repeat 5", 250),
    ),
    variant(
        "qos-0",
        "Devices at QoS 0",
        Some(run("variant qos0 --seconds 1 --repeat 1 --rate 500 --devices 50", 5)),
        Some(run("variant qos0 --seconds 1 --repeat 2", 11)),
        run("variant qos0 --seconds 20 --repeat 5", 250),
    ),
    variant(
        "tls",
        "MQTT over TLS",
        Some(run("variant tls --seconds 1 --repeat 1 --rate 500 --devices 50", 5)),
        Some(run("variant tls --seconds 1 --repeat 2", 11)),
        run("variant tls --seconds 20 --repeat 5", 250),
    ),
    variant(
        "websocket",
        "MQTT over WebSocket",
        None,
        Some(run("variant websocket", 2)),
        run("variant websocket", 2),
    ),
    DEVICES_5000,
    STORM,
    variant(
        "reading-history",
        "Reading history under load",
        None,
        Some(run("variant reading --seconds 2 --repeat 2", 14)),
        run("variant reading --seconds 30 --repeat 5", 350),
    ),
    variant(
        "durability-interval",
        "Syncs every 100 ms instead of before each acknowledgement",
        None,
        Some(run("variant interval --seconds 1 --repeat 3", 15)),
        run("variant interval --seconds 20 --repeat 5", 250),
    ),
    variant(
        "slow-disk",
        "A disk of 100 writes a second",
        None,
        Some(run("variant slow-disk --seconds 2 --repeat 2", 16)),
        run("variant slow-disk --seconds 30 --repeat 5", 370),
    ),
    SOAK,
    variant(
        "history-minimal",
        "Run history: minimal instead of standard",
        None,
        Some(run("variant history-minimal --seconds 2 --repeat 2", 15)),
        run("variant history-minimal --seconds 20 --repeat 5", 260),
    ),
    variant(
        "history-full",
        "Run history: full instead of standard",
        None,
        Some(run("variant history-full --seconds 2 --repeat 2", 15)),
        run("variant history-full --seconds 20 --repeat 5", 260),
    ),
    PRIORITY,
    UNWANTED,
];

const DEVICES_5000: Class = Class {
    name: "devices-5000",
    group: Group::Beyond,
    title: "5,000 devices",
    how: "5,000 devices x 2 tags at 20,000 values/s together: sign-in, first contact, cost and \
        latency; 40 topics are read back.",
    smoke: None,
    quick: Some(run(
        "ingest --devices 5000 --tags 2 --rate 20000 --seconds 3 --repeat 1 --without-floor",
        16,
    )),
    full: run(
        "ingest --devices 5000 --tags 2 --rate 20000 --seconds 60 --repeat 3 --without-floor",
        240,
    ),
    readings: &[
        lower("CPU per value", "us", "/rows/*/appliance/cpu_us_per_value"),
        lower("publish to stored p99", "ms", "/rows/*/appliance/report/verdict/p99_ms"),
        lower("sign-in of all, 100 at a time", "ms", "/rows/*/appliance/report/connect_ms"),
        lower("memory", "MB", "/rss_peak_mb"),
    ],
    limited_by: Some("/limited_by"),
    lost: &["/lost", "/duplicated"],
    curve: None,
};

const STORM: Class = Class {
    name: "storm",
    group: Group::Beyond,
    title: "Connection storm",
    how: "All devices connect and sign in at the same moment, send a value each and go; again and \
        again, while other devices keep sending. What counts is the time until the last one is \
        signed in, the CPU of a sign-in, and the other devices' latency meanwhile.",
    smoke: None,
    quick: Some(run("storm --devices 1000 --repeat 3", 12)),
    full: run("storm --devices 5000 --repeat 10", 120),
    readings: &[
        lower("all signed in after", "ms", "/all_ms"),
        lower("sign-in p99", "ms", "/sign_in_p99_ms"),
        lower("CPU per sign-in", "us", "/cpu_us_per_sign_in"),
        lower("other devices' p99 meanwhile", "ms", "/beside_p99_ms"),
    ],
    limited_by: None,
    lost: &["/lost", "/duplicated"],
    curve: None,
};

const SOAK: Class = Class {
    name: "soak",
    group: Group::Beyond,
    title: "Soak at half of the guaranteed rate",
    how: "One long row at half of the guaranteed rate: an hour in the full profile, 20 seconds in \
        the quick one. What counts is the slope of memory over its second half.",
    smoke: None,
    quick: Some(run("ingest --rate {guaranteed*0.5} --seconds 30 --repeat 1 --without-floor", 45)),
    full: run("ingest --rate {guaranteed*0.5} --seconds 3600 --repeat 1 --without-floor", 3_650),
    readings: &[
        neither("growth of memory", "MB/min", "/rss_growth_mb_per_min"),
        lower("memory", "MB", "/rss_peak_mb"),
        lower("publish to stored p99", "ms", "/rows/*/appliance/report/verdict/p99_ms"),
        lower("CPU per value", "us", "/rows/*/appliance/cpu_us_per_value"),
        neither("data folder", "MB", "/data_folder_mb"),
    ],
    limited_by: Some("/limited_by"),
    lost: &["/lost", "/duplicated"],
    curve: None,
};

const PRIORITY: Class = Class {
    name: "priority",
    group: Group::Beyond,
    title: "High, normal and low priority, overloaded",
    how: "Equal script pipelines of each priority get more runs than the machine can execute. What \
        counts is how long the runs of each lane take, and that the lower lanes still get their \
        share; every derived value is read back once the load has ended.",
    smoke: None,
    quick: Some(run("priority --seconds 4", 15)),
    full: run("priority --seconds 60", 190),
    readings: &[
        lower("high: end to end p99", "ms", "/high/p99_ms"),
        neither("normal: end to end p99", "ms", "/normal/p99_ms"),
        neither("low: end to end p99", "ms", "/low/p99_ms"),
        higher("runs during the load, low by high", "x", "/low_to_high_runs"),
    ],
    limited_by: Some("/limited_by"),
    lost: &["/lost", "/duplicated"],
    curve: None,
};

const UNWANTED: Class = Class {
    name: "unwanted-triggers",
    group: Group::Beyond,
    title: "2,000 triggers that want none of the values",
    how: "Two appliances on one core, one with and one without the triggers, take the same load in \
        turns and change parts half way.",
    smoke: None,
    quick: None,
    full: run("beside --repeat 40", 420),
    readings: &[
        lower("CPU with by without", "x", "/ratio_mean"),
        neither("CPU per value with", "us", "/cpu_us_per_value_with"),
    ],
    limited_by: None,
    lost: &[],
    curve: None,
};
