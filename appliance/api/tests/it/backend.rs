//! A backend that answers from memory.
//!
//! Tokens are names: `viewer`, `engineer`, `admin`, `local`, `device`; anything else is refused.
//! `device` may read `press-4/#` in workspace `main`.

use bytes::Bytes;
use millrace_api::backend::*;
use millrace_api::{Fault, LiveSink};
use millrace_contract::v1;
use millrace_model::*;
use millrace_supervisor::Measure;
use millrace_supervisor::issues::{IssueState, Severity};
use parking_lot::Mutex;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

pub(crate) const NOW: &str = "2026-11-30T12:00:00Z";

pub(crate) fn now() -> Timestamp {
    Timestamp::from_rfc3339(NOW).unwrap()
}

type Sinks = Arc<Mutex<Vec<(Vec<Filter>, Arc<dyn LiveSink>)>>>;

pub(crate) struct Fake {
    pub(crate) clients: Mutex<Vec<ApiClient>>,
    pub(crate) tags: Mutex<Vec<Tag>>,
    pub(crate) samples: Mutex<Vec<Sample>>,
    pub(crate) people: Mutex<Vec<Person>>,
    pub(crate) actors: Mutex<Vec<Actor>>,
    pub(crate) acknowledged: Mutex<Vec<String>>,
    pub(crate) revoked_tokens: Mutex<Vec<String>>,
    /// New passwords with the session they were set in.
    pub(crate) passwords: Mutex<Vec<(String, String)>>,
    /// Views with whose they are.
    pub(crate) views: Mutex<Vec<(String, v1::TrendView)>>,
    /// Commits of several tags at once.
    pub(crate) commits: AtomicUsize,
    pub(crate) sinks: Sinks,
    pub(crate) is_degraded: AtomicBool,
    /// The n-th raw page fails; 0 = none.
    pub(crate) fails_at_page: AtomicUsize,
    /// From this page on a part is missing.
    pub(crate) incomplete_from_page: AtomicUsize,
    pub(crate) raw_pages: AtomicUsize,
    pub(crate) pipelines: crate::pipelines::fake::Pipelines,
}

pub(crate) fn client(number: u32, id: &str) -> ApiClient {
    ApiClient {
        number: ClientNumber(number),
        id: id.to_owned(),
        name: id.to_owned(),
        workspace: WorkspaceNumber(1),
        secret_hash: "5ec2e7".to_owned(),
        publish: vec![Filter::new("press-4/#").unwrap()],
        subscribe: vec![Filter::new("press-4/#").unwrap()],
        may_create: true,
        retention: None,
        rate_per_s: None,
        created: now(),
        revoked: None,
    }
}

pub(crate) fn tag(id: u32, path: &str) -> Tag {
    Tag {
        id: TagId(id),
        workspace: WorkspaceNumber(1),
        path: path.to_owned(),
        kind: Kind::Float,
        unit: "°C".to_owned(),
        description: String::new(),
        retention: Retention::Days1,
        schema: Schema::default(),
        created: now(),
        created_by: ClientNumber(1),
    }
}

pub(crate) fn sample(seconds_ago: i64, value: Value, seq: u64) -> Sample {
    let source_time = now().plus_nanos(-seconds_ago * 1_000_000_000);
    let receive_time = source_time.plus_nanos(1_234_567);
    Sample { source_time, receive_time, quality: Quality::GOOD, value, seq }
}

impl Fake {
    pub(crate) fn new() -> Self {
        let workspace_tags = ["hall/humidity", "press-4/pressure", "press-4/temperature"];
        let tags = (1..).zip(workspace_tags).map(|(id, path)| tag(id, path)).collect();
        Self {
            clients: Mutex::new(vec![client(1, "device"), client(2, "other")]),
            tags: Mutex::new(tags),
            samples: Mutex::default(),
            people: Mutex::default(),
            actors: Mutex::default(),
            acknowledged: Mutex::default(),
            revoked_tokens: Mutex::default(),
            passwords: Mutex::default(),
            views: Mutex::default(),
            commits: AtomicUsize::new(0),
            sinks: Sinks::default(),
            is_degraded: AtomicBool::new(false),
            fails_at_page: AtomicUsize::new(0),
            incomplete_from_page: AtomicUsize::new(usize::MAX),
            raw_pages: AtomicUsize::new(0),
            pipelines: crate::pipelines::fake::Pipelines::default(),
        }
    }

