//! Data: what flows between the steps of a pipeline.
//!
//! Like JSON, but integers hold all 64 bits and a float may be NaN or infinite; a clone is a
//! pointer. What is missing is [`Data::Missing`], as `undefined` is in scripts: it is told apart
//! from null and never written out.

use std::sync::Arc;

/// One datum. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Data {
    /// Nothing is there: JavaScript's `undefined`.
    #[default]
    Missing,
    /// JSON's null.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer above `i64::MAX`.
    UInt(u64),
    /// A double.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Data]>),
    /// Named fields, in the order in which they were set.
    Map(Arc<Map>),
}

/// Named fields in the order in which they were set; a name is there once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    fields: Vec<(Arc<str>, Data)>,
}

impl Map {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { fields: Vec::new() }
    }

    /// The field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Data> {
        self.fields.iter().find(|(known, _)| &**known == name).map(|(_, data)| data)
    }

    /// Sets a field; a known one keeps its place.
    pub fn set(&mut self, name: impl Into<Arc<str>>, data: Data) {
        let name = name.into();
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = data,
            None => self.fields.push((name, data)),
        }
    }

    /// Takes a field out.
    pub fn remove(&mut self, name: &str) -> Option<Data> {
        let at = self.fields.iter().position(|(known, _)| &**known == name)?;
        Some(self.fields.remove(at).1)
    }

    /// All fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Data)> {
        self.fields.iter().map(|(name, data)| (name, data))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}
