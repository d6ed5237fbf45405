//! Bodies of run records: what the engine writes into the journal and reads back after a crash.
//!
//! docs/formats/journal.md, "Run bodies", has the layout. The first byte is the version, the second
//! the form; an empty body of an end says that the run ended well and changed no state.
//!
//! **Invariants**: reading never panics; a body of another version is left alone and reported.

use crate::codec::{self, Reader};
use crate::queue::{Dropped, Why};
use crate::queued::{self, Decoded, Queued, Start};
use crate::run::{Notes, Run};
use millrace_model::Timestamp;
use std::time::Duration;

const VERSION: u8 = 1;

/// A body, read as far as its form goes.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// A run ended; its changes of state.
    Ended { changes: &'a [u8] },
    /// Runs of one pipeline that will not run.
    Dropped(Vec<u64>),
    /// A run went on; its changes of state, and where it stands.
    Progress { changes: &'a [u8], saved: &'a [u8] },
    /// Changes of variables by a person.
    Changes(&'a [u8]),
    /// A run is asked for.
    Requested(Asked),
    /// A run that has not ended is to end: it is canceled, with this sentence.
    Canceled(&'a str),
    /// A run that has not ended, whole.
    Carried(Asked, Option<&'a [u8]>),
}

/// A run that is asked for, or carried forward.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) is_manual: bool,
    pub(crate) asked: Timestamp,
    pub(crate) hops: u8,
    pub(crate) decoded: Decoded,
}

/// The body of a run's end.
pub(crate) fn ended(notes: &Notes, failure: Option<&str>, out: &mut Vec<u8>) {
    if notes.changes.is_empty() && failure.is_none() {
        return;
    }
    out.extend_from_slice(&[VERSION, 1, u8::from(failure.is_some())]);
    write_bytes(&notes.changes, out);
    codec::write_text(failure.unwrap_or_default(), out);
}

/// The body of a stop on the way; the saved run follows to the end.
pub(crate) fn progress(run: &Run, at: Duration, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[VERSION, 3]);
    write_bytes(&run.notes.changes, out);
    let from = out.len();
    run.save(at, out);
    from
}

/// Runs of one pipeline that will not run.
pub(crate) fn dropped(dropped: &[Dropped], out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, 2]);
    codec::write_count(dropped.len(), out);
    for run in dropped {
        out.extend_from_slice(&run.id.seq.to_le_bytes());
        out.push(run.why as u8);
    }
}

/// Changes that belong to no run.
pub(crate) fn changes(changes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, 4]);
    write_bytes(changes, out);
}

/// A run is canceled; its end follows.
pub(crate) fn canceled(message: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, 7]);
    codec::write_text(message, out);
}

/// A run that is asked for.
pub(crate) fn requested(
    (step, start): (&str, &Start),
    (is_manual, hops): (bool, u8),
    asked: Timestamp,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&[VERSION, 5, u8::from(is_manual), hops]);
    out.extend_from_slice(&asked.0.to_le_bytes());
    queued::encode_start(start, step, &[], out);
}

/// A run with all that it needs.
pub(crate) fn carried(run: &Queued, saved: Option<&[u8]>, out: &mut Vec<u8>) {
    let id_of = |number: u16| {
        let trigger = run.plan.triggers.get(usize::from(number));
        trigger.map_or("", |trigger| &*trigger.id)
    };
    out.extend_from_slice(&[VERSION, 6, u8::from(run.is_manual), run.hops]);
    out.extend_from_slice(&run.asked.0.to_le_bytes());
    let also: Vec<&str> = run.also.iter().map(|number| id_of(*number)).collect();
    queued::encode_start(&run.start, id_of(run.trigger), &also, out);
    out.push(u8::from(saved.is_some()));
    out.extend_from_slice(saved.unwrap_or_default());
}

/// Reads a body. `None`: damaged, or of another version.
pub(crate) fn read(body: &[u8], workspace: u16) -> Option<Body<'_>> {
    if body.is_empty() {
        return Some(Body::Ended { changes: &[] });
    }
    let mut reader = Reader(body);
    if reader.u8()? != VERSION {
        return None;
    }
    Some(match reader.u8()? {
        1 => {
            reader.u8()?;
            Body::Ended { changes: reader.bytes()? }
        }
        2 => {
            let mut runs = Vec::new();
            for _ in 0..reader.count()? {
                runs.push(reader.u64()?);
                // Why is for people who look at the journal.
                let _why = reader.u8()?;
            }
            Body::Dropped(runs)
        }
        3 => {
            let changes = reader.bytes()?;
            Body::Progress { changes, saved: reader.0 }
        }
        4 => Body::Changes(reader.bytes()?),
        5 => Body::Requested(asked(&mut reader, workspace)?),
        6 => {
            let asked = asked(&mut reader, workspace)?;
            let is_saved = reader.u8()? == 1;
            Body::Carried(asked, is_saved.then_some(reader.0))
        }
        7 => Body::Canceled(reader.text()?),
        _ => return None,
    })
}

fn asked(reader: &mut Reader<'_>, workspace: u16) -> Option<Asked> {
    let is_manual = reader.u8()? == 1;
    let hops = reader.u8()?;
    let asked = Timestamp(reader.i64()?);
    let decoded = queued::decode_start(reader, workspace)?;
    Some(Asked { is_manual, asked, hops, decoded })
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    codec::write_count(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// What is said of a dropped run.
pub(crate) fn reason(why: Why) -> &'static str {
    match why {
        Why::Shed => "shed",
        Why::Full => "refused",
        Why::Skipped => "skipped",
        Why::Restarted => "restarted",
        Why::Undeployed => "undeployed",
        Why::Canceled => "canceled",
    }
}
