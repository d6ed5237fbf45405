//! The settings in force: where each comes from, what it does, and what the next start would change.
//!
//! The file is read once, at the start. [`Loaded::next_start`] reads it again, to tell a person what
//! waits for a start; nothing of that comes into force.
//!
//! **Invariants**: what is asked here changes nothing.

use super::{Config, Fault, documented};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The settings and where they come from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The settings in force.
    pub(crate) config: Config,
    from_file: Config,
    text: String,
    path: Option<PathBuf>,
    /// The folder that the command line gave.
    data: Option<PathBuf>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its key, dotted.
    pub(crate) key: String,
    /// Its value, as it would stand in the file.
    pub(crate) value: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Its default, as it would stand in the file.
    pub(crate) default: String,
    /// What it does.
    pub(crate) about: String,
}

/// A setting that the next start would take otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Its key.
    pub(crate) key: String,
    /// Its value now.
    pub(crate) in_force: String,
    /// Its value then.
    pub(crate) next: String,
}

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// The file.
    File,
    /// A variable or the command line.
    Override,
}

impl Loaded {
    pub(super) fn new(
        config: Config,
        from_file: Config,
        text: String,
        path: Option<PathBuf>,
    ) -> Self {
        Self { config, from_file, text, path, data: None }
    }

    /// Settings that come from no file: of a box that this program makes for itself.
    pub(crate) fn of(config: Config) -> Self {
        Self::new(config.clone(), config, String::new(), None)
    }

    /// Lays the folder that the command line gave over the settings.
    pub(crate) fn use_data_folder(&mut self, data: &Path) {
        data.clone_into(&mut self.config.data_dir);
        self.data = Some(data.to_owned());
    }

    /// The file that was read, if one was given.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Every setting, in the order of keys.
    pub(crate) fn effective(&self) -> Vec<Setting> {
        let in_force = flat(&self.config);
        let from_file = flat(&self.from_file);
        let defaults = flat(&Config::default());
        let written = flat_table(&self.text.parse().unwrap_or_default());
        let about = documented::sentences();
        let origin = |key: &str, value: &str| {
            if from_file.get(key).is_some_and(|file| file != value) {
                Origin::Override
            } else if written.contains_key(key) {
                Origin::File
            } else {
                Origin::Default
            }
        };
        let setting = |(key, value): (String, String)| Setting {
            origin: origin(&key, &value),
            default: defaults.get(&key).cloned().unwrap_or_default(),
            about: about.get(&key).cloned().unwrap_or_default(),
            key,
            value,
        };
        in_force.into_iter().map(setting).collect()
    }

    /// Which settings the file, as it is now, would change at the next start.
    ///
    /// # Errors
    /// Why the next start would fail.
    pub(crate) fn next_start(&self) -> Result<Vec<Change>, Vec<Fault>> {
        let Some(path) = &self.path else { return Ok(Vec::new()) };
        let mut next = Config::load(Some(path))?;
        if let Some(data) = &self.data {
            next.use_data_folder(data);
        }
        let then = flat(&next.config);
        let change = |(key, in_force): (String, String)| {
            let next = then.get(&key).cloned().unwrap_or_default();
            (next != in_force).then_some(Change { key, in_force, next })
        };
        Ok(flat(&self.config).into_iter().filter_map(change).collect())
    }
}

fn flat(config: &Config) -> BTreeMap<String, String> {
    flat_table(&toml::Table::try_from(config).unwrap_or_default())
}

fn flat_table(table: &toml::Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in table {
        match value.as_table() {
            Some(section) => {
                let rows =
                    section.iter().map(|(key, value)| (format!("{name}.{key}"), value.to_string()));
                all.extend(rows);
            }
            None => {
                all.insert(name.clone(), value.to_string());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn tells_where_each_setting_comes_from_and_what_it_does() {
        let text = "[broker]\nclients_max = 7\nlive_qos = 1\n".to_owned();
        let from_file = Config::from_toml(&text).unwrap();
        let mut config = from_file.clone();
        config.broker.clients_max = 8;
        let effective = Loaded::new(config, from_file, text, None).effective();
        let of = |key: &str| effective.iter().find(|setting| setting.key == key).unwrap();
        let clients = of("broker.clients_max");
        assert_eq!((clients.origin, clients.value.as_str()), (Origin::Override, "8"));
        assert_eq!(clients.default, "5000");
        assert_eq!(clients.about, "MQTT clients connected at once.");
        assert_eq!(of("broker.live_qos").origin, Origin::File);
        assert_eq!(of("broker.listen").origin, Origin::Default);
        for setting in &effective {
            assert!(!setting.about.is_empty(), "nothing says what {} does", setting.key);
        }
    }

    #[test]
    fn tells_what_the_next_start_would_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("millrace.toml");
        let write = |text: &str| {
            std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        };
        // Given settings of a file and of the command line
        write("data_dir = \"a\"\n[broker]\nclients_max = 7\n");
        let mut loaded = Config::load(Some(&path)).unwrap();
        loaded.use_data_folder(Path::new("b"));
        assert_eq!(loaded.next_start().unwrap(), []);
        // When the file changes
        write("data_dir = \"c\"\n[broker]\nclients_max = 9\n");
        // Then only what the file decides waits for a start
        let change = Change {
            key: "broker.clients_max".to_owned(),
            in_force: "7".to_owned(),
            next: "9".to_owned(),
        };
        assert_eq!(loaded.next_start().unwrap(), [change]);
        assert_eq!(loaded.config.broker.clients_max, 7);
        // And a file with a fault is told before somebody restarts into it
        write("[broker]\nclients_max = \"many\"\n");
        let faults = loaded.next_start().unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.place.as_str()).collect::<Vec<_>>(), ["line 2"]);
        std::fs::remove_file(&path).unwrap();
        assert!(loaded.next_start().unwrap_err()[0].what.contains("cannot be read"));
        assert_eq!(Loaded::of(Config::default()).next_start().unwrap(), []);
    }
}
