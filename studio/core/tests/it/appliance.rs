//! An appliance as small as the tests allow: a certificate, one person, pipelines in memory.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use millrace_studio_core::Fingerprint;
use parking_lot::Mutex;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub(crate) const PASSWORD: &str = "corr3ct horse";

/// What it knows and what happened to it.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) tokens: Vec<String>,
    pub(crate) logins: usize,
    pub(crate) lifetime_s: u64,
    pub(crate) password: Option<String>,
    /// How far its clock is ahead.
    pub(crate) ahead_s: i64,
    /// Name to documents, the first is revision 1.
    pub(crate) pipelines: BTreeMap<String, Vec<Value>>,
    pub(crate) deployed: BTreeMap<String, u32>,
    /// Everything that was asked: method, path, body.
    pub(crate) asked: Vec<(String, String, String)>,
}

pub(crate) struct Appliance {
    pub(crate) address: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) state: Arc<Mutex<State>>,
    tasks: JoinSet<()>,
}

/// A certificate and its key.
pub(crate) fn certificate() -> (Vec<u8>, Vec<u8>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    (certificate.der().to_vec(), key.serialize_der())
}

impl Appliance {
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1:0", certificate(), Arc::default()).await
    }

    /// At a place of one's choice, with a certificate and a state of one's choice.
    pub(crate) async fn start_at(
        address: &str,
        (certificate, key): (Vec<u8>, Vec<u8>),
        state: Arc<Mutex<State>>,
    ) -> Self {
        let fingerprint = Fingerprint::of(&certificate);
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.into()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(address).await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&state);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, state) = (acceptor.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(move |request| serve(request, Arc::clone(&state)));
                    let served =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    let (Ok(()) | Err(_)) = served.await;
                });
            }
        });
        Self { address, fingerprint, state, tasks }
    }

    /// Ends it; its address is free afterwards.
    pub(crate) async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    pub(crate) fn asked(&self, method: &str, path: &str) -> usize {
        let state = self.state.lock();
        let is_it = |asked: &&(String, String, String)| asked.0 == method && asked.1 == path;
        state.asked.iter().filter(is_it).count()
    }
}

async fn serve(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    let path = head.uri.path().to_owned();
    let token = head
        .headers
        .get("authorization")
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer ").map(str::to_owned));
    let mut state = state.lock();
    state.asked.push((head.method.to_string(), path.clone(), text.clone()));
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let (status, answer) = state.answer(head.method.as_str(), &path, token, &body);
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("set-cookie", "not-for=pages")
        .body(Full::new(answer.to_string().into()));
    Ok(response.unwrap())
}

fn refused(status: u16, code: &str) -> (u16, Value) {
    (status, json!({"error": {"code": code, "message": format!("Refused: {code}.")}}))
}

impl State {
    fn answer(
        &mut self,
        method: &str,
        path: &str,
        token: Option<String>,
        body: &Value,
    ) -> (u16, Value) {
        if path == "/api/v1/version" {
            return (200, json!({"product": "millrace", "version": "0.1.0", "api": "v1"}));
        }
        if path == "/api/v1/login" {
            let right = self.password.as_deref().unwrap_or(PASSWORD);
            if body["password"] != right {
                return refused(401, "unauthorized");
            }
            self.logins += 1;
            let token = format!("t0ken-{}", self.logins);
            self.tokens.push(token.clone());
            let lifetime = if self.lifetime_s == 0 { 3_600 } else { self.lifetime_s };
            let (name, role) = (&body["name"], "engineer");
            return (
                200,
                json!({"access_token": token, "token_type": "Bearer", "expires_in": lifetime,
                    "name": name, "role": role}),
            );
        }
        if !token.is_some_and(|token| self.tokens.contains(&token)) {
            return refused(401, "unauthorized");
        }
        if path == "/api/v1/overview" {
            let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(self.ahead_s);
            return (
                200,
                json!({"now": now.to_string(), "started": "t", "ready": true, "connections": 0,
                    "clients": 0, "tags": 0, "issues": 0}),
            );
        }
        if path == "/api/v1/workspaces/main/tags" {
            let tag = json!({"id": 1, "workspace": "main", "path": "press/raw", "kind": "float",
                "unit": "mm", "description": "Stroke", "retention": "32d", "schema": {},
                "created": "t"});
            return (200, json!({ "items": [tag] }));
        }
        if path == "/api/v1/workspaces/main/last" {
            let sample = json!({"source_time": "t1", "receive_time": "t1", "quality": 0,
                "kind": "float", "value": 42.5});
            let last = json!({"path": "press/raw", "unit": "mm", "sample": sample});
            return (200, json!({ "items": [last] }));
        }
        let rest = path.strip_prefix("/api/v1/workspaces/main/pipelines").unwrap_or("/?");
        self.pipeline(method, rest.trim_start_matches('/'), body)
    }

    fn pipeline(&mut self, method: &str, rest: &str, body: &Value) -> (u16, Value) {
        let segments: Vec<&str> = rest.split('/').collect();
        match (method, segments.as_slice()) {
            ("GET", [""]) => {
                let all: Vec<Value> = self.pipelines.keys().map(|name| self.shown(name)).collect();
                (200, json!({ "items": all }))
            }
            ("GET", [name]) if self.pipelines.contains_key(*name) => (200, self.shown(name)),
            ("GET", [name, "revisions", number]) => {
                let number: usize = number.parse().unwrap();
                match self.pipelines.get(*name).and_then(|all| all.get(number - 1)) {
                    Some(document) => {
                        (200, json!({"revision": revision(number), "document": document}))
                    }
                    None => refused(404, "not_found"),
                }
            }
            ("PUT", [name]) => {
                let all = self.pipelines.entry((*name).to_owned()).or_default();
                if body["expected"].as_u64().is_some_and(|seen| seen != all.len() as u64) {
                    return refused(409, "conflict");
                }
                all.push(body["document"].clone());
                let revision = revision(all.len());
                (200, json!({"name": name, "revision": revision, "unchanged": false}))
            }
            ("POST", [name, "deploy"]) => {
                let number = u32::try_from(body["revision"].as_u64().unwrap()).unwrap();
                self.deployed.insert((*name).to_owned(), number);
                let deployment = json!({"revision": number, "at": "t", "by": "user:anna"});
                (200, json!({"name": name, "deployment": deployment, "triggers": []}))
            }
            _ => refused(404, "not_found"),
        }
    }

    fn shown(&self, name: &str) -> Value {
        let count = self.pipelines[name].len();
        let mut shown = json!({"number": 1, "workspace": "main", "name": name, "description": "",
            "latest": revision(count)});
        if let Some(deployed) = self.deployed.get(name) {
            shown["deployment"] = json!({"revision": deployed, "at": "t", "by": "user:anna"});
        }
        shown
    }
}

fn revision(number: usize) -> Value {
    json!({"revision": number, "at": format!("t{number}"), "author": "user:bo"})
}
