//! A studio in a folder of its own, with a vault and a page that the test plays.

use millrace_studio_core::{
    Answer, Call, Event, Fault, Folders, LocalNetwork, MemoryVault, ProfileId, Studio, StudioParts,
    SystemClock, Vault,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

pub(crate) struct World {
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) vault: Arc<MemoryVault>,
    pub(crate) studio: Studio,
    pub(crate) session: u64,
}

pub(crate) const WINDOW: &str = "main";

fn open(folder: &Path, vault: Arc<dyn Vault>) -> Result<Studio, Fault> {
    Studio::open(StudioParts {
        folders: Folders { state: folder.join("state"), downloads: folder.join("downloads") },
        vault,
        browser: Arc::new(LocalNetwork::on_port(1)),
        clock: Arc::new(SystemClock),
        version: "0.1.0".to_owned(),
    })
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), Arc::default()).await
    }

    async fn at(folder: Arc<tempfile::TempDir>, vault: Arc<MemoryVault>) -> Self {
        let studio = open(folder.path(), Arc::<MemoryVault>::clone(&vault)).unwrap();
        let mut world = Self { folder, vault, studio, session: 0 };
        let Answer::Greeting(greeting) = world.call(Call::Greet {}).await else {
            panic!("no greeting")
        };
        world.session = greeting.session;
        world
    }

    /// Ends the program and starts it again on the same folder and keyring.
    pub(crate) async fn restart(self) -> Self {
        let Self { folder, vault, studio, .. } = self;
        drop(studio);
        Self::at(folder, vault).await
    }

    pub(crate) fn open_another(&self) -> Result<Studio, Fault> {
        open(self.folder.path(), Arc::<MemoryVault>::clone(&self.vault))
    }

    pub(crate) async fn ask(&self, call: Call) -> Result<Answer, Fault> {
        self.studio.call(WINDOW, call).await
    }

    pub(crate) async fn call(&self, call: Call) -> Answer {
        self.ask(call).await.unwrap()
    }

    /// As the shell does it: JSON in, JSON out.
    pub(crate) async fn json(&self, call: Value) -> Value {
        match self.ask(serde_json::from_value(call).unwrap()).await {
            Ok(answer) => serde_json::to_value(answer).unwrap(),
            Err(fault) => json!({ "fault": fault }),
        }
    }

    pub(crate) async fn add(&self, address: &str) -> ProfileId {
        let call = json!({"call": "add_profile", "name": address, "address": address});
        serde_json::from_value(self.json(call).await["profile"]["id"].clone()).unwrap()
    }

    /// Adds an appliance, accepts its certificate and signs in.
    pub(crate) async fn signed_in(&self, address: &str, remember: bool) -> ProfileId {
        let id = self.add(address).await;
        let state = self.connect(&id).await;
        let shown = state["presented"].clone();
        self.json(json!({"call": "trust", "profile": id, "fingerprint": shown})).await;
        let answer = self.sign_in(&id, crate::appliance::PASSWORD, remember).await;
        assert_eq!(answer["state"]["state"], "online", "{answer}");
        id
    }

    pub(crate) async fn connect(&self, id: &ProfileId) -> Value {
        self.json(json!({"call": "connect", "profile": id})).await["state"].clone()
    }

    pub(crate) async fn sign_in(&self, id: &ProfileId, password: &str, remember: bool) -> Value {
        let call = json!({"call": "sign_in", "profile": id, "name": "anna", "password": password,
            "remember": remember});
        self.json(call).await
    }

    /// Waits for a connection state that has this word.
    pub(crate) async fn wait_for(&self, state: &str) -> Value {
        for _ in 0..100 {
            let call = Call::Events { session: self.session };
            let Answer::Events { events } = self.call(call).await else { panic!("no events") };
            for event in events {
                if let Event::Connection { state: found, .. } = event {
                    let found = serde_json::to_value(found).unwrap();
                    if found["state"] == state {
                        return found;
                    }
                }
            }
        }
        panic!("it never was {state}");
    }

    /// All text of all files that the studio wrote.
    pub(crate) fn written(&self) -> String {
        fn read(folder: &Path, text: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => read(&path, text),
                    false => {
                        text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
                    }
                }
            }
        }
        let mut text = String::new();
        read(self.folder.path(), &mut text);
        text
    }
}
