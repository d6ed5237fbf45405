//! What a profile gives a figure for, each with its name, unit and meaning.

use serde::{Deserialize, Serialize};

/// A figure of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CostKey {
    /// CPU to wake up for arrivals and commit them, for each arrival that is not gathered with others.
    #[serde(rename = "wake_us")]
    WakeUs,
    /// Arrivals per second from which on more are gathered with others.
    #[serde(rename = "wakes_per_s_max")]
    WakesPerSMax,
    /// CPU to receive a device's send and answer it, whatever it holds.
    #[serde(rename = "message_us")]
    MessageUs,
    /// CPU to judge, store and make visible one value.
    #[serde(rename = "value_us")]
    ValueUs,
    /// CPU for each byte of a text or structured value.
    #[serde(rename = "payload_byte_us")]
    PayloadByteUs,
    /// CPU to store a value that a run publishes.
    #[serde(rename = "publish_us")]
    PublishUs,
    /// CPU of a run, without the value that starts it, what it publishes and its scripts.
    #[serde(rename = "run_us")]
    RunUs,
    /// Arrivals that a run adds to be committed and delivered.
    #[serde(rename = "run_wakes")]
    RunWakes,
    /// CPU that a run in order takes beyond one in parallel.
    #[serde(rename = "in_order_us")]
    InOrderUs,
    /// CPU for each millisecond of script, in milliseconds.
    #[serde(rename = "script_factor")]
    ScriptFactor,
    /// CPU that a run which waits takes beyond one that does not.
    #[serde(rename = "waiting_us")]
    WaitingUs,
    /// CPU to send one value to one live subscriber.
    #[serde(rename = "delivery_us")]
    DeliveryUs,
    /// CPU for one update of an OPC UA item.
    #[serde(rename = "opcua_update_us")]
    OpcUaUpdateUs,
    /// CPU to pass one value on to another system.
    #[serde(rename = "route_us")]
    RouteUs,
    /// Share by which measured and estimated CPU may differ, either way.
    #[serde(rename = "error_band")]
    ErrorBand,
    /// Share of the logical cores that the total should stay under.
    #[serde(rename = "cpu_line")]
    CpuLine,
    /// Memory with nothing to do.
    #[serde(rename = "memory_base_mb")]
    MemoryBaseMb,
    /// Memory for each value per second.
    #[serde(rename = "memory_rate_kb")]
    MemoryRateKb,
    /// Most that the rate of values takes.
    #[serde(rename = "memory_rate_max_mb")]
    MemoryRateMaxMb,
    /// Memory of a topic.
    #[serde(rename = "memory_tag_kb")]
    MemoryTagKb,
    /// Memory of a connection.
    #[serde(rename = "memory_client_kb")]
    MemoryClientKb,
    /// Memory of a deployed pipeline.
    #[serde(rename = "memory_pipeline_kb")]
    MemoryPipelineKb,
    /// Memory of a pipeline's scripts that are kept warm.
    #[serde(rename = "memory_script_kb")]
    MemoryScriptKb,
    /// Most that warm scripts take.
    #[serde(rename = "memory_script_max_mb")]
    MemoryScriptMaxMb,
    /// Memory of a run that waits.
    #[serde(rename = "memory_parked_kb")]
    MemoryParkedKb,
    /// Bytes of a run in the execution queue.
    #[serde(rename = "queued_run_bytes")]
    QueuedRunBytes,
    /// History on the disk for each number or bool.
    #[serde(rename = "stored_number_bytes")]
    StoredNumberBytes,
    /// History on the disk for each byte of text or structure.
    #[serde(rename = "stored_text_share")]
    StoredTextShare,
    /// History of a run, Minimal.
    #[serde(rename = "run_minimal_bytes")]
    RunMinimalBytes,
    /// History of a run, Standard.
    #[serde(rename = "run_standard_bytes")]
    RunStandardBytes,
    /// History of a run, Full, beside the data of its steps.
    #[serde(rename = "run_full_bytes")]
    RunFullBytes,
    /// How long the history of runs is kept by default.
    #[serde(rename = "run_history_hours")]
    RunHistoryHours,
    /// Most commits per second.
    #[serde(rename = "commits_per_s_max")]
    CommitsPerSMax,
    /// Write operations of the disk for a commit.
    #[serde(rename = "commit_writes")]
    CommitWrites,
    /// Bytes written for a commit beside its values.
    #[serde(rename = "commit_bytes")]
    CommitBytes,
    /// Write operations of the disk for a stored value beside commits.
    #[serde(rename = "writes_per_value")]
    WritesPerValue,
    /// Bytes written for a stored value, over its life.
    #[serde(rename = "written_value_bytes")]
    WrittenValueBytes,
    /// Write operations of the disk for a run.
    #[serde(rename = "writes_per_run")]
    WritesPerRun,
    /// Bytes written for a run.
    #[serde(rename = "written_run_bytes")]
    WrittenRunBytes,
    /// Bytes received for a device's send beside its values.
    #[serde(rename = "network_in_bytes")]
    NetworkInBytes,
    /// Bytes received for each value in it.
    #[serde(rename = "network_value_bytes")]
    NetworkValueBytes,
    /// Bytes sent back for a device's send and each delivery.
    #[serde(rename = "network_ack_bytes")]
    NetworkAckBytes,
}

