//! A run that waits to begin: what started it, and all that is needed to run it (again).
//!
//! **Invariants**: its seq and its pipeline are the run's id, for good; whoever executes it holds
//! the number of the attempt that took it, and only the latest attempt counts.

use crate::codec::{self, Reader};
use crate::names::Place;
use crate::plan::Plan;
use millrace_flow::{Data, Map};
use millrace_model::{ClientNumber, Quality, Timestamp, Value};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A run by its two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId {
    /// The pipeline's number.
    pub pipeline: u32,
    /// The seq of the record that triggered it.
    pub seq: u64,
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.pipeline, self.seq)
    }
}

impl std::str::FromStr for RunId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (pipeline, seq) = text.split_once('-').ok_or(())?;
        Ok(Self { pipeline: pipeline.parse().map_err(drop)?, seq: seq.parse().map_err(drop)? })
    }
}

/// A run that waits to begin, or that has begun.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) plan: Arc<Plan>,
    pub(crate) seq: u64,
    /// Number of the trigger that started it; others of the same pipeline that wanted the same
    /// value follow in `also`.
    pub(crate) trigger: u16,
    pub(crate) also: Box<[u16]>,
    pub(crate) start: Start,
    /// Whether a person or a program asked for it by name.
    pub(crate) is_manual: bool,
    pub(crate) hops: u8,
    /// When it was queued, monotonic and on the wall.
    pub(crate) at: Duration,
    pub(crate) asked: Timestamp,
    pub(crate) bytes: usize,
    /// Runs of one key keep their order.
    pub(crate) key: AtomicU64,
    pub(crate) attempt: AtomicU32,
    /// Where it stood when its effects were last written.
    pub(crate) saved: Mutex<Option<Arc<[u8]>>>,
    /// How often a worker panicked in it, and what was said last.
    pub(crate) panics: Mutex<Option<Box<Panics>>>,
    /// Set when it has to end, wherever it is.
    pub(crate) stop: OnceLock<Box<Stop>>,
}

/// Why a run has to end before it has done its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The code of its fault.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) message: String,
}

/// Panics of workers while they executed a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panics {
    pub(crate) count: u32,
    pub(crate) message: String,
}

/// A run is taken again after a panic, but not more often than this.
const PANICS_MAX: u32 = 2;

impl Queued {
    pub(crate) fn id(&self) -> RunId {
        RunId { pipeline: self.plan.number, seq: self.seq }
    }

    /// It has to end: whoever executes it sees this at the next step, or within a script.
    pub(crate) fn stop(&self, code: &'static str, message: &str) {
        // The first reason is told.
        let _known = self.stop.set(Box::new(Stop { code, message: message.to_owned() }));
    }

    /// Why it has to end, if it has.
    pub(crate) fn stopped(&self) -> Option<&Stop> {
        self.stop.get().map(|stop| &**stop)
    }

    /// The same run under another revision of its pipeline; `None` if that has not its trigger.
    pub(crate) fn under(&self, plan: &Arc<Plan>) -> Option<Self> {
        let number = |old: u16| {
            let id = &self.plan.triggers.get(usize::from(old))?.id;
            let place = plan.triggers.iter().position(|trigger| trigger.id == *id)?;
            u16::try_from(place).ok()
        };
        Some(Self {
            plan: Arc::clone(plan),
            seq: self.seq,
            trigger: number(self.trigger)?,
            also: self.also.iter().filter_map(|old| number(*old)).collect(),
            start: self.start.clone(),
            is_manual: self.is_manual,
            hops: self.hops,
            at: self.at,
            asked: self.asked,
            bytes: self.bytes,
            key: AtomicU64::new(self.key.load(Ordering::Acquire)),
            attempt: AtomicU32::new(self.attempt.load(Ordering::Acquire)),
            saved: Mutex::new(self.saved.lock().clone()),
            panics: Mutex::new(self.panics.lock().clone()),
            stop: self.stop.clone(),
        })
    }

