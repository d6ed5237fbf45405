//! Goal: what people do in the studio is done by the appliance, durably, and stands in the trail.
//! Method: the API as the pages use it, then a restart.

use millrace_harness::{Appliance, Device, wait};
use serde_json::{Value, json};

/// The first admin's token.
fn claim(appliance: &Appliance) -> anyhow::Result<String> {
    let code = wait::until("a claim code", || {
        let shown = appliance.announced();
        // A line that is not whole yet has no end.
        let whole = shown.rsplit_once('\n')?.0;
        let line = whole.lines().rev().find_map(|line| line.trim().strip_prefix("claim "))?;
        line.split_whitespace().next().map(str::to_owned)
    })?;
    let claim = json!({"code": code, "name": "anna", "password": "a long password"});
    let (status, body) = appliance.send_json("POST", "/api/v1/claim", None, &claim)?;
    assert_eq!(status, 200, "{body}");
    token(&body)
}

fn token(session: &str) -> anyhow::Result<String> {
    let session: Value = serde_json::from_str(session)?;
    Ok(session["access_token"].as_str().unwrap_or_default().to_owned())
}

fn sign_in(appliance: &Appliance, password: &str) -> anyhow::Result<(u16, String)> {
    let login = json!({"name": "anna", "password": password});
    appliance.send_json("POST", "/api/v1/login", None, &login)
}

fn deeds(appliance: &Appliance) -> anyhow::Result<Vec<(String, String)>> {
    let page = appliance.get("/api/v1/audit?limit=1000")?;
    let items = page["items"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(items.iter().map(|line| (text(&line["action"]), text(&line["subject"]))).collect())
}

#[test]
fn the_own_password_is_changed_and_the_other_sessions_end() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let mine = claim(&appliance)?;
    let other = token(&sign_in(&appliance, "a long password")?.1)?;
    let change = |old: &str| {
        let body = json!({"old_password": old, "new_password": "another password"});
        appliance.send_json("POST", "/api/v1/me/password", Some(&mine), &body)
    };
    let (status, body) = change("a wrong password")?;
    assert!(status == 422 && body.contains("old_password"), "{status} {body}");
    let (status, body) = change("a long password")?;
    assert_eq!(status, 204, "{body}");
    let nothing = json!({});
    let alive = |token: &str| {
        // A question that any session may ask; it is refused for its body, or for its token.
        let sent = appliance.send_json("POST", "/api/v1/me/password", Some(token), &nothing);
        sent.map(|(status, _)| status)
    };
    assert_eq!((alive(&mine)?, alive(&other)?), (422, 401));
    assert_eq!(sign_in(&appliance, "a long password")?.0, 401);
    assert_eq!(sign_in(&appliance, "another password")?.0, 200);
    let deeds = deeds(&appliance)?;
    assert!(deeds.contains(&("person.password".to_owned(), "anna".to_owned())), "{deeds:?}");
    Ok(())
}

