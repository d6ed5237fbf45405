//! How well a text fits what is being typed.
//!
//! Better is: the whole word, its beginning, the beginning of a word in it, a part of it, its
//! letters in order. Everything typed must be found; words are looked for one by one.
//!
//! **Invariants**: what is typed is cut at [`QUERY_CHARACTERS_MAX`]; case does not count; nothing
//! typed fits everything equally.

/// Longest query that is looked at.
pub const QUERY_CHARACTERS_MAX: usize = 100;

/// What is typed, ready to be looked for.
#[derive(Clone, Debug)]
pub struct Query {
    words: Vec<String>,
}

impl Query {
    /// From what was typed.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text: String = text.chars().take(QUERY_CHARACTERS_MAX).collect();
        Self { words: text.split_whitespace().map(str::to_lowercase).collect() }
    }

    /// Whether nothing was typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well a text fits, more is better; `None` if it does not.
    #[must_use]
    pub fn score(&self, text: &str) -> Option<u32> {
        let text = text.to_lowercase();
        let scores = self.words.iter().map(|word| of_word(word, &text));
        scores.sum::<Option<u32>>()
    }

    /// The best score of several texts, each worth so many percent.
    #[must_use]
    pub fn best<'a>(&self, texts: impl IntoIterator<Item = (&'a str, u32)>) -> Option<u32> {
        let scored = texts
            .into_iter()
            .filter_map(|(text, percent)| Some(self.score(text)?.saturating_mul(percent) / 100));
        scored.max()
    }
}

fn of_word(word: &str, text: &str) -> Option<u32> {
    // A shorter text is closer to what is typed.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).min(99);
    if text == word {
        return Some(1_000);
    }
    if text.starts_with(word) {
        return Some(900 - length);
    }
    let starts_word = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_some_and(|letter| !letter.is_alphanumeric())
    };
    if text.match_indices(word).any(|(at, _)| starts_word(at)) {
        return Some(700 - length);
    }
    if text.contains(word) {
        return Some(500 - length);
    }
    // Letters in order mean something in a short text only, from the beginning of a word on.
    let begins = text.char_indices().map(|(at, _)| at).filter(|at| *at == 0 || starts_word(*at));
    let are_in_order = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let mut letters = rest.chars();
        word.chars().next() == rest.chars().next()
            && word.chars().all(|letter| letters.any(|of| of == letter))
    };
    let is_short = text.len() < 40;
    (is_short && begins.into_iter().any(are_in_order)).then(|| 200 - length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closer_texts_score_more() {
        let score = |query: &str, text: &str| Query::new(query).score(text).unwrap_or_default();
        let order = ["publish", "publish_batch", "uns.publish", "republished", "put_b_lish"];
        for (better, worse) in order.iter().zip(order.iter().skip(1)) {
            assert!(score("publish", better) > score("publish", worse), "{better} {worse}");
        }
        assert!(score("PUB uns", "uns.publish") > 0);
        assert_eq!(score("mqtt uns", "uns.publish"), 0);
        assert!(Query::new(" ").is_empty());
        assert_eq!(Query::new("").score("anything"), Some(0));
        assert_eq!(score(&"x".repeat(500), &"x".repeat(100)), 1_000, "cut at its limit");
    }
}
