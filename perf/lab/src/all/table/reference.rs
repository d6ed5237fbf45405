//! The reference's own classes, by its own method.

use crate::all::class::{Class, CurveReading, Group, higher, lower, neither, run};

const CLIMB: &str = "20 pipelines fed by 100 devices x 4 tags, each on the tags of 5 devices; a \
    run stores the device's value and a derived one. Rates climb by 40 % a step until a capacity \
    rule breaks (95 % executed, at most 0.1 % failed, queue wait and end to end below 1 s at p99, \
    CPU below 90 %, load generator below 85 %); a step that fails is run once more before it \
    counts, and the rate is then refined between the last step that passed and the first that did \
    not. 40 derived topics are read back value by value.";
const MIXED: &str = "The same pipelines, while 200 other devices store 65 % of the guaranteed rate \
    on topics that no pipeline wants; both sides are read back value by value.";
const FLEET: &str = "Each pipeline on a tag of its own, each run once a second. What the fleet adds \
    to the disk's work is the difference to the same devices without pipelines in the same call.";

/// Readings and curve of a pipeline class with its key.
macro_rules! pipeline_class {
    ($name:literal, $key:literal, $title:literal, $how:expr, $smoke:expr, $quick:expr, $full:expr) => {
        Class {
            name: $name,
            group: Group::Reference,
            title: $title,
            how: $how,
            smoke: $smoke,
            quick: $quick,
            full: $full,
            readings: &[
                higher("most without a rule broken", "runs/s", concat!("/", $key, "/runs_per_s")),
                lower("CPU per run", "us", concat!("/", $key, "/cpu_us_per_run")),
                lower(
                    "CPU by that of the scripts",
                    "x",
                    concat!("/", $key, "/cpu_to_script_ratio"),
                ),
                neither("end to end p99", "ms", concat!("/", $key, "/p99_ms")),
                neither("CPU", "cores", concat!("/", $key, "/cpu_share")),
                neither("devices beside", "values/s", concat!("/", $key, "/beside_per_s")),
            ],
            limited_by: Some(concat!("/", $key, "/limited_by")),
            lost: &[
                concat!("/", $key, "/lost"),
                concat!("/", $key, "/duplicated"),
                concat!("/", $key, "/beside_lost"),
            ],
            curve: Some(CurveReading {
                x: ("runs/s", concat!("/", $key, "/rows/*/offered_per_s")),
                y: &[
                    ("end to end p99, ms", concat!("/", $key, "/rows/*/report/derived/p99_ms")),
                    ("CPU, cores", concat!("/", $key, "/rows/*/server_cpu_share")),
                ],
                limited_by: concat!("/", $key, "/rows/*/limited_by"),
            }),
        }
    };
}

macro_rules! fleet_class {
    ($name:literal, $title:literal, $quick:expr, $full:expr) => {
        Class {
            name: $name,
            group: Group::Reference,
            title: $title,
            how: FLEET,
            smoke: None,
            quick: $quick,
            full: $full,
            readings: &[
                neither("runs", "runs/s", "/runs_per_s"),
                lower("CPU per run", "us", "/cpu_us_per_run"),
                neither("end to end p99", "ms", "/p99_ms"),
                lower("disk writes beyond the devices'", "MB/s", "/disk_write_mb_s_beyond_devices"),
                lower("disk operations beyond the devices'", "1/s", "/disk_ops_s_beyond_devices"),
                lower("idle pipeline", "KB", "/idle_pipeline_kb"),
            ],
            limited_by: Some("/limited_by"),
            lost: &["/lost", "/duplicated"],
            curve: None,
        }
    };
}

