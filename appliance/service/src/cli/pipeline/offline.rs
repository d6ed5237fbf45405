//! An engine without an appliance: it compiles documents and runs their test cases.
//!
//! It has the kinds and the scripts of a real one and nothing else: no tags, no secrets, no journal.
//! A case needs none of these, since its world is its own.
//!
//! **Invariants**: no thread of the engine is started and nothing is written; what is told here is
//! what an appliance with default limits tells.

use crate::config::Config;
use crate::wiring::{case_report, engine_config};
use anyhow::Context as _;
use millrace_actions as actions;
use millrace_contract::v1;
use millrace_engine::services::{FoundTag, HistoryQuery, Last, Services};
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_engine::{
    CompileFault, Deployed, Engine, Mark, Names, Outbox, Outboxes, Parts, Place, Records,
    RecordsFault, Registry, RunReport, RunSink, Sent, Source, StateEntry, StateStore,
};
use millrace_engine_quickjs::{QuickJs, Settings};
use millrace_flow::{Data, Document, Examined, Fault, Severity};
use millrace_journal::{Seq, SeqRange};
use millrace_model::{ClientNumber, Record, TagId};
use millrace_supervisor::{Clock, Issues, SystemClock};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Compiles and tests documents.
pub(super) struct Bench {
    engine: Engine,
}

impl Bench {
    pub(super) fn new() -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let issues = Arc::new(Issues::new(Arc::clone(&clock)));
        let mut registry = Registry::default();
        millrace_engine::steps::register(&mut registry);
        let policy = actions::Policy::default();
        let pool = actions::Pool::new(policy, Arc::clone(&clock), Arc::clone(&issues));
        actions::register(&mut registry, &pool);
        let scripts =
            QuickJs::new(Settings::default(), None).context("start the host of scripts")?;
        let parts = Parts {
            registry,
            scripts: Arc::new(scripts),
            services: Arc::new(Nothing),
            names: Arc::new(Nothing),
            outboxes: Arc::new(Nothing),
            records: Arc::new(Nothing),
            store: Arc::new(Nothing),
            sink: Arc::new(Nothing),
            issues,
            clock,
            thread_cpu: || Duration::ZERO,
            step_back: || {},
        };
        let config = engine_config(&Config::default());
        let engine = Engine::new(config, parts, Seq(0)).context("make an engine")?;
        Ok(Self { engine })
    }

    /// All that is wrong with a document's text: what the rules say, and what only compiling finds.
    pub(super) fn examine(&self, text: &str) -> Examined {
        let mut examined = millrace_flow::examine(text);
        if let Some(document) = &examined.document {
            let draft = draft(document);
            let found = match examined.good() {
                Some(_) => self.engine.check(&draft).err().unwrap_or_default(),
                None => self.engine.check_rest(&draft, &examined.faults),
            };
            examined.faults.extend(found.into_iter().map(fault));
        }
        examined
    }

    /// Runs the test cases that are in the document.
    ///
    /// # Errors
    /// Everything that is wrong with the document.
    pub(super) fn test(&self, document: &Document) -> Result<v1::TestReport, Vec<CompileFault>> {
        let draft = draft(document);
        let cases = document.cases.iter().map(|case| self.engine.run_case(&draft, case));
        let cases = cases.map(|report| report.map(|report| case_report(&report)));
        let cases = cases.collect::<Result<Vec<_>, _>>()?;
        let passed = cases.iter().filter(|case| case.passed).count() as u64;
        Ok(v1::TestReport { passed, failed: cases.len() as u64 - passed, cases })
    }
}

fn fault(fault: CompileFault) -> Fault {
    let CompileFault { step, field, message } = fault;
    Fault {
        severity: Severity::Error,
        step: Some(step).filter(|step| !step.is_empty()),
        field,
        line: None,
        code: "cannot_run",
        message,
    }
}

fn draft(document: &Document) -> Deployed {
    Deployed {
        number: 0,
        workspace: 0,
        name: document.name.clone(),
        revision: 0,
        since: 0,
        document: Arc::new(document.clone()),
    }
}

/// A box in which there is nothing.
struct Nothing;

impl Services for Nothing {
    fn last(&self, _: u16, _: &str) -> Option<Last> {
        None
    }
    fn search(&self, _: u16, _: &str, _: usize) -> Vec<FoundTag> {
        Vec::new()
    }
    fn history(&self, _: u16, _: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        Box::pin(async { Ok(Data::List(Arc::from([]))) })
    }
    fn secret(&self, _: u16, _: &str) -> Option<Arc<str>> {
        None
    }
    fn spawn(&self, _: &'static str, _: BoxFuture<()>) {}
}

impl Names for Nothing {
    fn place(&self, _: TagId) -> Option<Place> {
        None
    }
    fn client(&self, _: ClientNumber) -> Option<Arc<str>> {
        None
    }
}

impl Outboxes for Nothing {
    fn open(&self) -> Box<dyn Outbox> {
        Box::new(Self)
    }
}

impl Outbox for Nothing {
    fn mark(&mut self, _: Mark) {}

