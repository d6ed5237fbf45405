//! Binary form of the journal's records (docs/formats/journal.md, "Records").
//!
//! All numbers are little-endian. The first byte is the record's kind:
//!
//! | kind | record | layout after the kind byte |
//! |---|---|---|
//! | 1 | sample | value kind u8, flags u8, hops u8, tag u32, client u32, quality u32, source time i64, receive time i64, then 8 bytes of bits (scalars) or the text to the end |
//! | 2 | definition | JSON to the end |
//! | 3 | snapshot begin | snapshot id u64 |
//! | 4 | snapshot end | snapshot id u64, definitions in it u32 |
//! | 5 | refused | reason u8, client u32, count u32, time i64 |
//! | 6 | ledger | JSON to the end |
//! | 7 | started | time i64 |
//! | 8 | stopped | time i64 (a clean stop) |
//! | 9 | run | event u8, pipeline u32, run u64, the engine's own body to the end |
//!
//! **Invariants**: a scalar sample is exactly 40 bytes; decoding checks every length and never
//! panics; an unknown kind is told apart from a damaged record.

use crate::definition::ClientNumber;
use crate::quality::Quality;
use crate::refusal::Reason;
use crate::tag::TagId;
use crate::time::Timestamp;
use crate::value::{Kind, ValueRef};
use thiserror::Error;

/// Bytes of a scalar sample record.
pub const SCALAR_SAMPLE_BYTES: usize = 40;
const SAMPLE_HEAD_BYTES: usize = 32;

/// The sample carries the time that the device gave; without this the source time is ours.
pub const FLAG_SOURCE_TIME: u8 = 1;

/// A sample as the journal holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRecord<'a> {
    /// The tag.
    pub tag: TagId,
    /// Who sent it.
    pub client: ClientNumber,
    /// When it was measured; the receive time where the device gave none.
    pub source_time: Timestamp,
    /// When we took it in.
    pub receive_time: Timestamp,
    /// Its quality.
    pub quality: Quality,
    /// Whether the device gave the source time: only such samples can be told as redelivered.
    pub has_source_time: bool,
    /// How many pipelines it has come through: 0 from a device.
    pub hops: u8,
    /// The value.
    pub value: ValueRef<'a>,
}

/// One record, borrowed from the journal's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record<'a> {
    /// A value of a tag.
    Sample(SampleRecord<'a>),
    /// A definition's JSON; see [`crate::definition::Definition::decode`].
    Definition(&'a [u8]),
    /// All definitions follow, up to the end mark with the same id.
    SnapshotBegin {
        /// Which snapshot.
        id: u64,
    },
    /// The snapshot is complete if so many definitions were seen since its begin mark.
    SnapshotEnd {
        /// Which snapshot.
        id: u64,
        /// Definitions in it.
        count: u32,
    },
    /// Values refused, written before the refusal is sent.
    Refused {
        /// Why.
        reason: Reason,
        /// Whose.
        client: ClientNumber,
        /// How many.
        count: u32,
        /// When.
        at: Timestamp,
    },
    /// The ledger of all clients as JSON, complete up to this record.
    Ledger(&'a [u8]),
    /// The appliance started.
    Started {
        /// When.
        at: Timestamp,
    },
    /// The appliance stopped cleanly.
    Stopped {
        /// When.
        at: Timestamp,
    },
    /// Something of a pipeline's run.
    Run(RunRecord<'a>),
}

/// Something of a pipeline's run, as the journal holds it. The engine alone reads the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRecord<'a> {
    /// What.
    pub event: RunEvent,
    /// The pipeline's number.
    pub pipeline: u32,
    /// The run: the seq of the record that triggered it; 0 in [`RunEvent::Requested`], whose own
    /// seq it is.
    pub run: u64,
    /// The engine's.
    pub body: &'a [u8],
}

/// What a run's record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RunEvent {
    /// Something other than a value asks for a run; the body is its trigger.
    Requested = 1,
    /// The run had effects (values, state), which stand in the same append; it goes on.
    Progress = 2,
    /// As progress, and it has ended.
    Ended = 3,
    /// An unfinished run with all that it needs, so that what is before this record may go.
    Carried = 4,
}

impl RunEvent {
    /// The event with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Requested,
            2 => Self::Progress,
            3 => Self::Ended,
            4 => Self::Carried,
            _ => return None,
        })
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// Too short, a bad code, or text that is not UTF-8.
    #[error("a record of kind {kind} is damaged")]
    Damaged {
        /// The kind byte; 0 if there is none.
        kind: u8,
    },
    /// A kind that this version does not know.
    #[error("record kind {kind} is not known to this version")]
    UnknownKind {
        /// The kind byte.
        kind: u8,
    },
}

