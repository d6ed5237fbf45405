//! An appliance with TLS and one engineer.

use anyhow::Context as _;
use millrace_harness::Appliance;
use serde_json::{Value, json};
use std::net::TcpListener;

pub(crate) const PASSWORD: &str = "corr3ct horse battery";

pub(crate) struct Plant {
    pub(crate) appliance: Appliance,
    pub(crate) address: String,
}

impl Plant {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let setting = format!("http.tls_listen = \"127.0.0.1:{port}\"");
        let appliance = Appliance::start(&[&setting])?;
        let person = json!({"name": "anna", "password": PASSWORD, "role": "engineer"});
        let (status, said) = appliance.send_json("POST", "/api/v1/people", None, &person)?;
        assert_eq!(status / 100, 2, "{said}");
        Ok(Self { appliance, address: format!("https://127.0.0.1:{port}") })
    }

    /// What the appliance prints about its certificate.
    pub(crate) fn fingerprint(&self) -> anyhow::Result<String> {
        let text = std::fs::read_to_string(self.appliance.data().join("tls/generated.txt"))?;
        Ok(text.lines().next().context("a fingerprint")?.to_owned())
    }

    /// Stops it, gives it another certificate, and starts it at the same place.
    pub(crate) fn change_certificate(&mut self) -> anyhow::Result<()> {
        self.appliance.stop()?;
        std::fs::remove_dir_all(self.appliance.data().join("tls"))?;
        self.appliance.start_again()
    }

    pub(crate) fn save(&self, document: &Value) -> anyhow::Result<()> {
        let path = "/api/v1/workspaces/main/pipelines/scale";
        let body = json!({"document": document});
        let (status, said) = self.appliance.send_json("PUT", path, None, &body)?;
        assert_eq!(status / 100, 2, "{said}");
        Ok(())
    }

    /// Makes a topic.
    pub(crate) fn topic(&self, path: &str, unit: &str, description: &str) -> anyhow::Result<()> {
        let body = json!({"path": path, "kind": "float", "unit": unit, "description": description});
        let tags = "/api/v1/workspaces/main/tags";
        let (status, said) = self.appliance.send_json("POST", tags, None, &body)?;
        assert_eq!(status / 100, 2, "{said}");
        Ok(())
    }
}

pub(crate) fn document(factor: u32) -> Value {
    json!({"millrace": 1, "name": "scale", "steps": {
        "in": {"kind": "uns.subscribe", "fields": {"filters": ["press/raw"]}},
        "calc": {"kind": "map", "fields": {"output": format!("{{{{ $trigger.value * {factor} }}}}")}},
        "out": {"kind": "uns.publish", "fields": {"path": "press/scaled", "value": "{{ $step.calc }}"}}},
        "wires": [{"from": "in", "to": "calc"}, {"from": "calc", "to": "out"}]})
}
