//! Named fields in the order in which they were set.
//!
//! Few fields are searched one by one, which is fastest; from [`INDEXED_FROM`] on an index is kept,
//! so that no JSON text makes a map slow.
//!
//! **Invariants**: a name is there once; the index, if there is one, has every field's place.

use super::Data;
use std::collections::HashMap;
use std::sync::Arc;

/// From so many fields on there is an index.
const INDEXED_FROM: usize = 24;

/// Named fields in the order in which they were set; a name is there once.
///
/// Two maps are equal if they have the same fields, in whatever order.
#[derive(Clone, Debug, Default)]
pub struct Map {
    fields: Vec<(Arc<str>, Data)>,
    index: Option<HashMap<Arc<str>, usize>>,
}

impl Map {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { fields: Vec::new(), index: None }
    }

    /// An empty map with room.
    #[must_use]
    pub fn with_capacity(fields: usize) -> Self {
        Self { fields: Vec::with_capacity(fields), index: None }
    }

    fn place(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.fields.iter().position(|(known, _)| &**known == name),
        }
    }

    /// The field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Data> {
        self.fields.get(self.place(name)?).map(|(_, data)| data)
    }

    /// Sets a field; a known one keeps its place.
    pub fn set(&mut self, name: impl Into<Arc<str>>, data: Data) {
        let name = name.into();
        if let Some((_, place)) = self.place(&name).and_then(|at| self.fields.get_mut(at)) {
            *place = data;
            return;
        }
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&name), self.fields.len());
        }
        self.fields.push((name, data));
        if self.index.is_none() && self.fields.len() >= INDEXED_FROM {
            self.rebuild_index();
        }
    }

    /// Takes a field out.
    pub fn remove(&mut self, name: &str) -> Option<Data> {
        let at = self.place(name)?;
        let (_, data) = self.fields.remove(at);
        if self.index.is_some() {
            self.rebuild_index();
        }
        Some(data)
    }

    fn rebuild_index(&mut self) {
        let places = self.fields.iter().enumerate().map(|(at, (name, _))| (Arc::clone(name), at));
        self.index = (self.fields.len() >= INDEXED_FROM).then(|| places.collect());
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

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(name, data)| other.get(name).is_some_and(|same| same == data))
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Data)> for Map {
    fn from_iter<I: IntoIterator<Item = (N, Data)>>(fields: I) -> Self {
        let mut map = Self::new();
        for (name, data) in fields {
            map.set(name, data);
        }
        map
    }
}
