//! The kinds of this crate, for the engine's registry.
//!
//! **Invariants**: every kind that `flow` marks as outside is registered here.

use crate::pool::Pool;
use crate::{file, http, mail, mqtt, sql};
use millrace_engine::step::Step;
use millrace_engine::{CompileFault, Compiler, Registry};
use millrace_flow::document;
use std::sync::Arc;

type Compile =
    fn(&document::Step, &mut Compiler<'_>, &Arc<Pool>) -> Result<Arc<dyn Step>, CompileFault>;

const KINDS: [(&str, Compile); 6] = [
    ("http.request", http::step::compile),
    ("sql.query", sql::step::compile_query),
    ("sql.execute", sql::step::compile_execute),
    ("mqtt.publish", mqtt::step::compile),
    ("file.append", file::step::compile),
    ("mail", mail::step::compile),
];

/// Adds all kinds that go outside; they share the pool.
pub fn register(registry: &mut Registry, pool: &Arc<Pool>) {
    for (kind, compile) in KINDS {
        let pool = Arc::clone(pool);
        registry.add_shared(kind, move |step, compiler| compile(step, compiler, &pool));
    }
}

/// The function of a kind, for tests.
#[cfg(test)]
pub(crate) fn compile_of(kind: &str) -> Option<Compile> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, compile)| *compile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_flow::kind::ALL;

    #[test]
    fn every_kind_that_goes_outside_is_here() {
        let outside = ALL.iter().filter(|kind| kind.is_outside).map(|kind| kind.name);
        let missing: Vec<_> = outside.filter(|name| compile_of(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
