//! `MILLRACE_<SECTION>_<KEY>` variables laid over the file.
//!
//! Each key of the file has a variable of the same name in capitals:
//! `MILLRACE_BROKER_LISTEN`, `MILLRACE_DATA_DIR`. The value is read as the key's own type.
//!
//! **Invariants**: the only place that reads environment variables; a variable that starts with
//! `MILLRACE_` and names no key is refused, so a typing error is not silently ignored.

use super::{Config, Fault};

const PREFIX: &str = "MILLRACE_";
const UNKNOWN: &str =
    "names no setting; it is MILLRACE_<SECTION>_<KEY>, and docs/operate/millrace.toml has them all";

/// Lays the environment over `config`; returns what could not be taken.
pub(super) fn overlay(config: &mut Config) -> Vec<Fault> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        name.starts_with(PREFIX).then(|| (name, value.to_string_lossy().into_owned()))
    });
    overlay_with(config, variables)
}

fn overlay_with(
    config: &mut Config,
    variables: impl Iterator<Item = (String, String)>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Ok(mut table) = toml::Table::try_from(&*config) else { return faults };
    let mut changed = false;
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(PREFIX) else { continue };
        match place(&mut table, &key.to_ascii_lowercase()) {
            None => faults.push(Fault::new(name, UNKNOWN.to_owned())),
            Some(old) => match retype(old, &value) {
                Some(new) => {
                    *old = new;
                    changed = true;
                }
                None => faults.push(Fault::new(
                    name,
                    format!(
                        "'{value}' is not of the type {}, which this setting takes",
                        old.type_str()
                    ),
                )),
            },
        }
    }
    if changed {
        match table.try_into() {
            Ok(read) => *config = read,
            Err(error) => faults.push(Fault::new("MILLRACE_*".to_owned(), error.to_string())),
        }
    }
    faults
}

fn place<'a>(table: &'a mut toml::Table, key: &str) -> Option<&'a mut toml::Value> {
    if table.get(key).is_some_and(|value| !value.is_table()) {
        return table.get_mut(key);
    }
    let (section, rest) = key.split_once('_')?;
    table.get_mut(section)?.as_table_mut()?.get_mut(rest)
}

fn retype(old: &toml::Value, text: &str) -> Option<toml::Value> {
    Some(match old {
        toml::Value::String(_) => toml::Value::String(text.to_owned()),
        toml::Value::Integer(_) => toml::Value::Integer(text.parse().ok()?),
        toml::Value::Boolean(_) => toml::Value::Boolean(text.parse().ok()?),
        toml::Value::Array(_) => toml::Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(|part| toml::Value::String(part.to_owned()))
                .collect(),
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> (Config, Vec<Fault>) {
        let mut config = Config::default();
        let variables = [(name.to_owned(), value.to_owned())];
        let faults = overlay_with(&mut config, variables.into_iter());
        (config, faults)
    }

    #[test]
    fn each_type_is_taken() {
        assert_eq!(with("MILLRACE_BROKER_LISTEN", "[::1]:9").0.broker.listen, "[::1]:9");
        assert_eq!(with("MILLRACE_DATA_DIR", "x").0.data_dir.to_str(), Some("x"));
        assert_eq!(with("MILLRACE_JOURNAL_SEGMENT_MIB", "8").0.journal.segment_mib, 8);
        assert!(with("MILLRACE_HTTP_ALLOW_PLAIN_HTTP", "true").0.http.allow_plain_http);
        assert_eq!(with("MILLRACE_HTTP_HOSTS", "a, b").0.http.hosts, ["a", "b"]);
    }

    #[test]
    fn a_variable_that_names_nothing_is_refused() {
        let (config, faults) = with("MILLRACE_BROKER_LISEN", "x");
        assert_eq!((config, faults.len()), (Config::default(), 1));
        let (_, faults) = with("MILLRACE_JOURNAL_SEGMENT_MIB", "many");
        assert!(faults[0].what.contains("integer"), "{}", faults[0].what);
    }
}
