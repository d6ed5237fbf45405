//! The columns of a part and how each is encoded (docs/formats/part.md).
//!
//! Times are split into milliseconds, microseconds (0 to 999) and nanoseconds (0 to 999): the
//! finer columns of plant data are zero throughout and then cost nothing, while a time in plain
//! nanoseconds would carry the common factor in every delta. The receive time is held as its
//! difference to the source time.
//!
//! **Invariants**: columns are only ever added at the end; value columns have no statistics,
//! because a NaN in them makes other readers leave out rows.

use crate::error::{Error, Result};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use std::sync::Arc;

const SCHEMA: &str = "message part {
    required int32 tag (INTEGER(32,false));
    required int64 source_ms (TIMESTAMP(MILLIS,true));
    required int32 source_us;
    required int32 source_ns;
    required int64 delay_ms;
    required int32 delay_us;
    required int32 delay_ns;
    required int32 kind (INTEGER(8,false));
    required int32 quality (INTEGER(32,false));
    required boolean source_given;
    optional double f64;
    optional int64 i64;
    optional binary text (STRING);
    required int64 seq;
}";

/// Rows of a row group.
pub(crate) const GROUP_ROWS_MAX: usize = 131_072;
/// Text bytes after which a row group ends early, so that reading one stays cheap.
pub(crate) const GROUP_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rows of a page: what a query of one tag must decode at least.
const PAGE_ROWS_MAX: usize = 8_192;
/// Bytes of a page before compression.
const PAGE_BYTES_MAX: usize = 512 * 1024;

/// Places of the columns.
pub(crate) mod column {
    pub(crate) const TAG: usize = 0;
    pub(crate) const SOURCE_MS: usize = 1;
    pub(crate) const SOURCE_US: usize = 2;
    pub(crate) const SOURCE_NS: usize = 3;
    pub(crate) const DELAY_MS: usize = 4;
    pub(crate) const DELAY_US: usize = 5;
    pub(crate) const DELAY_NS: usize = 6;
    pub(crate) const KIND: usize = 7;
    pub(crate) const QUALITY: usize = 8;
    pub(crate) const SOURCE_GIVEN: usize = 9;
    pub(crate) const F64: usize = 10;
    pub(crate) const I64: usize = 11;
    pub(crate) const TEXT: usize = 12;
    pub(crate) const SEQ: usize = 13;
    pub(crate) const COUNT: usize = 14;
}

pub(super) fn schema() -> Result<TypePtr> {
    parse_message_type(SCHEMA).map(Arc::new).map_err(|error| Error::Encode(error.to_string()))
}

pub(super) fn properties() -> Result<WriterPropertiesPtr> {
    let level = ZstdLevel::try_new(1).map_err(|error| Error::Encode(error.to_string()))?;
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("millrace ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(None)
        .set_data_page_row_count_limit(PAGE_ROWS_MAX)
        .set_data_page_size_limit(PAGE_BYTES_MAX)
        .set_write_batch_size(1024);
    for name in ["tag", "source_ms"] {
        let path = ColumnPath::from(name);
        builder = builder.set_column_statistics_enabled(path, EnabledStatistics::Page);
    }
    for name in [
        "tag",
        "source_ms",
        "source_us",
        "source_ns",
        "delay_ms",
        "delay_us",
        "delay_ns",
        "kind",
        "quality",
        "i64",
        "seq",
    ] {
        builder =
            builder.set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    Ok(Arc::new(builder.build()))
}

const NANOS_PER_MILLI: i64 = 1_000_000;

/// Nanoseconds as (milliseconds, microseconds, nanoseconds); see [`join_nanos`].
pub(crate) fn split_nanos(nanos: i64) -> (i64, i32, i32) {
    let millis = nanos.div_euclid(NANOS_PER_MILLI);
    // Below a million, so it fits.
    let rest = i32::try_from(nanos.rem_euclid(NANOS_PER_MILLI)).unwrap_or(0);
    (millis, rest / 1_000, rest % 1_000)
}

/// The inverse of [`split_nanos`] for all 64-bit numbers.
pub(crate) fn join_nanos(millis: i64, micros: i32, nanos: i32) -> i64 {
    let rest = i64::from(micros).wrapping_mul(1_000).wrapping_add(i64::from(nanos));
    // The first step may pass the end of the range and the second comes back.
    millis.wrapping_mul(NANOS_PER_MILLI).wrapping_add(rest)
}
