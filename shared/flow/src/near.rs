//! What was meant: the known word that is nearest to one that is not known.
//!
//! A word is near when few letters differ (a third of them at most), or when one holds the other:
//! `subscribe` means `uns.subscribe`, `script` means `javascript`.
//!
//! **Invariants**: bounded by [`WORD_BYTES_MAX`]; a word that is like nothing gives nothing, since a
//! wild guess is worse than none.

/// Longest word that is compared, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// Shortest word that is looked for within others.
const PART_BYTES_MIN: usize = 4;

/// The nearest of the known words, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.len() > WORD_BYTES_MAX {
        return None;
    }
    let plain = plain(word);
    let most = (plain.len() / 3).max(1);
    let rank = |known: &'a str| {
        let other = self::plain(known);
        let distance = distance(&plain, &other);
        if distance <= most && distance < other.len() {
            return Some((distance, known));
        }
        let (short, long) =
            if plain.len() < other.len() { (&plain, &other) } else { (&other, &plain) };
        let is_part = short.len() >= PART_BYTES_MIN && contains(long, short);
        // Behind all that are near by their letters; the least that is left over counts.
        is_part.then(|| (WORD_BYTES_MAX + long.len() - short.len(), known))
    };
    known.into_iter().filter(|known| known.len() <= WORD_BYTES_MAX).filter_map(rank).min()?.1.into()
}

/// The hint in a message: `; did you mean `x`?`, or nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The same, with all words where none is near.
pub(crate) fn meant_or_all<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// The letters and digits that count, in lower case.
fn plain(word: &str) -> Vec<char> {
    word.chars().filter(|mark| mark.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn contains(long: &[char], short: &[char]) -> bool {
    long.windows(short.len().max(1)).any(|part| part == short)
}

/// How many letters differ; two that have changed places count once.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, mark) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX);
            let swapped = row > 0
                && column > 0
                && one.get(row - 1) == Some(against)
                && other.get(column - 1) == Some(mark);
            let replaced = at(&last, column) + usize::from(mark != against);
            let least = replaced.min(at(&last, column + 1) + 1).min(at(&next, column) + 1);
            next.push(if swapped { least.min(at(&before, column - 1) + 1) } else { least });
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_was_probably_meant_and_guesses_nothing_else() {
        let kinds = || crate::kind::ALL.iter().map(|kind| kind.name);
        let check = |word, meant| assert_eq!(nearest(word, kinds()), meant, "{word}");
        check("uns.publihs", Some("uns.publish"));
        check("uns.subscrib", Some("uns.subscribe"));
        check("subscribe", Some("uns.subscribe"));
        check("publish", Some("uns.publish"));
        check("script", Some("javascript"));
        check("java_script", Some("javascript"));
        check("JSON.parse", Some("json.parse"));
        check("http-request", Some("http.request"));
        check("fliter", Some("filter"));
        check("email", Some("mail"));
        check("units", Some("unit"));
        check("teleport", None);
        check("x", None);
        check("", None);
        check(&"uns.publish".repeat(1_000), None);
        assert_eq!(did_you_mean("fliter", kinds()), "; did you mean `filter`?");
        assert_eq!(did_you_mean("teleport", kinds()), "");
        assert_eq!(meant_or_all("lable", ["kind", "label"]), "; did you mean `label`?");
        assert_eq!(meant_or_all("color", ["kind", "label"]), "; there are: kind, label");
    }
}