    /// Offers a live value to whoever subscribed.
    pub(crate) fn publish(&self, path: &str, payload: &str) {
        let topic: Arc<str> = format!("mr/v1/main/{path}").into();
        let payload = Bytes::copy_from_slice(payload.as_bytes());
        for (filters, sink) in self.sinks.lock().iter() {
            if filters.iter().any(|filter| filter.matches(path)) {
                sink.offer(&topic, &payload);
            }
        }
    }

    fn check_journal(&self) -> Result<(), Fault> {
        if self.is_degraded.load(Ordering::SeqCst) {
            return Err(Fault::Unavailable("The journal is degraded.".to_owned()));
        }
        Ok(())
    }

    fn act(&self, by: Actor) {
        self.actors.lock().push(by);
    }
}

fn token(text: &str) -> Token {
    Token { access_token: text.to_owned(), expires_in: Duration::from_secs(3_600) }
}

pub(crate) fn done<T: Send + 'static>(result: Result<T, Fault>) -> BoxFuture<Result<T, Fault>> {
    Box::pin(std::future::ready(result))
}

struct Unsubscribe(Sinks);

impl Drop for Unsubscribe {
    fn drop(&mut self) {
        self.0.lock().clear();
    }
}

impl Backend for Fake {
    fn now(&self) -> Timestamp {
        now()
    }

    fn principal(&self, bearer: &str) -> Result<Principal, Fault> {
        if self.revoked_tokens.lock().iter().any(|revoked| revoked == bearer) {
            return Err(Fault::Unauthorized);
        }
        let person = |role| PrincipalKind::Person(role);
        let (name, kind) = match bearer {
            "viewer" => ("user:vera", person(Role::Viewer)),
            "engineer" => ("user:emil", person(Role::Engineer)),
            "admin" => ("user:anna", person(Role::Admin)),
            "local" => ("local", PrincipalKind::Local),
            "device" => ("client:device", PrincipalKind::Client(Arc::new(client(1, "device")))),
            _ => return Err(Fault::Unauthorized),
        };
        Ok(Principal { name: name.to_owned(), kind })
    }

    fn client_credentials(&self, id: &str, secret: &str, _: IpAddr) -> Result<Token, Fault> {
        match (id, secret) {
            ("device", "s3cret") | ("a b:c", "p%s+ä") => Ok(token("device")),
            ("tired", _) => Err(Fault::RateLimited { retry_after: Duration::from_millis(1_500) }),
            ("barred", _) => Err(Fault::Forbidden("This client may use MQTT only.".to_owned())),
            ("stopping", _) => Err(Fault::Unavailable("The box is stopping.".to_owned())),
            _ => Err(Fault::Unauthorized),
        }
    }

    fn login(&self, name: &str, password: &str, _: IpAddr) -> Result<Session, Fault> {
        match (name, password) {
            ("anna", "right horse") => {
                Ok(Session { token: token("admin"), name: "anna".to_owned(), role: Role::Admin })
            }
            ("tired", _) => Err(Fault::RateLimited { retry_after: Duration::from_secs(30) }),
            ("nobody", _) => Err(Fault::NotFound("no such person".to_owned())),
            _ => Err(Fault::Unauthorized),
        }
    }

    fn logout(&self, bearer: &str) {
        self.revoked_tokens.lock().push(bearer.to_owned());
    }

    fn claim_open(&self) -> bool {
        self.people.lock().is_empty()
    }

    fn claim(&self, code: &str, person: NewPerson, from: IpAddr) -> Result<Session, Fault> {
        if code != "ABCD-EFGH" {
            return Err(Fault::Unauthorized);
        }
        let role = person.role;
        let name = person.name.clone();
        self.create_person(person, &Actor { who: "claim".to_owned(), from })?;
        Ok(Session { token: token("admin"), name, role })
    }