impl Record<'_> {
    /// Appends the record's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Sample(sample) => sample.encode(out),
            Self::Definition(json) => tagged(out, 2, &[json]),
            Self::SnapshotBegin { id } => tagged(out, 3, &[&id.to_le_bytes()]),
            Self::SnapshotEnd { id, count } => {
                tagged(out, 4, &[&id.to_le_bytes(), &count.to_le_bytes()]);
            }
            Self::Refused { reason, client, count, at } => tagged(
                out,
                5,
                &[
                    &[reason.code()],
                    &client.0.to_le_bytes(),
                    &count.to_le_bytes(),
                    &at.0.to_le_bytes(),
                ],
            ),
            Self::Ledger(json) => tagged(out, 6, &[json]),
            Self::Started { at } => tagged(out, 7, &[&at.0.to_le_bytes()]),
            Self::Stopped { at } => tagged(out, 8, &[&at.0.to_le_bytes()]),
            Self::Run(RunRecord { event, pipeline, run, body }) => {
                let event = [*event as u8];
                tagged(out, 9, &[&event, &pipeline.to_le_bytes(), &run.to_le_bytes(), body]);
            }
        }
    }
}

impl<'a> Record<'a> {
    /// Reads one record that fills `bytes` exactly.
    ///
    /// # Errors
    /// [`RecordError`] when the bytes are not a record of this version.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, RecordError> {
        let (&kind, rest) = bytes.split_first().ok_or(RecordError::Damaged { kind: 0 })?;
        let damaged = RecordError::Damaged { kind };
        let mut fields = Fields(rest);
        let record = match kind {
            1 => return SampleRecord::decode(rest).map(Self::Sample).ok_or(damaged),
            2 => return Ok(Self::Definition(rest)),
            3 => Self::SnapshotBegin { id: fields.u64().ok_or(damaged)? },
            4 => Self::SnapshotEnd {
                id: fields.u64().ok_or(damaged)?,
                count: fields.u32().ok_or(damaged)?,
            },
            5 => Self::Refused {
                reason: fields.u8().and_then(Reason::from_code).ok_or(damaged)?,
                client: ClientNumber(fields.u32().ok_or(damaged)?),
                count: fields.u32().ok_or(damaged)?,
                at: Timestamp(fields.i64().ok_or(damaged)?),
            },
            6 => return Ok(Self::Ledger(rest)),
            7 => Self::Started { at: Timestamp(fields.i64().ok_or(damaged)?) },
            8 => Self::Stopped { at: Timestamp(fields.i64().ok_or(damaged)?) },
            9 => {
                let event = fields.u8().and_then(RunEvent::from_code).ok_or(damaged)?;
                let pipeline = fields.u32().ok_or(damaged)?;
                let run = fields.u64().ok_or(damaged)?;
                return Ok(Self::Run(RunRecord { event, pipeline, run, body: fields.0 }));
            }
            kind => return Err(RecordError::UnknownKind { kind }),
        };
        if fields.0.is_empty() { Ok(record) } else { Err(damaged) }
    }
}

