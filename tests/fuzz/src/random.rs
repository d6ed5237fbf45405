//! A small generator of random numbers that is the same everywhere (xorshift64*).
//!
//! **Invariants**: the state is never 0.

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for one round; rounds of one seed have nothing to do with one another.
    #[must_use]
    pub fn new(seed: u64, round: u64) -> Self {
        // The mix of SplitMix64, so that neighboring rounds start far apart.
        let mut state = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((state ^ (state >> 31)) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let number = (self.bits() >> 11).checked_rem(limit).unwrap_or(0);
        usize::try_from(number).unwrap_or(0)
    }

    /// A byte, often one at which parsers differ.
    pub fn byte(&mut self) -> u8 {
        const BORDERS: [u8; 10] = [0, 1, 0x1f, 0x20, 0x7f, 0x80, 0xbf, 0xc0, 0xfe, 0xff];
        match self.below(3) {
            0 => BORDERS.get(self.below(BORDERS.len())).copied().unwrap_or(0),
            1 => b' ' + u8::try_from(self.below(95)).unwrap_or(0),
            _ => self.bits().to_le_bytes()[7],
        }
    }

    /// One of some things.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &'a [&'a T]) -> Option<&'a T> {
        from.get(self.below(from.len())).copied()
    }
}