    /// A worker panicked in it.
    pub(crate) fn panicked(&self, message: &str) {
        let mut panics = self.panics.lock();
        let panics = panics.get_or_insert_default();
        panics.count += 1;
        message.clone_into(&mut panics.message);
    }

    /// Why it is not to be executed any more: workers panicked in it again and again.
    pub(crate) fn defect(&self) -> Option<String> {
        let panics = self.panics.lock();
        let panics = panics.as_ref().filter(|panics| panics.count >= PANICS_MAX)?;
        let (count, message) = (panics.count, &panics.message);
        Some(format!(
            "the appliance failed {count} times in this run and gave it up; this is a defect to be \
             reported: {message}"
        ))
    }
}

/// What started a run.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// A value of a tag.
    Value(ValueStart),
    /// Anything else: the trigger's datum.
    Data(Data),
}

/// A value that started a run.
#[derive(Clone, Debug)]
pub(crate) struct ValueStart {
    pub(crate) place: Arc<Place>,
    pub(crate) value: Value,
    pub(crate) time: Timestamp,
    pub(crate) received: Timestamp,
    pub(crate) quality: Quality,
    pub(crate) client: ClientNumber,
    /// The client's name, if it was known when the run was made.
    pub(crate) client_name: Option<Arc<str>>,
}

/// Fixed overhead of a waiting run, for the queue's bytes.
const QUEUED_BYTES: usize = 256;

impl Start {
    /// About how many bytes it takes in the queue.
    pub(crate) fn bytes(&self) -> usize {
        QUEUED_BYTES
            + match self {
                Self::Value(start) => start.value.as_ref().text().map_or(0, str::len),
                Self::Data(data) => codec::size(data, usize::MAX),
            }
    }

    /// What the run's `$trigger` holds.
    pub(crate) fn data(&self) -> Data {
        match self {
            Self::Data(data) => data.clone(),
            Self::Value(start) => start.data(),
        }
    }

    /// Source time and quality that published values take over.
    pub(crate) fn inherited(&self) -> (Option<Timestamp>, Option<Quality>) {
        match self {
            Self::Value(start) => (Some(start.time), Some(start.quality)),
            Self::Data(_) => (None, None),
        }
    }
}

/// Field names of a value trigger, shared by all runs.
struct FieldNames {
    path: Arc<str>,
    topic: Arc<str>,
    value: Arc<str>,
    time: Arc<str>,
    time_ms: Arc<str>,
    received: Arc<str>,
    quality: Arc<str>,
    client: Arc<str>,
    good: Data,
    uncertain: Data,
    bad: Data,
}

fn names() -> &'static FieldNames {
    static NAMES: OnceLock<FieldNames> = OnceLock::new();
    NAMES.get_or_init(|| FieldNames {
        path: "path".into(),
        topic: "topic".into(),
        value: "value".into(),
        time: "time".into(),
        time_ms: "time_ms".into(),
        received: "received".into(),
        quality: "quality".into(),
        client: "client".into(),
        good: Data::Text("good".into()),
        uncertain: Data::Text("uncertain".into()),
        bad: Data::Text("bad".into()),
    })
}

impl ValueStart {
    fn data(&self) -> Data {
        let names = names();
        let mut map = Map::new();
        let text = |text: &Arc<str>| Data::Text(Arc::clone(text));
        map.set(Arc::clone(&names.path), text(&self.place.path));
        map.set(Arc::clone(&names.topic), text(&self.place.topic));
        map.set(Arc::clone(&names.value), value_data(&self.value));
        map.set(Arc::clone(&names.time), time_data(self.time));
        map.set(Arc::clone(&names.time_ms), Data::Int(self.time.split_millis().0));
        map.set(Arc::clone(&names.received), time_data(self.received));
        map.set(Arc::clone(&names.quality), quality_data(self.quality));
        let client = self.client_name.as_ref().map_or(Data::Null, text);
        map.set(Arc::clone(&names.client), client);
        Data::Map(Arc::new(map))
    }
}

