//! What of the box has a limit, and how much of it is used.
//!
//! **Invariants**: each has the name of its setting, or of the constant where the limit is fixed; a
//! test takes each of them over its limit and back.

use crate::config::Config;
use millrace_engine::STATE_TOTAL_BYTES_MAX;
use millrace_supervisor::watch::Usage;

/// The counts behind the usages.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) clients: u64,
    pub(super) tags: u64,
    pub(super) journal_mib: u64,
    pub(super) queue_bytes: u64,
    pub(super) parked: u64,
    pub(super) parked_bytes: u64,
    /// The pipeline that is nearest to its own share, and how near in hundredths.
    pub(super) parked_most: Option<(String, u64)>,
    pub(super) state_bytes: u64,
    pub(super) history_bytes: u64,
}

/// All usages.
pub(super) fn usages(figures: &Figures, config: &Config) -> Vec<Usage> {
    general(figures, config).into_iter().chain(of_pipelines(figures, config)).collect()
}

fn general(figures: &Figures, config: &Config) -> [Usage; 3] {
    [
        Usage::of_setting(
            "broker.clients_max",
            "MQTT clients",
            figures.clients,
            config.broker.clients_max.into(),
        ),
        Usage::of_setting(
            "admission.tags_max",
            "topics",
            figures.tags,
            config.admission.tags_max.into(),
        ),
        Usage::of_setting(
            "journal.bytes_max_mib",
            "MiB of the journal that a reader still needs",
            figures.journal_mib,
            config.journal.bytes_max_mib,
        ),
    ]
}

fn of_pipelines(figures: &Figures, config: &Config) -> [Usage; 6] {
    let pipelines = &config.pipelines;
    let most = figures.parked_most.as_ref();
    let share = match most {
        Some((pipeline, _)) => {
            format!("hundredths of its share of waiting runs, by the pipeline `{pipeline}`")
        }
        None => "waiting runs of one pipeline".to_owned(),
    };
    [
        Usage::of_setting(
            "pipelines.queue_mib_max",
            "bytes of runs that wait",
            figures.queue_bytes,
            pipelines.queue_mib_max << 20,
        ),
        Usage::of_setting(
            "pipelines.parked_max",
            "runs that wait for a time or an answer",
            figures.parked,
            pipelines.parked_max.into(),
        ),
        Usage::of_setting(
            "pipelines.parked_mib_max",
            "bytes of runs that wait for a time or an answer",
            figures.parked_bytes,
            pipelines.parked_mib_max << 20,
        ),
        Usage::of_setting(
            "pipelines.parked_share_percent",
            share,
            most.map_or(0, |(_, percent)| *percent),
            100,
        ),
        Usage {
            effect: "At the limit, a step that would remember more fails its run.".into(),
            remedy: "Let pipelines remember less: fewer keys, shorter windows, variables removed \
                     that nobody reads. This limit is fixed."
                .into(),
            ..Usage::of_setting(
                "state_bytes_max",
                "bytes of the pipelines' lasting state",
                figures.state_bytes,
                STATE_TOTAL_BYTES_MAX as u64,
            )
        },
        Usage {
            effect: "At the limit, the oldest runs leave the history before their hours are over."
                .into(),
            remedy: "Raise `runs.bytes_max_mib` if the disk has room, keep fewer hours \
                     (`runs.keep_h`), or set pipelines that run often to `minimal`."
                .into(),
            ..Usage::of_setting(
                "runs.bytes_max_mib",
                "bytes of the history of runs",
                figures.history_bytes,
                config.runs.bytes_max_mib << 20,
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;
    use millrace_supervisor::watch::{LimitNear, Watch as _};
    use millrace_supervisor::{Issues, TestClock};
    use parking_lot::Mutex;
    use std::sync::Arc;

    /// What is near its limit while the figures are these, and what is still told afterwards.
    fn told(figures: &Figures) -> (Vec<String>, usize) {
        let issues = Arc::new(Issues::new(Arc::new(TestClock::new(Timestamp(0)))));
        let now = Arc::new(Mutex::new(figures.clone()));
        let given = Arc::clone(&now);
        let usages = move || usages(&given.lock(), &Config::default());
        let mut watch = LimitNear::new(Arc::clone(&issues), Box::new(usages));
        watch.tick();
        let raised = issues.list().iter().map(|issue| issue.key.clone()).collect();
        *now.lock() = Figures::default();
        watch.tick();
        (raised, issues.list().len())
    }

    #[test]
    fn each_limit_raises_its_own_issue_and_clears_it() {
        let config = Config::default();
        let mib = |count: u64| (count << 20) * 4 / 5;
        let figures = Figures::default;
        let cases = [
            (
                "broker.clients_max",
                Figures { clients: config.broker.clients_max.into(), ..figures() },
            ),
            ("admission.tags_max", Figures { tags: config.admission.tags_max.into(), ..figures() }),
            (
                "journal.bytes_max_mib",
                Figures { journal_mib: config.journal.bytes_max_mib, ..figures() },
            ),
            (
                "pipelines.queue_mib_max",
                Figures { queue_bytes: mib(config.pipelines.queue_mib_max) + 1, ..figures() },
            ),
            (
                "pipelines.parked_max",
                Figures { parked: config.pipelines.parked_max.into(), ..figures() },
            ),
            (
                "pipelines.parked_mib_max",
                Figures { parked_bytes: mib(config.pipelines.parked_mib_max) + 1, ..figures() },
            ),
            (
                "pipelines.parked_share_percent",
                Figures { parked_most: Some(("oven".into(), 81)), ..figures() },
            ),
            (
                "state_bytes_max",
                Figures { state_bytes: STATE_TOTAL_BYTES_MAX as u64 * 4 / 5 + 1, ..figures() },
            ),
            (
                "runs.bytes_max_mib",
                Figures { history_bytes: mib(config.runs.bytes_max_mib) + 1, ..figures() },
            ),
        ];
        assert_eq!(cases.len(), usages(&figures(), &config).len(), "one is not tried");
        for (name, figures) in cases {
            assert_eq!(told(&figures), (vec![format!("limit-near:{name}")], 0), "{name}");
        }
    }
}
