//! What happens when something breaks or misbehaves.

use crate::all::class::{Class, Group, Reading, lower, neither, run};

const ROUNDS: &[Reading] = &[
    neither("rounds", "", "/rounds"),
    neither("values acknowledged", "", "/acknowledged"),
    neither("runs promised", "", "/pipelines/runs"),
    lower("ready again after", "ms", "/restart_ms"),
];

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "kill",
        group: Group::Harm,
        title: "Crash: kill -9 under load",
        how: "The appliance is killed at a random moment under load and started again; devices come \
            back and send again what was not acknowledged. Every value of every round is read back, \
            and every value that 20 pipelines derived from them.",
        smoke: Some(run("kill --rounds 2 --devices 100 --rate 1000 --pipelines 5", 4)),
        quick: Some(run("kill --rounds 5 --devices 200 --rate 2000 --pipelines 20", 18)),
        full: run("kill --rounds 100 --devices 200 --rate 2000 --pipelines 20", 900),
        readings: ROUNDS,
        limited_by: None,
        lost: &[
            "/lost",
            "/duplicated",
            "/pipelines/lost",
            "/pipelines/doubled",
            "/over_all_rounds/lost",
            "/over_all_rounds/duplicated",
        ],
        curve: None,
    },
    Class {
        name: "powercut",
        group: Group::Harm,
        title: "Power cut",
        how: "The data lies on an image of a disk that is copied while it is written to, without \
            any sync; the copy is what a cut would leave, and is started from. A self-check first \
            shows that the method finds a loss when syncs are left out. Writes inside of a device's \
            own cache are not reordered.",
        smoke: None,
        quick: Some(run("powercut --rounds 3 --devices 200 --rate 4000 --image-mib 1024", 15)),
        full: run("powercut --rounds 50", 900),
        readings: ROUNDS,
        limited_by: None,
        lost: &["/lost", "/duplicated"],
        curve: None,
    },
    Class {
        name: "hostile-scripts",
        group: Group::Harm,
        title: "Endless and memory-hungry scripts",
        how: "Two good pipelines with and without ten bad ones beside them, in pairs of rows.",
        smoke: Some(run("hostile --repeat 1 --seconds 2 --rate 100", 9)),
        quick: Some(run("hostile --repeat 2 --seconds 3 --foreign-max 1", 25)),
        full: run("hostile --repeat 5 --seconds 20 --foreign-max 1", 260),
        readings: &[
            lower("pass-through p99 with by without", "x", "/pass_through/p99_ratio"),
            lower("script p99 with by without", "x", "/script/p99_ratio"),
            neither("scripts stopped", "", "/kills"),
        ],
        limited_by: None,
        lost: &["/lost", "/duplicated"],
        curve: None,
    },
    Class {
        name: "starved",
        group: Group::Harm,
        title: "Starved of CPU by other programs",
        how: "16 programs take the appliance's core; the issue has to come, name the heaviest \
            pipelines, and go.",
        smoke: None,
        quick: None,
        full: run("starve", 130),
        readings: &[
            lower("issue raised after", "s", "/raised_after_s"),
            neither("issue cleared after", "s", "/cleared_after_s"),
        ],
        limited_by: None,
        lost: &["/lost", "/duplicated"],
        curve: None,
    },
    Class {
        name: "unreachable-target",
        group: Group::Harm,
        title: "Targets that are down for an hour",
        how: "Pipelines call targets that are down and come back after an hour, beside good ones.",
        smoke: None,
        quick: None,
        full: run("unreachable", 3_850),
        readings: &[
            neither("growth of memory", "MB/min", "/rss_growth_mb_per_min"),
            neither("most waiting runs", "", "/parked_most"),
        ],
        limited_by: None,
        lost: &["/lost", "/duplicated"],
        curve: None,
    },
];
