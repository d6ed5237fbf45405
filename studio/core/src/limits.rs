//! Named limits of the studio.

use std::time::Duration;

/// Appliances that are remembered.
pub const PROFILES_MAX: usize = 256;
/// Length of a profile's name in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Length of an address in bytes.
pub const ADDRESS_BYTES_MAX: usize = 512;
/// Bytes of the file of profiles.
pub const PROFILES_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of the file of one pipeline of a project: its base and its draft as JSON text.
pub const ENTRY_BYTES_MAX: u64 = 20 * 1024 * 1024;
/// Pipelines of a workspace that are kept.
pub const PIPELINES_MAX: usize = 1_000;
/// Topics of a workspace that are kept.
pub const TOPICS_MAX: usize = 20_000;
/// Bytes of the file of a workspace's topics.
pub const TOPICS_BYTES_MAX: u64 = 48 * 1024 * 1024;
/// Bytes of the file that says when a workspace was read.
pub const READING_BYTES_MAX: u64 = 4 * 1024;
/// A kept value's JSON text in bytes; a larger one is left out.
pub const SAMPLE_BYTES_MAX: usize = 1_024;
/// Topics of one answer to a page.
pub const TOPICS_SHOWN_MAX: usize = 200;
/// Length of a password in bytes.
pub const PASSWORD_BYTES_MAX: usize = 1_024;

/// Length of a request's path with its query, in bytes.
pub const PATH_BYTES_MAX: usize = 16 * 1024;
/// Largest body that a page may send.
pub const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest answer that is handed to a page.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Headers of an answer.
pub const HEADERS_MAX: usize = 64;
/// Calls of all windows that are worked on at once, the waits for events not counted.
pub const CALLS_AT_ONCE_MAX: usize = 32;

/// Time to connect.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for a TLS or WebSocket handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for the head of an answer, and between two pieces of its body.
pub const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for an answer to one of the watch's own small questions.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(8);
/// Time for a whole exchange, rehearsals included.
pub const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Connections to an appliance that are kept for the next request.
pub const IDLE_CONNECTIONS_MAX: usize = 4;
/// An idle connection older than this is not used: the appliance closes its own after 30 s.
pub const IDLE_AGE_MAX: Duration = Duration::from_secs(20);

/// How often a connected appliance is looked at.
pub const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// First wait after a failed attempt.
pub const BACK_OFF_FIRST: Duration = Duration::from_millis(500);
/// Longest wait between attempts.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(30);
/// A clock that differs by more than this is told as a fault of the box or of this computer.
pub const CLOCK_DIFFERENCE_TOLD: Duration = Duration::from_secs(2);

/// Windows with a queue of their own.
pub const WINDOWS_MAX: usize = 32;
/// Events that wait for a window, live values not counted.
pub const EVENTS_MAX: usize = 256;
/// Longest wait of a page for events.
pub const EVENTS_WAIT: Duration = Duration::from_secs(20);
/// Live subscriptions of one window.
pub const STREAMS_MAX: usize = 16;
/// Filters of one live subscription.
pub const FILTERS_MAX: usize = 100;
/// Live frames that wait for a window, of one subscription.
pub const FRAMES_MAX: usize = 20_000;
/// Bytes of live frames that wait for a window, of one subscription.
pub const FRAMES_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest live frame that is read.
pub const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Live frames gather for this long before the page is woken: it draws no faster.
pub const GATHER: Duration = Duration::from_millis(50);

/// Time that a search of the local network takes at most.
pub const DISCOVERY_MAX: Duration = Duration::from_secs(10);
/// Appliances that one search finds at most.
pub const FOUND_MAX: usize = 64;

/// Bytes of a file that a page may have written into the folder of downloads.
pub const EXPORT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a pipeline's file that is opened.
pub const OPENED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Files that wait for a window to open them.
pub const OPENED_MAX: usize = 32;
