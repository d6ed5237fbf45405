//! Searching in what is loaded: each word of the search must stand somewhere.
//!
//! **Invariants**
//! - Upper and lower case are the same; an empty search finds all.

/// Whether all words of the search stand in one of the texts each.
pub(super) fn fits(search: &str, texts: &[&str]) -> bool {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    let search = search.to_lowercase();
    let mut words = search.split_whitespace();
    words.all(|word| texts.iter().any(|text| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn every_word_must_stand_somewhere() {
        let texts = ["press-4", "Presse Halle Süd"];
        for search in ["", "  ", "PRESS", "halle press-4", "süd"] {
            assert!(fits(search, &texts), "{search}");
        }
        for search in ["press-5", "halle nord"] {
            assert!(!fits(search, &texts), "{search}");
        }
    }
}
