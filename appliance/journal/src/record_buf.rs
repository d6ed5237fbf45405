//! Records on their way into a commit: `[length u32 LE][bytes]`, one after the other.
//!
//! A connection fills its own buffer without a lock, then hands it over with one copy.
//!
//! **Invariants**: every length is followed by that many bytes; clearing keeps the memory, so that
//! nothing is allocated in the steady state.

use crate::seq::Seq;

/// Bytes in front of each record.
pub(crate) const RECORD_HEAD_BYTES: usize = 4;

/// Records waiting to be appended.
#[derive(Debug, Default, Clone)]
pub struct RecordBuf {
    bytes: Vec<u8>,
    count: u32,
}

impl RecordBuf {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), count: 0 }
    }

    /// Adds the record that `encode` writes at the end of the vector it is given.
    ///
    /// # Panics
    /// If `encode` removes bytes instead of adding.
    pub fn push_with(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        let head = self.bytes.len();
        self.bytes.extend_from_slice(&[0; RECORD_HEAD_BYTES]);
        let start = self.bytes.len();
        encode(&mut self.bytes);
        // Records before this one would be damaged; no input can cause it, only a wrong caller.
        assert!(self.bytes.len() >= start, "an encoder only adds bytes");
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(head..start) {
            place.copy_from_slice(&length);
        }
        self.count += 1;
    }

    /// Adds one record.
    pub fn push(&mut self, record: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(record));
    }

    /// How many records.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// All bytes, framing included.
    #[must_use]
    pub const fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that it holds without asking for memory.
    #[must_use]
    pub const fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Whether there is no record.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes back all records behind the first `count`, which are `len_bytes` long together: what
    /// [`RecordBuf::count`] and [`RecordBuf::len_bytes`] gave before they were added. Does nothing
    /// if there are fewer.
    pub fn take_back_to(&mut self, count: u32, len_bytes: usize) {
        if count <= self.count && len_bytes <= self.bytes.len() {
            self.bytes.truncate(len_bytes);
            self.count = count;
        }
    }

    /// Forgets the records and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// The records in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        Records::new(Seq::ZERO, &self.bytes).map(|(_, record)| record)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The records of a frame's body, with their seqs. Ends early rather than read past the body.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    next: Seq,
    rest: &'a [u8],
}

impl<'a> Records<'a> {
    pub(crate) const fn new(first: Seq, body: &'a [u8]) -> Self {
        Self { next: first, rest: body }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (Seq, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.rest.split_first_chunk::<RECORD_HEAD_BYTES>()?;
        let length = usize::try_from(u32::from_le_bytes(*head)).ok()?;
        let (record, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        let seq = self.next;
        self.next = seq.next();
        Some((seq, record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_went_in() {
        let mut buf = RecordBuf::new();
        buf.push(b"one");
        buf.push(b"");
        buf.push_with(|bytes| bytes.extend_from_slice(b"three"));
        assert_eq!(buf.count(), 3);
        assert_eq!(buf.len_bytes(), 3 * RECORD_HEAD_BYTES + 8);
        assert_eq!(buf.iter().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
        buf.clear();
        assert!(buf.is_empty());
        assert_eq!(buf.iter().count(), 0);
    }
}
