//! Places in a document: `steps.scale.retry.times`, `cases[1].when`.
//!
//! **Invariants**: the first two keys of a place in a step are `steps` and the step's id, whatever
//! marks the id holds.

use std::fmt;

/// A way from the whole document down to one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    Item(usize),
}

impl Place {
    /// The place of a key in this one.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut place = self.clone();
        place.push_key(key);
        place
    }

    /// The place of an item in this one, from 0.
    #[must_use]
    pub(crate) fn item(&self, item: usize) -> Self {
        let mut place = self.clone();
        place.push_item(item);
        place
    }

    /// Goes into a key.
    pub(crate) fn push_key(&mut self, key: &str) {
        self.0.push(Part::Key(key.to_owned()));
    }

    /// Goes into an item.
    pub(crate) fn push_item(&mut self, item: usize) {
        self.0.push(Part::Item(item));
    }

    /// The step that it lies in.
    pub(crate) fn step(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Key(steps), Part::Key(id), ..] if steps == "steps" => Some(id),
            _ => None,
        }
    }

    /// The field: of the step if it lies in one, without the word `fields`; else of the document.
    pub(crate) fn field(&self) -> Option<String> {
        let rest = match (self.step(), self.0.as_slice()) {
            (Some(_), [_, _, Part::Key(fields), rest @ ..])
                if fields == "fields" && !rest.is_empty() =>
            {
                rest
            }
            (Some(_), [_, _, rest @ ..]) => rest,
            (_, all) => all,
        };
        (!rest.is_empty()).then(|| Self(rest.to_vec()).to_string())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            match part {
                Part::Key(key) if number == 0 => f.write_str(key)?,
                Part::Key(key) => write!(f, ".{key}")?,
                Part::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_as_step_and_field() {
        let check = |place: &Place, step: Option<&str>, field: Option<&str>| {
            assert_eq!((place.step(), place.field().as_deref()), (step, field), "{place}");
        };
        let step = Place::default().key("steps").key("a.b");
        check(&Place::default(), None, None);
        check(&Place::default().key("cases").item(1).key("when"), None, Some("cases[1].when"));
        check(&step, Some("a.b"), None);
        check(&step.key("retry").key("times"), Some("a.b"), Some("retry.times"));
        check(&step.key("fields"), Some("a.b"), Some("fields"));
        check(&step.key("fields").key("test"), Some("a.b"), Some("test"));
        assert_eq!(step.key("retry").to_string(), "steps.a.b.retry");
    }
}
