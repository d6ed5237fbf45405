//! The client: what is asked and done, by resource.

use crate::error::{Error, Result};
use millrace_contract::v1;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;

/// Largest answer that is held in memory.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time without a single byte after which a connection counts as dead.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Entries asked for per page of a list.
pub(crate) const PAGE: &str = "1000";
/// Clients asked for per page of the ledger.
const LEDGER_PAGE: &str = "10000";

/// A client of one appliance.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    authorization: Option<HeaderValue>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = &self.base;
        f.debug_struct("Client").field("base", base).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the appliance at `base` (`http://127.0.0.1:8080`), with a bearer token.
    ///
    /// # Errors
    /// When the token cannot stand in a header, or the HTTP client cannot be made.
    pub fn new(base: &str, token: Option<&str>) -> Result<Self> {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .no_proxy()
            .build()?;
        let header = |token: &str| {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| Error::TokenInvalid)?;
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        };
        let authorization = token.map(header).transpose()?;
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), authorization })
    }

    /// What runs.
    ///
    /// # Errors
    /// See [`Error`]; so for every method.
    pub async fn version(&self) -> Result<v1::Version> {
        self.get(&["version"], &[]).await
    }

    /// Whether the box takes values: the parts too, on the box itself or with a token.
    ///
    /// # Errors
    /// See [`Error`]; a box that is not ready is an answer, not an error.
    pub async fn health(&self) -> Result<v1::Health> {
        let response = self.authorized(self.http.get(format!("{}/health/ready", self.base)));
        let response = response.send().await?;
        if response.status().as_u16() == 503 { parse(response).await } else { read(response).await }
    }

    /// All metrics, in the text form of Prometheus.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn metrics(&self) -> Result<String> {
        let response = self.authorized(self.http.get(format!("{}/metrics", self.base)));
        let bytes = bytes(check(response.send().await?).await?).await?;
        String::from_utf8(bytes).map_err(|_| Error::Foreign { status: 200, source: None })
    }

    /// Whether the box still waits for its first admin.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn claim_state(&self) -> Result<v1::ClaimState> {
        self.get(&["claim"], &[]).await
    }

    /// Makes the first admin with the claim code that the box shows.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn claim(&self, claim: &v1::Claim) -> Result<v1::Session> {
        read(self.request(Method::POST, &["claim"], &[]).json(claim).send().await?).await
    }

    /// The box at a glance.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn overview(&self) -> Result<v1::Overview> {
        self.get(&["overview"], &[]).await
    }

    /// The settings in force.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn config(&self) -> Result<Vec<v1::ConfigEntry>> {
        Ok(self.get::<v1::Page<_>>(&["config"], &[]).await?.items)
    }

    /// Open issues, worst first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn issues(&self) -> Result<Vec<v1::Issue>> {
        Ok(self.get::<v1::Page<_>>(&["issues"], &[]).await?.items)
    }

    /// Notes that somebody knows of an issue.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn acknowledge_issue(&self, key: &str) -> Result<()> {
        let request = self.request(Method::POST, &["issues", key, "acknowledge"], &[]);
        check(request.send().await?).await.map(drop)
    }

    /// The ledger, with all clients.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ledger(&self) -> Result<v1::Ledger> {
        let mut ledger: v1::Ledger = self.get(&["ledger"], &[("limit", LEDGER_PAGE)]).await?;
        while let Some(after) = ledger.next.take() {
            let query = [("limit", LEDGER_PAGE), ("after", after.as_str())];
            let page: v1::Ledger = self.get(&["ledger"], &query).await?;
            ledger.clients.extend(page.clients);
            ledger.next = page.next;
        }
        Ok(ledger)
    }

    /// All clients, revoked ones among them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn clients(&self) -> Result<Vec<v1::Client>> {
        let mut page: v1::Page<v1::Client> = self.get(&["clients"], &[("limit", PAGE)]).await?;
        let mut all = page.items;
        while let Some(after) = page.next.take() {
            page = self.get(&["clients"], &[("limit", PAGE), ("after", &after)]).await?;
            all.append(&mut page.items);
        }
        Ok(all)
    }

    /// One client; `None` when there is no such.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn client(&self, id: &str) -> Result<Option<v1::Client>> {
        found(self.get(&["clients", id], &[]).await)
    }

    /// Creates clients; their secrets are in the answer, this once.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_clients(&self, new: &v1::NewClients) -> Result<v1::ClientsCreated> {
        read(self.request(Method::POST, &["clients"], &[]).json(new).send().await?).await
    }

    /// Revokes a client.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn revoke_client(&self, id: &str) -> Result<v1::Client> {
        read(self.request(Method::DELETE, &["clients", id], &[]).send().await?).await
    }

    /// One page of a workspace's tags: those whose path begins with `prefix`, and that have the
    /// search text in path, unit or description.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn tags(
        &self,
        workspace: &str,
        prefix: &str,
        search: Option<&str>,
        after: Option<&str>,
    ) -> Result<v1::Page<v1::Tag>> {
        let mut query = vec![("prefix", prefix), ("limit", PAGE)];
        query.extend(search.map(|text| ("search", text)));
        query.extend(after.map(|token| ("after", token)));
        self.get(&["workspaces", workspace, "tags"], &query).await
    }

    /// One tag; `None` when there is no such.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn tag(&self, workspace: &str, path: &str) -> Result<Option<v1::Tag>> {
        found(self.get(&["workspaces", workspace, "tag"], &[("path", path)]).await)
    }

    /// Creates a tag before its first value.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_tag(&self, workspace: &str, new: &v1::NewTag) -> Result<v1::Tag> {
        let request = self.request(Method::POST, &["workspaces", workspace, "tags"], &[]);
        read(request.json(new).send().await?).await
    }

    /// Changes a tag; what the change leaves out stays.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn update_tag(
        &self,
        workspace: &str,
        path: &str,
        change: &v1::TagChange,
    ) -> Result<v1::Tag> {
        let segments = ["workspaces", workspace, "tag"];
        let request = self.request(Method::PATCH, &segments, &[("path", path)]);
        read(request.json(change).send().await?).await
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T> {
        read(self.request(Method::GET, segments, query).send().await?).await
    }

    /// Starts a request below `/api/v1`; every segment is percent-encoded as a whole.
    pub(crate) fn request(
        &self,
        method: Method,
        segments: &[&str],
        query: &[(&str, &str)],
    ) -> RequestBuilder {
        let address = format!("{}/api/v1", self.base);
        // An address that is none comes back as an error when the request is sent.
        let request = match Url::parse(&address) {
            Ok(mut url) => {
                if let Ok(mut path) = url.path_segments_mut() {
                    path.extend(segments);
                }
                self.http.request(method, url)
            }
            Err(_) => self.http.request(method, address),
        };
        self.authorized(request.query(query))
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value.clone()),
            None => request,
        }
    }
}

/// Turns "not found" into `None`.
pub(crate) fn found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Some(v1::ErrorCode::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Passes a success on and reads the error of anything else.
pub(crate) async fn check(response: Response) -> Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let status = status.as_u16();
    let body = bytes(response).await?;
    match serde_json::from_slice::<v1::ErrorBody>(&body) {
        Ok(body) => Err(Error::Refused { status, detail: body.error }),
        Err(source) => Err(Error::Foreign { status, source: Some(source) }),
    }
}

pub(crate) async fn read<T: DeserializeOwned>(response: Response) -> Result<T> {
    parse(check(response).await?).await
}

async fn parse<T: DeserializeOwned>(response: Response) -> Result<T> {
    let status = response.status().as_u16();
    let body = bytes(response).await?;
    serde_json::from_slice(&body).map_err(|source| Error::Foreign { status, source: Some(source) })
}

pub(crate) async fn bytes(mut response: Response) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(Error::TooLarge { bytes_max: ANSWER_BYTES_MAX });
        }
    }
    Ok(body)
}
