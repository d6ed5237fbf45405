//! Node-RED as a child process: what plants put behind a broker when they compute.
//!
//! One flow: MQTT in (all inbox topics) -> function -> MQTT out (the twin topic), through a
//! mosquitto on the same core. It stores nothing.
//!
//! **Invariants**
//! - Its folder is a temporary one; nothing of a person's own flows is touched.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{find_in_path, free_address};
use crate::http::Http;
use crate::launch::{Child, Speech};
use crate::scenario::flows::Class;
use crate::stop;

const START_LIMIT: Duration = Duration::from_secs(60);

/// A running Node-RED.
pub(crate) struct NodeRed {
    child: Child,
    _folder: TempDir,
}

impl NodeRed {
    /// Starts it with the class's flow.
    pub(crate) fn start(
        installed: &Path,
        broker: SocketAddr,
        class: Class,
        turns: u64,
        core: Option<usize>,
    ) -> Result<Self> {
        let red = installed.join("node_modules/node-red/red.js");
        if !red.is_file() {
            bail!(
                "there is no Node-RED at {}: install it with `npm install node-red@4` there",
                red.display()
            );
        }
        let node = find_node()?;
        let folder = tempfile::Builder::new().prefix("millrace-lab-").tempdir()?;
        let flows = folder.path().join("flows.json");
        File::create(&flows)?.write_all(&serde_json::to_vec(&flow(broker, class, turns))?)?;
        let settings = folder.path().join("settings.js");
        File::create(&settings)?.write_all(
            b"module.exports = { uiHost: '127.0.0.1', logging: { console: { level: 'warn' } }, \
             editorTheme: { tours: false }, telemetry: { enabled: false } };\n",
        )?;
        let address = free_address()?;
        let arguments: Vec<OsString> = vec![
            red.into_os_string(),
            "--userDir".into(),
            folder.path().into(),
            "--settings".into(),
            settings.into_os_string(),
            "--port".into(),
            address.port().to_string().into(),
            flows.into_os_string(),
        ];
        let said = File::create(folder.path().join("stderr.log"))?;
        let mut child = Child::start("Node-RED", &node, &arguments, core, Speech::ErrorsTo(said))?;
        stop::wait_for("Node-RED to run", START_LIMIT, Duration::from_millis(100), || {
            child.check_alive()?;
            let answer = Http::new(address, None).get("/flows");
            Ok(answer.is_ok_and(|answer| answer.status == 200).then_some(()))
        })?;
        Ok(Self { child, _folder: folder })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.child.check_alive()
    }
}

fn find_node() -> Result<PathBuf> {
    find_in_path("node")
        .context("node is not installed: install it with `apt-get install nodejs npm`")
}

fn flow(broker: SocketAddr, class: Class, turns: u64) -> Value {
    let work = match class {
        Class::Script => format!(
            "let x = 1; for (let i = 0; i < {turns}; i++) x = x * 1.0000001 + (i & 3) - 1.5; \
             msg.sum = x;"
        ),
        _ => "msg.line = 'L1';".to_owned(),
    };
    let function = format!(
        "{work}\nmsg.topic = 'mr/v1/main/twin/' + msg.topic.split('/').slice(5).join('/');\n\
         msg.payload = {{ value: msg.payload.value }};\nreturn msg;"
    );
    json!([
        { "id": "tab", "type": "tab", "label": "lab" },
        {
            "id": "broker", "type": "mqtt-broker", "broker": broker.ip().to_string(),
            "port": broker.port().to_string(), "protocolVersion": "5", "keepalive": "60",
            "cleansession": true, "autoConnect": true
        },
        {
            "id": "in", "type": "mqtt in", "z": "tab", "topic": "mr/v1/main/_ingress/+/lab/#",
            "qos": "1", "datatype": "json", "broker": "broker", "wires": [["work"]]
        },
        {
            "id": "work", "type": "function", "z": "tab", "func": function, "outputs": 1,
            "wires": [["out"]]
        },
        {
            "id": "out", "type": "mqtt out", "z": "tab", "topic": "", "qos": "1",
            "broker": "broker", "wires": []
        }
    ])
}