impl<'a> SampleRecord<'a> {
    /// Appends the sample's bytes: 40 for a scalar, 32 and the text otherwise.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = [0u8; SCALAR_SAMPLE_BYTES];
        let (fixed, bits) = head.split_at_mut(SAMPLE_HEAD_BYTES);
        let flags = if self.has_source_time { FLAG_SOURCE_TIME } else { 0 };
        let fields: [&[u8]; 6] = [
            &[1, self.value.kind() as u8, flags, self.hops],
            &self.tag.0.to_le_bytes(),
            &self.client.0.to_le_bytes(),
            &self.quality.0.to_le_bytes(),
            &self.source_time.0.to_le_bytes(),
            &self.receive_time.0.to_le_bytes(),
        ];
        let mut rest = fixed;
        for field in fields {
            let (place, next) = rest.split_at_mut(field.len());
            place.copy_from_slice(field);
            rest = next;
        }
        match self.value.text() {
            None => {
                bits.copy_from_slice(&self.value.bits().to_le_bytes());
                out.extend_from_slice(&head);
            }
            Some(text) => {
                out.extend_from_slice(head.split_at(SAMPLE_HEAD_BYTES).0);
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    fn decode(rest: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(rest);
        let kind = Kind::from_code(fields.u8()?)?;
        let flags = fields.u8()?;
        let hops = fields.u8()?;
        let tag = TagId(fields.u32()?);
        let client = ClientNumber(fields.u32()?);
        let quality = Quality(fields.u32()?);
        let source_time = Timestamp(fields.i64()?);
        let receive_time = Timestamp(fields.i64()?);
        let value = if kind.is_scalar() {
            let bits = fields.u64()?;
            if !fields.0.is_empty() {
                return None;
            }
            ValueRef::from_parts(kind, bits, "")
        } else {
            ValueRef::from_parts(kind, 0, std::str::from_utf8(fields.0).ok()?)
        };
        let has_source_time = flags & FLAG_SOURCE_TIME != 0;
        Some(Self { tag, client, source_time, receive_time, quality, has_source_time, hops, value })
    }
}

fn tagged(out: &mut Vec<u8>, kind: u8, fields: &[&[u8]]) {
    out.push(kind);
    for field in fields {
        out.extend_from_slice(field);
    }
}

/// Takes little-endian fields off the front, or nothing.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }
    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(u8::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(record: Record<'_>) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_eq!(Record::decode(&bytes), Ok(record));
    }

    fn sample(value: ValueRef<'_>) -> Record<'_> {
        Record::Sample(SampleRecord {
            tag: TagId(7),
            client: ClientNumber(3),
            source_time: Timestamp(-5),
            receive_time: Timestamp(i64::MAX),
            quality: Quality::UNCERTAIN,
            has_source_time: true,
            hops: 3,
            value,
        })
    }

    #[test]
    fn every_record_comes_back_as_it_went_in() {
        for value in [
            ValueRef::Null,
            ValueRef::Bool(true),
            ValueRef::Int(i64::MIN),
            ValueRef::UInt(u64::MAX),
            ValueRef::Float(-0.0),
            ValueRef::Float(f64::NAN),
            ValueRef::Float(5e-324),
            ValueRef::Text("Ölstand"),
            ValueRef::Json(r#"{"a":[1]}"#),
        ] {
            round_trip(sample(value));
        }
        round_trip(Record::Definition(b"{}"));
        round_trip(Record::SnapshotBegin { id: 9 });
        round_trip(Record::SnapshotEnd { id: 9, count: 4 });
        let at = Timestamp(1);
        let client = ClientNumber(2);
        for reason in Reason::ALL {
            round_trip(Record::Refused { reason, client, count: 5, at });
        }
        round_trip(Record::Ledger(b"[]"));
        round_trip(Record::Started { at });
        round_trip(Record::Stopped { at });
        for event in [RunEvent::Requested, RunEvent::Progress, RunEvent::Ended, RunEvent::Carried] {
            round_trip(Record::Run(RunRecord { event, pipeline: 4, run: u64::MAX, body: b"x" }));
        }
    }

    #[test]
    fn a_scalar_sample_is_forty_bytes() {
        let mut bytes = Vec::new();
        sample(ValueRef::Float(1.0)).encode(&mut bytes);
        assert_eq!(bytes.len(), SCALAR_SAMPLE_BYTES);
    }

    #[test]
    fn tells_unknown_from_damaged() {
        assert_eq!(Record::decode(&[99, 1]), Err(RecordError::UnknownKind { kind: 99 }));
        assert_eq!(Record::decode(&[1, 4]), Err(RecordError::Damaged { kind: 1 }));
        assert_eq!(Record::decode(&[]), Err(RecordError::Damaged { kind: 0 }));
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(record) = Record::decode(&bytes) {
                let mut again = Vec::new();
                record.encode(&mut again);
                prop_assert_eq!(again.len(), bytes.len());
            }
        }
    }
}
