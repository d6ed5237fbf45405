//! The profiles that come with the crate, as their files in `profiles/` say.

const MILLRACE: &str = include_str!("../../profiles/millrace.json");
const REFERENCE: &str = include_str!("../../profiles/reference.json");

/// The JSON of a profile.
pub(super) fn text(name: &str) -> Option<&'static str> {
    match name {
        "millrace" => Some(MILLRACE),
        "reference" => Some(REFERENCE),
        _ => None,
    }
}
