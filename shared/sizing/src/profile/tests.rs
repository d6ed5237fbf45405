//! The profiles that come along are good, and bad ones are refused with sentences.

use super::{BUILTIN, CostKey, PROFILE_FORMAT, Profile};

fn millrace() -> Profile {
    Profile::named("millrace").unwrap()
}

fn refused(text: &str, sentence: &str) {
    let problems = Profile::from_json(text).unwrap_err();
    let found = problems.iter().any(|one| one.to_string().contains(sentence));
    assert!(found, "no '{sentence}' in {problems:?}");
}

#[test]
fn what_comes_along_is_good_and_names_its_sources() {
    for name in BUILTIN {
        let profile = Profile::named(name).unwrap();
        assert_eq!(profile.name, name);
        assert_eq!(Profile::from_json(&profile.to_json()).unwrap(), profile);
        for key in CostKey::ALL {
            assert!(profile.source_of(key).len() > 10, "{name}: {}", key.name());
        }
    }
    assert_eq!(millrace().product_version, env!("CARGO_PKG_VERSION"), "measure it again");
}

#[test]
fn refuses_a_name_that_nobody_has_and_says_which_there_are() {
    let problems = Profile::named("fast").unwrap_err();
    assert!(problems[0].sentence.contains("no profile 'fast'; there are millrace and reference"));
}

#[test]
fn refuses_another_versions_profile_before_its_fields() {
    let mut profile = millrace();
    profile.format = PROFILE_FORMAT + 1;
    let text = profile.to_json().replace("\"costs\"", "\"figures\"");
    refused(&text, "has format 2; this version reads 1");
}

#[test]
fn refuses_a_figure_that_is_missing_or_cannot_be() {
    let mut profile = millrace();
    profile.costs.remove(&CostKey::RunUs);
    refused(&profile.to_json(), "profile.costs.run_us: It is missing");
    let mut profile = millrace();
    profile.costs.get_mut(&CostKey::RunUs).unwrap().value = Some(-1.0);
    refused(&profile.to_json(), "profile.costs.run_us: It is not a number");
    let mut profile = millrace();
    profile.costs.get_mut(&CostKey::ValueUs).unwrap().value = None;
    refused(&profile.to_json(), "Without the cost of a value");
    let mut profile = millrace();
    profile.costs.get_mut(&CostKey::RunUs).unwrap().source.clear();
    refused(&profile.to_json(), "has no source");
    let mut profile = millrace();
    profile.sizes.clear();
    refused(&profile.to_json(), "rising numbers of cores");
    refused("[]", "cannot be read");
    refused("{\"format\": 1, \"costs\": {\"speed\": 1}}", "unknown variant `speed`");
}
