//! Data as bytes: in lasting state and in the bodies of run records.
//!
//! One byte of kind, then: nothing (0 missing, 1 null, 2 false, 3 true), eight bytes (4 int,
//! 5 uint, 6 float, by its bits), a length and UTF-8 (7 text), a count and the items (8 list), a
//! count and for each field a length, its name and its datum (9 map). Lengths are u32; all
//! numbers are little-endian.
//!
//! **Invariants**: what is written reads back equal, bit by bit; reading never panics and never
//! goes deeper than [`DEPTH_MAX`].

use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Deepest nesting that is read.
pub(crate) const DEPTH_MAX: usize = 128;

/// Appends a datum.
pub(crate) fn write(data: &Data, out: &mut Vec<u8>) {
    match data {
        Data::Missing => out.push(0),
        Data::Null => out.push(1),
        Data::Bool(value) => out.push(2 + u8::from(*value)),
        Data::Int(value) => {
            out.push(4);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Data::UInt(value) => {
            out.push(5);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Data::Float(value) => {
            out.push(6);
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Data::Text(text) => {
            out.push(7);
            write_text(text, out);
        }
        Data::List(items) => {
            out.push(8);
            write_count(items.len(), out);
            items.iter().for_each(|item| write(item, out));
        }
        Data::Map(map) => {
            out.push(9);
            write_count(map.len(), out);
            for (name, member) in map.iter() {
                write_text(name, out);
                write(member, out);
            }
        }
    }
}

/// Appends a length and the text.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    write_count(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

/// Appends a count as u32. Data is bounded far below that.
pub(crate) fn write_count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Reads things off the front of bytes; `None` where they do not fit.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(crate) fn data(&mut self) -> Option<Data> {
        self.datum(DEPTH_MAX)
    }

    fn datum(&mut self, depth: usize) -> Option<Data> {
        let depth = depth.checked_sub(1)?;
        Some(match self.u8()? {
            0 => Data::Missing,
            1 => Data::Null,
            2 => Data::Bool(false),
            3 => Data::Bool(true),
            4 => Data::Int(self.i64()?),
            5 => Data::UInt(self.u64()?),
            6 => Data::Float(f64::from_bits(self.u64()?)),
            7 => Data::Text(self.text()?.into()),
            8 => {
                let count = self.count()?;
                // Each item takes a byte at least, so that a forged count reserves nothing.
                let mut items = Vec::with_capacity(count.min(self.0.len()));
                for _ in 0..count {
                    items.push(self.datum(depth)?);
                }
                Data::List(items.into())
            }
            9 => {
                let mut map = Map::new();
                for _ in 0..self.count()? {
                    let name: Arc<str> = self.text()?.into();
                    map.set(name, self.datum(depth)?);
                }
                Data::Map(Arc::new(map))
            }
            _ => return None,
        })
    }
}

/// Reads one datum that fills the bytes.
pub(crate) fn read(bytes: &[u8]) -> Option<Data> {
    let mut reader = Reader(bytes);
    let data = reader.data()?;
    reader.0.is_empty().then_some(data)
}

/// About how many bytes a datum takes in memory; stops counting above `enough`.
pub(crate) fn size(data: &Data, enough: usize) -> usize {
    match data {
        Data::Text(text) => 16 + text.len(),
        Data::List(items) => {
            let mut total = 16;
            for item in items.iter() {
                total += size(item, enough);
                if total > enough {
                    break;
                }
            }
            total
        }
        Data::Map(map) => {
            let mut total = 32;
            for (name, member) in map.iter() {
                total += 16 + name.len() + size(member, enough);
                if total > enough {
                    break;
                }
            }
            total
        }
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let mut map = Map::new();
        map.set("a", Data::List(vec![Data::Missing, Data::Null, Data::Bool(true)].into()));
        map.set("ö", Data::Text("Öl".into()));
        for data in [
            Data::Int(i64::MIN),
            Data::UInt(u64::MAX),
            Data::Float(-0.0),
            Data::Bool(false),
            Data::Map(Arc::new(map)),
        ] {
            let mut bytes = Vec::new();
            write(&data, &mut bytes);
            assert_eq!(read(&bytes), Some(data));
            for cut in 0..bytes.len() {
                assert_eq!(read(&bytes[..cut]), None, "cut at {cut}");
            }
        }
    }

    #[test]
    fn forged_bytes_are_refused_and_not_believed() {
        assert_eq!(read(&[8, 255, 255, 255, 255]), None);
        assert_eq!(read(&[99]), None);
        let deep: Vec<u8> = [8, 1, 0, 0, 0].repeat(DEPTH_MAX + 1);
        assert_eq!(read(&deep), None);
    }
}
