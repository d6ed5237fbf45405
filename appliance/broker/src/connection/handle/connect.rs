//! CONNECT: from a stranger to a session, or to a refusal with its reason.
//!
//! **Invariants**: nothing of the rest of the product is touched before the sign-in succeeds;
//! the session is in the table before the CONNACK leaves, and the grant is asked once more after
//! that, so that a revocation in between is not missed; the connection that had the session is
//! told 0x8E.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use millrace_journal::Registration;

use crate::codec::{Connack, Connect, ConnectFault, Version, connack, reason};
use crate::config::{CLIENT_ID_BYTES_MAX, DELIVERIES_IN_FLIGHT_MAX, TOPIC_ALIAS_MAXIMUM};
use crate::connection::aliases::Aliases;
use crate::connection::deliver::InFlightDeliveries;
use crate::connection::open::Open;
use crate::connection::{Connection, acknowledge};
use crate::fanout::Subscriber;
use crate::ingest::{Grant, IngestSession, SignInError};
use crate::link::{Command, Identity};
use crate::stats::ConnectRefusal;

/// A refused CONNECT: what is counted, and what is answered in each protocol.
struct Refused {
    counted: ConnectRefusal,
    code: u8,
    v311: u8,
    what: &'static str,
}

impl Refused {
    const fn new(counted: ConnectRefusal, code: u8, v311: u8, what: &'static str) -> Self {
        Self { counted, code, v311, what }
    }
}

impl Connection {
    /// Handles the first packet.
    pub(in crate::connection) fn connect(&mut self, body: &[u8]) {
        let connect = match Connect::decode(body) {
            Ok(connect) => connect,
            Err(fault) => return self.refuse_undecoded(fault),
        };
        if let Err(refused) = self.sign_in(&connect) {
            self.shared.refused_connect(&self.link, refused.counted, connect.user.as_deref());
            match connect.version {
                Version::V311 => connack::encode_v311(refused.v311, self.out.buffer()),
                Version::V5 => {
                    let text = connect.wants_problem_information.then_some(refused.what);
                    let bytes_max = bytes_max(&connect);
                    connack::encode_refusal(refused.code, text, bytes_max, self.out.buffer());
                }
            }
            self.begin_flush();
        }
    }

    fn refuse_undecoded(&mut self, fault: ConnectFault) {
        let out = self.out.buffer();
        let counted = match fault {
            ConnectFault::Foreign => ConnectRefusal::Malformed,
            ConnectFault::Level(level) => {
                // A level above ours is a later protocol, which will read MQTT 5's answer.
                if level > 5 {
                    connack::encode_refusal(reason::UNSUPPORTED_VERSION, None, usize::MAX, out);
                } else {
                    connack::encode_v311(reason::V311_UNACCEPTABLE_VERSION, out);
                }
                ConnectRefusal::Version
            }
            ConnectFault::Broken(version, fault) => {
                // 3.1.1 closes without a word (3.1.4-1).
                if version == Version::V5 {
                    connack::encode_refusal(fault.code, Some(fault.what), usize::MAX, out);
                }
                ConnectRefusal::Malformed
            }
        };
        self.shared.refused_connect(&self.link, counted, None);
        self.begin_flush();
    }

    fn sign_in(&mut self, connect: &Connect) -> Result<(), Refused> {
        check_offer(connect)?;
        let assigned = connect.client_id.is_empty().then(|| format!("auto-{:x}", self.link.id));
        let mqtt_id = assigned.as_deref().unwrap_or(&connect.client_id);
        let wiring = &self.shared.wiring;
        let user = connect.user.as_deref().ok_or(Refused::new(
            ConnectRefusal::NotAuthorized,
            reason::NOT_AUTHORIZED,
            reason::V311_NOT_AUTHORIZED,
            "a user name and secret are needed",
        ))?;
        let password = connect.password.as_deref().unwrap_or_default();
        let grant = wiring.sign_in.sign_in(user, password, self.link.from).map_err(of_sign_in)?;
        let subscriber = wiring.fanout.subscriber(self.shared.config.subscriber_queue_max);
        subscriber.set_bell(&self.link);
        let identity = Identity {
            client: grant.number,
            client_id: grant.id.clone(),
            mqtt_id: mqtt_id.into(),
            version: connect.version,
            since: wiring.clock.now(),
            subscriber: Arc::clone(&subscriber),
        };
        // Set once: a connection has one CONNECT.
        self.link.identity.get_or_init(|| identity);
        let clients_max = self.shared.config.clients_max;
        let holder =
            self.shared.table.sign_in(&self.link, grant.number, mqtt_id, clients_max).map_err(
                |_| {
                    Refused::new(
                        ConnectRefusal::ClientsMax,
                        reason::QUOTA_EXCEEDED,
                        reason::V311_SERVER_UNAVAILABLE,
                        "as many clients are connected as may be",
                    )
                },
            )?;
        if let Some(holder) = holder {
            self.shared.counters.takeovers.fetch_add(1, Ordering::Relaxed);
            holder.command(Command::TakenOver);
        }
        if !wiring.sign_in.is_valid(&grant) {
            return Err(of_sign_in(SignInError::Revoked));
        }
        self.shared.counters.signed_in.fetch_add(1, Ordering::Relaxed);
        let server_keep_alive = self.hold_to_keep_alive(connect);
        self.say_connack(connect, server_keep_alive, assigned.as_deref())?;
        let session = self.shared.wiring.gate.open(&grant);
        self.open = Some(new_open(self, connect, grant, session, subscriber));
        Ok(())
    }