#[test]
fn a_client_gets_other_permissions_with_the_secret_that_it_has() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("press", &["--publish", "press/#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let inbox = |path: &str| format!("mr/v1/main/_ingress/{}/{path}", client.id);
    assert_eq!(device.publish(&inbox("oven/t"), "1")?.reason, 0x87);
    let rights = json!({"publish": ["oven/#"], "subscribe": [], "may_create": true});
    let local = appliance.local_token()?;
    let address = format!("/api/v1/clients/{}/rights", client.id);
    let (status, body) = appliance.send_json("PUT", &address, Some(&local), &rights)?;
    assert_eq!(status, 200, "{body}");
    let last = device.receive()?;
    assert_eq!(last.first, 0xe0, "it is cut off: {last:02x?}");
    for _ in 0..2 {
        let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
        assert_eq!(device.publish(&inbox("press/t"), "1")?.reason, 0x87);
        assert_eq!(device.publish(&inbox("oven/t"), "2")?.reason, 0);
        drop(device);
        assert!(appliance.stop()?);
        appliance.start_again()?;
    }
    let deeds = deeds(&appliance)?;
    assert!(deeds.contains(&("client.rights".to_owned(), client.id)), "{deeds:?}");
    Ok(())
}

#[test]
fn a_topic_tells_its_last_refusals_and_a_test_value_goes_the_way_of_others() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let mine = claim(&appliance)?;
    let client = appliance.client("press", &["--publish", "press/#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/press/t", client.id);
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    appliance.patch_tag("main", "press/t", r#"{"schema": {"max": 10, "strict": true}}"#)?;
    let markup = r#"{"value": 99, "note": "<script>"}"#;
    assert_ne!(device.publish(&topic, markup)?.reason, 0);

    let publish = |payload: &str| -> anyhow::Result<Value> {
        let body = json!({"payload": payload});
        let address = "/api/v1/workspaces/main/value?path=press/t";
        let (status, body) = appliance.send_json("POST", address, Some(&mine), &body)?;
        assert_eq!(status, 200, "{body}");
        Ok(serde_json::from_str(&body)?)
    };
    assert_eq!(publish("7.5")?, json!({"stored": 1, "refused": 0}));
    let refused = publish("42.5")?;
    assert_eq!((&refused["stored"], &refused["reason"]), (&json!(0), &json!("out_of_range")));

    let page = appliance.get("/api/v1/workspaces/main/refusals?path=press/t")?;
    let kept: Vec<(&Value, &Value)> = page["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|refused| (&refused["client"], &refused["payload"]))
        .collect();
    let by_the_box = (&Value::Null, &json!("42.5"));
    assert_eq!(kept, [by_the_box, (&json!(client.id), &json!(markup))], "{page}");
    assert_eq!(appliance.values("main/press/t")?.len(), 2, "1 and 7.5");
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    assert_eq!((&ledger["stored"], &ledger["refused"]), (&json!(2), &json!(2)), "{ledger}");
    let deeds = deeds(&appliance)?;
    let own = deeds.iter().filter(|(action, _)| action == "value.publish").count();
    assert_eq!(own, 2, "{deeds:?}");
    Ok(())
}

#[test]
fn topics_are_changed_by_a_file_and_views_kept_over_a_restart() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let mine = claim(&appliance)?;
    let local = appliance.local_token()?;
    for path in ["press/a", "press/b"] {
        let tag = json!({"path": path, "kind": "float"});
        let made =
            appliance.send_json("POST", "/api/v1/workspaces/main/tags", Some(&local), &tag)?;
        assert_eq!(made.0, 201, "{}", made.1);
    }
    let send = |text: &str| {
        let body = json!({"text": text});
        appliance.send_json("POST", "/api/v1/workspaces/main/tags.csv", Some(&mine), &body)
    };
    let (status, body) = send("path,unit\npress/a,bar\npress/z,bar\n")?;
    assert!(status == 422 && body.contains("Line 3"), "{status} {body}");
    let export = |appliance: &Appliance| appliance.text("/api/v1/workspaces/main/tags.csv");
    let before = export(&appliance)?;
    assert!(!before.contains("bar"), "nothing is written of a file with a fault: {before}");
    let (status, body) = send("path,unit,description,max\npress/a,bar,\"=1,\"\"x\"\"\",2.5\n")?;
    assert_eq!(status, 200, "{body}");
    let after = export(&appliance)?;
    let line = r#"press/a,"'=1,""x""",bar,7d,,,2.5,,false"#;
    let is_there = |text: &str| text.lines().any(|own| own == line || own.contains("bar"));
    assert!(is_there(&after), "{after}");
    let (status, body) = send(&after)?;
    let report: Value = serde_json::from_str(&body)?;
    assert_eq!((status, &report["topics"]), (200, &json!(0)), "a round trip is identity: {body}");

    let view = json!({"topics": ["press/a"], "seconds": 900});
    let kept = appliance.send_json("PUT", "/api/v1/views/Press", Some(&mine), &view)?;
    assert_eq!(kept.0, 200, "{}", kept.1);
    assert!(appliance.stop()?);
    appliance.start_again()?;
    assert_eq!(export(&appliance)?, after);
    let again = token(&sign_in(&appliance, "a long password")?.1)?;
    let gone = json!({});
    let removed = appliance.send_json("DELETE", "/api/v1/views/Press", Some(&again), &gone)?;
    assert_eq!(removed.0, 204, "it was kept: {}", removed.1);
    let removed = appliance.send_json("DELETE", "/api/v1/views/Press", Some(&again), &gone)?;
    assert_eq!(removed.0, 404, "{}", removed.1);
    let deeds = deeds(&appliance)?;
    let imported = ("tag.import".to_owned(), "1 topics".to_owned());
    assert!(deeds.contains(&imported), "{deeds:?}");
    Ok(())
}
