//! The issue of a deployed pipeline that does not run after a start.
//!
//! **Invariants**: what is raised here is cleared by the next deployment, or by undeploying.

use millrace_supervisor::{Issue, Issues, Severity};

/// Tells why a pipeline does not run.
pub(super) fn raise(issues: &Issues, pipeline: &str, reason: &str) {
    issues.raise(Issue {
        key: key(pipeline),
        severity: Severity::Critical,
        what: format!("Pipeline {pipeline} does not run: {reason}."),
        effect: "Its values are not processed; they stay in history.".to_owned(),
        remedy: "Mend the document and deploy it, or undeploy the pipeline.".to_owned(),
    });
}

/// What runs of a pipeline was changed: it runs, or it is not to run. With the latter the issues
/// that it had raised itself go too, also those that were kept of one that never started.
pub(in crate::wiring) fn changed(issues: &Issues, pipeline: &str, is_deployed: bool) {
    issues.clear(&key(pipeline));
    if !is_deployed {
        issues.clear_all(&format!("pipeline:{pipeline}:"));
    }
}

fn key(pipeline: &str) -> String {
    format!("pipeline-not-started:{pipeline}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;
    use millrace_supervisor::TestClock;
    use std::sync::Arc;

    #[test]
    fn deploying_and_undeploying_clear_what_a_start_raised() {
        let issues = Issues::new(Arc::new(TestClock::new(Timestamp(0))));
        let keys = || -> Vec<_> { issues.list().into_iter().map(|issue| issue.key).collect() };
        raise(&issues, "oven", "step `a`: the kind `b` is not known to this version");
        assert_eq!(keys(), ["pipeline-not-started:oven"]);
        let told = issues.list().remove(0);
        assert_eq!(told.severity, Severity::Critical);
        assert!(told.what.contains("the kind `b` is not known"), "{}", told.what);
        changed(&issues, "oven", true);
        assert!(keys().is_empty(), "it runs");
        raise(&issues, "oven", "x");
        raise(&issues, "other", "x");
        issues.raise(Issue {
            key: "pipeline:oven:hot".to_owned(),
            severity: told.severity,
            what: told.what,
            effect: told.effect,
            remedy: told.remedy,
        });
        changed(&issues, "oven", false);
        assert_eq!(keys(), ["pipeline-not-started:other"], "it is not to run");
    }
}
