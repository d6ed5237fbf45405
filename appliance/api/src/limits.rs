//! Named limits of the HTTP side.

use std::time::Duration;

/// Largest request body in bytes.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Largest request body that may hold a pipeline's document: one that is indented too.
pub const LONG_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of a request's head (line and headers) that are read at most.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Headers of a request.
pub const HEADERS_MAX: usize = 64;
/// Time for a request's head to arrive, and for an idle connection to live.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a body to arrive and for the answer to be ready (not to be sent).
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a webhook, whose trigger may wait for the run's result for a minute.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(90);
/// Time for a TLS handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for open requests to end when the appliance stops.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections of one listener at once.
pub const CONNECTIONS_MAX: usize = 512;
/// Connections of one peer address at once, loopback excepted.
pub const CONNECTIONS_PER_PEER_MAX: usize = 64;

/// History queries that run at once; the next ones wait within the request's time.
pub const QUERIES_AT_ONCE_MAX: usize = 4;
/// Password hashings that run at once: each takes tens of MiB and a core.
pub const HASHINGS_AT_ONCE_MAX: usize = 2;
/// Password hashings that wait; one more is answered 429.
pub const HASHINGS_WAITING_MAX: usize = 16;

/// Documents that are judged at once: a large one takes a tenth of a second of a core.
pub const COMPUTING_AT_ONCE_MAX: usize = 2;
/// Files of the studio's bundle that are read at once: each is in memory until it is sent.
pub const FILES_AT_ONCE_MAX: usize = 4;
/// Figures that one request asks for.
pub const MEASURE_NAMES_MAX: usize = 100;
/// Rehearsals that run at once: each takes a core.
pub const REHEARSALS_AT_ONCE_MAX: usize = 1;
/// Between two lines of a rehearsal's progress.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Effects, and differences, that a rehearsal's report shows.
pub const EFFECTS_SHOWN_MAX: usize = 1_000;
/// Test cases of one request.
pub const TEST_CASES_MAX: usize = 1_000;
/// Longest wait for the end of a run that was started by hand.
pub const RUN_WAIT_MAX: Duration = Duration::from_secs(20);
/// Longest secret in bytes: room for a private key in PEM form.
pub const SECRET_BYTES_MAX: usize = 16 * 1024;

/// Entries of a page when the request names no limit.
pub const PAGE_DEFAULT: usize = 100;
/// Entries of a page at most.
pub const PAGE_MAX: usize = 1_000;
/// Clients of one ledger page at most.
pub const LEDGER_PAGE_MAX: usize = 10_000;
/// Samples of a page when the request names no limit.
pub const SAMPLES_DEFAULT: usize = 1_000;
/// Samples of a page at most.
pub const SAMPLES_MAX: usize = 100_000;
/// Bytes of value text after which a page of samples ends early.
pub const SAMPLES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Samples that a CSV answer holds in memory at once.
pub const CSV_PAGE_SAMPLES: usize = 10_000;
/// Bytes of value text that a CSV answer holds in memory at once.
pub const CSV_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Intervals of a range when the request names none.
pub const POINTS_DEFAULT: usize = 500;
/// Intervals of a range at most.
pub const POINTS_MAX: usize = 10_000;
/// Paths of one last-value request.
pub const PATHS_MAX: usize = 100;

/// Largest CSV file of tags in bytes.
pub const TAG_FILE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Tags of one CSV file that is read.
pub const TAG_FILE_ROWS_MAX: usize = 10_000;
/// Changes of such a file that are told one by one.
pub const TAG_FILE_CHANGES_SHOWN_MAX: usize = 1_000;
/// Faults of such a file that are told one by one.
pub const TAG_FILE_FAULTS_SHOWN_MAX: usize = 100;
/// Views of trends that a person keeps.
pub const VIEWS_MAX: usize = 50;
/// Bytes of all views of a person.
pub const VIEWS_BYTES_MAX: usize = 64 * 1024;
/// Topics of a view.
pub const VIEW_TOPICS_MAX: usize = 32;

/// Clients created by one request.
pub const CLIENTS_CREATED_MAX: u32 = 1_000;
/// Filters of a client, or of a live subscription.
pub const FILTERS_MAX: usize = 100;
/// Length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Shortest password in characters.
pub const PASSWORD_CHARACTERS_MIN: usize = 10;
/// Longest password in bytes.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Length of a unit in bytes.
pub const UNIT_BYTES_MAX: usize = 64;
/// Length of a description in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 4_096;
/// Choices of a schema.
pub const CHOICES_MAX: usize = 1_000;
/// Length of a bearer token in bytes.
pub const TOKEN_BYTES_MAX: usize = 1_024;

/// WebSocket connections at once.
pub const LIVE_CONNECTIONS_MAX: usize = 128;
/// Messages that wait for one slow reader.
pub const LIVE_QUEUE_MESSAGES: usize = millrace_model::limits::SUBSCRIBER_QUEUE_DEFAULT;
/// Bytes that wait for one slow reader; readers of the same topic share them.
pub const LIVE_QUEUE_BYTES: usize = 4 * 1024 * 1024;
/// Largest frame that a client may send.
pub const LIVE_FRAME_BYTES_MAX: usize = 64 * 1024;
/// Time for the first message to authenticate.
pub const LIVE_AUTHENTICATE_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two pings; the token is looked at again each time.
pub const LIVE_PING_INTERVAL: Duration = Duration::from_secs(10);
/// A reader that takes nothing for this long is cut off.
pub const LIVE_SEND_TIMEOUT: Duration = Duration::from_secs(30);
