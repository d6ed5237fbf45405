//! Goal: nothing is said to an appliance whose certificate a person has not accepted.

use crate::appliance::{Appliance, certificate};
use crate::world::World;
use serde_json::json;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_shown_at_first_and_pinned_when_accepted() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.add(&appliance.address).await;
    let state = world.connect(&id).await;
    assert_eq!(
        state,
        json!({"state": "not_trusted", "presented": appliance.fingerprint.to_string()})
    );
    assert!(appliance.state.lock().asked.is_empty(), "nothing was asked");
    // A password cannot be sent either.
    let refused = world.sign_in(&id, "secret", false).await;
    assert_eq!(refused["fault"]["code"], "not_trusted");
    assert!(appliance.state.lock().asked.is_empty(), "nothing was said");
    // Another certificate than the one that was shown is not accepted by mistake.
    let other = "AB".repeat(32);
    let refused = world.json(json!({"call": "trust", "profile": id, "fingerprint": other})).await;
    assert_eq!(refused["fault"]["field"], "fingerprint");
    let shown = state["presented"].clone();
    let call = json!({"call": "trust", "profile": id, "fingerprint": shown});
    assert_eq!(world.json(call).await["state"]["state"], "signed_out");
    // It stays accepted.
    let world = world.restart().await;
    assert_eq!(world.connect(&id).await["state"], "signed_out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_certificate_is_refused_until_somebody_decides() {
    let (world, first) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&first.address, true).await;
    let pinned = first.fingerprint.to_string();
    let place = first.address.trim_start_matches("https://").to_owned();
    let logins = first.state.lock().logins;
    let state = Arc::clone(&first.state);
    first.stop().await;
    world.json(json!({"call": "disconnect", "profile": id})).await;
    let second = Appliance::start_at(&place, certificate(), state).await;
    let asked = second.state.lock().asked.len();
    let changed = world.connect(&id).await;
    let presented = second.fingerprint.to_string();
    assert_eq!(changed, json!({"state": "not_trusted", "presented": presented, "pinned": pinned}));
    // No call gets through, the kept password is not offered, and the refusal is loud.
    let call = json!({"call": "api", "profile": id, "method": "GET", "path": "/api/v1/overview"});
    let fault = world.json(call).await;
    assert_eq!(fault["fault"]["code"], "certificate_changed");
    assert_eq!(fault["fault"]["presented"], presented);
    let refused = world.sign_in(&id, "secret", false).await;
    assert_eq!(refused["fault"]["code"], "certificate_changed");
    assert_eq!(second.state.lock().asked.len(), asked, "nothing was said");
    assert_eq!(second.state.lock().logins, logins);
    // Accepting it as if it were the first is refused: the old one has to be named.
    let accept = json!({"call": "trust", "profile": id, "fingerprint": presented});
    assert_eq!(world.json(accept).await["fault"]["field"], "replaces");
    let accept =
        json!({"call": "trust", "profile": id, "fingerprint": presented, "replaces": pinned});
    // And then the kept password signs in again.
    assert_eq!(world.json(accept).await["state"]["state"], "online");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_appliance_is_said_so() {
    let world = World::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let id = world.add(&format!("https://{address}")).await;
    let state = world.connect(&id).await;
    assert_eq!(state["state"], "waiting");
    assert!(state["why"].as_str().unwrap().contains("cannot be reached"), "{state}");
    // TLS is expected, and something else answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let plain = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let id = world.add(&format!("https://{address}")).await;
    let state = world.connect(&id).await;
    assert!(state["why"].as_str().unwrap().contains("no TLS there"), "{state}");
    plain.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_do_not_share_a_folder() {
    let world = World::new().await;
    let fault = world.open_another().err().unwrap();
    assert!(fault.message.contains("another studio"), "{fault}");
    world.restart().await;
}
