//! The steps that need nothing outside of the box: one file per kind, or per family of small ones.
//!
//! A step reads its fields once (`compile`) and executes many times. Which fields and ports a kind
//! has, `millrace_flow::kinds` says; the engine's port number is the place in that list.
//!
//! What they share: [`work`] (the fields `value` and `into`), [`read`] (typed readers of evaluated
//! fields), [`number`] (exact numbers), [`state`] and [`signal`], [`text`] (faults and messages).
//!
//! **Invariants**: a step changes nothing but through its [`crate::step::Context`]; all lasting
//! state goes through it, so that it commits with the run; every size has a named limit.

mod branch;
mod cast;
mod condition;
mod counter;
mod csv;
mod csv_format;
mod csv_parse;
mod deadband;
mod debounce;
mod dedupe;
mod delay;
mod edge;
mod enrich;
mod issue;
mod join;
mod json_format;
mod json_parse;
mod last;
mod log;
mod lookup;
mod map;
mod number;
mod publish;
mod read;
mod set;
mod signal;
mod split;
mod state;
#[cfg(test)]
mod stories;
mod switch;
#[cfg(test)]
mod testing;
mod text;
mod throttle;
mod unit;
mod uns;
mod variable;
mod wait;
mod window;
mod work;

use crate::compile::{Compile, Registry};

/// A step as its document has it; the compiler reads its fields.
type Spec = millrace_flow::document::Step;

/// All kinds of this folder with their compilers.
const KINDS: [(&str, Compile); 40] = [
    ("set", set::compile),
    ("map", map::compile),
    ("cast", cast::compile),
    ("unit", unit::compile),
    ("json.parse", json_parse::compile),
    ("json.format", json_format::compile),
    ("csv.parse", csv_parse::compile),
    ("csv.format", csv_format::compile),
    ("split", split::compile),
    ("join", join::compile),
    ("deadband", deadband::compile),
    ("dedupe", dedupe::compile),
    ("throttle", throttle::compile),
    ("debounce", debounce::compile),
    ("window", window::compile),
    ("lookup", lookup::compile),
    ("enrich", enrich::compile),
    ("condition", condition::compile),
    ("switch", switch::compile),
    ("filter", condition::compile_filter),
    ("merge", branch::compile_merge),
    ("foreach", branch::compile_foreach),
    ("javascript", branch::compile_javascript),
    ("edge", edge::compile),
    ("counter", counter::compile),
    ("delay", delay::compile),
    ("call", branch::compile_call),
    ("try", branch::compile_try),
    ("stop", branch::compile_stop),
    ("wait", wait::compile),
    ("log", log::compile),
    ("uns.publish", publish::compile),
    ("uns.publish_batch", publish::compile_batch),
    ("uns.last", uns::compile_last),
    ("uns.search", uns::compile_search),
    ("history.query", uns::compile_history),
    ("variable.get", variable::compile_get),
    ("variable.set", variable::compile_set),
    ("issue.raise", issue::compile_raise),
    ("issue.clear", issue::compile_clear),
];

/// Adds all of them to a registry.
pub fn register(registry: &mut Registry) {
    for (kind, compile) in KINDS {
        registry.add(kind, compile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_flow::Group;

    #[test]
    fn every_kind_that_stays_inside_is_here() {
        let mut registry = Registry::new();
        register(&mut registry);
        for kind in millrace_flow::kind::ALL {
            let is_elsewhere = kind.group == Group::Trigger || kind.is_outside;
            let is_here = registry.get(kind.name).is_some();
            assert_eq!(is_here, !is_elsewhere, "{}", kind.name);
        }
    }
}
