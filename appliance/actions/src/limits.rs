//! Every limit of the steps that go outside, by name.
//!
//! **Invariants**: nothing in this crate waits, queues or grows without one of these.

use std::time::Duration;

/// Bytes of requests, answers and waiting messages of all steps at once; more is refused.
pub const OUTSIDE_BYTES_MAX: usize = 64 << 20;
/// Targets that are counted; beyond it the one that was quiet for longest is forgotten.
pub const TARGETS_MAX: usize = 1_000;
/// A target without any attempt for so long is forgotten, and so is its issue.
pub const TARGET_FORGOTTEN_AFTER: Duration = Duration::from_secs(3_600);
/// Failures in a row that make a target unreachable.
pub const FAILURES_IN_A_ROW: u32 = 3;
/// Time without success after a failure that makes a target unreachable.
pub const FAILING_FOR: Duration = Duration::from_secs(60);
/// Bytes of a target's last error and of any fault's text.
pub const ERROR_TEXT_BYTES_MAX: usize = 500;

/// Calls of one target at the same time, and so its connections: HTTP and SQL.
pub const CALLS_PER_TARGET_MAX: usize = 16;
/// Calls that wait for one of them.
pub const CALLS_WAITING_MAX: usize = 256;
/// Idle connections that are kept per target.
pub const IDLE_PER_TARGET_MAX: usize = 4;
/// An idle connection is closed after this.
pub const IDLE_MAX: Duration = Duration::from_secs(30);
/// Targets with pooled connections.
pub const POOLED_TARGETS_MAX: usize = 256;
/// Time for one connection attempt, TLS included.
pub const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Longest that any step outside may take, whatever its settings say.
pub const STEP_MAX: Duration = Duration::from_secs(900);
/// Name look-ups at the same time: each holds a thread until the system's resolver answers.
pub const LOOKUPS_MAX: usize = 16;
/// Addresses of one name that are tried.
pub const ADDRESSES_MAX: usize = 8;

/// Redirects that are followed at most.
pub const REDIRECTS_MAX: u8 = 10;
/// Bytes of an HTTP request's body.
pub const REQUEST_BYTES_MAX: usize = 16 << 20;
/// Bytes of an HTTP answer's body where the step says nothing.
pub const RESPONSE_BYTES: usize = 1 << 20;
/// Bytes of an HTTP answer's body at most.
pub const RESPONSE_BYTES_MAX: usize = 16 << 20;
/// Headers of a request.
pub const HEADERS_MAX: usize = 64;
/// Bytes of one header's value.
pub const HEADER_BYTES_MAX: usize = 8_192;
/// Bytes of all headers of an answer.
pub const RESPONSE_HEAD_BYTES_MAX: usize = 64 << 10;

/// Rows of a query where the step says nothing.
pub const ROWS: usize = 1_000;
/// Rows of a query at most.
pub const ROWS_MAX: usize = 100_000;
/// Bytes of all rows of a query.
pub const ROWS_BYTES_MAX: usize = 8 << 20;
/// Bytes of an SQL statement.
pub const STATEMENT_BYTES_MAX: usize = 64 << 10;
/// Parameters of a statement.
pub const PARAMETERS_MAX: usize = 1_000;
/// Columns of a row.
pub const COLUMNS_MAX: usize = 1_664;
/// SQLite calls at the same time, all files: each holds a thread.
pub const SQLITE_CALLS_MAX: usize = 8;
/// How long SQLite waits for another writer of the same file.
pub const SQLITE_BUSY: Duration = Duration::from_secs(5);

/// Messages of one MQTT target that wait or are in flight.
pub const MQTT_WAITING_MAX: usize = 1_000;
/// Bytes of one MQTT message's payload.
pub const MQTT_PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Bytes of one MQTT packet that is taken in.
pub const MQTT_PACKET_BYTES_MAX: usize = (1 << 20) + (64 << 10) + 16;
/// Messages of a target in flight: sent, not yet acknowledged. Brokers allow at least 20.
pub const MQTT_INFLIGHT_MAX: usize = 20;
/// First wait before a broken MQTT connection is tried again.
pub const BACK_OFF_FIRST: Duration = Duration::from_millis(500);
/// Longest such wait of a source.
pub const BACK_OFF_MAX: Duration = Duration::from_secs(30);
/// Longest such wait while messages to publish wait: well below a step's timeout.
pub const PUBLISHER_BACK_OFF_MAX: Duration = Duration::from_secs(3);
/// Keep-alive of MQTT connections.
pub const MQTT_KEEP_ALIVE: Duration = Duration::from_secs(30);
/// A publishing connection without messages is closed after this.
pub const MQTT_IDLE_MAX: Duration = Duration::from_secs(300);
/// Messages of one source handed over and not yet durable; then reading stops.
pub const SOURCE_PENDING_MAX: usize = 64;
/// Their bytes.
pub const SOURCE_PENDING_BYTES_MAX: usize = 4 << 20;
/// Sources (deployed `mqtt.subscribe` triggers) at once.
pub const SOURCES_MAX: usize = 500;

/// File steps at the same time: each holds a thread.
pub const FILE_CALLS_MAX: usize = 8;
/// Bytes of one appended line.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// Size of a file, where the step says nothing, at which it is rotated.
pub const FILE_BYTES: u64 = 16 << 20;
/// Rotated files that are kept beside the current one.
pub const FILES_KEPT: u32 = 5;
/// At most so many.
pub const FILES_KEPT_MAX: u32 = 100;

/// Recipients of a mail.
pub const RECIPIENTS_MAX: usize = 100;
/// Bytes of a mail's subject.
pub const SUBJECT_BYTES_MAX: usize = 900;
/// Bytes of a mail's body.
pub const MAIL_BYTES_MAX: usize = 1 << 20;
/// Bytes that a mail server may answer in one conversation.
pub const MAIL_ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Mails under way at the same time.
pub const MAILS_MAX: usize = 8;