    fn undo(&mut self, _: Mark) {}

    fn begin(&mut self, _: Source) {}
    fn publish(&mut self, _: &str, _: &[u8]) -> Result<(), String> {
        Err("no appliance runs here".to_owned())
    }
    fn push(&mut self, _: &Record<'_>) {}
    fn bytes(&self) -> usize {
        0
    }
    fn submit(&mut self, _: &Waker) -> Sent {
        Sent::Closed
    }
}

impl Records for Nothing {
    fn append(&self, _: &[Record<'_>]) -> Result<SeqRange, RecordsFault> {
        Err(RecordsFault::Closed)
    }
}

impl StateStore for Nothing {
    fn load(&self) -> Result<Vec<StateEntry>, String> {
        Ok(Vec::new())
    }
    fn store(&self, _: Vec<StateEntry>, _: Seq) -> Result<(), String> {
        Ok(())
    }
    fn stored_through(&self) -> Seq {
        Seq(0)
    }
}

impl RunSink for Nothing {
    fn ended(&self, _: RunReport) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_syntax_faults_with_step_field_and_line() {
        let text = r#"{"millrace":1,"name":"a","steps":{
            "in":{"kind":"manual"},
            "calc":{"kind":"javascript","fields":{"code":"const a = 1;\nconst b = ;\nreturn a"}},
            "pick":{"kind":"set","fields":{"fields":{"x":"{{ $item.value +* 2 }}"}}},
            "out":{"kind":"javascript","fields":{"code":"} for (;;); {"}}},
            "wires":[{"from":"in","to":"calc"},{"from":"calc","to":"pick"},{"from":"pick","to":"out"}]}"#;
        let document = Document::parse(text).unwrap();
        let bench = Bench::new().unwrap();
        let faults: Vec<_> = bench
            .engine
            .check(&draft(&document))
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults.len(), 3, "{faults:?}");
        let told = |part: &str| faults.iter().any(|fault| fault.contains(part));
        assert!(told("step `calc`, field `code`: line 2, column 11"), "{faults:?}");
        assert!(told("step `pick`, field `fields`: line 1"), "{faults:?}");
        assert!(told("step `out`, field `code`: line 1"), "{faults:?}");
        assert!(bench.test(&document).is_ok_and(|report| report.cases.is_empty()));
    }

    #[test]
    fn a_script_is_looked_at_whatever_else_is_wrong_with_its_step_and_document() {
        let text = r#"{"millrace":1,"name":"A","steps":{
            "in":{"kind":"manual"},
            "calc":{"kind":"javascript","timeout_ms":"soon","fields":{"code":"const b = ;","cod":1}},
            "pick":{"kind":"set","fields":{"fields":{"x":"{{ $item.value +* 2 }}"},"into":"a..b"}},
            "far":{"kind":"teleport"}},
            "wires":[{"from":"in","to":"calc"},{"from":"calc","to":"pick"},{"from":"pick","to":"far"}]}"#;
        let faults = Bench::new().unwrap().examine(text).faults;
        let told = |code: &str, step: Option<&str>, field: &str| {
            let is_it = |fault: &&Fault| {
                (fault.code, fault.step.as_deref(), fault.field.as_deref())
                    == (code, step, Some(field))
            };
            assert_eq!(faults.iter().filter(is_it).count(), 1, "{code} {field}: {faults:#?}");
        };
        told("bad_shape", Some("calc"), "timeout_ms");
        told("unknown_field", Some("calc"), "cod");
        told("cannot_run", Some("calc"), "code");
        told("cannot_run", Some("pick"), "fields");
        told("unknown_field", Some("pick"), "into");
        told("unknown_kind", Some("far"), "kind");
        told("bad_name", None, "name");
        assert_eq!(faults.len(), 7, "{faults:#?}");
    }

    #[test]
    fn the_examples_pass_their_cases_without_an_appliance() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
        let bench = Bench::new().unwrap();
        let mut cases = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let document = Document::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(bench.engine.check(&draft(&document)), Ok(()), "{}", path.display());
            let report = bench.test(&document).unwrap();
            assert_eq!(report.failed, 0, "{}: {:?}", path.display(), report.cases);
            cases += report.cases.len();
        }
        assert!(cases >= 10, "{cases}");
    }
}
