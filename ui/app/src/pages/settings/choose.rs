//! Which settings are shown, in which sections, and how each is called as a variable.
//!
//! **Invariants**
//! - Sections come in the order of their first setting; none is empty.

use millrace_contract::v1;

/// Settings of one section; the first one has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) settings: Vec<v1::ConfigEntry>,
}

/// The settings that a person looks for, by section.
pub(super) fn sections(all: &[v1::ConfigEntry], search: &str, only_changed: bool) -> Vec<Section> {
    let search = search.to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let fits = |entry: &&v1::ConfigEntry| {
        let about = entry.about.as_deref().unwrap_or_default();
        let text = format!("{} {} {about}", entry.key, entry.value).to_lowercase();
        words.iter().all(|word| text.contains(word)) && (!only_changed || is_changed(entry))
    };
    let mut sections: Vec<Section> = Vec::new();
    for entry in all.iter().filter(fits) {
        let name = entry.key.split_once('.').map_or("", |(section, _)| section);
        match sections.iter_mut().find(|section| section.name == name) {
            Some(section) => section.settings.push(entry.clone()),
            None => {
                let settings = vec![entry.clone()];
                sections.push(Section { name: name.to_owned(), settings });
            }
        }
    }
    sections
}

/// Whether the value is another one than the default.
pub(super) fn is_changed(entry: &v1::ConfigEntry) -> bool {
    match &entry.default {
        Some(default) => *default != entry.value,
        None => entry.source != v1::ConfigSource::Default,
    }
}

/// `broker.tls_listen` -> `MILLRACE_BROKER_TLS_LISTEN`.
pub(super) fn variable(key: &str) -> String {
    format!("MILLRACE_{}", key.replace('.', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, value: &str, default: &str, about: &str) -> v1::ConfigEntry {
        v1::ConfigEntry {
            key: key.to_owned(),
            value: value.to_owned(),
            source: v1::ConfigSource::File,
            default: Some(default.to_owned()),
            about: Some(about.to_owned()),
        }
    }

    fn all() -> Vec<v1::ConfigEntry> {
        vec![
            entry("broker.listen", "\"0.0.0.0:1883\"", "\"127.0.0.1:1883\"", "MQTT listener"),
            entry("data_dir", "\"millrace-data\"", "\"millrace-data\"", "Folder of journal"),
            entry("broker.live_qos", "1", "1", "QoS of live values"),
        ]
    }

    fn keys(search: &str, only_changed: bool) -> Vec<String> {
        let sections = sections(&all(), search, only_changed);
        sections.into_iter().flat_map(|one| one.settings).map(|entry| entry.key).collect()
    }

    #[test]
    fn settings_stand_in_their_sections() {
        let sections = sections(&all(), "", false);
        let names: Vec<_> =
            sections.iter().map(|one| (one.name.as_str(), one.settings.len())).collect();
        assert_eq!(names, [("broker", 2), ("", 1)]);
    }

    #[test]
    fn finds_by_key_value_and_meaning() {
        assert_eq!(keys("LISTEN", false), ["broker.listen"]);
        assert_eq!(keys("0.0.0.0", false), ["broker.listen"]);
        assert_eq!(keys("folder journal", false), ["data_dir"]);
        assert_eq!(keys("", true), ["broker.listen"]);
        assert!(keys("nothing", false).is_empty());
    }

    #[test]
    fn without_a_default_the_source_tells() {
        let mut old = entry("a.b", "1", "1", "");
        (old.default, old.source) = (None, v1::ConfigSource::Default);
        assert!(!is_changed(&old));
        old.source = v1::ConfigSource::Override;
        assert!(is_changed(&old));
        assert_eq!(variable("broker.tls_listen"), "MILLRACE_BROKER_TLS_LISTEN");
        assert_eq!(variable("data_dir"), "MILLRACE_DATA_DIR");
    }
}
