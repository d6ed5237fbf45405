//! What each setting does, as `docs/operate/millrace.toml` says it above its key.
//!
//! A comment belongs to the key below it, and to the keys that follow without one of their own.
//!
//! **Invariants**: every setting has a sentence; a test holds the file equal to the settings.

use std::collections::BTreeMap;

/// The documented file.
pub(super) const TEXT: &str = include_str!("../../../../docs/operate/millrace.toml");

/// What each setting does, by its key.
pub(super) fn sentences() -> BTreeMap<String, String> {
    let (mut all, mut section) = (BTreeMap::new(), String::new());
    let (mut about, mut is_open) = (String::new(), false);
    for line in TEXT.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            if !is_open {
                about.clear();
            }
            is_open = true;
            if !about.is_empty() {
                about.push(' ');
            }
            about.push_str(comment.trim());
            continue;
        }
        is_open = false;
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
            about.clear();
        } else if let Some((key, _)) = line.split_once('=') {
            all.insert(format!("{section}{}", key.trim()), about.clone());
        } else {
            about.clear();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_belongs_to_its_key_and_those_that_follow() {
        let all = sentences();
        let check = |key: &str, start: &str| {
            let about = all.get(key).unwrap_or_else(|| panic!("nothing says what {key} does"));
            assert!(about.starts_with(start), "{key}: {about}");
        };
        check("data_dir", "Folder of journal");
        check("broker.listen", "Address of the MQTT listener");
        check("pipelines.queue_mib_max", "Runs that wait to be executed");
        check("pipelines.queue_age_max_s", "Runs that wait to be executed");
        check("pipelines.discard_new_on_full", "Refuses new runs instead");
        check("journal.durability", "\"sync\": a value is acknowledged");
        assert!(all["actions.allow_hosts"].ends_with("need no entry."), "two lines are one text");
        assert!(all.values().all(|about| about.ends_with('.') || about.ends_with("trace.")));
    }
}
