//! Texts of the memtable in slabs.
//!
//! A place (`u64`) is `slab << 32 | byte`; there lie the length as 4 bytes and then the text. A
//! text that does not fit the rest of the last slab begins the next one; one that is larger than
//! a slab gets its own, which `clear` gives back.
//!
//! **Invariants**: a text is whole within one slab and was a `str`.

const SLAB_BYTES: usize = 1 << 20;
const LENGTH_BYTES: usize = 4;

/// Texts of all tags.
pub(super) struct Texts {
    slabs: Vec<Vec<u8>>,
    /// The slab that is being filled.
    current: usize,
    bytes: usize,
    last: u64,
}

impl Texts {
    pub(super) fn new() -> Self {
        Self { slabs: Vec::new(), current: 0, bytes: 0, last: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.slabs.retain(|slab| slab.capacity() <= SLAB_BYTES);
        self.slabs.iter_mut().for_each(Vec::clear);
        self.current = 0;
        self.bytes = 0;
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The place that was given last.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn push(&mut self, text: &str) -> u64 {
        let needed = LENGTH_BYTES + text.len();
        loop {
            match self.slabs.get_mut(self.current) {
                Some(slab) if slab.len() + needed <= slab.capacity() => {
                    let place = (self.current as u64) << 32 | slab.len() as u64;
                    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    slab.extend_from_slice(&length.to_le_bytes());
                    slab.extend_from_slice(text.as_bytes());
                    self.bytes += needed;
                    self.last = place;
                    return place;
                }
                // A slab kept from before may be too small for a large text.
                Some(slab) if slab.is_empty() => *slab = Vec::with_capacity(needed),
                Some(slab) => {
                    self.bytes += slab.capacity() - slab.len();
                    self.current += 1;
                }
                None => self.slabs.push(Vec::with_capacity(needed.max(SLAB_BYTES))),
            }
        }
    }

    pub(super) fn get(&self, place: u64) -> &str {
        let start = (place & u64::from(u32::MAX)) as usize;
        let slab = self.slabs.get((place >> 32) as usize);
        slab.and_then(|slab| slab.get(start..))
            .and_then(|rest| rest.split_first_chunk::<LENGTH_BYTES>())
            .and_then(|(length, rest)| rest.get(..u32::from_le_bytes(*length) as usize))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}
