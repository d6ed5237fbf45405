//! The last value of a tag.
//!
//! A scalar is held here whole. A text lies in the memtable that took it and is copied here when
//! that memtable becomes a part, unless it is long: then the parts answer.
//!
//! **Invariants**: replacing a scalar by a scalar allocates nothing.

use crate::memtable::Memtable;
use crate::sample::Item;
use millrace_model::{Kind, SampleRecord};

/// Where the text of a last value is.
#[derive(Clone, Debug)]
pub(crate) enum LastText {
    /// In the memtable of this generation, at `bits`.
    In(u64),
    /// Here.
    Here(Box<str>),
    /// Too long to be held.
    InParts,
}

/// The last value of a tag.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) time: i64,
    receive: i64,
    pub(crate) bits: u64,
    pub(crate) seq: u64,
    quality: u32,
    pub(crate) kind: Kind,
    has_source_time: bool,
    pub(crate) text: LastText,
}

impl Last {
    #[inline]
    pub(crate) fn new(seq: u64, sample: &SampleRecord<'_>, text: LastText) -> Self {
        Self {
            time: sample.source_time.0,
            receive: sample.receive_time.0,
            bits: sample.value.bits(),
            seq,
            quality: sample.quality.0,
            kind: sample.value.kind(),
            has_source_time: sample.has_source_time,
            text,
        }
    }

    #[inline]
    pub(crate) fn replace(&mut self, seq: u64, sample: &SampleRecord<'_>, text: LastText) {
        *self = Self::new(seq, sample, text);
    }

    /// A last value found in a part.
    pub(crate) fn from_item(item: &Item) -> Self {
        Self {
            time: item.time,
            receive: item.receive,
            bits: item.bits,
            seq: item.seq,
            quality: item.quality,
            kind: item.kind,
            has_source_time: item.has_source_time,
            text: match &item.text {
                Some(text) if text.len() > crate::config::LAST_TEXT_BYTES_MAX => LastText::InParts,
                Some(text) => LastText::Here(text.clone()),
                None => LastText::Here(Box::default()),
            },
        }
    }

    /// Whole, if its text can be had without reading a part.
    pub(crate) fn item(&self, active: &Memtable, sealing: Option<&Memtable>) -> Option<Item> {
        let text = if self.kind.is_scalar() {
            None
        } else {
            Some(match &self.text {
                LastText::Here(text) => text.clone(),
                LastText::InParts => return None,
                LastText::In(generation) => {
                    let table = [Some(active), sealing]
                        .into_iter()
                        .flatten()
                        .find(|table| table.generation == *generation)?;
                    table.text(self.kind, self.bits).into()
                }
            })
        };
        Some(Item {
            time: self.time,
            seq: self.seq,
            rank: u64::MAX,
            receive: self.receive,
            bits: if self.kind.is_scalar() { self.bits } else { 0 },
            quality: self.quality,
            kind: self.kind,
            has_source_time: self.has_source_time,
            text,
        })
    }
}
