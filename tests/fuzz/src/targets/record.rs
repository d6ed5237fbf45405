//! What the journal carries: records, definitions, the ledger.
//!
//! **Invariants** held: a record that is read is written and read as the same one.

use super::{bytes_of, ensure};
use crate::runner::Target;
use millrace_admission::Ledger;
use millrace_model::{
    ClientNumber, Definition, Quality, Reason, Record, SampleRecord, TagId, Timestamp, ValueRef,
};

pub(super) const RECORD: Target = Target {
    name: "record",
    corpus: records,
    words: &[
        b"\x01",
        b"\x05",
        b"\x06",
        b"\x07",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x80",
        b"\xc3\xa4",
    ],
    check: check_record,
};

pub(super) const DEFINITION: Target = Target {
    name: "definition",
    corpus: definitions,
    words: &[
        b"\"define\":\"tag\"",
        b"\"define\":\"client\"",
        b"\"path\":",
        b"null",
        b"\"retention\":\"keep\"",
        b"1e400",
        b"[[[[[[",
        b"\"a/#\"",
        b"\"kind\":\"float\"",
        b"-1",
        b"4294967296",
    ],
    check: check_definition,
};

pub(super) const LEDGER: Target = Target {
    name: "ledger",
    corpus: ledgers,
    words: &[
        b"18446744073709551615",
        b"4611686018427387904",
        b"-1",
        b"null",
        b"{\"client\":1",
        b",0",
        b"[]",
    ],
    check: check_ledger,
};

fn records() -> Vec<Vec<u8>> {
    let values = [
        ValueRef::Null,
        ValueRef::Bool(true),
        ValueRef::Int(-5),
        ValueRef::UInt(u64::MAX),
        ValueRef::Float(f64::NAN),
        ValueRef::Text("\u{d6}l"),
        ValueRef::Json("{\"a\": [1]}"),
    ];
    let at = Timestamp(1_701_353_137_000_000_000);
    let client = ClientNumber(3);
    let samples = values.map(|value| {
        Record::Sample(SampleRecord {
            tag: TagId(7),
            client,
            source_time: at,
            receive_time: at,
            quality: Quality::UNCERTAIN,
            has_source_time: true,
            hops: 0,
            value,
        })
    });
    let others = [
        Record::Definition(b"{}"),
        Record::SnapshotBegin { id: 9 },
        Record::SnapshotEnd { id: 9, count: 4 },
        Record::Refused { reason: Reason::RateLimited, client, count: 5, at },
        Record::Ledger(b"{}"),
        Record::Started { at },
        Record::Stopped { at },
    ];
    samples.iter().chain(&others).map(encoded).collect()
}

fn encoded(record: &Record<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    bytes
}

fn check_record(input: &[u8]) -> Result<(), String> {
    let Ok(record) = Record::decode(input) else { return Ok(()) };
    let bytes = encoded(&record);
    ensure(bytes.len() == input.len(), "another length")?;
    // Bits without a meaning (null, bool, reserved) may differ in the bytes, not in the record.
    ensure(Record::decode(&bytes) == Ok(record), "another record")
}

fn definitions() -> Vec<Vec<u8>> {
    bytes_of(&[
        "{\"define\":\"tag\",\"id\":7,\"workspace\":1,\"path\":\"a/b\",\"kind\":\"float\",\"unit\":\"C\",\
         \"description\":\"\",\"retention\":\"7d\",\"schema\":{\"kinds\":[\"int\"],\"min\":0.5,\"max\":null,\
         \"choices\":[\"x\"],\"strict\":true},\"created\":1,\"created_by\":2}",
        "{\"define\":\"client\",\"number\":4,\"id\":\"c4\",\"name\":\"n\",\"workspace\":1,\"secret_hash\":\"00\",\
         \"publish\":[\"a/#\",\"+/b\"],\"subscribe\":[],\"may_create\":true,\"created\":1,\"revoked\":null}",
        "{\"define\":\"workspace\",\"number\":1,\"name\":\"main\",\"created\":1}",
        "{\"define\":\"person\",\"name\":\"anna\",\"password_hash\":\"x\",\"role\":\"admin\",\"created\":1,\
         \"disabled\":null}",
        "{\"define\":\"audit\",\"at\":1,\"who\":\"local\",\"action\":\"client.create\",\"subject\":\"c4\"}",
        "{\"define\":\"setting\",\"name\":\"n\",\"value\":\"v\"}",
        "{\"define\":\"pipeline_revision\",\"pipeline\":3,\"workspace\":1,\"name\":\"oee\",\"revision\":2,\
         \"at\":1,\"author\":\"local\",\"note\":\"\",\"document\":\"{\\\"millrace\\\":1}\"}",
        "{\"define\":\"deployment\",\"pipeline\":3,\"workspace\":1,\"revision\":2,\"previous\":null,\
         \"at\":1,\"by\":\"local\",\"note\":\"go\"}",
        "{\"define\":\"pipeline_removed\",\"pipeline\":3,\"workspace\":1,\"name\":\"oee\",\"at\":1,\
         \"by\":\"local\"}",
        "{\"define\":\"secret\",\"workspace\":1,\"name\":\"mes\",\"sealed\":\"v1.AAAA\",\"at\":1,\
         \"by\":\"local\"}",
    ])
}

fn check_definition(input: &[u8]) -> Result<(), String> {
    let Ok(definition) = Definition::decode(input) else { return Ok(()) };
    let again = Definition::decode(&definition.encode()).map_err(|error| error.to_string())?;
    ensure(is_same(&again, &definition), "another definition")
}

/// The bounds of a schema are decimals that went through text once more; all else is equal.
fn is_same(again: &Definition, definition: &Definition) -> bool {
    match (again, definition) {
        (Definition::Tag(again), Definition::Tag(tag)) => {
            let mut again = again.clone();
            again.schema.min = tag.schema.min;
            again.schema.max = tag.schema.max;
            again == *tag
        }
        _ => again == definition,
    }
}

fn ledgers() -> Vec<Vec<u8>> {
    let ledger = Ledger::new();
    for number in [1, 7] {
        let counters = ledger.client(ClientNumber(number));
        counters.receive(5);
        counters.refuse(Reason::RateLimited, 2);
    }
    vec![ledger.to_record_json(0), ledger.to_record_json(77)]
}

fn check_ledger(input: &[u8]) -> Result<(), String> {
    let ledger = Ledger::new();
    if ledger.restore(input).is_err() {
        return ensure(
            ledger.totals() == Default::default(),
            "a refused record changed the ledger",
        );
    }
    let total = ledger.totals();
    ensure(total.decided() <= total.received, "more decided than received")?;
    ledger.finish_recovery(0);
    ensure(ledger.totals().in_flight() == 0, "something is in flight after recovery")
}
