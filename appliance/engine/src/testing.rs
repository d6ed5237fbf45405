//! Stand-ins for tests: no scripts.

use crate::compile::Registry;
use crate::script::{Compiled, ScriptHost, SyntaxFault, Unit, Worker};
use std::sync::Arc;

/// A host without scripts.
pub(crate) struct NoScripts;

impl ScriptHost for NoScripts {
    fn compile(&self, _: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        Ok(Compiled(Arc::new(())))
    }

    fn worker(&self) -> Box<dyn Worker> {
        unimplemented!()
    }
}

pub(crate) fn registry() -> Registry {
    Registry::new()
}
