//! The primitives of the wire: integers, strings, binary data, variable byte integers.
//!
//! **Invariants**: a [`Reader`] never reads beyond its bytes; what is cut off is a malformed
//! packet. A string is UTF-8 without U+0000 (MQTT 5.0, 1.5.4).

use super::Fault;

/// Largest value of a variable byte integer.
pub const VARIABLE_MAX: u32 = 268_435_455;

/// A position in the bytes of one packet.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the front of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything is read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What is not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Fault> {
        let (&first, rest) =
            self.rest.split_first().ok_or_else(|| Fault::malformed("the packet is cut off"))?;
        self.rest = rest;
        Ok(first)
    }

    /// Two bytes, big end first.
    #[inline]
    pub fn two(&mut self) -> Result<u16, Fault> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<2>()
            .ok_or_else(|| Fault::malformed("the packet is cut off"))?;
        self.rest = rest;
        Ok(u16::from_be_bytes(*head))
    }

    /// Four bytes, big end first.
    #[inline]
    pub fn four(&mut self) -> Result<u32, Fault> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<4>()
            .ok_or_else(|| Fault::malformed("the packet is cut off"))?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*head))
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| Fault::malformed("the packet is cut off"))?;
        self.rest = rest;
        Ok(head)
    }

    /// Binary data: a length of two bytes, then the bytes.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.two()?;
        self.take(usize::from(count))
    }

    /// A string: a length of two bytes, then UTF-8 without U+0000.
    #[inline]
    pub fn string(&mut self) -> Result<&'a str, Fault> {
        let bytes = self.binary()?;
        let text =
            std::str::from_utf8(bytes).map_err(|_| Fault::malformed("a string is not UTF-8"))?;
        // No early exit, so that the compiler can look at many bytes at once.
        if bytes.iter().fold(false, |found, &byte| found | (byte == 0)) {
            return Err(Fault::malformed("a string holds U+0000"));
        }
        Ok(text)
    }

    /// A variable byte integer in its shortest form.
    #[inline]
    pub fn variable(&mut self) -> Result<u32, Fault> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(Fault::malformed("a length is not in its shortest form"));
                }
                return Ok(value);
            }
        }
        Err(Fault::malformed("a length has more than four bytes"))
    }
}

/// Appends a variable byte integer; above [`VARIABLE_MAX`] it is cut to that.
pub fn put_variable(out: &mut Vec<u8>, value: usize) {
    let mut rest = u32::try_from(value).unwrap_or(VARIABLE_MAX).min(VARIABLE_MAX);
    loop {
        let low = u8::try_from(rest & 0x7f).unwrap_or(0x7f);
        rest >>= 7;
        if rest == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// How many bytes a variable byte integer takes.
#[must_use]
pub fn variable_bytes(value: usize) -> usize {
    match value {
        0..=127 => 1,
        128..=16_383 => 2,
        16_384..=2_097_151 => 3,
        _ => 4,
    }
}

/// Appends binary data with its length; longer than 65,535 bytes it is cut to that.
pub fn put_binary(out: &mut Vec<u8>, bytes: &[u8]) {
    let count = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    out.extend(bytes.iter().take(usize::from(count)));
}

/// Appends a string with its length, cut at a character so that it fits.
pub fn put_string(out: &mut Vec<u8>, text: &str) {
    put_binary(out, shorten(text, usize::from(u16::MAX)).as_bytes());
}

/// The longest front of `text` of at most `bytes_max` bytes that ends between two characters.
#[must_use]
pub fn shorten(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