    fn people(&self) -> Vec<Person> {
        self.people.lock().clone()
    }

    fn create_person(&self, new: NewPerson, by: &Actor) -> Result<Person, Fault> {
        self.check_journal()?;
        self.act(by.clone());
        let person = Person {
            name: new.name,
            password_hash: "$argon2id$hash".to_owned(),
            role: new.role,
            created: now(),
            disabled: None,
        };
        self.people.lock().push(person.clone());
        Ok(person)
    }

    fn change_person(&self, name: &str, change: PersonChange, by: &Actor) -> Result<Person, Fault> {
        self.check_journal()?;
        let mut people = self.people.lock();
        let found = people.iter_mut().find(|person| person.name == name);
        let person = found.ok_or_else(|| Fault::NotFound("No such person.".to_owned()))?;
        if person.role == Role::Admin && change.role.is_some() {
            return Err(Fault::Conflict("This is the last admin.".to_owned()));
        }
        self.act(by.clone());
        change.role.into_iter().for_each(|role| person.role = role);
        change.password.into_iter().for_each(|text| person.password_hash = text);
        change.disabled.into_iter().for_each(|on| person.disabled = on.then(now));
        Ok(person.clone())
    }

    fn change_own_password(
        &self,
        (bearer, _): (&str, &str),
        (old, new): (&str, &str),
        by: &Actor,
    ) -> Result<(), Fault> {
        if old != "right horse" {
            let (field, message) = ("old_password".to_owned(), "Not right.".to_owned());
            return Err(Fault::Invalid { field, message });
        }
        self.act(by.clone());
        self.passwords.lock().push((bearer.to_owned(), new.to_owned()));
        Ok(())
    }

    fn views(&self, person: &str) -> Vec<v1::TrendView> {
        let views = self.views.lock();
        views.iter().filter(|(of, _)| of == person).map(|(_, view)| view.clone()).collect()
    }

    fn keep_view(
        &self,
        person: &str,
        view: v1::TrendView,
        by: Actor,
    ) -> BoxFuture<Result<v1::TrendView, Fault>> {
        self.act(by);
        self.views.lock().push((person.to_owned(), view.clone()));
        done(Ok(view))
    }

    fn remove_view(&self, person: &str, name: &str, by: Actor) -> BoxFuture<Result<(), Fault>> {
        let mut views = self.views.lock();
        let found = views.iter().position(|(of, view)| of == person && view.name == name);
        let Some(found) = found else { return done(Err(Fault::Conflict("None.".to_owned()))) };
        views.remove(found);
        self.act(by);
        done(Ok(()))
    }

    fn clients(&self, after: Option<&str>, limit: usize) -> PageOf<ApiClient> {
        let clients = self.clients.lock();
        let mut found = clients.iter().filter(|client| after.is_none_or(|id| *client.id > *id));
        let items = found.by_ref().take(limit).cloned().collect();
        PageOf { items, more: found.next().is_some() }
    }

    fn client(&self, id: &str) -> Option<ApiClient> {
        self.clients.lock().iter().find(|client| client.id == id).cloned()
    }

    fn create_clients(
        &self,
        new: NewClients,
        by: Actor,
    ) -> BoxFuture<Result<Vec<CreatedClient>, Fault>> {
        if let Err(fault) = self.check_journal() {
            return done(Err(fault));
        }
        self.act(by);
        let create = |at: u32| {
            let id = if new.count == 1 { new.name.clone() } else { format!("{}-{at}", new.name) };
            let mut client = client(100 + at, &id);
            (client.publish, client.subscribe) = (new.publish.clone(), new.subscribe.clone());
            client.retention = new.retention;
            self.clients.lock().push(client.clone());
            CreatedClient { client, secret: format!("secret-{at}") }
        };
        done(Ok((1..=new.count).map(create).collect()))
    }

    fn revoke_client(&self, id: String, by: Actor) -> BoxFuture<Result<ApiClient, Fault>> {
        self.act(by);
        let mut clients = self.clients.lock();
        let found = clients.iter_mut().find(|client| client.id == id);
        done(match found {
            Some(client) => {
                client.revoked = Some(now());
                Ok(client.clone())
            }
            None => Err(Fault::NotFound("There is no such client.".to_owned())),
        })
    }

