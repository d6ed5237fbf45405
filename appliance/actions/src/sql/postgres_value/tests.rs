//! Values there and back, what must be refused, and bytes that are none.

use super::*;
use Shape as S;
use millrace_engine::json;

fn round(data: Data, shape: &Shape) -> Data {
    decode(&encode(&data, shape).unwrap().unwrap(), shape).unwrap()
}

fn t(text: &str) -> Data {
    Data::Text(text.into())
}

#[test]
fn values_read_back_as_they_were_bound() {
    for (data, shape) in [
        (Data::Bool(true), S::Bool),
        (Data::Bool(false), S::Bool),
        (Data::Int(-32_768), S::Int2),
        (Data::Int(2_147_483_647), S::Int4),
        (Data::Int(i64::MIN), S::Int8),
        (Data::Int(4_294_967_295), S::Oid),
        (Data::Float(0.1), S::Float4),
        (Data::Float(-1e300), S::Float8),
        (Data::Float(12.5), S::Numeric),
        (Data::Int(i64::MAX), S::Numeric),
        (t("gr\u{fc}n \u{1f600}"), S::Text),
        (t("00ff10"), S::Bytea),
        (t("0123e567-e89b-12d3-a456-426614174000"), S::Uuid),
        (t("2026-11-30"), S::Date),
        (t("17:14:32.25"), S::Time),
        (t("2026-11-30T17:14:32.123456"), S::Timestamp),
        (t("2026-11-30T17:14:32.123456Z"), S::TimestampTz),
    ] {
        assert_eq!(round(data.clone(), &shape), data, "{shape:?}");
    }
    let list = Data::List([Data::Int(1), Data::Null, Data::Int(3)].into());
    assert_eq!(round(list.clone(), &S::Array(Box::new(S::Int8), 20)), list);
    let empty = Data::List(Vec::new().into());
    assert_eq!(round(empty.clone(), &S::Array(Box::new(S::Text), 25)), empty);
    let map = json::data_of(&serde_json::json!({"a": [1, 9007199254740993_i64, null, "x"]}));
    assert_eq!(round(map.clone(), &S::Jsonb), map);
    assert_eq!(round(map.clone(), &S::Json), map);
    assert_eq!(round(map, &S::Text), t(r#"{"a":[1,9007199254740993,null,"x"]}"#));
    assert_eq!(encode(&Data::Null, &S::Int8), Ok(None));
    assert_eq!(encode(&Data::Missing, &S::Other("MONEY".into())), Ok(None));
}

#[test]
fn takes_what_has_the_same_value() {
    assert_eq!(round(Data::Float(7.0), &S::Int4), Data::Int(7));
    assert_eq!(round(t("42"), &S::Int8), Data::Int(42));
    assert_eq!(round(Data::Int(5), &S::Text), t("5"));
    assert_eq!(round(t("12.50"), &S::Numeric), Data::Float(12.5));
    assert_eq!(round(Data::Int(1_764_522_872_500), &S::TimestampTz), t("2025-11-30T17:14:32.5Z"));
    assert_eq!(round(t("2026-11-30T18:00:00+01:00"), &S::TimestampTz), t("2026-11-30T17:00:00Z"));
    assert_eq!(round(t("\\x0A"), &S::Bytea), t("0a"));
}

#[test]
fn refuses_what_would_change_its_value() {
    for (data, shape) in [
        (Data::Int(40_000), S::Int2),
        (Data::Float(1.5), S::Int8),
        (Data::Float(1e300), S::Int8),
        (Data::UInt(u64::MAX), S::Int8),
        (t("abc"), S::Int4),
        (t("1; drop table x"), S::Numeric),
        (t("2026-11-30T17:14:32"), S::TimestampTz),
        (t("zz"), S::Bytea),
        (t("1234"), S::Uuid),
        (Data::Bool(true), S::Numeric),
        (Data::Int(1), S::Array(Box::new(S::Int4), 23)),
        (t("1"), S::Other("MONEY".into())),
    ] {
        encode(&data, &shape).unwrap_err();
    }
}

#[test]
fn text_of_times_and_addresses() {
    let interval = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 14];
    assert_eq!(decode(&interval, &S::Interval), Ok(t("P1Y2M3D")));
    assert_eq!(decode(&[2, 32, 0, 4, 10, 0, 0, 1], &S::Inet), Ok(t("10.0.0.1")));
    assert_eq!(decode(&[2, 8, 1, 4, 10, 0, 0, 0], &S::Inet), Ok(t("10.0.0.0/8")));
    assert_eq!(decode(&[1, 2, 3, 4, 5, 255], &S::MacAddr), Ok(t("01:02:03:04:05:ff")));
    assert_eq!(decode(&[], &S::Void), Ok(Data::Null));
    let fault = decode(&[0; 8], &Shape::of_name("MONEY")).unwrap_err();
    assert!(fault.contains("MONEY") && fault.contains("::text"), "{fault}");
}

#[test]
fn no_bytes_of_a_server_make_it_panic() {
    let shapes = [
        "BOOL",
        "INT2",
        "INT4",
        "INT8",
        "OID",
        "FLOAT4",
        "FLOAT8",
        "NUMERIC",
        "TEXT",
        "BYTEA",
        "UUID",
        "DATE",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "INTERVAL",
        "INET",
        "MACADDR",
        "JSON",
        "JSONB",
        "VOID",
        "RECORD",
    ];
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..20_000 {
        let length = usize::try_from(random() % 40).unwrap();
        // Small bytes make plausible headers more often.
        let bytes: Vec<u8> = (0..length)
            .map(|_| if random() % 2 == 0 { (random() % 4) as u8 } else { random() as u8 })
            .collect();
        let simple = Shape::of_name(shapes[usize::try_from(random()).unwrap() % shapes.len()]);
        let array = Shape::Array(Box::new(simple.clone()), 23);
        for shape in [simple, array] {
            if let Ok(data) = decode(&bytes, &shape) {
                drop(data);
            }
        }
    }
}
