//! Whether a plan can be computed with: each number in its range, each fault a sentence.

use super::{DeviceGroup, Machine, OpcUaGroup, PLAN_FORMAT, PipelineGroup, Plan};
use super::{RouteGroup, SubscriberGroup};
use crate::problem::Problem;

/// Groups of one kind; more belong into several plans.
pub const GROUPS_MAX: usize = 200;
/// Characters of a name: what a worksheet's cell shows.
pub const NAME_CHARS_MAX: usize = 200;
/// Topics of a plan: twenty times what a box holds with its default settings.
pub const TAGS_MAX: f64 = 5_000_000.0;
/// Values per second of a plan: beyond this no machine was ever measured.
pub const VALUES_PER_S_MAX: f64 = 10_000_000.0;
/// Runs per second of a plan.
pub const RUNS_PER_S_MAX: f64 = 1_000_000.0;
/// Largest count of anything in one group.
const COUNT_MAX: f64 = 10_000_000.0;
/// A day between two values: slower is a report, not a load.
const INTERVAL_MS_MAX: f64 = 86_400_000.0;
/// A microsecond between two values of one topic: faster is no plant.
pub const INTERVAL_MS_MIN: f64 = 0.001;
/// One in eleven days: what comes less often is no load.
pub const RATE_PER_S_MIN: f64 = 0.000_001;
/// Least of anything else that may be a fraction: less counts as nothing, so say 0.
pub const FRACTION_MIN: f64 = 0.000_001;
const SCRIPT_MS_MAX: f64 = 60_000.0;
const WAITING_MS_MAX: f64 = 3_600_000.0;
const PAYLOAD_BYTES_MAX: f64 = 4_194_304.0;
const AT_ONCE_MAX: f64 = 1000.0;
const PUBLISHES_MAX: f64 = 1000.0;

/// What a number has to be.
#[derive(Clone, Copy)]
enum Range {
    /// From the first to the second.
    Between(f64, f64),
    /// Nothing or more.
    From0(f64),
    /// Whole and at least one.
    Whole(f64),
    /// Whole, or nothing.
    WholeFrom0(f64),
}

struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    fn say(&mut self, at: String, sentence: impl Into<String>) {
        self.problems.push(Problem::new(at, sentence));
    }

    fn number(&mut self, at: String, value: f64, range: Range) {
        let (least, most, from_0, whole) = match range {
            Range::Between(least, most) => (least, most, false, false),
            Range::From0(most) => (FRACTION_MIN, most, true, false),
            Range::Whole(most) => (1.0, most, false, true),
            Range::WholeFrom0(most) => (1.0, most, true, true),
        };
        let given = shown(value);
        if !value.is_finite() {
            self.say(at, format!("{given} is not a number that can be computed with."));
        } else if value < 0.0 {
            self.say(at, format!("{given} is negative; give {}.", wanted(least, from_0)));
        } else if value == 0.0 && !from_0 {
            self.say(at, format!("It is zero; give {}.", wanted(least, from_0)));
        } else if value > most {
            self.say(at, format!("{given} is more than can be estimated ({most} at most)."));
        } else if whole && value.fract() != 0.0 {
            self.say(at, format!("{given} is not a whole number."));
        } else if value != 0.0 && value < least {
            let wanted = wanted(least, from_0);
            self.say(at, format!("{given} is less than can be estimated; give {wanted}."));
        }
    }

    fn name(&mut self, at: String, name: &str) {
        if name.trim().is_empty() {
            self.say(at, "It has no name; the estimate's rows are called by it.");
        } else if name.chars().count() > NAME_CHARS_MAX {
            self.say(at, format!("The name is longer than {NAME_CHARS_MAX} characters."));
        } else if name.chars().any(char::is_control) {
            self.say(at, "The name holds a control character.");
        }
    }

    fn devices(&mut self, at: &str, group: &DeviceGroup) {
        self.name(format!("{at}.name"), &group.name);
        self.number(format!("{at}.count"), group.count, Range::Whole(COUNT_MAX));
        self.number(format!("{at}.tags"), group.tags, Range::Whole(COUNT_MAX));
        self.number(
            format!("{at}.interval_ms"),
            group.interval_ms,
            Range::Between(INTERVAL_MS_MIN, INTERVAL_MS_MAX),
        );
        self.number(format!("{at}.at_once"), group.at_once, Range::Whole(AT_ONCE_MAX));
        let at = format!("{at}.payload_bytes");
        match (group.payload.has_length(), group.payload_bytes) {
            (true, None) => self.say(at, "Say how many bytes a text or structured value has."),
            (false, Some(_)) => self.say(at, "A number or bool has no length; leave it out."),
            (true, Some(bytes)) => self.number(at, bytes, Range::Between(1.0, PAYLOAD_BYTES_MAX)),
            (false, None) => {}
        }
    }

    fn pipelines(&mut self, at: &str, group: &PipelineGroup) {
        self.name(format!("{at}.name"), &group.name);
        self.number(format!("{at}.count"), group.count, Range::Whole(COUNT_MAX));
        self.number(
            format!("{at}.runs_per_s"),
            group.runs_per_s,
            Range::Between(RATE_PER_S_MIN, RUNS_PER_S_MAX),
        );
        self.number(format!("{at}.script_ms"), group.script_ms, Range::From0(SCRIPT_MS_MAX));
        self.number(format!("{at}.waiting_ms"), group.waiting_ms, Range::From0(WAITING_MS_MAX));
        self.number(format!("{at}.publishes"), group.publishes, Range::WholeFrom0(PUBLISHES_MAX));
    }

    fn subscribers(&mut self, at: &str, group: &SubscriberGroup) {
        self.name(format!("{at}.name"), &group.name);
        self.number(format!("{at}.count"), group.count, Range::Whole(COUNT_MAX));
        let values = group.values_per_s;
        self.number(
            format!("{at}.values_per_s"),
            values,
            Range::Between(RATE_PER_S_MIN, VALUES_PER_S_MAX),
        );
    }

    fn opcua(&mut self, at: &str, group: &OpcUaGroup) {
        self.name(format!("{at}.name"), &group.name);
        self.number(format!("{at}.items"), group.items, Range::Whole(COUNT_MAX));
        self.number(
            format!("{at}.interval_ms"),
            group.interval_ms,
            Range::Between(INTERVAL_MS_MIN, INTERVAL_MS_MAX),
        );
    }

    fn routes(&mut self, at: &str, group: &RouteGroup) {
        self.name(format!("{at}.name"), &group.name);
        self.number(format!("{at}.count"), group.count, Range::Whole(COUNT_MAX));
        let values = group.values_per_s;
        self.number(
            format!("{at}.values_per_s"),
            values,
            Range::Between(RATE_PER_S_MIN, VALUES_PER_S_MAX),
        );
    }

    fn machine(&mut self, machine: &Machine) {
        self.name("machine.name".to_owned(), &machine.name);
        self.number("machine.cores".to_owned(), machine.cores, Range::Whole(4096.0));
        let memory = machine.memory_gb;
        self.number("machine.memory_gb".to_owned(), memory, Range::Between(0.001, 1_000_000.0));
        self.number(
            "machine.disk_gb".to_owned(),
            machine.disk_gb,
            Range::Between(0.001, 100_000_000.0),
        );
        if let Some(iops) = machine.iops {
            self.number("machine.iops".to_owned(), iops, Range::Between(1.0, 1e9));
        }
    }

    /// What only shows when the groups are added up.
    fn totals(&mut self, plan: &Plan) {
        let tags = plan.tags();
        if tags > TAGS_MAX {
            self.say(
                "devices".to_owned(),
                format!(
                    "The plan has {tags} topics; at most {TAGS_MAX} can be estimated. Divide it \
                     over several boxes and plan each."
                ),
            );
        }
        for (at, value, most, what) in [
            ("devices", plan.stored_values_per_s(), VALUES_PER_S_MAX, "values"),
            ("pipelines", plan.runs_per_s(), RUNS_PER_S_MAX, "runs"),
            ("subscribers", deliveries(plan), VALUES_PER_S_MAX, "deliveries"),
            ("routes", routed(plan), VALUES_PER_S_MAX, "routed values"),
        ] {
            if value > most {
                self.say(
                    at.to_owned(),
                    format!(
                        "That is {value:.0} {what} per second; at most {most} can be estimated."
                    ),
                );
            }
        }
    }
}