    fn renew_client(&self, id: String, by: Actor) -> BoxFuture<Result<CreatedClient, Fault>> {
        self.act(by);
        let found = self.client(&id);
        done(match found {
            Some(client) if client.revoked.is_some() => {
                Err(Fault::Conflict("The client has been revoked.".to_owned()))
            }
            Some(client) => Ok(CreatedClient { client, secret: "renewed".to_owned() }),
            None => Err(Fault::NotFound("There is no such client.".to_owned())),
        })
    }

    fn change_rights(
        &self,
        id: String,
        rights: ClientRights,
        by: Actor,
    ) -> BoxFuture<Result<ApiClient, Fault>> {
        self.act(by);
        let mut clients = self.clients.lock();
        let found = clients.iter_mut().find(|client| client.id == id);
        done(match found {
            Some(client) => {
                (client.publish, client.subscribe) = (rights.publish, rights.subscribe);
                (client.may_create, client.retention) = (rights.may_create, rights.retention);
                client.rate_per_s = rights.rate_per_s;
                Ok(client.clone())
            }
            None => Err(Fault::NotFound("There is no such client.".to_owned())),
        })
    }

    fn workspaces(&self) -> Vec<Workspace> {
        let workspace = |number, name: &str| Workspace {
            number: WorkspaceNumber(number),
            name: name.to_owned(),
            created: now(),
        };
        vec![workspace(1, "main"), workspace(2, "lab")]
    }

    fn tags(&self, query: &TagQuery<'_>) -> PageOf<Tag> {
        let tags = self.tags.lock();
        let mut found = tags.iter().filter(|tag| {
            tag.workspace == query.workspace
                && tag.path.starts_with(query.prefix)
                && tag.path.contains(query.search)
                && query.after.is_none_or(|after| *tag.path > *after)
                && (query.visible)(&tag.path)
        });
        let items = found.by_ref().take(query.limit).cloned().collect();
        PageOf { items, more: found.next().is_some() }
    }

    fn levels(&self, query: &LevelQuery<'_>) -> PageOf<Level> {
        let tags = self.tags.lock();
        let own = tags.iter().filter(|tag| tag.workspace == query.workspace);
        let below = own.filter_map(|tag| Some((tag, tag.path.strip_prefix(query.branch)?)));
        let mut levels = std::collections::BTreeMap::new();
        for (tag, rest) in below {
            match rest.split_once('/') {
                None => drop(levels.insert(rest.to_owned(), Level::Tag(tag.clone()))),
                Some((name, _)) => {
                    let branch = Level::Branch { name: name.to_owned(), tags: 0 };
                    if let Level::Branch { tags, .. } =
                        levels.entry(format!("{name}/")).or_insert(branch)
                    {
                        *tags += 1;
                    }
                }
            }
        }
        let behind =
            levels.into_iter().filter(|(key, _)| query.after.is_none_or(|a| key.as_str() > a));
        let mut items: Vec<Level> = behind.map(|(_, level)| level).collect();
        let more = items.len() > query.limit;
        items.truncate(query.limit);
        PageOf { items, more }
    }

    fn tag(&self, workspace: WorkspaceNumber, path: &str) -> Option<Tag> {
        let tags = self.tags.lock();
        tags.iter().find(|tag| tag.workspace == workspace && tag.path == path).cloned()
    }

    fn create_tag(&self, new: NewTag, by: Actor) -> BoxFuture<Result<Tag, Fault>> {
        if self.tag(new.workspace, &new.path).is_some() {
            return done(Err(Fault::Conflict("The path has a tag.".to_owned())));
        }
        self.act(by);
        let mut tag = tag(100, &new.path);
        (tag.kind, tag.unit, tag.schema) = (new.kind, new.unit, new.schema);
        self.tags.lock().push(tag.clone());
        done(Ok(tag))
    }

