//! What was typed about new clients, as a wish for the appliance; or what is wrong with it.
//!
//! **Invariants**
//! - All faults are told at once, each with its place.

use crate::locale::Locale;
use crate::words::{Message, access};
use millrace_contract::v1;

/// Clients of one wish at most; the appliance asks for the same.
const COUNT_MAX: u32 = 1_000;

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Name,
    Count,
    Publish,
    Subscribe,
    Rate,
    /// At none of the fields.
    Whole,
}

impl Place {
    /// The place of a field as the appliance names it: `publish[1]`.
    pub(super) fn of(field: &str) -> Self {
        match field.split('[').next().unwrap_or_default() {
            "name" => Self::Name,
            "count" => Self::Count,
            "publish" => Self::Publish,
            "subscribe" => Self::Subscribe,
            "rate_per_s" => Self::Rate,
            _ => Self::Whole,
        }
    }
}

/// What was typed.
pub(super) struct Typed {
    pub(super) name: String,
    pub(super) count: String,
    pub(super) publish: String,
    pub(super) subscribe: String,
    pub(super) may_create: bool,
    pub(super) retention: Option<v1::Retention>,
    pub(super) rate: String,
}

/// The wish, or all that is wrong.
pub(super) fn wish(typed: &Typed, locale: Locale) -> Result<v1::NewClients, Vec<(Place, Message)>> {
    let mut faults = Vec::new();
    let name = typed.name.trim().to_owned();
    if name.is_empty() {
        faults.push((Place::Name, access::NAME_MISSING));
    }
    let count = whole(&typed.count, locale).filter(|count| (1..=COUNT_MAX).contains(count));
    if count.is_none() {
        faults.push((Place::Count, access::COUNT_BAD));
    }
    let (publish, subscribe) = (lines(&typed.publish), lines(&typed.subscribe));
    if publish.is_empty() && subscribe.is_empty() {
        faults.push((Place::Publish, access::USELESS));
    }
    let rate = match typed.rate.trim() {
        "" => None,
        text => {
            let rate = whole(text, locale);
            if rate.is_none() {
                faults.push((Place::Rate, access::RATE_BAD));
            }
            rate
        }
    };
    match (count, faults.is_empty()) {
        (Some(count), true) => Ok(v1::NewClients {
            name,
            count,
            workspace: "main".to_owned(),
            publish,
            subscribe,
            may_create: typed.may_create,
            retention: typed.retention,
            rate_per_s: rate,
        }),
        _ => Err(faults),
    }
}

/// A whole number as the person writes it.
fn whole(text: &str, locale: Locale) -> Option<u32> {
    let number = locale.parse_number(text)?;
    if number.fract() != 0.0 {
        return None;
    }
    format!("{number:.0}").parse().ok()
}

/// The lines that hold something.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(name: &str, count: &str, publish: &str, rate: &str) -> Typed {
        Typed {
            name: name.to_owned(),
            count: count.to_owned(),
            publish: publish.to_owned(),
            subscribe: String::new(),
            may_create: true,
            retention: None,
            rate: rate.to_owned(),
        }
    }

    #[test]
    fn reads_what_a_person_types() {
        let typed = typed(" press ", "1.000", " press/# \n\n  hall/+\r\n", " 0 ");
        let wish = wish(&typed, Locale::German).unwrap();
        assert_eq!((wish.name.as_str(), wish.count, wish.rate_per_s), ("press", 1_000, Some(0)));
        assert_eq!(wish.publish, ["press/#", "hall/+"]);
    }

    #[test]
    fn tells_all_faults_at_once_each_at_its_place() {
        let places = |typed: &Typed| {
            let faults = wish(typed, Locale::English).err().unwrap_or_default();
            faults.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        let all = [Place::Name, Place::Count, Place::Publish, Place::Rate];
        assert_eq!(places(&typed(" ", "1.5", " \n ", "many")), all);
        assert_eq!(places(&typed("a", "1,001", "#", "")), [Place::Count]);
        assert_eq!(places(&typed("a", "0", "#", "-1")), [Place::Count, Place::Rate]);
        assert_eq!(places(&typed("a", "NaN", "#", "1e99")), [Place::Count, Place::Rate]);
        assert_eq!(places(&typed("a", "1", "#", "5,000")), []);
    }

    #[test]
    fn finds_the_place_that_the_appliance_names() {
        assert_eq!(Place::of("publish[12]"), Place::Publish);
        assert_eq!(Place::of("rate_per_s"), Place::Rate);
        assert_eq!(Place::of(""), Place::Whole);
        assert_eq!(Place::of("workspace"), Place::Whole);
    }
}