impl CostKey {
    /// All, in the order of a worksheet.
    pub const ALL: [Self; 42] = [
        Self::WakeUs,
        Self::WakesPerSMax,
        Self::MessageUs,
        Self::ValueUs,
        Self::PayloadByteUs,
        Self::PublishUs,
        Self::RunUs,
        Self::RunWakes,
        Self::InOrderUs,
        Self::ScriptFactor,
        Self::WaitingUs,
        Self::DeliveryUs,
        Self::OpcUaUpdateUs,
        Self::RouteUs,
        Self::ErrorBand,
        Self::CpuLine,
        Self::MemoryBaseMb,
        Self::MemoryRateKb,
        Self::MemoryRateMaxMb,
        Self::MemoryTagKb,
        Self::MemoryClientKb,
        Self::MemoryPipelineKb,
        Self::MemoryScriptKb,
        Self::MemoryScriptMaxMb,
        Self::MemoryParkedKb,
        Self::QueuedRunBytes,
        Self::StoredNumberBytes,
        Self::StoredTextShare,
        Self::RunMinimalBytes,
        Self::RunStandardBytes,
        Self::RunFullBytes,
        Self::RunHistoryHours,
        Self::CommitsPerSMax,
        Self::CommitWrites,
        Self::CommitBytes,
        Self::WritesPerValue,
        Self::WrittenValueBytes,
        Self::WritesPerRun,
        Self::WrittenRunBytes,
        Self::NetworkInBytes,
        Self::NetworkValueBytes,
        Self::NetworkAckBytes,
    ];

