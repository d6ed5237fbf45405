//! The two rules about a step's input and output, and setting fields by names with dots.
//!
//! **Invariants**: the input is never changed; what it shares with the output stays shared.

use super::{Data, Map};
use std::sync::Arc;

/// The field that holds an input's own value.
pub const OWN_VALUE: &str = "value";
/// Most names with dots between.
const NAMES_MAX: usize = 32;

impl Data {
    /// The input's own value: its field `value` if it is an object with one, else all of it.
    #[must_use]
    pub fn own_value(&self) -> &Self {
        match self {
            Self::Map(map) => map.get(OWN_VALUE).unwrap_or(self),
            _ => self,
        }
    }

    /// The output of a step that computed `result` from this input. With `into`, the input with
    /// that field set; else, if the step worked on the input's own value, the input with that
    /// replaced; else the result alone.
    #[must_use]
    pub fn with_result(&self, into: Option<&str>, is_value_given: bool, result: Self) -> Self {
        match into {
            Some(into) => self.with_field(into, result),
            None if is_value_given => result,
            None => match self {
                Self::Map(map) if map.get(OWN_VALUE).is_some() => {
                    self.with_field(OWN_VALUE, result)
                }
                _ => result,
            },
        }
    }

    /// A copy with a field set, by its name or names with dots between. What is no object on the
    /// way becomes one; an input that is none itself is kept as the field `value` (if it is there
    /// at all). Setting [`Data::Missing`] removes the field.
    #[must_use]
    pub fn with_field(&self, names: &str, data: Self) -> Self {
        let mut map = match self {
            Self::Map(map) => (**map).clone(),
            Self::Missing => Map::new(),
            other => std::iter::once((OWN_VALUE, other.clone())).collect(),
        };
        set_field(&mut map, names, data, NAMES_MAX);
        map.into()
    }
}

fn set_field(map: &mut Map, names: &str, data: Data, names_left: usize) {
    match names.split_once('.').filter(|_| names_left > 1) {
        Some((name, rest)) => {
            let mut inner = match map.get(name) {
                Some(Data::Map(inner)) => (**inner).clone(),
                _ if data.is_missing() => return,
                _ => Map::new(),
            };
            set_field(&mut inner, rest, data, names_left - 1);
            map.set(name, Data::Map(Arc::new(inner)));
        }
        None if data.is_missing() => drop(map.remove(names)),
        None => map.set(names, data),
    }
}