    fn update_tag(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        change: TagChange,
        by: Actor,
    ) -> BoxFuture<Result<Tag, Fault>> {
        self.act(by);
        let mut tags = self.tags.lock();
        let found = tags.iter_mut().find(|tag| tag.workspace == workspace && tag.path == path);
        let tag = found.expect("the API looks before it changes");
        change.unit.into_iter().for_each(|unit| tag.unit = unit);
        change.retention.into_iter().for_each(|class| tag.retention = class);
        change.schema.into_iter().for_each(|schema| tag.schema = schema);
        done(Ok(tag.clone()))
    }

    fn update_tags(
        &self,
        workspace: WorkspaceNumber,
        changes: Vec<(String, TagChange)>,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        for (path, change) in changes {
            drop(self.update_tag(workspace, path, change, by.clone()));
        }
        done(Ok(()))
    }

    fn refusals(&self, _: WorkspaceNumber, path: &str) -> Vec<v1::RefusedValue> {
        vec![v1::RefusedValue {
            at: NOW.to_owned(),
            client: Some("device".to_owned()),
            reason: "out_of_range".to_owned(),
            message: format!("{path} is outside"),
            payload: "99".to_owned(),
            payload_bytes: 2,
            cut: false,
        }]
    }

    fn publish(
        &self,
        _: WorkspaceNumber,
        path: String,
        payload: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::TestVerdict, Fault>> {
        self.act(by);
        let is_good = payload == "42.7";
        let message = (!is_good).then(|| format!("{path}: {payload}"));
        let reason = (!is_good).then(|| "wrong_kind".to_owned());
        let (stored, refused) = (u64::from(is_good), u64::from(!is_good));
        done(Ok(v1::TestVerdict { stored, refused, reason, message }))
    }

    fn last(&self, tags: &[TagId]) -> Result<Vec<Option<Sample>>, Fault> {
        let last = self.samples.lock().last().cloned();
        Ok(tags.iter().map(|tag| last.clone().filter(|_| tag.0 == 3)).collect())
    }

    fn raw(&self, query: &RawQuery) -> Result<RawPage, Fault> {
        let page = self.raw_pages.fetch_add(1, Ordering::SeqCst) + 1;
        if page == self.fails_at_page.load(Ordering::SeqCst) {
            return Err(Fault::Internal("a part is gone".to_owned()));
        }
        let samples = self.samples.lock();
        let position =
            |sample: &Sample| SamplePosition { source_time: sample.source_time, seq: sample.seq };
        let mut found = samples.iter().filter(|sample| {
            (query.from..query.to).contains(&sample.source_time)
                && query.after.is_none_or(|after| position(sample) > after)
        });
        let samples = found.by_ref().take(query.limit).cloned().collect();
        let incomplete = self.incomplete_from_page.load(Ordering::SeqCst) <= page;
        Ok(RawPage { samples, more: found.next().is_some(), incomplete })
    }

    fn range(&self, query: &RangeQuery) -> Result<Buckets, Fault> {
        let items = vec![Bucket {
            start: query.from,
            count: query.points as u64,
            min: Some(f64::NEG_INFINITY),
            max: Some(2.5),
            first: Some(1.0),
            last: Some(f64::NAN),
            mean: None,
        }];
        let incomplete = self.incomplete_from_page.load(Ordering::SeqCst) == 1;
        Ok(Buckets { items, incomplete })
    }

    fn ledger(&self) -> Ledger {
        let counts = |received| {
            let mut refused = [0; Reason::COUNT];
            refused[Reason::RateLimited.code() as usize] = 1;
            LedgerCounts { received, stored: received - 2, refused, ..LedgerCounts::default() }
        };
        let row = |number, id: &str, received| LedgerRow {
            number: ClientNumber(number),
            id: id.to_owned(),
            counts: counts(received),
        };
        Ledger { total: counts(30), clients: vec![row(1, "device", 10), row(2, "other", 20)] }
    }

    fn issues(&self) -> Vec<IssueState> {
        vec![IssueState {
            key: "part-damaged:1d/2026".to_owned(),
            severity: Severity::Warning,
            what: "A part is damaged.".to_owned(),
            effect: "An hour is missing.".to_owned(),
            remedy: "Restore it.".to_owned(),
            since: now(),
            last_seen: now(),
            count: 2,
            acknowledged_by: None,
        }]
    }

    fn acknowledge_issue(&self, key: &str, by: &Actor) -> Result<(), Fault> {
        if key != "part-damaged:1d/2026" {
            return Err(Fault::NotFound("That issue is not open.".to_owned()));
        }
        self.act(by.clone());
        self.acknowledged.lock().push(key.to_owned());
        Ok(())
    }

    fn audit(&self, before: Option<u64>, limit: usize) -> Result<PageOf<AuditLine>, Fault> {
        let last = before.unwrap_or(4) - 1;
        let line = |number| AuditLine {
            number,
            entry: AuditEntry {
                at: now(),
                who: "local".to_owned(),
                action: "client.create".to_owned(),
                subject: format!("c{number}"),
                from: None,
            },
        };
        let items: Vec<_> = (1..=last).rev().take(limit).map(line).collect();
        Ok(PageOf { more: items.last().is_some_and(|line| line.number > 1), items })
    }

    fn health(&self) -> Health {
        let ok = !self.is_degraded.load(Ordering::SeqCst);
        let part =
            HealthPart { name: "journal".to_owned(), ok, detail: "commits in 2 ms".to_owned() };
        Health { ready: ok, parts: vec![part] }
    }

    fn overview(&self) -> Overview {
        Overview {
            started: now(),
            ready: true,
            connections: 20,
            clients: 2,
            tags: 3,
            issues: 1,
            received_per_s: Some(200.0),
            stored_per_s: None,
            refused_per_s: None,
            journal_bytes: Some(64),
            history_bytes: None,
        }
    }

    fn version(&self) -> &str {
        "0.1.0"
    }

    fn config_effective(&self) -> Vec<ConfigEntry> {
        vec![ConfigEntry {
            key: "broker.receive_maximum".to_owned(),
            value: "10".to_owned(),
            source: ConfigSource::File,
            default: "1000".to_owned(),
            about: "QoS 1 messages that may be unacknowledged.".to_owned(),
        }]
    }

    fn system(&self) -> System {
        let listener = |protocol, address: &str, setting| BoundListener {
            protocol,
            address: address.parse().unwrap(),
            tls: address.ends_with(":443"),
            setting,
        };
        System {
            build: "release",
            platform: "linux x86_64".to_owned(),
            started: now(),
            config_file: Some("/etc/millrace.toml".to_owned()),
            listeners: vec![
                listener("mqtt", "127.0.0.1:1883", "broker.listen"),
                listener("http", "192.0.2.7:443", "http.tls_listen"),
            ],
            certificate: Some(ServedCertificate {
                fingerprint: "AB:CD".to_owned(),
                not_before: None,
                not_after: Some(now()),
                own: true,
            }),
            limits: vec![LimitUse {
                setting: "broker.clients_max".to_owned(),
                what: "MQTT clients".to_owned(),
                used: 20,
                most: 5_000,
                unit: LimitUnit::Count,
            }],
            near_percent: 80,
            changes: vec![("broker.live_qos".to_owned(), "1".to_owned(), "0".to_owned())],
            faults: vec!["line 3: no such key".to_owned()],
        }
    }

    fn metrics_text(&self) -> String {
        "# TYPE millrace_tags gauge\nmillrace_tags 3\n".to_owned()
    }

    fn measures(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Measure> {
        let all = [
            Measure::gauge("tags", "Topics", 3.0),
            Measure::gauge("hidden", "Not a number", f64::NAN),
            Measure::counter("refused_values", "Refused", 2).with_label("reason", "schema"),
        ];
        all.into_iter().filter(|measure| wanted(measure.name)).collect()
    }

    fn live(
        &self,
        _: &Principal,
        _: WorkspaceNumber,
        filters: &[Filter],
        sink: Arc<dyn LiveSink>,
    ) -> Result<LiveGuard, Fault> {
        self.sinks.lock().push((filters.to_vec(), sink));
        Ok(Box::new(Unsubscribe(Arc::clone(&self.sinks))))
    }

    fn pipelines(&self) -> &dyn PipelineBackend {
        self
    }
}
