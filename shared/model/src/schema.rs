//! What a tag's values must look like.

use crate::value::{Kind, ValueRef};
use serde::{Deserialize, Serialize};

/// Limits on a tag's values. An empty schema takes anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schema {
    /// The kinds that are taken; empty = all. A float tag also takes integers.
    pub kinds: Vec<Kind>,
    /// The smallest number that is taken.
    pub min: Option<f64>,
    /// The largest number that is taken.
    pub max: Option<f64>,
    /// The texts that are taken; empty = all.
    pub choices: Vec<String>,
    /// Strict refuses what does not fit; soft stores it with Uncertain quality.
    pub strict: bool,
}

/// How a value fails its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The kind is not one of [`Schema::kinds`].
    Kind,
    /// The number lies outside of min..=max, or is NaN where a range is set.
    Range,
    /// The text is none of [`Schema::choices`].
    Choice,
}

impl Schema {
    /// Holds a value against the schema.
    ///
    /// # Errors
    /// The first way in which the value does not fit.
    pub fn check(&self, value: ValueRef<'_>) -> Result<(), Mismatch> {
        let kind = value.kind();
        if !self.kinds.is_empty() && kind != Kind::Null {
            let widened =
                matches!(kind, Kind::Int | Kind::UInt) && self.kinds.contains(&Kind::Float);
            if !widened && !self.kinds.contains(&kind) {
                return Err(Mismatch::Kind);
            }
        }
        if let Some(number) = value.as_f64()
            && kind != Kind::Bool
        {
            // Written so that NaN fails a set bound.
            let above = self.min.is_none_or(|min| number >= min);
            let below = self.max.is_none_or(|max| number <= max);
            if !(above && below) {
                return Err(Mismatch::Range);
            }
        }
        if !self.choices.is_empty()
            && let ValueRef::Text(text) = value
            && !self.choices.iter().any(|choice| choice == text)
        {
            return Err(Mismatch::Choice);
        }
        Ok(())
    }
}
