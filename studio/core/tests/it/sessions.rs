//! Goal: a session lasts as long as its owner wants, and its secrets are seen by nobody.

use crate::appliance::{Appliance, PASSWORD};
use crate::world::World;
use millrace_studio_core::Vault as _;
use serde_json::json;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_password_renews_what_the_appliance_ended() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&appliance.address, true).await;
    appliance.state.lock().tokens.clear();
    let call = json!({"call": "api", "profile": id, "method": "GET", "path": "/api/v1/overview"});
    let answer = world.json(call).await;
    assert_eq!(answer["status"], 200, "{answer}");
    assert_eq!(appliance.state.lock().logins, 2);
    // After a restart too, without a person.
    let world = world.restart().await;
    assert_eq!(world.connect(&id).await["state"], "online");
    assert_eq!(appliance.state.lock().logins, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_kept_password_the_page_is_told() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&appliance.address, false).await;
    assert_eq!(world.vault.get(id.as_str()).unwrap(), None);
    appliance.state.lock().tokens.clear();
    let call = json!({"call": "api", "profile": id, "method": "GET", "path": "/api/v1/overview"});
    let answer = world.json(call).await;
    assert_eq!((answer["answer"].as_str(), answer["status"].as_u64()), (Some("api"), Some(401)));
    let state = world.wait_for("signed_out").await;
    assert!(state["why"].as_str().unwrap().contains("ended"), "{state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_renewed_before_it_ends() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    appliance.state.lock().lifetime_s = 1;
    let id = world.signed_in(&appliance.address, true).await;
    for _ in 0..200 {
        world.connect(&id).await;
        if appliance.state.lock().logins > 1 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it was not renewed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_password_is_not_sent_again_and_again() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&appliance.address, true).await;
    appliance.state.lock().password = Some("changed there".to_owned());
    appliance.state.lock().tokens.clear();
    for _ in 0..5 {
        world.connect(&id).await;
    }
    let state = world.wait_for("signed_out").await;
    assert!(state["why"].as_str().unwrap().contains("not right any more"), "{state}");
    for _ in 0..5 {
        world.connect(&id).await;
    }
    assert_eq!(appliance.asked("POST", "/api/v1/login"), 2, "the first and one renewal");
    assert_eq!(world.sign_in(&id, PASSWORD, true).await["fault"]["code"], "refused");
    let answer = world.sign_in(&id, "changed there", true).await;
    assert_eq!(answer["state"]["state"], "online");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_a_file_an_answer_or_an_event() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&appliance.address, true).await;
    assert!(world.vault.get(id.as_str()).unwrap().unwrap().expose().contains(PASSWORD));
    let mut seen = world.written();
    for call in [
        json!({"call": "greet"}),
        json!({"call": "profiles"}),
        json!({"call": "connect", "profile": id}),
        json!({"call": "api", "profile": id, "method": "GET", "path": "/api/v1/overview"}),
        json!({"call": "api", "profile": id, "method": "POST", "path": "/api/v1/login",
            "body": json!({"name": "anna", "password": PASSWORD}).to_string()}),
    ] {
        seen.push_str(&world.json(call).await.to_string());
    }
    assert!(seen.contains("anna") && seen.contains("overview") || seen.contains("ready"));
    for secret in [PASSWORD, "t0ken"] {
        assert!(!seen.contains(secret), "{seen}");
    }
    assert!(!seen.contains("cookie"), "{seen}");
    let out = world.json(json!({"call": "sign_out", "profile": id})).await;
    assert_eq!(out["state"]["state"], "signed_out", "{out}");
    assert_eq!(world.vault.get(id.as_str()).unwrap(), None);
    assert_eq!(appliance.asked("POST", "/api/v1/logout"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_differs_is_told() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    appliance.state.lock().ahead_s = 90;
    let id = world.signed_in(&appliance.address, false).await;
    let clock = world.connect(&id).await["clock"].clone();
    let milliseconds = clock["milliseconds"].as_i64().unwrap();
    assert!((88_000..92_000).contains(&milliseconds), "{clock}");
    assert_eq!(clock["is_large"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_appliance_that_is_gone_is_waited_for() {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    let key = crate::appliance::certificate();
    let place = appliance.address.trim_start_matches("https://").to_owned();
    let state = Arc::clone(&appliance.state);
    appliance.stop().await;
    let appliance = Appliance::start_at(&place, key.clone(), Arc::clone(&state)).await;
    let id = world.signed_in(&appliance.address, false).await;
    appliance.stop().await;
    let call = json!({"call": "api", "profile": id, "method": "GET", "path": "/api/v1/overview"});
    assert_eq!(world.json(call.clone()).await["fault"]["code"], "offline");
    let waiting = world.wait_for("waiting").await;
    assert!(waiting["since"].as_str().is_some(), "{waiting}");
    let _back = Appliance::start_at(&place, key, state).await;
    world.wait_for("online").await;
    assert_eq!(world.json(call).await["status"], 200, "the session is the same");
}
