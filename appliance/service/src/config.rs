//! The configuration: `millrace.toml`, read once, with `MILLRACE_*` variables over it.
//!
//! Every key has a default, so an empty file (or none) runs. Unknown keys are refused with their
//! line. Units stand in the names; the documented file `docs/operate/millrace.toml` is held equal
//! to these structs by a golden test.
//!
//! **Invariants**: nothing else in the appliance reads the environment or the file.

mod documented;
mod environment;
mod lenient;
mod loaded;
pub(crate) mod validate;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub(crate) use loaded::{Loaded, Origin, Setting};
pub(crate) use validate::Fault;

/// All settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) data_dir: PathBuf,
    pub(crate) broker: Broker,
    pub(crate) http: Http,
    pub(crate) admission: Admission,
    pub(crate) journal: Journal,
    pub(crate) historian: Historian,
    pub(crate) catalog: Catalog,
    pub(crate) pipelines: Pipelines,
    pub(crate) scripts: Scripts,
    pub(crate) runs: Runs,
    pub(crate) actions: Actions,
    pub(crate) log: Log,
}

/// The MQTT listeners and their limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Broker {
    pub(crate) listen: String,
    pub(crate) allow_plain_mqtt: bool,
    pub(crate) tls_listen: String,
    pub(crate) root: String,
    pub(crate) clients_max: u32,
    pub(crate) receive_maximum: u16,
    pub(crate) packet_bytes_max: usize,
    pub(crate) subscriber_queue: usize,
    pub(crate) live_qos: u8,
    pub(crate) worker_threads: usize,
}

/// The HTTP listeners.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Http {
    pub(crate) listen: String,
    pub(crate) allow_plain_http: bool,
    pub(crate) tls_listen: String,
    pub(crate) announce: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) web_folder: String,
}

/// What enters, and how fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Admission {
    pub(crate) client_rate_per_s: u32,
    pub(crate) workspace_rate_per_s: u32,
    pub(crate) client_tags_max: u32,
    pub(crate) tags_max: u32,
}

/// The journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Journal {
    pub(crate) durability: Durability,
    pub(crate) interval_ms: u64,
    pub(crate) commit_interval_ms: u64,
    pub(crate) segment_mib: u64,
    pub(crate) bytes_max_mib: u64,
}

/// When a value counts as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Durability {
    /// After its commit is synced to the disk.
    Sync,
    /// After it is written; synced each `interval_ms`.
    Interval,
}

/// History.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Historian {
    pub(crate) default_retention: String,
    pub(crate) memtable_mib: u64,
    pub(crate) seal_age_s: u64,
    pub(crate) keep_bytes_max_mib: u64,
}

/// The catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Catalog {
    pub(crate) snapshot_every_mib: u64,
}

/// The pipeline engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pipelines {
    pub(crate) worker_threads: usize,
    pub(crate) slots_per_lane: u32,
    pub(crate) starvation_threshold: u32,
    pub(crate) queue_mib_max: u64,
    pub(crate) queue_age_max_s: u64,
    pub(crate) discard_new_on_full: bool,
    pub(crate) run_redelivery_ms: u64,
    pub(crate) parked_max: u32,
    pub(crate) parked_mib_max: u64,
    pub(crate) parked_share_percent: u8,
    pub(crate) hops_max: u8,
}

/// Limits of the pipelines' scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Scripts {
    pub(crate) cpu_ms: u64,
    pub(crate) memory_mib: u64,
    pub(crate) output_kib: u64,
    pub(crate) console_kib: u64,
    pub(crate) warm_mib_max: u64,
}

/// The history of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runs {
    pub(crate) keep_h: u64,
    pub(crate) bytes_max_mib: u64,
}

/// What pipelines may reach outside of the box.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Actions {
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) folder: String,
}

/// The log files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
    pub(crate) files_max: usize,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Json,
    Text,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("millrace-data"),
            broker: Broker::default(),
            http: Http::default(),
            admission: Admission::default(),
            journal: Journal::default(),
            historian: Historian::default(),
            catalog: Catalog::default(),
            pipelines: Pipelines::default(),
            scripts: Scripts::default(),
            runs: Runs::default(),
            actions: Actions::default(),
            log: Log::default(),
        }
    }
}

impl Default for Broker {
    fn default() -> Self {
        use millrace_model::limits;
        Self {
            listen: "127.0.0.1:1883".to_owned(),
            allow_plain_mqtt: false,
            tls_listen: String::new(),
            root: "mr/v1".to_owned(),
            clients_max: limits::CLIENTS_MAX_DEFAULT,
            receive_maximum: limits::RECEIVE_MAXIMUM_DEFAULT,
            packet_bytes_max: limits::PACKET_BYTES_MAX,
            subscriber_queue: limits::SUBSCRIBER_QUEUE_DEFAULT,
            live_qos: 1,
            worker_threads: 0,
        }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            allow_plain_http: false,
            tls_listen: String::new(),
            announce: String::new(),
            hosts: Vec::new(),
            web_folder: String::new(),
        }
    }
}