/// A value as a datum; JSON is read.
pub(crate) fn value_data(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Int(value) => Data::Int(*value),
        Value::UInt(value) => Data::UInt(*value),
        Value::Float(value) => Data::Float(*value),
        Value::Text(text) => Data::Text((&**text).into()),
        Value::Json(text) => match serde_json::from_str(text) {
            Ok(value) => crate::json::data_of(&value),
            Err(_) => Data::Text((&**text).into()),
        },
    }
}

fn time_data(time: Timestamp) -> Data {
    Data::Text(time.to_rfc3339().into())
}

/// A quality as pipelines see it: the plain grades by name, every other code as its number.
#[must_use]
pub fn quality_data(quality: Quality) -> Data {
    let names = names();
    match quality {
        Quality::GOOD => names.good.clone(),
        Quality::UNCERTAIN => names.uncertain.clone(),
        Quality::BAD => names.bad.clone(),
        Quality(code) => Data::Int(i64::from(code)),
    }
}

/// Writes what a run needs besides its plan: for requests and for runs carried forward.
pub(crate) fn encode_start(start: &Start, step: &str, also: &[&str], out: &mut Vec<u8>) {
    codec::write_text(step, out);
    codec::write_count(also.len(), out);
    also.iter().for_each(|step| codec::write_text(step, out));
    match start {
        Start::Data(data) => {
            out.push(0);
            codec::write(data, out);
        }
        Start::Value(start) => {
            out.push(1);
            codec::write_text(&start.place.path, out);
            codec::write_text(&start.place.topic, out);
            let is_json = matches!(start.value, Value::Json(_));
            out.push(u8::from(is_json));
            let data = match &start.value {
                Value::Json(text) | Value::Text(text) => Data::Text((&**text).into()),
                scalar => value_data(scalar),
            };
            codec::write(&data, out);
            out.extend_from_slice(&start.time.0.to_le_bytes());
            out.extend_from_slice(&start.received.0.to_le_bytes());
            out.extend_from_slice(&start.quality.0.to_le_bytes());
            out.extend_from_slice(&start.client.0.to_le_bytes());
            codec::write_text(start.client_name.as_deref().unwrap_or_default(), out);
        }
    }
}

/// What [`encode_start`] wrote.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) step: String,
    pub(crate) also: Vec<String>,
    pub(crate) start: Start,
}

/// Reads what [`encode_start`] wrote.
pub(crate) fn decode_start(reader: &mut Reader<'_>, workspace: u16) -> Option<Decoded> {
    let step = reader.text()?.to_owned();
    let mut also = Vec::new();
    for _ in 0..reader.count()? {
        also.push(reader.text()?.to_owned());
    }
    let start = match reader.u8()? {
        0 => Start::Data(reader.data()?),
        1 => {
            let path = reader.text()?.into();
            let topic = reader.text()?.into();
            let is_json = reader.u8()? == 1;
            let value = match (reader.data()?, is_json) {
                (Data::Text(text), true) => Value::Json((&*text).into()),
                (Data::Text(text), false) => Value::Text((&*text).into()),
                (Data::Bool(value), _) => Value::Bool(value),
                (Data::Int(value), _) => Value::Int(value),
                (Data::UInt(value), _) => Value::UInt(value),
                (Data::Float(value), _) => Value::Float(value),
                (Data::Null | Data::Missing | Data::List(_) | Data::Map(_), _) => Value::Null,
            };
            Start::Value(ValueStart {
                place: Arc::new(Place { workspace, path, topic }),
                value,
                time: Timestamp(reader.i64()?),
                received: Timestamp(reader.i64()?),
                quality: Quality(reader.u32()?),
                client: ClientNumber(reader.u32()?),
                client_name: Some(reader.text()?).filter(|name| !name.is_empty()).map(Into::into),
            })
        }
        _ => return None,
    };
    Some(Decoded { step, also, start })
}
