//! Goal: pipelines are edited without a connection and deployed when it is back, and nobody's
//! work is overwritten.

use crate::appliance::Appliance;
use crate::world::World;
use millrace_studio_core::ProfileId;
use serde_json::{Value, json};

fn document(factor: u32, message: &str) -> Value {
    json!({"millrace": 1, "name": "scale", "steps": {
        "in": {"kind": "manual"},
        "calc": {"kind": "unit", "fields": {"factor": factor}},
        "log": {"kind": "log", "fields": {"message": message}}},
        "wires": [{"from": "in", "to": "calc"}, {"from": "calc", "to": "log"}]})
}

fn call(name: &str, id: &ProfileId, more: Value) -> Value {
    let mut call = json!({"call": name, "profile": id, "workspace": "main", "name": "scale"});
    for (key, value) in more.as_object().unwrap() {
        call[key] = value.clone();
    }
    call
}

async fn project(world: &World, name: &str, id: &ProfileId) -> Value {
    let call = json!({"call": name, "profile": id, "workspace": "main"});
    world.json(call).await["entries"].clone()
}

fn draft(id: &ProfileId, document: &Value, base: u32) -> Value {
    call("save_draft", id, json!({"document": document.to_string(), "base": base}))
}

/// A world that has fetched a project, and is then without its appliance.
async fn offline() -> (World, Appliance, ProfileId) {
    let (world, appliance) = (World::new().await, Appliance::start().await);
    appliance.state.lock().pipelines.insert("scale".to_owned(), vec![document(2, "x")]);
    appliance.state.lock().deployed.insert("scale".to_owned(), 1);
    let id = world.signed_in(&appliance.address, true).await;
    let entries = project(&world, "fetch", &id).await;
    assert_eq!((&entries[0]["name"], &entries[0]["deployed"]), (&json!("scale"), &json!(1)));
    world.json(json!({"call": "disconnect", "profile": id})).await;
    (world.restart().await, appliance, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn edited_without_a_connection_then_compared_and_deployed() {
    let (world, appliance, id) = offline().await;
    let known = world.json(call("pipeline", &id, json!({}))).await["known"].clone();
    let text: Value = serde_json::from_str(known["document"].as_str().unwrap()).unwrap();
    assert_eq!(text, document(2, "x"));
    assert_eq!(world.json(draft(&id, &document(3, "x"), 1)).await["answer"], "done");
    // What was last seen is compared with as long as nothing else can be.
    let compared = world.json(call("compare", &id, json!({}))).await;
    assert_eq!((&compared["relation"], &compared["is_fresh"]), (&json!("ahead"), &json!(false)));
    let deploy = call("deploy", &id, json!({"expected": 1, "run": true, "note": "by train"}));
    assert_eq!(world.json(deploy.clone()).await["fault"]["code"], "offline");
    let world = world.restart().await;
    assert_eq!(project(&world, "project", &id).await[0]["draft_base"], 1, "the draft is there");
    // Back.
    assert_eq!(world.connect(&id).await["state"], "online");
    let compared = world.json(call("compare", &id, json!({}))).await;
    assert_eq!((&compared["relation"], &compared["is_fresh"]), (&json!("ahead"), &json!(true)));
    assert_eq!(compared["mine_lines"], json!(["step `calc`, `factor`: 2 → 3"]));
    assert_eq!(
        world.json(deploy).await,
        json!({"answer": "deployed", "revision": 2, "runs": true})
    );
    {
        let state = appliance.state.lock();
        assert_eq!(state.pipelines["scale"], [document(2, "x"), document(3, "x")]);
        assert_eq!(state.deployed["scale"], 2);
    }
    let entries = project(&world, "project", &id).await;
    assert_eq!(
        (&entries[0]["revision"], &entries[0]["deployed"], &entries[0]["draft_base"]),
        (&json!(2), &json!(2), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_there_without_a_connection_with_a_value_and_its_time() {
    let (world, _appliance, id) = offline().await;
    let call = json!({"call": "topics", "profile": id, "workspace": "main", "search": "strok"});
    let answer = world.json(call).await;
    assert_eq!(answer["found"], 1, "{answer}");
    let topic = &answer["topics"][0];
    assert_eq!((&topic["path"], &topic["unit"]), (&json!("press/raw"), &json!("mm")));
    assert_eq!(topic["sample"], json!({"value": "42.5", "time": "t1", "quality": 0}));
    let call = json!({"call": "project", "profile": id, "workspace": "main"});
    let reading = world.json(call).await["reading"].clone();
    assert_eq!((&reading["topics"], &reading["is_cut"]), (&json!(1), &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_beside_edits_loses_none_of_them() {
    let (world, _appliance, id) = offline().await;
    world.connect(&id).await;
    for factor in 3..40 {
        let save = draft(&id, &document(factor, "x"), 1);
        let fetch = json!({"call": "fetch", "profile": id, "workspace": "main"});
        let (saved, fetched) = tokio::join!(world.json(save), world.json(fetch));
        assert_eq!((&saved["answer"], &fetched["answer"]), (&json!("done"), &json!("project")));
        let stored = world.json(call("pipeline", &id, json!({}))).await;
        let text = stored["draft"]["document"].as_str().unwrap();
        let kept: Value = serde_json::from_str(text).unwrap();
        assert_eq!(kept, document(factor, "x"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_did_in_between_is_never_overwritten() {
    let (world, appliance, id) = offline().await;
    world.json(draft(&id, &document(3, "x"), 1)).await;
    appliance.state.lock().pipelines.get_mut("scale").unwrap().push(document(2, "y"));
    world.connect(&id).await;
    // A fetch does not touch the draft or its base.
    project(&world, "fetch", &id).await;
    let deploy = |expected: u32| call("deploy", &id, json!({"expected": expected, "run": true}));
    assert_eq!(world.json(deploy(1)).await["fault"]["code"], "moved_on");
    assert_eq!(appliance.state.lock().pipelines["scale"].len(), 2, "nothing was stored");
    let compared = world.json(call("compare", &id, json!({}))).await;
    assert_eq!((&compared["relation"], &compared["theirs"]), (&json!("diverged"), &json!(2)));
    assert_eq!(compared["theirs_author"], "user:bo");
    assert_eq!(compared["theirs_lines"], json!(["step `log`, `message`: \"x\" → \"y\""]));
    // All three documents are there for a merge; its outcome is a draft made from theirs.
    let stored = world.json(call("pipeline", &id, json!({}))).await;
    let text = |value: &Value| serde_json::from_str::<Value>(value.as_str().unwrap()).unwrap();
    assert_eq!(text(&stored["draft"]["base_document"]), document(2, "x"));
    assert_eq!(text(&stored["draft"]["document"]), document(3, "x"));
    assert_eq!(text(&stored["known"]["document"]), document(2, "y"));
    let merged = document(3, "y");
    world.json(draft(&id, &merged, 2)).await;
    let compared = world.json(call("compare", &id, json!({}))).await;
    assert_eq!(compared["relation"], "ahead");
    assert_eq!(world.json(deploy(2)).await["revision"], 3);
    let last = appliance.state.lock().pipelines["scale"][2].clone();
    assert_eq!(last["steps"], document(3, "y")["steps"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_pipeline_is_made_without_a_connection() {
    let (world, appliance, id) = offline().await;
    let mut new = document(1, "z");
    new["name"] = json!("fresh");
    let mut save = draft(&id, &new, 0);
    save["name"] = json!("fresh");
    assert_eq!(world.json(save).await["answer"], "done");
    world.connect(&id).await;
    let mut compare = call("compare", &id, json!({}));
    compare["name"] = json!("fresh");
    let compared = world.json(compare).await;
    assert_eq!((&compared["relation"], &compared["theirs"]), (&json!("new"), &json!(0)));
    let mut deploy = call("deploy", &id, json!({"expected": 0}));
    deploy["name"] = json!("fresh");
    assert_eq!(
        world.json(deploy).await,
        json!({"answer": "deployed", "revision": 1, "runs": false})
    );
    assert!(!appliance.state.lock().deployed.contains_key("fresh"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_of_a_base_that_is_not_here_is_refused_with_a_sentence() {
    let (world, _appliance, id) = offline().await;
    let fault = world.json(draft(&id, &document(3, "x"), 7)).await["fault"].clone();
    assert_eq!(fault["field"], "base");
    let fault = world.json(draft(&id, &json!({"millrace": 1}), 1)).await["fault"].clone();
    assert_eq!(fault["field"], "document");
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_keep_an_appliance_from_being_forgotten_by_mistake() {
    let (world, _appliance, id) = offline().await;
    world.json(draft(&id, &document(3, "x"), 1)).await;
    let forget = |with_drafts: bool| json!({"call": "remove_profile", "profile": id, "with_drafts": with_drafts});
    assert_eq!(world.json(forget(false)).await["fault"]["field"], "with_drafts");
    assert_eq!(world.json(forget(true)).await["answer"], "done");
    assert!(!world.written().contains("scale"));
    assert_eq!(world.json(call("pipeline", &id, json!({}))).await["fault"]["code"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_in_and_out_by_name_only() {
    let world = World::new().await;
    let export = |name: &str| json!({"call": "export", "name": name, "text": "{}"});
    let path = world.json(export("scale.json")).await["path"].as_str().unwrap().to_owned();
    assert!(path.ends_with("scale.json"), "{path}");
    for name in ["", "../x", "a/b", "a\\b", ".x", "c:x", "a\nb", "x "] {
        assert_eq!(world.json(export(name)).await["fault"]["field"], "name", "{name}");
    }
    world.studio.open_file("main", path.as_ref()).unwrap();
    world.studio.open_file("main", "no-such-file".as_ref()).unwrap();
    let events = world.json(json!({"call": "events", "session": world.session})).await;
    let files: Vec<&Value> =
        events["events"].as_array().unwrap().iter().map(|event| &event["file"]).collect();
    assert_eq!(
        (files[0]["name"].as_str(), files[0]["text"].as_str()),
        (Some("scale.json"), Some("{}"))
    );
    assert_eq!(files[1]["fault"], "There is no such file.");
}