pub(super) const CLASSES: &[Class] = &[
    INGEST,
    COST,
    pipeline_class!(
        "pipelines-pass-through",
        "pass_through",
        "Pipelines: pass-through",
        CLIMB,
        None,
        Some(run("pipelines --class pass-through --climb --rate 12000 --seconds 2", 40)),
        run("pipelines --class pass-through --climb --rate 2000 --seconds 40", 700)
    ),
    pipeline_class!(
        "pipelines-script",
        "script",
        "Pipelines: 20 ms of script",
        CLIMB,
        None,
        Some(run("pipelines --class script --climb --rate 28 --seconds 4", 65)),
        run("pipelines --class script --climb --rate 10 --seconds 40", 500)
    ),
    pipeline_class!(
        "pipelines-waits",
        "waits",
        "Pipelines: wait of 20 ms",
        CLIMB,
        None,
        Some(run("pipelines --class waits --climb --rate 10000 --seconds 2", 40)),
        run("pipelines --class waits --climb --rate 2000 --seconds 40", 700)
    ),
    pipeline_class!(
        "pipelines-in-order",
        "in_order",
        "Pipelines: pass-through, runs in order",
        CLIMB,
        None,
        Some(run("pipelines --class in-order --climb --rate 12000 --seconds 2", 40)),
        run("pipelines --class in-order --climb --rate 2000 --seconds 45", 750)
    ),
    pipeline_class!(
        "mixed-pass-through",
        "pass_through",
        "Beside ingest: pass-through",
        MIXED,
        None,
        Some(run(
            "pipelines --class pass-through --climb --rate 3000 --seconds 2 --beside {guaranteed*0.65}",
            45
        )),
        run(
            "pipelines --class pass-through --climb --rate 500 --seconds 40 --beside {guaranteed*0.65}",
            600
        )
    ),
    pipeline_class!(
        "mixed-script",
        "script",
        "Beside ingest: 20 ms of script",
        MIXED,
        None,
        Some(run(
            "pipelines --class script --climb --rate 12 --seconds 3 --beside {guaranteed*0.65}",
            60
        )),
        run(
            "pipelines --class script --climb --rate 4 --seconds 40 --beside {guaranteed*0.65}",
            500
        )
    ),
    fleet_class!(
        "fleet-1000",
        "A fleet of 1,000 pipelines",
        Some(run("fleet --pipelines 1000 --seconds 4", 22)),
        run("fleet --pipelines 1000 --seconds 90", 210)
    ),
    fleet_class!(
        "fleet-2000",
        "A fleet of 2,000 pipelines",
        Some(run("fleet --pipelines 2000 --seconds 4", 32)),
        run("fleet --pipelines 2000 --seconds 90", 230)
    ),
];

const INGEST: Class = Class {
    name: "ingest",
    group: Group::Reference,
    title: "Ingest: guaranteed and maximum",
    how: "1,000 devices x 10 tags, MQTT 5, QoS 1, one value a message, 16 in flight, security on. \
        The rate climbs until less than 99 % of what is offered is stored. The highest step with \
        every value stored, publish to stored p99 below 100 ms and CPU below 80 % is the guaranteed \
        rate, and is held; the highest that was stored in full is the maximum, and is held too. A \
        step or hold that fails is run once more before it counts. At the end 40 topics are read \
        back value by value.",
    smoke: Some(run(
        "ingest --without-floor --repeat 1 --seconds 2 --devices 100 --tags 2 --rate 1000",
        6,
    )),
    quick: Some(run(
        "ingest --steps --steps-from 40000 --step-seconds 2 --hold 10 --hold-maximum --without-floor",
        85,
    )),
    full: run("ingest --steps --step-seconds 60 --hold 600 --hold-maximum --without-floor", 2_700),
    readings: &[
        higher("guaranteed", "values/s", "/guaranteed_per_s"),
        higher("maximum", "values/s", "/maximum_held_per_s"),
        neither(
            "publish to stored p99 at the guaranteed rate",
            "ms",
            "/rows/*/appliance/report/verdict/p99_ms",
        ),
        lower("CPU per value at the guaranteed rate", "us", "/rows/*/appliance/cpu_us_per_value"),
        lower("memory", "MB", "/rss_peak_mb"),
        neither("growth of memory in the hold", "MB/min", "/rss_growth_mb_per_min"),
        lower("first contact of all topics", "s", "/first_contact_s"),
    ],
    limited_by: Some("/limited_by"),
    lost: &["/lost", "/duplicated"],
    curve: Some(CurveReading {
        x: ("values/s", "/step_rows/*/appliance/offered_per_s"),
        y: &[
            ("publish to stored p99, ms", "/step_rows/*/appliance/report/verdict/p99_ms"),
            ("CPU, cores", "/step_rows/*/appliance/server_cpu_share"),
        ],
        limited_by: "/step_rows/*/appliance/limited_by",
    }),
};

const COST: Class = Class {
    name: "ingest-cost",
    group: Group::Reference,
    title: "Ingest: CPU per value beside the floor",
    how: "The same devices at 20,000 values/s, in turns with the floor: a server that answers \
        PUBACK and does nothing else. The ratio is made by pairs of rows that follow one another.",
    smoke: None,
    quick: Some(run("ingest --rate 20000 --seconds 2 --repeat 3", 30)),
    full: run("ingest --rate 20000 --seconds 20 --repeat 5", 260),
    readings: &[
        lower("CPU to the floor", "x", "/ratio_to_floor_range"),
        lower("CPU per value", "us", "/rows/*/appliance/cpu_us_per_value"),
        lower("publish to stored p99", "ms", "/rows/*/appliance/report/verdict/p99_ms"),
        neither("disk writes", "MB/s", "/disk_write_mb_s"),
        neither("network", "MB/s", "/network_mb_s"),
    ],
    limited_by: Some("/limited_by"),
    lost: &["/lost", "/duplicated"],
    curve: None,
};
