//! What a client may do, in sentences.
//!
//! **Invariants**
//! - Every permission of the contract has its sentence; a filter is shown as it is inside of it.

use crate::locale::Locale;
use crate::words::{Message, access, fill};
use millrace_contract::v1;

/// The sentences about a client.
pub(super) fn sentences(client: &v1::Client, locale: Locale) -> Vec<String> {
    let say = |message: Message| message.in_locale(locale).to_owned();
    let what = |filters: &[String], none: Message, some: Message| {
        let each = filters.iter().map(|filter| in_words(filter, &client.workspace, locale));
        let and = access::AND.in_locale(locale);
        match each.reduce(|a, b| fill(and, &[("a", &a), ("b", &b)])) {
            None => say(none),
            Some(what) => fill(some.in_locale(locale), &[("what", &what)]),
        }
    };
    let mut all = vec![
        what(&client.publish, access::PUBLISH_NONE, access::PUBLISH_WHAT),
        what(&client.subscribe, access::SUBSCRIBE_NONE, access::SUBSCRIBE_WHAT),
    ];
    // The rest is about publishing.
    if client.publish.is_empty() {
        return all;
    }
    all.push(say(if client.may_create { access::MAY_CREATE } else { access::MAY_NOT_CREATE }));
    if client.may_create {
        all.push(match client.retention {
            None => say(access::KEEPS_DEFAULT),
            Some(class) => {
                let time = retention_name(class).in_locale(locale);
                fill(access::KEEPS.in_locale(locale), &[("time", time)])
            }
        });
    }
    all.push(match client.rate_per_s {
        None => say(access::RATE_DEFAULT),
        Some(0) => say(access::RATE_NONE),
        Some(rate) => {
            let rate = locale.integer(rate.into());
            fill(access::RATE_SOME.in_locale(locale), &[("n", &rate)])
        }
    });
    all
}

/// How long a retention class keeps.
pub(super) fn retention_name(class: v1::Retention) -> Message {
    match class {
        v1::Retention::Days1 => access::DAYS_1,
        v1::Retention::Days7 => access::DAYS_7,
        v1::Retention::Days14 => access::DAYS_14,
        v1::Retention::Days32 => access::DAYS_32,
        v1::Retention::Keep => access::FOREVER,
    }
}

/// A topic filter for somebody who does not know its signs.
fn in_words(filter: &str, workspace: &str, locale: Locale) -> String {
    if filter == "#" {
        return fill(access::FILTER_ALL.in_locale(locale), &[("workspace", workspace)]);
    }
    let text = match filter.strip_suffix("/#") {
        None => filter.to_owned(),
        Some(path) => fill(access::FILTER_BELOW.in_locale(locale), &[("path", path)]),
    };
    match filter.contains('+') {
        false => text,
        true => fill(access::FILTER_ANY.in_locale(locale), &[("path", &text)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(publish: &[&str], subscribe: &[&str]) -> v1::Client {
        let texts = |filters: &[&str]| filters.iter().map(|&text| text.to_owned()).collect();
        v1::Client {
            id: "press-4".to_owned(),
            name: "Press 4".to_owned(),
            workspace: "main".to_owned(),
            publish: texts(publish),
            subscribe: texts(subscribe),
            may_create: true,
            retention: Some(v1::Retention::Days7),
            rate_per_s: Some(2_000),
            created: String::new(),
            revoked: None,
        }
    }

    #[test]
    fn says_what_a_device_may_do() {
        let client = client(&["press-4/#", "hall/+/temperature"], &[]);
        let expected = [
            "May publish press-4 and everything below it; hall/+/temperature, with any one level \
             in the place of each +.",
            "May not subscribe or query.",
            "Its first value on a new path creates the topic.",
            "What it creates is kept 7 days.",
            "It may write 2,000 values a second; more are refused.",
        ];
        assert_eq!(sentences(&client, Locale::English), expected);
    }

    #[test]
    fn a_reader_has_no_sentences_about_writing() {
        let client = client(&[], &["#", "a/+/#"]);
        let expected = [
            "Darf nichts schreiben.",
            "Darf abonnieren und abfragen: alles im Arbeitsbereich main; a/+ und alles darunter, \
             mit irgendeiner Ebene an der Stelle jedes +.",
        ];
        assert_eq!(sentences(&client, Locale::German), expected);
    }

    #[test]
    fn settings_of_the_appliance_are_named_as_such() {
        let mut client = client(&["#"], &[]);
        (client.retention, client.rate_per_s) = (None, None);
        let all = sentences(&client, Locale::English);
        assert!(all.contains(&access::KEEPS_DEFAULT.en.to_owned()));
        assert!(all.contains(&access::RATE_DEFAULT.en.to_owned()));
        (client.may_create, client.rate_per_s) = (false, Some(0));
        let all = sentences(&client, Locale::English);
        assert!(!all.contains(&access::KEEPS_DEFAULT.en.to_owned()), "it creates nothing");
        assert!(all.contains(&access::RATE_NONE.en.to_owned()));
    }
}