impl Default for Admission {
    fn default() -> Self {
        use millrace_model::limits;
        Self {
            client_rate_per_s: limits::CLIENT_RATE_DEFAULT,
            workspace_rate_per_s: limits::WORKSPACE_RATE_DEFAULT,
            client_tags_max: limits::CLIENT_TAGS_MAX_DEFAULT,
            tags_max: limits::TAGS_MAX_DEFAULT,
        }
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            interval_ms: 100,
            commit_interval_ms: 2,
            segment_mib: 64,
            bytes_max_mib: 2_048,
        }
    }
}

impl Default for Historian {
    fn default() -> Self {
        Self {
            default_retention: "1d".to_owned(),
            memtable_mib: 64,
            seal_age_s: 600,
            keep_bytes_max_mib: 51_200,
        }
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self { snapshot_every_mib: 256 }
    }
}

impl Default for Pipelines {
    fn default() -> Self {
        Self {
            worker_threads: 0,
            slots_per_lane: 256,
            starvation_threshold: 100,
            queue_mib_max: 64,
            queue_age_max_s: 3_600,
            discard_new_on_full: false,
            run_redelivery_ms: 300_000,
            parked_max: 10_000,
            parked_mib_max: 64,
            parked_share_percent: 80,
            hops_max: 8,
        }
    }
}

impl Default for Scripts {
    fn default() -> Self {
        Self { cpu_ms: 100, memory_mib: 8, output_kib: 1_024, console_kib: 64, warm_mib_max: 64 }
    }
}

impl Default for Runs {
    fn default() -> Self {
        Self { keep_h: 24, bytes_max_mib: 512 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "warn".to_owned(), format: LogFormat::Json, files_max: 14 }
    }
}

impl Config {
    /// Reads the file (or takes the defaults where `path` is `None`), lays the environment over
    /// it and checks all values.
    ///
    /// # Errors
    /// Every fault found, each with its key or line.
    pub(crate) fn load(path: Option<&Path>) -> Result<Loaded, Vec<Fault>> {
        let text = match path {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path).map_err(|error| {
                vec![Fault::new(
                    path.display().to_string(),
                    format!("cannot be read: {error}; give a file that exists with --config"),
                )]
            })?,
        };
        let (from_file, mut faults) = lenient::read(&text);
        let mut config = from_file.clone();
        faults.extend(environment::overlay(&mut config));
        faults.extend(validate::faults(&config));
        if faults.is_empty() {
            Ok(Loaded::new(config, from_file, text, path.map(Path::to_owned)))
        } else {
            Err(faults)
        }
    }

    /// Where in the text the reader of TOML stopped, and why.
    fn fault_of(text: &str, error: &toml::de::Error) -> Fault {
        let line = error.span().map_or(1, |span| {
            text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
        });
        Fault::new(format!("line {line}"), error.message().to_owned())
    }

    #[cfg(test)]
    fn from_toml(text: &str) -> Result<Self, Fault> {
        toml::from_str(text).map_err(|error| Self::fault_of(text, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documented file names every key with its default, and nothing else.
    #[test]
    fn the_documented_file_equals_the_defaults() {
        let documented = documented::TEXT;
        let read = Config::from_toml(documented).unwrap();
        assert_eq!(read, Config::default());
        let keys = |text: &str| -> Vec<String> {
            let table: toml::Table = toml::from_str(text).unwrap();
            let mut keys = Vec::new();
            for (name, value) in &table {
                match value.as_table() {
                    Some(section) => keys.extend(section.keys().map(|key| format!("{name}.{key}"))),
                    None => keys.push(name.clone()),
                }
            }
            keys.sort();
            keys
        };
        let all = toml::to_string(&Config::default()).unwrap();
        assert_eq!(keys(documented), keys(&all));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let fault =
            Config::from_toml("[broker]\nlisten = \"127.0.0.1:1\"\nlisen = 3\n").unwrap_err();
        assert_eq!(fault.place, "line 3");
        assert!(fault.what.contains("lisen"), "{}", fault.what);
    }

    #[test]
    fn the_reference_defaults_are_kept() {
        let config = Config::default();
        assert_eq!(config.admission.client_rate_per_s, 2_000);
        assert_eq!(config.admission.workspace_rate_per_s, 20_000);
        assert_eq!(config.broker.clients_max, 5_000);
        assert_eq!(config.broker.receive_maximum, 1_000);
        assert_eq!(config.broker.subscriber_queue, 10_000);
        assert_eq!(config.broker.live_qos, 1);
        assert_eq!(config.historian.default_retention, "1d");
        assert_eq!(config.pipelines.slots_per_lane, 256);
        assert_eq!(config.pipelines.starvation_threshold, 100);
        assert_eq!((config.pipelines.queue_mib_max, config.pipelines.queue_age_max_s), (64, 3_600));
        assert_eq!(config.pipelines.run_redelivery_ms, 300_000);
        assert!(!config.pipelines.discard_new_on_full);
        assert_eq!(config.runs.keep_h, 24);
    }
}
