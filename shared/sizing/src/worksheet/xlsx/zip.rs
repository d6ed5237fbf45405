//! A ZIP archive without compression: what a worksheet's parts are carried in.
//!
//! **Invariants**
//! - Files carry the archive format's first day (1980-01-01): no clock.

/// CRC-32 of ISO-HDLC, as ZIP wants it.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
            crc = (crc >> 1) ^ carry;
        }
    }
    !crc
}

/// 1980-01-01 in the form of MS-DOS.
const FIRST_DAY: u16 = 0x21;

/// An archive that is being written. Its files are far below the format's 4 GiB.
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl Zip {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), directory: Vec::new(), files: 0 }
    }

    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, content: &str) {
        let at = length(self.bytes.len());
        let mut head = Vec::new();
        short(&mut head, 20); // version 2.0
        short(&mut head, 0x0800); // names are UTF-8
        short(&mut head, 0); // stored
        short(&mut head, 0);
        short(&mut head, FIRST_DAY);
        long(&mut head, crc32(content.as_bytes()));
        long(&mut head, length(content.len()));
        long(&mut head, length(content.len()));
        short(&mut head, u16::try_from(name.len()).unwrap_or(u16::MAX));
        short(&mut head, 0);
        self.bytes.extend_from_slice(b"PK\x03\x04");
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(content.as_bytes());
        self.directory.extend_from_slice(b"PK\x01\x02");
        short(&mut self.directory, 20);
        self.directory.extend_from_slice(&head);
        // Comment, disk, attributes: none.
        self.directory.extend_from_slice(&[0; 10]);
        long(&mut self.directory, at);
        self.directory.extend_from_slice(name.as_bytes());
        self.files = self.files.saturating_add(1);
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let (at, size) = (length(self.bytes.len()), length(self.directory.len()));
        self.bytes.append(&mut self.directory);
        self.bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        short(&mut self.bytes, self.files);
        short(&mut self.bytes, self.files);
        long(&mut self.bytes, size);
        long(&mut self.bytes, at);
        short(&mut self.bytes, 0);
        self.bytes
    }
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn short(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn long(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// The files of an archive that [`Zip`] wrote.
#[cfg(test)]
pub(super) fn files(mut bytes: &[u8]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
    while bytes.starts_with(b"PK\x03\x04") {
        let (length, name) = (number(&bytes[18..22]), number(&bytes[26..28]));
        let content = 30 + name;
        let text = |range: &[u8]| String::from_utf8(range.to_vec()).unwrap();
        all.push((text(&bytes[30..content]), text(&bytes[content..content + length])));
        bytes = &bytes[content + length..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Zip, crc32};

    #[test]
    fn the_checksum_is_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn an_archive_has_its_files_and_its_end() {
        let mut zip = Zip::new();
        zip.add("a.txt", "hello");
        let bytes = zip.finish();
        assert!(bytes.starts_with(b"PK\x03\x04"));
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        // 30 + 5 + 5 bytes of the file, then its entry of 46 + 5.
        assert_eq!(bytes.len(), 40 + 51 + 22);
    }
}
