//! Scripts of pipelines in QuickJS: sandbox, limits, conversion. The only user of QuickJS.
