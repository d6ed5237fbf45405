//! Payload shapes: tables for each, and serde_json as the oracle for everything else.

use super::*;
use millrace_model::Value;
use proptest::prelude::*;
use serde_json::Value as Tree;
use std::fmt::Write as _;

/// What a payload was found to hold, owned.
#[derive(Debug, Clone, PartialEq)]
enum Held {
    One(Owned),
    Batch(Vec<(Option<String>, Result<Owned, Reason>)>),
}

#[derive(Debug, Clone, PartialEq)]
struct Owned {
    value: Value,
    source_time: Option<i64>,
    quality: Option<u32>,
}

impl Owned {
    fn of(sent: Sent<'_>) -> Self {
        Self {
            value: sent.value.to_value(),
            source_time: sent.source_time.map(|time| time.0),
            quality: sent.quality.map(|quality| quality.0),
        }
    }
}

#[derive(Default)]
struct Keep(Option<Held>, usize);

impl Sink for Keep {
    fn one(&mut self, sent: Sent<'_>) {
        assert!(self.0.is_none(), "one value only");
        self.0 = Some(Held::One(Owned::of(sent)));
    }
    fn batch(&mut self, element_count: usize) {
        assert!(self.0.is_none(), "announced once");
        self.0 = Some(Held::Batch(Vec::new()));
        self.1 = element_count;
    }
    fn element(&mut self, path: Option<&str>, sent: Result<Sent<'_>, Refusal>) {
        let Some(Held::Batch(elements)) = &mut self.0 else { panic!("not announced") };
        elements
            .push((path.map(Into::into), sent.map(Owned::of).map_err(|refusal| refusal.reason)));
    }
}

fn read(payload: impl AsRef<[u8]>) -> Result<Held, Refusal> {
    let mut keep = Keep::default();
    Parser::new().parse(payload.as_ref(), &mut keep)?;
    if let Some(Held::Batch(elements)) = &keep.0 {
        assert_eq!(elements.len(), keep.1, "as many elements as were announced");
    }
    Ok(keep.0.expect("an accepted payload holds something"))
}

fn one(value: Value) -> Owned {
    Owned { value, source_time: None, quality: None }
}

fn takes(payload: &str, value: Value) {
    assert_eq!(read(payload), Ok(Held::One(one(value))), "{payload}");
}

fn refuses(payload: impl AsRef<[u8]>, reason: Reason) -> Refusal {
    let shown = String::from_utf8_lossy(payload.as_ref()).chars().take(80).collect::<String>();
    match read(&payload) {
        Err(refusal) => {
            assert_eq!(refusal.reason, reason, "{shown}: {refusal:?}");
            refusal
        }
        Ok(held) => panic!("{shown} was taken as {held:?}"),
    }
}

