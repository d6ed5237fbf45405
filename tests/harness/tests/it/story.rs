//! Goal: one value goes the whole way: durable, named, live, queryable.
//! Method: a device and a subscriber on real sockets, questions through command line and API.

use millrace_harness::{Appliance, Device};

#[test]
fn a_value_is_stored_live_and_queryable() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let press = appliance.client("press-4", &["--publish", "press-4/#"])?;
    let viewer = appliance.client("viewer", &["--subscribe", "press-4/#"])?;
    let mut subscriber = Device::connect(appliance.mqtt()?, &viewer, "v")?;
    assert_eq!(subscriber.subscribe("mr/v1/main/press-4/temperature", 1)?, 1);
    let mut device = Device::connect(appliance.mqtt()?, &press, "d")?;

    let inbox = format!("mr/v1/main/_ingress/{}/press-4/temperature", press.id);
    let answer = device.publish(&inbox, r#"{"value": 42.7, "timestamp": 1764511537123456789}"#);
    // A time of last year is older than one day of history: refused, with the reason.
    assert_eq!(answer?.reason, 0x99);
    let answer = device.publish(&inbox, r#"{"value": 42.7}"#)?;
    assert_eq!((answer.reason, answer.text.as_str()), (0, ""));

    let (topic, payload) = subscriber.delivery()?;
    assert_eq!(topic, "mr/v1/main/press-4/temperature");
    assert!(String::from_utf8(payload)?.starts_with(r#"{"value":42.7,"timestamp":"#));
    let last = appliance.cli(&["query", "last", "main/press-4/temperature"])?;
    assert!(last.contains(" 42.7 ") && last.contains("quality 0"), "{last}");
    let csv = appliance.cli(&["query", "raw", "main/press-4/temperature", "--from", "-1h"])?;
    let rows: Vec<_> = csv.lines().collect();
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(rows[1].ends_with(",0,float,42.7"), "{csv}");
    let json = appliance
        .get("/api/v1/workspaces/main/raw?path=press-4/temperature&from=-1h&to=now&format=json")?;
    assert_eq!(json["items"][0]["value"], 42.7);
    Ok(())
}

#[test]
fn every_kind_of_value_comes_back_as_it_went_in() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let inbox = format!("mr/v1/main/_ingress/{}/t", client.id);
    let values = [
        ("9007199254740993", "int,9007199254740993"),
        ("-9223372036854775808", "int,-9223372036854775808"),
        ("18446744073709551615", "uint,18446744073709551615"),
        ("484.81953300000004", "float,484.81953300000004"),
        ("32.0", "float,32.0"),
        ("5e-324", "float,5e-324"),
        ("true", "bool,true"),
        ("\"1\"", "text,1"),
        ("null", "null,"),
        (r#"{"a":[1,2]}"#, r#"json,"{""a"":[1,2]}""#),
    ];
    for (value, _) in values {
        let answer = device.publish(&inbox, &format!(r#"{{"value":{value}}}"#))?;
        assert_eq!(answer.reason, 0, "{value}: {}", answer.text);
    }
    // Once from memory, once from a part: a clean stop seals.
    for is_sealed in [false, true] {
        if is_sealed {
            assert!(appliance.stop()?);
            appliance.start_again()?;
        }
        let csv = appliance.cli(&["query", "raw", "main/t", "--from", "-1h"])?;
        let rows: Vec<_> = csv.lines().skip(1).collect();
        assert_eq!(rows.len(), values.len(), "{csv}");
        for (row, (_, expected)) in rows.iter().zip(values) {
            assert!(row.ends_with(expected), "{row} for {expected}");
        }
    }
    Ok(())
}

#[test]
fn a_batch_gets_a_verdict_for_each_element() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let inbox = format!("mr/v1/main/_ingress/{}/line", client.id);
    let answer = device.publish(&inbox, r#"{"values":{"a":1,"b":2.5,"c":1e400}}"#)?;
    assert_eq!(answer.reason, 0, "{}", answer.text);
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["stored"], 2);
    assert_eq!(ledger["refused_by_reason"]["number_out_of_range"], 1);
    Ok(())
}