fn wanted(least: f64, from_0: bool) -> String {
    if from_0 { format!("0, or {least} or more") } else { format!("at least {least}") }
}

/// A number in a few characters, however large or small it is.
fn shown(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-7..1e16).contains(&value.abs()) || !value.is_finite();
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

fn deliveries(plan: &Plan) -> f64 {
    plan.subscribers.iter().map(SubscriberGroup::deliveries_per_s).sum()
}

fn routed(plan: &Plan) -> f64 {
    plan.routes.iter().map(RouteGroup::total_per_s).sum()
}

impl Plan {
    /// All faults of the plan, none when it can be computed with.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut checker = Checker { problems: Vec::new() };
        if self.format != PLAN_FORMAT {
            checker.say(
                "format".to_owned(),
                format!("The plan has format {}; this version reads {PLAN_FORMAT}.", self.format),
            );
            return checker.problems;
        }
        checker.name("name".to_owned(), &self.name);
        each("devices", &self.devices, &mut checker, Checker::devices);
        each("pipelines", &self.pipelines, &mut checker, Checker::pipelines);
        each("subscribers", &self.subscribers, &mut checker, Checker::subscribers);
        each("opcua", &self.opcua, &mut checker, Checker::opcua);
        each("routes", &self.routes, &mut checker, Checker::routes);
        if let Some(machine) = &self.machine {
            checker.machine(machine);
        }
        for (name, value) in &self.settings {
            checker.number(format!("settings.\"{name}\""), *value, Range::From0(1e15));
        }
        if self.devices.is_empty() && self.pipelines.is_empty() && self.opcua.is_empty() {
            checker.say(
                "plan".to_owned(),
                "It has neither devices nor pipelines nor OPC UA items: there is nothing to \
                 estimate.",
            );
        }
        if checker.problems.is_empty() {
            checker.totals(self);
        }
        checker.problems
    }
}

fn each<T>(kind: &str, groups: &[T], checker: &mut Checker, check: fn(&mut Checker, &str, &T)) {
    if groups.len() > GROUPS_MAX {
        let sentence = format!("{} groups are too many; put like ones together.", groups.len());
        checker.say(kind.to_owned(), sentence);
        return;
    }
    for (number, group) in groups.iter().enumerate() {
        check(checker, &format!("{kind}[{number}]"), group);
    }
}
