//! The table: tiers, allowed edges, owners of foreign engines, and what has to stay light.
//!
//! It says what docs/architecture.md says under "Who may use whom"; a new row or edge comes with a
//! decision page.
//!
//! **Invariants**
//! - An edge that is not here does not exist; dev-dependencies may use anything that is not above.

/// One crate of the workspace.
pub(super) struct Crate {
    pub(super) name: &'static str,
    pub(super) tier: u8,
    pub(super) may_use: &'static [&'static str],
}

/// All rules about dependencies.
pub(super) struct Rules {
    pub(super) crates: &'static [Crate],
    /// A foreign package, and the crates that may depend on it.
    pub(super) owners: &'static [(&'static str, &'static [&'static str])],
    /// A crate, and what nothing below it may bring.
    pub(super) free_of: &'static [(&'static str, &'static [&'static str])],
    /// What is no default member.
    pub(super) heavy: &'static [&'static str],
    /// What no default member brings.
    pub(super) heavy_engines: &'static [&'static str],
}

impl Rules {
    pub(super) fn of(&self, name: &str) -> Option<&'static Crate> {
        self.crates.iter().find(|rule| rule.name == name)
    }
}

const MODEL: &str = "millrace-model";
const CONTRACT: &str = "millrace-contract";
const CLIENT: &str = "millrace-client";
const JOURNAL: &str = "millrace-journal";
const SUPERVISOR: &str = "millrace-supervisor";
const ACCESS: &str = "millrace-access";
const ADMISSION: &str = "millrace-admission";
const CATALOG: &str = "millrace-catalog";
const BROKER: &str = "millrace-broker";
const HISTORIAN: &str = "millrace-historian";
const FLOW: &str = "millrace-flow";
const SIZING: &str = "millrace-sizing";
const ENGINE: &str = "millrace-engine";
const QUICKJS: &str = "millrace-engine-quickjs";
const ACTIONS: &str = "millrace-actions";
const RUNS: &str = "millrace-runs";
const API: &str = "millrace-api";
const SERVICE: &str = "millrace-service";
const EDITOR: &str = "millrace-editor";
const KIT: &str = "millrace-kit";
const APP: &str = "millrace-app";
const BUNDLER: &str = "millrace-bundler";
const STUDIO_CORE: &str = "millrace-studio-core";
const STUDIO: &str = "millrace-studio";
const LAB: &str = "millrace-lab";
const HARNESS: &str = "millrace-harness";
const STUDIO_HARNESS: &str = "millrace-studio-harness";

/// Runtimes, sockets, files: not in what also builds for a browser.
const NOT_IN_SHARED: &[&str] =
    &["tokio", "mio", "socket2", "reqwest", "hyper", "rustls", "rusqlite", "parquet", "tempfile"];

