//! Parts: sealed history as Parquet files (docs/formats/part.md).
//!
//! A part holds samples of one retention class and one span of source time, sorted by (tag,
//! source time, seq). It is written once, whole, and never changed. Its name carries the checksum
//! of its tail (page indexes and footer), whose metadata carries the checksum of each row group:
//! a part can be checked with nothing but itself.
//!
//! **Invariants**: no byte of a part is believed before its checksum has been compared.

mod cache;
mod column;
mod cursor;
mod facts;
mod file;
mod index;
mod list;
mod schema;
mod writer;

pub(crate) use cache::IndexCache;
pub(crate) use cursor::PartCursor;
pub(crate) use facts::PartFacts;
pub(crate) use file::PartFile;
pub(crate) use index::PartIndex;
pub(crate) use list::{Part, PartList, Standing};
pub(crate) use writer::{PartRow, PartWriter, SealFacts};
