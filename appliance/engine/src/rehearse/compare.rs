//! Two rehearsals over the same triggers, side by side.
//!
//! **Invariants**: outputs are compared trigger by trigger, so that one that is missing does not
//! make all later ones differ.

use super::{Output, OutputForm};

/// A trigger after which two revisions did different things.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Number of the trigger that was fed.
    pub run: usize,
    /// What only the first did.
    pub removed: Vec<Output>,
    /// What only the second did.
    pub added: Vec<Output>,
}

/// Compares what two rehearsals did; log lines and step names do not count. Gives at most `most`
/// differences, and how many there are.
#[must_use]
pub fn differences(before: &[Output], after: &[Output], most: usize) -> (Vec<Difference>, usize) {
    let mut before: Vec<&Output> = before.iter().filter(|output| counts(output)).collect();
    let mut after: Vec<&Output> = after.iter().filter(|output| counts(output)).collect();
    before.sort_by_key(|output| output.run);
    after.sort_by_key(|output| output.run);
    let (mut found, mut count) = (Vec::new(), 0);
    let (mut before, mut after) = (before.as_slice(), after.as_slice());
    while let Some(run) = next_run(before, after) {
        let old = take_run(&mut before, run);
        let new = take_run(&mut after, run);
        let removed = without(old, new);
        let added = without(new, old);
        if removed.is_empty() && added.is_empty() {
            continue;
        }
        count += 1;
        if found.len() < most {
            found.push(Difference { run, removed, added });
        }
    }
    (found, count)
}

fn counts(output: &Output) -> bool {
    !matches!(output.form, OutputForm::Log { .. })
}

fn next_run(before: &[&Output], after: &[&Output]) -> Option<usize> {
    let first = |list: &[&Output]| list.first().map(|output| output.run);
    match (first(before), first(after)) {
        (Some(before), Some(after)) => Some(before.min(after)),
        (before, after) => before.or(after),
    }
}

fn take_run<'a, 'b>(list: &mut &'b [&'a Output], run: usize) -> &'b [&'a Output] {
    let count = list.iter().take_while(|output| output.run == run).count();
    let (own, rest) = list.split_at_checked(count).unwrap_or((list, &[]));
    *list = rest;
    own
}

fn without(list: &[&Output], other: &[&Output]) -> Vec<Output> {
    let mut other: Vec<&OutputForm> = other.iter().map(|output| &output.form).collect();
    let mut rest = Vec::new();
    for output in list {
        match other.iter().position(|form| **form == output.form) {
            Some(place) => drop(other.swap_remove(place)),
            None => rest.push((*output).clone()),
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_flow::Data;

    fn output(run: usize, value: i64) -> Output {
        let form = OutputForm::Call { fields: Data::Int(value) };
        Output { run, step: "a".into(), form }
    }

    #[test]
    fn one_missing_output_is_one_difference() {
        let before = [output(0, 1), output(1, 2), output(2, 3)];
        let after = [output(0, 1), output(2, 3), output(2, 4)];
        let (found, count) = differences(&before, &after, 10);
        assert_eq!(count, 2);
        assert_eq!((found[0].run, &found[0].removed[..]), (1, &before[1..2]));
        assert_eq!((found[1].run, &found[1].added[..]), (2, &after[2..]));
        assert_eq!(differences(&before, &after, 1).0.len(), 1);
    }
}
