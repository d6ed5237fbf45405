//! Run history and the durable state of pipelines, in SQLite.