pub(super) const RULES: Rules = Rules {
    crates: &[
        Crate { name: MODEL, tier: 0, may_use: &[] },
        Crate { name: JOURNAL, tier: 0, may_use: &[] },
        Crate { name: SUPERVISOR, tier: 0, may_use: &[MODEL] },
        Crate { name: "millrace-tidy", tier: 0, may_use: &[] },
        Crate { name: "millrace-xtask", tier: 0, may_use: &[] },
        Crate { name: ACCESS, tier: 1, may_use: &[MODEL, SUPERVISOR] },
        Crate { name: ADMISSION, tier: 1, may_use: &[MODEL, SUPERVISOR, JOURNAL] },
        Crate { name: CATALOG, tier: 1, may_use: &[MODEL, SUPERVISOR, JOURNAL] },
        Crate { name: BROKER, tier: 1, may_use: &[MODEL, SUPERVISOR, JOURNAL] },
        Crate { name: HISTORIAN, tier: 1, may_use: &[MODEL, SUPERVISOR, JOURNAL] },
        Crate { name: FLOW, tier: 1, may_use: &[MODEL] },
        Crate { name: SIZING, tier: 1, may_use: &[MODEL] },
        Crate { name: RUNS, tier: 1, may_use: &[MODEL, SUPERVISOR] },
        Crate { name: ENGINE, tier: 2, may_use: &[MODEL, SUPERVISOR, JOURNAL, FLOW] },
        Crate { name: QUICKJS, tier: 3, may_use: &[MODEL, SUPERVISOR, FLOW, ENGINE] },
        Crate { name: ACTIONS, tier: 3, may_use: &[MODEL, SUPERVISOR, FLOW, ENGINE] },
        Crate { name: CONTRACT, tier: 2, may_use: &[] },
        Crate { name: EDITOR, tier: 2, may_use: &[FLOW] },
        Crate { name: CLIENT, tier: 3, may_use: &[CONTRACT] },
        Crate { name: API, tier: 3, may_use: &[MODEL, FLOW, CONTRACT, SUPERVISOR, ACCESS] },
        Crate {
            name: SERVICE,
            tier: 4,
            may_use: &[
                MODEL, CONTRACT, CLIENT, JOURNAL, SUPERVISOR, ACCESS, ADMISSION, CATALOG, BROKER,
                HISTORIAN, API, FLOW, SIZING, ENGINE, QUICKJS, ACTIONS, RUNS,
            ],
        },
        Crate { name: KIT, tier: 1, may_use: &[] },
        Crate { name: APP, tier: 4, may_use: &[MODEL, FLOW, SIZING, CONTRACT, EDITOR, KIT] },
        // It knows the app by its files alone.
        Crate { name: BUNDLER, tier: 0, may_use: &[] },
        Crate { name: STUDIO_CORE, tier: 4, may_use: &[FLOW, CONTRACT] },
        Crate { name: STUDIO, tier: 5, may_use: &[STUDIO_CORE] },
        // They see the appliance as a black box.
        Crate { name: LAB, tier: 4, may_use: &[MODEL, FLOW, SIZING, CONTRACT, CLIENT] },
        Crate { name: HARNESS, tier: 4, may_use: &[MODEL, FLOW, CONTRACT, CLIENT] },
        // It sees both programs from outside.
        Crate { name: STUDIO_HARNESS, tier: 5, may_use: &[HARNESS] },
        // It throws bytes at the parsers themselves.
        Crate {
            name: "millrace-fuzz",
            tier: 4,
            may_use: &[
                MODEL, CONTRACT, JOURNAL, ACCESS, ADMISSION, CATALOG, BROKER, HISTORIAN, FLOW,
            ],
        },
    ],
    owners: &[
        ("rusqlite", &[CATALOG, RUNS, ACTIONS]),
        ("rquickjs", &[QUICKJS]),
        ("sqlx", &[ACTIONS]),
        ("lettre", &[ACTIONS]),
        ("parquet", &[HISTORIAN]),
        ("zstd", &[HISTORIAN]),
        ("axum", &[API]),
        ("tower-http", &[API]),
        ("hyper-util", &[API, STUDIO_CORE]),
        ("tauri", &[STUDIO]),
        ("tauri-build", &[STUDIO]),
        ("keyring-core", &[STUDIO]),
        ("dbus-secret-service-keyring-store", &[STUDIO]),
        ("windows-native-keyring-store", &[STUDIO]),
        ("mdns-sd", &[STUDIO_CORE, SERVICE]),
        ("rcgen", &[API]),
        ("leptos", &[KIT, APP]),
        ("leptos_router", &[APP]),
        ("gloo-net", &[APP]),
        ("wasm-bindgen-cli-support", &[BUNDLER]),
        ("argon2", &[ACCESS]),
        ("blake3", &[ACCESS, BUNDLER]),
        ("reqwest", &[CLIENT, HARNESS, STUDIO_HARNESS]),
        ("rumqttc", &[SERVICE, ACTIONS]),
        ("toml", &[SERVICE]),
        ("clap", &[SERVICE, LAB, "millrace-xtask"]),
        ("tracing-subscriber", &[SERVICE, STUDIO]),
        ("tracing-appender", &[SERVICE, STUDIO]),
        ("rustix", &[JOURNAL, LAB, QUICKJS]),
        ("signal-hook", &[LAB]),
    ],
    free_of: &[
        (MODEL, NOT_IN_SHARED),
        (FLOW, NOT_IN_SHARED),
        (SIZING, NOT_IN_SHARED),
        (EDITOR, NOT_IN_SHARED),
        (EDITOR, &["leptos", "web-sys", "js-sys", "wasm-bindgen"]),
        (ENGINE, &["rquickjs", "reqwest", "sqlx", "rusqlite", "axum"]),
        (CONTRACT, NOT_IN_SHARED),
        (STUDIO_CORE, &["tauri", "keyring-core", "openssl-sys", "aws-lc-sys", "reqwest"]),
        (JOURNAL, &["tokio", "serde_json"]),
        (ADMISSION, &["rusqlite", "parquet", "axum", "rustls"]),
        (BROKER, &["rusqlite", "parquet", "axum"]),
        (HISTORIAN, &["rusqlite", "axum", "rustls"]),
        (CATALOG, &["parquet", "axum", "rustls"]),
        (KIT, &["reqwest", "hyper", "rustls", "rusqlite", "parquet"]),
        (APP, &["reqwest", "hyper", "rustls", "rusqlite", "parquet"]),
        ("millrace-xtask", &["tokio", "serde", "wasm-bindgen-cli-support"]),
    ],
    heavy: &[
        SERVICE,
        CLIENT,
        LAB,
        HARNESS,
        ACTIONS,
        QUICKJS,
        KIT,
        APP,
        BUNDLER,
        STUDIO_CORE,
        STUDIO,
        STUDIO_HARNESS,
    ],
    heavy_engines: &[
        "libduckdb-sys",
        "tauri",
        "leptos",
        "openssl-sys",
        "aws-lc-sys",
        "reqwest",
        "clap",
        "wasm-bindgen-cli-support",
    ],
};