    /// Its name in a profile.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Its unit; `1` for a share or a count.
    #[must_use]
    pub fn unit(self) -> &'static str {
        self.words().1
    }

    /// What it is, in words that follow "this is".
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.words().2
    }

    #[expect(clippy::too_many_lines, reason = "a table")]
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::WakeUs => (
                "wake_us",
                "us",
                "CPU to wake up for arrivals and commit them, for each arrival that is not gathered with others",
            ),
            Self::WakesPerSMax => (
                "wakes_per_s_max",
                "1/s",
                "arrivals per second from which on more are gathered with others",
            ),
            Self::MessageUs => (
                "message_us",
                "us",
                "CPU to receive a device's send and answer it, whatever it holds",
            ),
            Self::ValueUs => ("value_us", "us", "CPU to judge, store and make visible one value"),
            Self::PayloadByteUs => {
                ("payload_byte_us", "us", "CPU for each byte of a text or structured value")
            }
            Self::PublishUs => ("publish_us", "us", "CPU to store a value that a run publishes"),
            Self::RunUs => (
                "run_us",
                "us",
                "CPU of a run, without the value that starts it, what it publishes and its scripts",
            ),
            Self::RunWakes => {
                ("run_wakes", "1", "arrivals that a run adds to be committed and delivered")
            }
            Self::InOrderUs => {
                ("in_order_us", "us", "CPU that a run in order takes beyond one in parallel")
            }
            Self::ScriptFactor => {
                ("script_factor", "1", "CPU for each millisecond of script, in milliseconds")
            }
            Self::WaitingUs => {
                ("waiting_us", "us", "CPU that a run which waits takes beyond one that does not")
            }
            Self::DeliveryUs => {
                ("delivery_us", "us", "CPU to send one value to one live subscriber")
            }
            Self::OpcUaUpdateUs => {
                ("opcua_update_us", "us", "CPU for one update of an OPC UA item")
            }
            Self::RouteUs => ("route_us", "us", "CPU to pass one value on to another system"),
            Self::ErrorBand => (
                "error_band",
                "1",
                "share by which measured and estimated CPU may differ, either way",
            ),
            Self::CpuLine => {
                ("cpu_line", "1", "share of the logical cores that the total should stay under")
            }
            Self::MemoryBaseMb => ("memory_base_mb", "MB", "memory with nothing to do"),
            Self::MemoryRateKb => ("memory_rate_kb", "KB", "memory for each value per second"),
            Self::MemoryRateMaxMb => {
                ("memory_rate_max_mb", "MB", "most that the rate of values takes")
            }
            Self::MemoryTagKb => ("memory_tag_kb", "KB", "memory of a topic"),
            Self::MemoryClientKb => ("memory_client_kb", "KB", "memory of a connection"),
            Self::MemoryPipelineKb => ("memory_pipeline_kb", "KB", "memory of a deployed pipeline"),
            Self::MemoryScriptKb => {
                ("memory_script_kb", "KB", "memory of a pipeline's scripts that are kept warm")
            }
            Self::MemoryScriptMaxMb => {
                ("memory_script_max_mb", "MB", "most that warm scripts take")
            }
            Self::MemoryParkedKb => ("memory_parked_kb", "KB", "memory of a run that waits"),
            Self::QueuedRunBytes => {
                ("queued_run_bytes", "B", "bytes of a run in the execution queue")
            }
            Self::StoredNumberBytes => {
                ("stored_number_bytes", "B", "history on the disk for each number or bool")
            }
            Self::StoredTextShare => {
                ("stored_text_share", "1", "history on the disk for each byte of text or structure")
            }
            Self::RunMinimalBytes => ("run_minimal_bytes", "B", "history of a run, Minimal"),
            Self::RunStandardBytes => ("run_standard_bytes", "B", "history of a run, Standard"),
            Self::RunFullBytes => {
                ("run_full_bytes", "B", "history of a run, Full, beside the data of its steps")
            }
            Self::RunHistoryHours => {
                ("run_history_hours", "h", "how long the history of runs is kept by default")
            }
            Self::CommitsPerSMax => ("commits_per_s_max", "1/s", "most commits per second"),
            Self::CommitWrites => {
                ("commit_writes", "1", "write operations of the disk for a commit")
            }
            Self::CommitBytes => {
                ("commit_bytes", "B", "bytes written for a commit beside its values")
            }
            Self::WritesPerValue => (
                "writes_per_value",
                "1",
                "write operations of the disk for a stored value beside commits",
            ),
            Self::WrittenValueBytes => {
                ("written_value_bytes", "B", "bytes written for a stored value, over its life")
            }
            Self::WritesPerRun => ("writes_per_run", "1", "write operations of the disk for a run"),
            Self::WrittenRunBytes => ("written_run_bytes", "B", "bytes written for a run"),
            Self::NetworkInBytes => {
                ("network_in_bytes", "B", "bytes received for a device's send beside its values")
            }
            Self::NetworkValueBytes => {
                ("network_value_bytes", "B", "bytes received for each value in it")
            }
            Self::NetworkAckBytes => {
                ("network_ack_bytes", "B", "bytes sent back for a device's send and each delivery")
            }
        }
    }
}