#[test]
fn keeps_numbers_exactly() {
    for (text, value) in [
        ("0", Value::Int(0)),
        ("42", Value::Int(42)),
        ("9007199254740993", Value::Int(9_007_199_254_740_993)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("9223372036854775808", Value::UInt(1 << 63)),
        ("18446744073709551615", Value::UInt(u64::MAX)),
        ("32.0", Value::Float(32.0)),
        ("484.81953300000004", Value::Float(484.819_533_000_000_04)),
        ("-0", Value::Float(-0.0)),
        ("-0.0", Value::Float(-0.0)),
        ("0.0", Value::Float(0.0)),
        ("0e5", Value::Float(0.0)),
        ("5e-324", Value::Float(5e-324)),
        ("1E+2", Value::Float(100.0)),
        ("1.7976931348623157e308", Value::Float(f64::MAX)),
        ("0.1", Value::Float(0.1)),
        ("0.30000000000000004", Value::Float(0.1 + 0.2)),
        ("9007199254740993.0", Value::Float(9_007_199_254_740_992.0)),
        (
            "123456789012345678901234567890.5",
            Value::Float(123_456_789_012_345_678_901_234_567_890.5),
        ),
    ] {
        takes(text, value.clone());
        takes(&format!("{{\"value\":{text}}}"), value.clone());
        takes(&format!("{{\"value\": {text}}}"), value.clone());
        takes(&format!(" {{ \"value\" :\t{text} }}\r\n"), value.clone());
    }
}

#[test]
fn refuses_numbers_that_cannot_be_kept() {
    for text in [
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "1e-400",
        "4e-325",
        "99999999999999999999999999",
    ] {
        refuses(text, Reason::NumberOutOfRange);
        refuses(format!("{{\"value\": {text}}}"), Reason::NumberOutOfRange);
        // Inside a structured value it is text, kept as it is.
        let json = format!("{{\"x\":{text}}}");
        takes(&json, Value::Json(json.as_str().into()));
    }
}

#[test]
fn holds_numbers_to_the_grammar_of_json() {
    for text in [
        "01",
        "-01",
        "00",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e+",
        "1.e5",
        "-",
        "--1",
        "0x10",
        "1_000",
        "1,5",
        "1 2",
        "1.2.3",
        "1e5.5",
        "Infinity",
        "-Infinity",
        "NaN",
        "inf",
        "nan",
        "1f",
        "\u{0661}",
    ] {
        refuses(text, Reason::PayloadInvalid);
        refuses(format!("{{\"value\":{text}}}"), Reason::PayloadInvalid);
        refuses(format!("{{\"x\":{text}}}"), Reason::PayloadInvalid);
    }
    for text in ["NaN", "Infinity", "-Infinity"] {
        assert!(refuses(text, Reason::PayloadInvalid).sentence().contains("NaN and infinities"));
    }
}

#[test]
fn takes_bare_values_of_each_kind() {
    takes("true", Value::Bool(true));
    takes(" false\n", Value::Bool(false));
    takes("null", Value::Null);
    takes("\"Ölstand \u{1f6e2}\"", Value::Text("Ölstand \u{1f6e2}".into()));
    takes("\"\"", Value::Text("".into()));
    takes(
        r#""a\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00""#,
        Value::Text("a\"\\/\u{8}\u{c}\n\r\tä😀".into()),
    );
    takes(r#"{"value": "\u0000"}"#, Value::Text("\0".into()));
}

#[test]
fn refuses_what_is_no_json() {
    for text in [
        "",
        "  ",
        "hello",
        "ON",
        "tru",
        "nulL",
        "\"open",
        "\"tab\tinside\"",
        r#""\x""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\ud800""#,
        r#""\ud800\u0041""#,
        r#""\udc00""#,
        r#""\ud83d\ud83d""#,
        "{",
        "[",
        "{]",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "[1 2]",
        "1 1",
        "{}{}",
        "\u{feff}1",
        "'a'",
        "{\"value\":1}}",
        "{\"value\":1",
        "// c\n1",
    ] {
        refuses(text, Reason::PayloadInvalid);
    }
    refuses(b"\"\xff\"", Reason::PayloadInvalid);
    refuses(b"{\"value\": \"\xed\xa0\x80\"}", Reason::PayloadInvalid);
    refuses(b"\xc3", Reason::PayloadInvalid);
}

#[test]
fn keeps_structured_values_byte_for_byte() {
    for json in [
        r#"{"x": 1.50, "y" :[ 1, 2 ],"z":{}}"#,
        "[]",
        "[1.0,  2]",
        r#"["a",{"b":null}]"#,
        "{}",
        r#"{"timestamp": "soon", "x": 1}"#,
        r#"{"values": [1, 2]}"#,
        r#"{"path": "a"}"#,
    ] {
        takes(&format!("\n {json} "), Value::Json(json.into()));
        takes(&format!("{{\"value\": {json} }}"), Value::Json(json.into()));
    }
}

#[test]
fn reads_time_and_quality() {
    let check = |payload: &str, source_time, quality| {
        let expected = Owned { value: Value::Int(1), source_time, quality };
        assert_eq!(read(payload), Ok(Held::One(expected)), "{payload}");
    };
    let nanos = 1_701_353_137_123_456_789;
    check(r#"{"value":1,"timestamp":"2023-11-30T14:05:37.123456789Z"}"#, Some(nanos), None);
    check(r#"{"timestamp":"2023-11-30T15:05:37.123456789+01:00","value":1}"#, Some(nanos), None);
    check(r#"{"value":1,"timestamp":1701353137}"#, Some(1_701_353_137_000_000_000), None);
    check(r#"{"value":1,"timestamp":1701353137123}"#, Some(1_701_353_137_123_000_000), None);
    check(r#"{"value":1,"timestamp":1701353137123456}"#, Some(1_701_353_137_123_456_000), None);
    check(r#"{"value":1,"timestamp":1701353137123456789}"#, Some(nanos), None);
    check(r#"{"value":1,"timestamp":1701353137.123456789}"#, Some(nanos), None);
    check(r#"{"value":1,"timestamp":1701353137123.5}"#, Some(1_701_353_137_123_500_000), None);
    check(r#"{"value":1,"timestamp":-1.25}"#, Some(-1_250_000_000), None);
    check(r#"{"value":1,"timestamp":-0.5}"#, Some(-500_000_000), None);
    check(r#"{"value":1,"timestamp":0}"#, Some(0), None);
    check(r#"{"value":1,"timestamp":"1970-01-01T00:00:00Z"}"#, Some(0), None);
    check(
        r#"{"value":1,"timestamp":"2100-01-01T00:00:00Z"}"#,
        Some(4_102_444_800_000_000_000),
        None,
    );
    check(r#"{"value":1,"timestamp":null,"quality":null}"#, None, None);
    check(r#"{"value":1,"quality":"Good"}"#, None, Some(0));
    check(r#"{"value":1,"quality":"uncertain"}"#, None, Some(0x4000_0000));
    check(r#"{"value":1,"quality":"bad"}"#, None, Some(0x8000_0000));
    check(r#"{"value":1,"quality":4294967295}"#, None, Some(u32::MAX));
    check(r#"{"v\u0061lue":1,"qualit\u0079":"b\u0061d"}"#, None, Some(0x8000_0000));
}

#[test]
fn refuses_times_and_qualities_that_cannot_be_read() {
    for time in [
        "\"yesterday\"",
        "\"2023-11-30\"",
        "\"2023-11-30T14:05:37\"",
        "true",
        "[]",
        "{}",
        "1e9",
        "18446744073709551615",
        "1701353137.1234567891",
        "1701353137123456789.5",
        "99999999999999999999",
        "\"9999-01-01T00:00:00Z\"",
        "\"2023-11-30T14:05:37.1234567891Z\"",
        "\"\"",
    ] {
        refuses(format!("{{\"value\":1,\"timestamp\":{time}}}"), Reason::TimeInvalid);
    }
    for quality in ["-1", "4294967296", "0.0", "\"fine\"", "true", "[]"] {
        refuses(format!("{{\"value\":1,\"quality\":{quality}}}"), Reason::QualityInvalid);
    }
}

#[test]
fn refuses_keys_that_it_would_have_to_drop() {
    for json in [
        r#"{"value":1,"unit":"C"}"#,
        r#"{"value":1,"values":{}}"#,
        r#"{"value":1,"path":"a"}"#,
        r#"{"values":{"a":1},"x":2}"#,
        r#"{"values":{"a":1},"path":"x"}"#,
    ] {
        assert!(refuses(json, Reason::PayloadInvalid).sentence().contains("known"), "{json}");
    }
    let many: String = (0..20).map(|i| format!("\"k{i}\":1,")).collect();
    for json in [
        r#"{"value":1,"value":1}"#.to_owned(),
        r#"{"value":1,"v\u0061lue":2}"#.to_owned(),
        r#"{"a":{"b":1,"b":1}}"#.to_owned(),
        r#"{"values":{"a":1,"a":2}}"#.to_owned(),
        format!("{{{many}\"k7\":0}}"),
    ] {
        assert!(refuses(&json, Reason::PayloadInvalid).sentence().contains("twice"), "{json}");
    }
    let json = format!("{{{many}\"x\":{{\"k7\":1}}}}");
    takes(&json, Value::Json(json.as_str().into()));
}

#[test]
fn reads_a_batch_of_paths() {
    let held = read(
        r#"{"timestamp": 1701353137, "values": {"a": 1, "b/c": {"value": "x", "quality": "bad"},
            "d": {"x": 1}, "e": {"value": 1, "timestamp": 5, "unit": "C"}, "f": 1e400, "\u0067": [2],
            "h": {"value": 2, "timestamp": 7}}}"#,
    );
    let at = Some(1_701_353_137_000_000_000);
    let sent = |value, source_time, quality| Ok(Owned { value, source_time, quality });
    assert_eq!(
        held,
        Ok(Held::Batch(vec![
            (Some("a".into()), sent(Value::Int(1), at, None)),
            (Some("b/c".into()), sent(Value::Text("x".into()), at, Some(0x8000_0000))),
            (Some("d".into()), sent(Value::Json(r#"{"x": 1}"#.into()), at, None)),
            (Some("e".into()), Err(Reason::PayloadInvalid)),
            (Some("f".into()), Err(Reason::NumberOutOfRange)),
            (Some("g".into()), sent(Value::Json("[2]".into()), at, None)),
            (Some("h".into()), sent(Value::Int(2), Some(7_000_000_000), None)),
        ]))
    );
}

#[test]
fn reads_a_list_of_samples() {
    let held = read(
        r#"[{"value": 1, "timestamp": 1}, {"value": 2, "path": "x/y"}, {"x": 1}, 5, {"value": 3, "path": 4},
            {"value": "\u0061\n", "path": "\u0062"}]"#,
    );
    let sent = |value, source_time| Ok(Owned { value, source_time, quality: None });
    assert_eq!(
        held,
        Ok(Held::Batch(vec![
            (None, sent(Value::Int(1), Some(1_000_000_000))),
            (Some("x/y".into()), sent(Value::Int(2), None)),
            (None, Err(Reason::PayloadInvalid)),
            (None, Err(Reason::PayloadInvalid)),
            (None, Err(Reason::TopicInvalid)),
            (Some("b".into()), sent(Value::Text("a\n".into()), None)),
        ]))
    );
}

#[test]
fn a_batch_that_breaks_off_gives_out_nothing() {
    let mut keep = Keep::default();
    let cut = br#"[{"value": 1}, {"value": 2}, {"value": "#;
    assert!(Parser::new().parse(cut, &mut keep).is_err());
    assert_eq!(keep.0, None);
    refuses(r#"{"values": {}}"#, Reason::PayloadInvalid);
}

#[test]
fn holds_its_limits() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    takes(&nested(32), Value::Json(nested(32).as_str().into()));
    assert!(refuses(nested(33), Reason::PayloadInvalid).sentence().contains("deeper"));
    refuses("[".repeat(4_000_000), Reason::PayloadInvalid);
    refuses("{\"a\":".repeat(500_000), Reason::PayloadInvalid);
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
    assert!(read(text(1024 * 1024)).is_ok());
    refuses(text(1024 * 1024 + 1), Reason::TooLarge);
    refuses(format!("[{}]", "1,".repeat(600_000) + "1"), Reason::TooLarge);
    let list = |count: usize| format!("[{}]", vec!["{\"value\":1}"; count].join(","));
    assert!(read(list(10_000)).is_ok());
    refuses(list(10_001), Reason::TooLarge);
    let values: Vec<_> = (0..10_001).map(|i| format!("\"{i}\":1")).collect();
    refuses(format!("{{\"values\":{{{}}}}}", values.join(",")), Reason::TooLarge);
}

#[test]
fn quick_and_full_say_the_same() {
    for text in
        ["1", "-0", "1.5", "1e3", "01", "1.", "x", "9007199254740993", "18446744073709551616"]
    {
        for payload in [text.to_owned(), format!("{{\"value\":{text}}}")] {
            if let Some(value) = Parser::quick(payload.as_bytes()) {
                let mut keep = Keep::default();
                let full = Parser::new().parse_fully(payload.as_bytes(), &mut keep);
                assert_eq!(full, Ok(()));
                assert_eq!(keep.0, Some(Held::One(one(value.to_value()))), "{payload}");
            }
        }
    }
}

// The oracle: serde_json reads the same text into a tree.

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:?}")),
        ".{0,12}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just(r#""\ud83d\ude00\u00e4""#.to_owned()),
    ]
}

fn json() -> impl Strategy<Value = String> {
    let space = prop_oneof![Just(""), Just(" "), Just("\n\t")];
    leaf().prop_recursive(4, 24, 5, move |inner| {
        let space = space.clone();
        let array = (proptest::collection::vec(inner.clone(), 0..5), space.clone()).prop_map(
            |(items, space)| format!("[{space}{}{space}]", items.join(&format!(",{space}"))),
        );
        let key = prop_oneof![
            Just("value".to_owned()),
            Just("values".to_owned()),
            Just("timestamp".to_owned()),
            "[a-e]{1,2}"
        ];
        let members = proptest::collection::btree_map(key, inner, 0..5);
        let object = (members, space.clone()).prop_map(|(members, space)| {
            let mut out = String::from("{");
            for (i, (key, value)) in members.iter().enumerate() {
                write!(out, "{}{space}\"{key}\"{space}:{value}", if i > 0 { "," } else { "" })
                    .unwrap();
            }
            out + "}"
        });
        prop_oneof![array, object]
    })
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    (json(), any::<proptest::sample::Index>(), any::<u8>(), 0..4).prop_map(
        |(text, index, byte, how)| {
            let mut bytes = text.into_bytes();
            let at = index.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
            bytes
        },
    )
}

fn same(mine: &Value, tree: &Tree) -> bool {
    match (mine, tree) {
        (Value::Null, Tree::Null) => true,
        (Value::Bool(mine), Tree::Bool(tree)) => mine == tree,
        (Value::Int(mine), Tree::Number(tree)) => tree.as_i64() == Some(*mine),
        (Value::UInt(mine), Tree::Number(tree)) => tree.as_u64() == Some(*mine),
        (Value::Float(mine), Tree::Number(tree)) => {
            tree.as_f64().map(f64::to_bits) == Some(mine.to_bits())
        }
        (Value::Text(mine), Tree::String(tree)) => **mine == **tree,
        (Value::Json(mine), Tree::Array(_) | Tree::Object(_)) => {
            serde_json::from_str::<Tree>(mine).is_ok_and(|mine| mine == *tree)
        }
        _ => false,
    }
}

/// Whether the difference between the two parsers is one that is wanted.
fn is_ours_alone(refusal: &Refusal, payload: &[u8]) -> bool {
    let sentence = refusal.sentence();
    let is_strict = ["twice", "deeper", "known", "batch is empty", "element of a batch"]
        .iter()
        .any(|word| sentence.contains(word));
    let is_member = matches!(refusal.reason, Reason::TimeInvalid | Reason::QualityInvalid);
    // serde_json turns what is too small or too large for 64 bits into a double.
    is_strict || is_member || refusal.reason == Reason::NumberOutOfRange || payload.len() > 1 << 20
}

fn agree(payload: &[u8]) -> Result<(), TestCaseError> {
    let tree = serde_json::from_slice::<Tree>(payload);
    match (read(payload), tree) {
        (Err(_), Err(_)) => {}
        (Err(refusal), Ok(tree)) => {
            prop_assert!(
                is_ours_alone(&refusal, payload),
                "refused {refusal:?}, the oracle has {tree}"
            );
        }
        (Ok(held), Err(error)) => {
            // Numbers beyond a double inside structured values are kept as text.
            prop_assert!(error.to_string().contains("out of range"), "{held:?}: {error}");
        }
        (Ok(Held::One(mine)), Ok(tree)) => {
            let value = tree.get("value").unwrap_or(&tree);
            prop_assert!(same(&mine.value, value), "{mine:?} is not {value}");
        }
        (Ok(Held::Batch(elements)), Ok(tree)) => {
            let values = tree.get("values").and_then(Tree::as_object);
            for (path, sent) in elements {
                let (Some(path), Some(values), Ok(mine)) = (path, values, sent) else { continue };
                let tree = values.get(&path).expect("the oracle has the path");
                let value = tree.get("value").unwrap_or(tree);
                prop_assert!(same(&mine.value, value), "{mine:?} is not {value}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn agrees_with_the_oracle_on_json(text in json()) {
        agree(text.as_bytes())?;
    }

    #[test]
    fn agrees_with_the_oracle_on_damaged_json(bytes in mutated()) {
        agree(&bytes)?;
    }

    #[test]
    fn agrees_with_the_oracle_on_number_like_text(text in "-?[0-9]{1,22}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{0,3})?") {
        agree(text.as_bytes())?;
        agree(format!("{{\"value\":{text}}}").as_bytes())?;
    }

    #[test]
    fn every_double_and_integer_comes_back(bits in any::<u64>()) {
        let float = f64::from_bits(bits);
        if float.is_finite() {
            let text = format!("{float:?}");
            prop_assert_eq!(read(&text).unwrap(), Held::One(one(Value::Float(float))));
        }
        let text = bits.cast_signed().to_string();
        prop_assert_eq!(read(&text).unwrap(), Held::One(one(Value::Int(bits.cast_signed()))));
    }
}

#[test]
fn gives_back_what_a_large_payload_took() {
    let mut parser = Parser::new();
    let escaped = format!("\"\\n{}\"", "x".repeat(500_000));
    let keys: Vec<_> = (0..50_000).map(|i| format!("\"{i}\":0")).collect();
    let path = format!("[{{\"value\":1,\"path\":{escaped}}}]");
    for payload in [escaped, format!("{{{}}}", keys.join(",")), path] {
        parser.parse(payload.as_bytes(), &mut Keep::default()).unwrap();
        let kept = parser.text.capacity() + parser.path.capacity() + parser.keys.capacity() * 8;
        assert!(kept <= 3 * KEPT_BYTES_MAX, "{kept} bytes kept");
    }
}
