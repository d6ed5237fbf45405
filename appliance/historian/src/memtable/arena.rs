//! Rows in slabs, and chains of chunks of them.
//!
//! Slabs hold 4,096 rows; a chunk lies within one slab and is 4 to 512 rows long, a power of two
//! that follows from how many rows its chain had before it. One link per 4 rows says where the
//! next chunk of the chain is (only the link of a chunk's first rows is used). Nothing is freed
//! one by one: `clear` begins again at the first slab.
//!
//! **Invariants**: a place (`u32`) is `slab * 4096 + row`; chunks are never moved.

use super::row::Row;

const SLAB_BITS: u32 = 12;
const SLAB_ROWS: u32 = 1 << SLAB_BITS;
const CHUNK_ROWS_MIN: u32 = 4;
const CHUNK_ROWS_MAX: u32 = 512;
const NONE: u32 = u32::MAX;

struct Slab {
    rows: Box<[Row]>,
    links: Box<[u32]>,
}

/// Rows of all tags.
pub(super) struct Arena {
    slabs: Vec<Slab>,
    /// The first row that no chunk has.
    next: u32,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self { slabs: Vec::new(), next: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.next = 0;
    }

    pub(super) fn bytes(&self) -> usize {
        self.next as usize * (size_of::<Row>() + size_of::<u32>() / 4)
    }

    fn allocate(&mut self, rows: u32) -> u32 {
        let room = SLAB_ROWS - self.next % SLAB_ROWS;
        let start = if rows > room { self.next + room } else { self.next };
        if (start >> SLAB_BITS) as usize >= self.slabs.len() {
            self.slabs.push(Slab {
                rows: vec![Row::default(); SLAB_ROWS as usize].into(),
                links: vec![NONE; (SLAB_ROWS / CHUNK_ROWS_MIN) as usize].into(),
            });
        }
        self.next = start + rows;
        start
    }

    #[inline]
    pub(super) fn row(&self, place: u32) -> Option<&Row> {
        let slab = self.slabs.get((place >> SLAB_BITS) as usize)?;
        slab.rows.get((place % SLAB_ROWS) as usize)
    }

    #[inline]
    fn row_mut(&mut self, place: u32) -> Option<&mut Row> {
        let slab = self.slabs.get_mut((place >> SLAB_BITS) as usize)?;
        slab.rows.get_mut((place % SLAB_ROWS) as usize)
    }

    fn rows(&self, place: u32, count: u32) -> &[Row] {
        let start = (place % SLAB_ROWS) as usize;
        let slab = self.slabs.get((place >> SLAB_BITS) as usize);
        slab.and_then(|slab| slab.rows.get(start..start + count as usize)).unwrap_or_default()
    }

    fn link(&self, chunk: u32) -> u32 {
        let slab = self.slabs.get((chunk >> SLAB_BITS) as usize);
        let place = (chunk % SLAB_ROWS / CHUNK_ROWS_MIN) as usize;
        slab.and_then(|slab| slab.links.get(place)).copied().unwrap_or(NONE)
    }

    fn set_link(&mut self, chunk: u32, next: u32) {
        let slab = self.slabs.get_mut((chunk >> SLAB_BITS) as usize);
        let place = (chunk % SLAB_ROWS / CHUNK_ROWS_MIN) as usize;
        if let Some(link) = slab.and_then(|slab| slab.links.get_mut(place)) {
            *link = next;
        }
    }
}

/// Rows in the order in which they were pushed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
    used: u32,
    room: u32,
    count: u32,
}

/// Rows of the chunk that follows `count` rows.
fn chunk_rows(count: u32) -> u32 {
    let quarter = (count / 4).clamp(CHUNK_ROWS_MIN, CHUNK_ROWS_MAX);
    1 << (u32::BITS - 1 - quarter.leading_zeros())
}

impl Chain {
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Appends a row; answers its place.
    #[inline]
    pub(super) fn push(&mut self, arena: &mut Arena, row: Row) -> u32 {
        if self.used == self.room {
            let rows = chunk_rows(self.count);
            let chunk = arena.allocate(rows);
            if self.count == 0 {
                self.head = chunk;
            } else {
                arena.set_link(self.tail, chunk);
            }
            self.tail = chunk;
            self.used = 0;
            self.room = rows;
        }
        let place = self.tail + self.used;
        if let Some(target) = arena.row_mut(place) {
            *target = row;
        }
        self.used += 1;
        self.count += 1;
        place
    }

    pub(super) fn walk<'a>(&'a self, arena: &'a Arena) -> impl Iterator<Item = &'a [Row]> {
        let mut walk = Walk::default();
        std::iter::from_fn(move || walk.next(self, arena))
    }
}

/// How far a chain has been read; survives appends.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    chunk: u32,
    seen: u32,
}

impl Walk {
    pub(super) fn next<'a>(&mut self, chain: &Chain, arena: &'a Arena) -> Option<&'a [Row]> {
        if self.seen >= chain.count {
            return None;
        }
        if self.seen == 0 {
            self.chunk = chain.head;
        }
        let size = chunk_rows(self.seen);
        let rows = arena.rows(self.chunk, size.min(chain.count - self.seen));
        if rows.is_empty() {
            return None;
        }
        self.seen += size;
        self.chunk = arena.link(self.chunk);
        Some(rows)
    }
}
