//! The load of the last minute beside a plan.

use millrace_contract::v1;
use millrace_sizing::Plan;
use std::collections::VecDeque;
use std::time::Duration;

/// Rates are taken over this long.
const WINDOW: Duration = Duration::from_secs(60);
/// Above the plan by more than this share counts as above: rates of a minute are not exact.
const MARGIN: f64 = 0.02;
/// How long the load has to be above the plan without a break.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Looks that are kept, were the watcher to come far too often.
const LOOKS_MAX: usize = 600;

/// What there is to count, as it stands now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::wiring) struct Load {
    /// Values that devices have sent since the start, refused ones among them.
    pub(in crate::wiring) values: u64,
    /// Runs that have ended since the start.
    pub(in crate::wiring) runs: u64,
    /// Connections now.
    pub(in crate::wiring) devices: u64,
    /// Topics now.
    pub(in crate::wiring) topics: u64,
}

/// One thing that is compared.
struct Item {
    name: &'static str,
    what: &'static str,
    planned: f64,
    over_since: Option<Duration>,
}

/// The plan and the looks of the last minute.
pub(super) struct Live {
    plan: Option<v1::StoredPlan>,
    items: Vec<Item>,
    looks: VecDeque<(Duration, Load)>,
}

/// What an issue is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outgrown {
    pub(super) key: String,
    pub(super) what: &'static str,
    pub(super) planned: f64,
    pub(super) now: f64,
    pub(super) exceeded: bool,
    pub(super) within: bool,
}

pub(super) fn key(name: &str) -> String {
    format!("plan-exceeded:{name}")
}

impl Live {
    pub(super) fn new(plan: Option<(v1::StoredPlan, Plan)>) -> Self {
        let mut live = Self { plan: None, items: Vec::new(), looks: VecDeque::new() };
        live.replace(plan);
        live
    }

    pub(super) fn plan(&self) -> Option<&v1::StoredPlan> {
        self.plan.as_ref()
    }

    /// Takes another plan; gives the keys of the issues of the one before.
    pub(super) fn replace(&mut self, plan: Option<(v1::StoredPlan, Plan)>) -> Vec<String> {
        let keys = self.items.iter().map(|item| key(item.name)).collect();
        self.items.clear();
        self.plan = plan.map(|(stored, plan)| {
            self.items = items(&plan);
            stored
        });
        keys
    }

    /// Takes a look, and says how each thing stands.
    pub(super) fn look(&mut self, at: Duration, load: Load) -> Vec<Outgrown> {
        // The oldest look is at least a window old, as soon as there is one.
        while self.looks.get(1).is_some_and(|(second, _)| *second + WINDOW <= at)
            || self.looks.len() >= LOOKS_MAX
        {
            self.looks.pop_front();
        }
        self.looks.push_back((at, load));
        let Some(now) = self.rates() else { return Vec::new() };
        let mut all = Vec::new();
        for (item, now) in self.items.iter_mut().zip(now) {
            let within = now <= item.planned;
            if within {
                item.over_since = None;
            } else if now > item.planned * (1.0 + MARGIN) {
                item.over_since.get_or_insert(at);
            }
            let exceeded = item.over_since.is_some_and(|since| at - since >= PATIENCE);
            let (what, planned) = (item.what, item.planned);
            all.push(Outgrown { key: key(item.name), what, planned, now, exceeded, within });
        }
        all
    }

    /// The load now, in the order of the items; `None` until there are two looks.
    #[expect(clippy::cast_precision_loss, reason = "rates for the eye")]
    fn rates(&self) -> Option<[f64; 4]> {
        let (begin, before) = self.looks.front()?;
        let (end, now) = self.looks.back()?;
        let seconds = (*end - *begin).as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        // A pipeline that is undeployed takes its count along: that is no negative rate.
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        Some([
            rate(now.values, before.values),
            rate(now.runs, before.runs),
            now.devices as f64,
            now.topics as f64,
        ])
    }

    /// The plan beside the load; `None` without a plan.
    pub(super) fn comparison(&self, at: Duration) -> Option<v1::PlanComparison> {
        let stored = self.plan.as_ref()?;
        let name = stored.plan.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        let rates = self.rates();
        let span = self.looks.front().zip(self.looks.back());
        let seconds = span.map_or(0.0, |((begin, _), (end, _))| (*end - *begin).as_secs_f64());
        let items = self.items.iter().enumerate().map(|(number, item)| {
            let over = item.over_since.map_or(Duration::ZERO, |since| at.saturating_sub(since));
            v1::PlanItem {
                name: item.name.to_owned(),
                what: item.what.to_owned(),
                planned: item.planned,
                now: rates.and_then(|rates| rates.get(number).copied()),
                over_s: over.as_secs_f64(),
                exceeded: over >= PATIENCE,
            }
        });
        Some(v1::PlanComparison { plan: name.to_owned(), seconds, items: items.collect() })
    }
}

/// In the order of [`Live::rates`].
fn items(plan: &Plan) -> Vec<Item> {
    let item = |name, what, planned| Item { name, what, planned, over_since: None };
    let subscribers = plan.subscribers.iter().map(|group| group.count).sum::<f64>();
    vec![
        item("values_per_s", "values per second", plan.incoming_values_per_s()),
        item("runs_per_s", "runs per second", plan.runs_per_s()),
        item("devices", "connections", plan.device_count() + subscribers),
        item("topics", "topics", plan.tags()),
    ]
}
