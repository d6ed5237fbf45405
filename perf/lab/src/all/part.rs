//! Parts of a long measurement: a share of the time, or classes by name.
//!
//! **Invariants**
//! - The parts 1/M to M/M hold each class exactly once.

use anyhow::{Result, bail};

use super::class::{Class, Group};
use crate::set::Profile;

/// What `--part` takes at most.
const PARTS_MAX: u64 = 100;

/// What is measured of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The `number`-th of `count` parts of about equal time, from 1.
    Share { number: u64, count: u64 },
    /// Classes or groups.
    Named(Vec<String>),
}

/// Reads `2/4`, or names with commas between.
pub(crate) fn parse(text: &str) -> Result<Part> {
    if let Some((number, count)) = text.split_once('/') {
        return match (number.parse(), count.parse()) {
            (Ok(number), Ok(count)) if (1..=count).contains(&number) && count <= PARTS_MAX => {
                Ok(Part::Share { number, count })
            }
            _ => bail!("write a part as N/M, from 1/M to M/M, with M at most {PARTS_MAX}"),
        };
    }
    let names: Vec<String> =
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.is_empty() {
        bail!("name a class, a group, or a part as N/M");
    }
    Ok(Part::Named(names))
}

impl Part {
    /// The classes of this part, in the table's order.
    pub(crate) fn of(
        &self,
        all: &[&'static Class],
        profile: Profile,
    ) -> Result<Vec<&'static Class>> {
        match self {
            Self::Share { number, count } => Ok(share(all, profile, *number, *count)),
            Self::Named(names) => named(all, names),
        }
    }
}

fn share(all: &[&'static Class], profile: Profile, number: u64, count: u64) -> Vec<&'static Class> {
    // Classes that are not run take a second of telling so, or they had no part.
    let seconds = |class: &Class| class.seconds(profile).max(1);
    let total: u64 = all.iter().map(|class| seconds(class)).sum();
    let mut before = 0;
    let mut own = Vec::new();
    for class in all {
        let middle = before * 2 + seconds(class);
        before += seconds(class);
        // The part that the middle of the class falls into.
        if middle * count / (total * 2).max(1) == number - 1 {
            own.push(*class);
        }
    }
    own
}

fn named(all: &[&'static Class], names: &[String]) -> Result<Vec<&'static Class>> {
    let is_group = |name: &str| Group::ALL.iter().any(|group| group.word() == name);
    for name in names {
        if !is_group(name) && !all.iter().any(|class| class.name == *name) {
            let known: Vec<&str> = all.iter().map(|class| class.name).collect();
            bail!(
                "there is no class or group '{name}'. Groups: {}. Classes: {}",
                Group::ALL.map(Group::word).join(", "),
                known.join(", ")
            );
        }
    }
    let is_wanted =
        |class: &Class| names.iter().any(|name| *name == class.name || *name == class.group.word());
    Ok(all.iter().copied().filter(|class| is_wanted(class)).collect())
}

/// Seconds for people.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5_400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn reads_shares_and_names_and_refuses_the_rest() {
        assert_eq!(parse("2/4").unwrap(), Part::Share { number: 2, count: 4 });
        assert_eq!(
            parse("kill, ingest").unwrap(),
            Part::Named(vec!["kill".into(), "ingest".into()])
        );
        for wrong in ["0/4", "5/4", "1/1000", "a/b", "", ","] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_hold_each_class_exactly_once() {
        let all: Vec<&Class> = table::all().collect();
        for count in [1, 3, 7] {
            let mut found = Vec::new();
            for number in 1..=count {
                let part = Part::Share { number, count };
                found.extend(part.of(&all, Profile::Full).unwrap().iter().map(|class| class.name));
            }
            let expected: Vec<&str> = all.iter().map(|class| class.name).collect();
            assert_eq!(found, expected, "{count} parts");
        }
    }

    #[test]
    fn names_what_there_is_when_a_name_is_wrong() {
        let all: Vec<&Class> = table::all().collect();
        let part = Part::Named(vec!["ingets".into()]);
        let why = part.of(&all, Profile::Quick).unwrap_err().to_string();
        assert!(
            why.contains("'ingets'") && why.contains("ingest") && why.contains("harm"),
            "{why}"
        );
        let group = Part::Named(vec!["harm".into()]).of(&all, Profile::Quick).unwrap();
        assert!(!group.is_empty() && group.iter().all(|class| class.group == Group::Harm));
    }
}