    /// Tells the sweep how long the client may be silent; the keep alive that we hold it to
    /// instead of its own, if any.
    fn hold_to_keep_alive(&self, connect: &Connect) -> Option<u16> {
        let wanted = connect.keep_alive_seconds;
        let max = self.shared.config.keep_alive_max.map(seconds);
        let (held, announced) = match max {
            // 3.1.1 has no way to announce another one.
            Some(max) if connect.version == Version::V5 && (wanted == 0 || wanted > max) => {
                (max, Some(max))
            }
            _ => (wanted, None),
        };
        let idle_seconds_max = (u32::from(held) * 3).div_ceil(2);
        self.link.idle_seconds_max.store(idle_seconds_max, Ordering::Relaxed);
        announced
    }

    fn say_connack(
        &mut self,
        connect: &Connect,
        server_keep_alive_seconds: Option<u16>,
        assigned_client_id: Option<&str>,
    ) -> Result<(), Refused> {
        let config = &self.shared.config;
        let out = self.out.buffer();
        if connect.version == Version::V311 {
            connack::encode_v311(0, out);
            return Ok(());
        }
        let connack = Connack {
            receive_maximum: config.receive_maximum,
            packet_bytes_max: u32::try_from(config.packet_bytes_max).unwrap_or(u32::MAX),
            topic_alias_maximum: TOPIC_ALIAS_MAXIMUM,
            server_keep_alive_seconds,
            assigned_client_id,
        };
        connack.encode(out);
        // The connection has sent nothing else yet.
        if out.len() <= bytes_max(connect) {
            return Ok(());
        }
        out.clear();
        Err(Refused::new(
            ConnectRefusal::NotSupported,
            reason::IMPLEMENTATION_SPECIFIC,
            reason::V311_SERVER_UNAVAILABLE,
            "the maximum packet size does not hold the answer",
        ))
    }
}

fn new_open(
    connection: &Connection,
    connect: &Connect,
    grant: Arc<Grant>,
    session: Box<dyn IngestSession>,
    subscriber: Arc<Subscriber>,
) -> Open {
    let root = &connection.shared.config.root;
    let Grant { id, workspace, .. } = &*grant;
    Open {
        version: connect.version,
        session,
        registration: Registration::default(),
        inflight: acknowledge::Inflight::default(),
        aliases: Aliases::default(),
        inbox: format!("{root}/{workspace}/_ingress/{id}/").into(),
        namespace: format!("{root}/{workspace}/").into(),
        verdict_topic: format!("{root}/{workspace}/_verdict/{id}").into(),
        grant,
        wants_problem_information: connect.wants_problem_information,
        packet_bytes_max: bytes_max(connect),
        subscriber_id: subscriber.id,
        subscriber,
        filters: Vec::new(),
        has_backlog: false,
        deliveries: InFlightDeliveries::new(connect.receive_maximum.min(DELIVERIES_IN_FLIGHT_MAX)),
        has_begun: false,
        has_offered: false,
        is_full: false,
        publish_count: 0,
    }
}

/// What a CONNECT asks for that we do not have.
fn check_offer(connect: &Connect) -> Result<(), Refused> {
    if connect.has_authentication {
        return Err(Refused::new(
            ConnectRefusal::NotSupported,
            reason::BAD_AUTHENTICATION_METHOD,
            reason::V311_SERVER_UNAVAILABLE,
            "enhanced authentication is not built in this version",
        ));
    }
    if connect.has_will {
        // 3.1.1 has no code for it: 3, "server unavailable", at least does not blame the secret.
        return Err(Refused::new(
            ConnectRefusal::NotSupported,
            reason::IMPLEMENTATION_SPECIFIC,
            reason::V311_SERVER_UNAVAILABLE,
            "wills are not built in this version",
        ));
    }
    let is_unnamed = connect.client_id.is_empty();
    if connect.client_id.len() > CLIENT_ID_BYTES_MAX
        || (is_unnamed && connect.version == Version::V311 && !connect.is_clean)
    {
        return Err(Refused::new(
            ConnectRefusal::ClientId,
            reason::CLIENT_IDENTIFIER_NOT_VALID,
            reason::V311_IDENTIFIER_REJECTED,
            "the client identifier is too long, or empty without a clean session",
        ));
    }
    Ok(())
}

fn of_sign_in(error: SignInError) -> Refused {
    match error {
        SignInError::BadCredentials => Refused::new(
            ConnectRefusal::BadCredentials,
            reason::BAD_CREDENTIALS,
            reason::V311_BAD_CREDENTIALS,
            "wrong user name or secret",
        ),
        SignInError::Revoked => Refused::new(
            ConnectRefusal::Revoked,
            reason::NOT_AUTHORIZED,
            reason::V311_NOT_AUTHORIZED,
            "this client was revoked",
        ),
        SignInError::NotAuthorized => Refused::new(
            ConnectRefusal::NotAuthorized,
            reason::NOT_AUTHORIZED,
            reason::V311_NOT_AUTHORIZED,
            "this client may not connect here",
        ),
        SignInError::TooManyAttempts { .. } => Refused::new(
            ConnectRefusal::TooManyAttempts,
            reason::CONNECTION_RATE_EXCEEDED,
            reason::V311_SERVER_UNAVAILABLE,
            "too many failed attempts to sign in, try again later",
        ),
        SignInError::Unavailable => Refused::new(
            ConnectRefusal::Unavailable,
            reason::SERVER_UNAVAILABLE,
            reason::V311_SERVER_UNAVAILABLE,
            "the appliance is not ready",
        ),
    }
}

fn bytes_max(connect: &Connect) -> usize {
    usize::try_from(connect.packet_bytes_max).unwrap_or(usize::MAX)
}

fn seconds(duration: Duration) -> u16 {
    u16::try_from(duration.as_secs()).unwrap_or(u16::MAX).max(1)
}
