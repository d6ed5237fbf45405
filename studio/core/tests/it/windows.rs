//! Goal: several windows work on the same appliance: what one does the others are told, and a
//! window that is closed takes nothing of theirs along.

use crate::appliance::Appliance;
use crate::world::{WINDOW, World};
use millrace_studio_core::{Answer, Call, Event, Fault};
use serde_json::{Value, json};

const SECOND: &str = "window-2";

async fn ask(world: &World, window: &str, call: Value) -> Result<Answer, Fault> {
    world.studio.call(window, serde_json::from_value(call).unwrap()).await
}

async fn greet(world: &World, window: &str) -> u64 {
    let Ok(Answer::Greeting(greeting)) = ask(world, window, json!({"call": "greet"})).await else {
        panic!("no greeting")
    };
    assert_eq!(greeting.connections.len(), 1, "the connection is everybody's");
    greeting.session
}

/// Fetches a window's events until one is what is looked for.
async fn told(world: &World, window: &str, session: u64, is_it: impl Fn(&Event) -> bool) {
    loop {
        let answer = world.studio.call(window, Call::Events { session }).await.unwrap();
        let Answer::Events { events } = answer else { panic!("no events") };
        if events.iter().any(&is_it) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_share_an_appliance_and_a_project() {
    let (mut world, appliance) = (World::new().await, Appliance::start().await);
    let id = world.signed_in(&appliance.address, true).await;
    world.session = greet(&world, WINDOW).await;
    let second = greet(&world, SECOND).await;
    assert_ne!(world.session, second);

    // A draft of one window is told to the other.
    let document = json!({"millrace": 1, "name": "scale", "steps": {"in": {"kind": "manual"}}});
    let save = json!({"call": "save_draft", "profile": id, "workspace": "main", "name": "scale",
        "document": document.to_string(), "base": 0});
    ask(&world, WINDOW, save).await.unwrap();
    told(&world, SECOND, second, |event| matches!(event, Event::Project { .. })).await;
    let pipeline = json!({"call": "pipeline", "profile": id, "workspace": "main", "name": "scale"});
    let answer = ask(&world, SECOND, pipeline).await.unwrap();
    assert!(matches!(answer, Answer::Pipeline { draft: Some(_), .. }), "{answer:?}");

    // A window goes: its page is over, the other one and the connection are not.
    world.studio.close(SECOND);
    world.json(json!({"call": "disconnect", "profile": id})).await;
    told(&world, WINDOW, world.session, |event| matches!(event, Event::Connection { .. })).await;
    let over = world.studio.call(SECOND, Call::Events { session: second }).await;
    assert!(over.is_err(), "its session ended with it");
}
