//! Changes of an input that parsers trip over.
//!
//! **Invariants**: an input never grows beyond [`INPUT_BYTES_MAX`].

use crate::random::Random;

/// Largest input: enough for every length field, small enough for many rounds.
pub const INPUT_BYTES_MAX: usize = 16 * 1024;
/// Most changes of one input.
const CHANGES_MAX: usize = 6;

/// A changed copy of one of the corpus.
#[must_use]
pub fn mutated(corpus: &[Vec<u8>], words: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut input = entry(corpus, random).to_vec();
    for _ in 0..=random.below(CHANGES_MAX) {
        change(&mut input, corpus, words, random);
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

fn entry<'a>(corpus: &'a [Vec<u8>], random: &mut Random) -> &'a [u8] {
    corpus.get(random.below(corpus.len())).map_or(&[], Vec::as_slice)
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&[u8]], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(10) {
        0 => replace(input, at, 1, &[random.byte()]),
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => replace(input, at, 0, &[random.byte()]),
        3 => replace(input, at, 1 + random.below(4), &[]),
        4 => input.truncate(at),
        5 | 6 => {
            let word = random.pick(words).unwrap_or_default();
            let over = if random.below(2) == 0 { 0 } else { word.len() };
            replace(input, at, over, word);
        }
        7 => {
            // A piece again, once or many times: nesting, duplicate keys, long runs.
            let piece: Vec<u8> =
                input.iter().skip(at).take(1 + random.below(24)).copied().collect();
            let times_max = if random.below(8) == 0 { 200 } else { 2 };
            let times = 1 + random.below(times_max);
            replace(input, at, 0, &piece.repeat(times));
        }
        8 => {
            let other = entry(corpus, random);
            let from = random.below(other.len() + 1);
            let piece: Vec<u8> =
                other.iter().skip(from).take(1 + random.below(64)).copied().collect();
            replace(input, at, random.below(8), &piece);
        }
        _ => {
            // A length or count field.
            let number = random.bits() >> random.below(64);
            let width = 1 + random.below(8);
            let bytes = number.to_le_bytes();
            replace(input, at, width, bytes.get(..width).unwrap_or_default());
        }
    }
}

fn replace(input: &mut Vec<u8>, at: usize, length: usize, with: &[u8]) {
    let start = at.min(input.len());
    let end = start.saturating_add(length).min(input.len());
    if input.len() + with.len() <= INPUT_BYTES_MAX {
        drop(input.splice(start..end, with.iter().copied()));
    }
}
