//! A moment of fuzzing for every target, and the proof that the runner finds what is there.
//!
//! **Invariants**: the seeds are fixed, so that a failure here fails everywhere.

#[cfg(test)]
mod smoke {
    use millrace_fuzz::{Target, hunt, input_of, targets};
    use std::time::Duration;

    const SEED: u64 = 20_261_130;

    fn target(name: &str) -> &'static Target {
        targets::ALL.iter().find(|target| target.name == name).expect("a target of this name")
    }

    /// So long that each target sees thousands of inputs, so short that all fit a few seconds.
    fn withstands(name: &str, rounds_min: u64) {
        match hunt(target(name), SEED, Duration::from_millis(1_500)) {
            Ok(rounds) => assert!(rounds >= rounds_min, "{name}: only {rounds} rounds"),
            Err(finding) => panic!("{finding}"),
        }
    }

    #[test]
    fn payloads() {
        withstands("payload", 500);
    }

    #[test]
    fn records() {
        withstands("record", 500);
    }

    #[test]
    fn definitions() {
        withstands("definition", 500);
    }

    #[test]
    fn ledgers() {
        withstands("ledger", 500);
    }

    #[test]
    fn topics() {
        withstands("topic", 500);
    }

    #[test]
    fn packets() {
        withstands("codec_stream", 500);
    }

    #[test]
    fn connects() {
        withstands("codec_connect", 500);
    }

    #[test]
    fn damaged_journals() {
        withstands("journal", 20);
    }

    #[test]
    fn pipeline_documents() {
        withstands("document", 200);
    }

    #[test]
    fn expressions() {
        withstands("expression", 500);
    }

    #[test]
    fn json_data() {
        withstands("data", 500);
    }

    #[test]
    fn every_target_is_run_here() {
        let source = include_str!("main.rs");
        for target in &targets::ALL {
            assert!(source.contains(&format!("withstands(\"{}\"", target.name)), "{}", target.name);
        }
    }

    /// A parser of `[length][bytes]` with a bug: it trusts a length of 255.
    fn planted(input: &[u8]) -> Result<(), String> {
        let Some((&length, rest)) = input.split_first() else { return Ok(()) };
        if length == 255 {
            // What the fuzzers must find: reading past the end.
            return if rest[254] == 0 { Ok(()) } else { Err("read it".into()) };
        }
        Ok(())
    }

    fn two_frames() -> Vec<Vec<u8>> {
        vec![b"\x03abc".to_vec(), b"\x05hello".to_vec()]
    }

    const CANARY: Target =
        Target { name: "canary", corpus: two_frames, words: &[], check: planted };

    #[test]
    fn the_canary_is_found_made_small_and_found_again() {
        let finding = hunt(&CANARY, SEED, Duration::from_secs(5)).expect_err("a bug was planted");
        assert_eq!(finding.input, [255], "nothing but the length is needed");
        assert!(finding.what.starts_with("panicked: index out of bounds"), "{finding}");
        let round = finding.round.expect("the corpus is good");
        assert!(std::panic::catch_unwind(|| planted(&input_of(&CANARY, SEED, round))).is_err());
        let again = hunt(&CANARY, SEED, Duration::from_secs(5)).expect_err("the same one");
        assert_eq!(again, finding);
    }

    #[test]
    fn a_wrong_answer_is_a_finding_too() {
        fn refuses_a_word(input: &[u8]) -> Result<(), String> {
            let has_word = input.windows(4).any(|window| window == b"word");
            if has_word { Err("the word".into()) } else { Ok(()) }
        }
        let target = Target { words: &[b"word"], check: refuses_a_word, ..CANARY };
        let finding = hunt(&target, SEED, Duration::from_secs(5)).expect_err("the word comes up");
        assert_eq!((finding.input.as_slice(), finding.what.as_str()), (&b"word"[..], "the word"));
    }
}
