//! Fields of kinds: name, form, default, and whether expressions are allowed.
//!
//! **Invariants**: a default is JSON text that its own form accepts; a secret and a script never
//! hold expressions.

use serde_json::Value;

/// What a field may hold. Where expressions are allowed, a whole `{{ ... }}` stands in for any form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldForm {
    /// Text.
    Text,
    /// A number from `least` to `most`.
    Number {
        /// Smallest, inclusive.
        least: f64,
        /// Largest, inclusive.
        most: f64,
    },
    /// A whole number from `least` to `most`.
    Integer {
        /// Smallest, inclusive.
        least: i64,
        /// Largest, inclusive.
        most: i64,
    },
    /// `true` or `false`.
    Bool,
    /// Milliseconds as a whole number; such fields end in `_ms`.
    Duration {
        /// Shortest, inclusive.
        least_ms: u64,
        /// Longest, inclusive.
        most_ms: u64,
    },
    /// `true`, `false`, or one whole expression whose truth counts as in JavaScript.
    Test,
    /// A tag's path below the workspace.
    Path,
    /// An MQTT filter: `press-4/+/temperature`.
    Filter,
    /// An MQTT topic name.
    Topic,
    /// One of these words.
    Enum(&'static [&'static str]),
    /// JavaScript statements; `return` gives the result. Never split into expressions.
    Code,
    /// An SQL statement with placeholders. Never split into expressions: values go into
    /// `parameters`.
    Sql,
    /// Any JSON.
    Json,
    /// A list of the given form.
    List(&'static FieldForm),
    /// An object: any names, any JSON.
    Map,
    /// A list of objects with these fields.
    Items(&'static [FieldSpec]),
    /// An object of texts; each may be a secret instead. (HTTP headers.)
    Headers,
    /// `{ "secret": "<name>" }`: the value of a secret of the workspace, known at execution only.
    Secret,
    /// An IANA time zone: `Europe/Berlin`.
    Zone,
    /// A cron expression of 5 fields, or 6 with seconds first.
    Cron,
    /// A name of a pipeline: lower-case letters, digits, hyphens.
    Pipeline,
    /// A name of a field, or names with dots between: `a.b`.
    Into,
    /// A unit of the table in [`crate::kinds::unit`]: `°C`, `bar`, `m³/h`.
    Unit,
}

impl FieldForm {
    /// The word that the documents use.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::Number { least, most } => bounds("number", least, most, f64::MIN, f64::MAX),
            Self::Integer { least, most } => bounds("integer", least, most, i64::MIN, i64::MAX),
            Self::Bool => "bool".into(),
            Self::Duration { least_ms, most_ms } => {
                format!("milliseconds, {least_ms} to {most_ms}")
            }
            Self::Test => "test".into(),
            Self::Path => "tag path".into(),
            Self::Filter => "filter".into(),
            Self::Topic => "topic".into(),
            Self::Enum(words) => {
                words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
            }
            Self::Code => "JavaScript".into(),
            Self::Sql => "SQL".into(),
            Self::Json => "any JSON".into(),
            Self::List(of) => format!("list of: {}", of.name()),
            Self::Map => "object".into(),
            Self::Items(_) => "list of objects".into(),
            Self::Headers => "object of texts or secrets".into(),
            Self::Secret => "secret".into(),
            Self::Zone => "time zone".into(),
            Self::Cron => "cron".into(),
            Self::Pipeline => "pipeline name".into(),
            Self::Into => "field name".into(),
            Self::Unit => "unit".into(),
        }
    }

    /// Whether text of this form may mix literal text and expressions; the others take a whole
    /// expression only.
    #[must_use]
    pub const fn takes_template(self) -> bool {
        matches!(self, Self::Text | Self::Path | Self::Filter | Self::Topic | Self::Json)
    }
}

fn bounds<N: PartialEq + std::fmt::Display>(
    word: &str,
    least: N,
    most: N,
    low: N,
    high: N,
) -> String {
    match (least == low, most == high) {
        (true, true) => word.into(),
        (true, false) => format!("{word}, up to {most}"),
        (false, true) => format!("{word}, from {least}"),
        (false, false) => format!("{word}, {least} to {most}"),
    }
}

/// One field of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldSpec {
    /// Its name in documents.
    pub name: &'static str,
    /// What it may hold.
    pub form: FieldForm,
    /// Whether it must be there.
    pub is_required: bool,
    /// What it holds if it is not there, as JSON text.
    pub default: Option<&'static str>,
    /// Whether `{{ ... }}` is evaluated in it.
    pub allows_expression: bool,
    /// What it is for.
    pub doc: &'static str,
}

impl FieldSpec {
    /// A field that must be there.
    #[must_use]
    pub const fn required(name: &'static str, form: FieldForm, doc: &'static str) -> Self {
        Self { name, form, is_required: true, default: None, allows_expression: false, doc }
    }

    /// A field that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, form: FieldForm, doc: &'static str) -> Self {
        Self { name, form, is_required: false, default: None, allows_expression: false, doc }
    }

    /// A field with a default, as JSON text.
    #[must_use]
    pub const fn preset(
        name: &'static str,
        form: FieldForm,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            form,
            is_required: false,
            default: Some(default),
            allows_expression: false,
            doc,
        }
    }

    /// The same field, allowing expressions.
    #[must_use]
    pub const fn evaluated(mut self) -> Self {
        self.allows_expression = true;
        self
    }

    /// The default as a value.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        // A test reads every default; one that is no JSON would count as none.
        self.default.and_then(|text| serde_json::from_str(text).ok())
    }

    /// The field `value`: what the step works on.
    pub(crate) const VALUE: Self = Self::optional(
        "value",
        FieldForm::Json,
        "What it works on; the input's own value if left out.",
    )
    .evaluated();

    /// The field `into`: where the result goes.
    pub(crate) const INTO: Self = Self::optional(
        "into",
        FieldForm::Into,
        "Field of the input that takes the result. If left out: the input's own value is replaced, \
         or the result is the whole output if `value` is given.",
    );

    /// The field `key`: which state is meant.
    pub(crate) const KEY: Self = Self::optional(
        "key",
        FieldForm::Json,
        "State is kept apart for each key. If left out: the trigger's path, or one state for all if \
         it has none.",
    )
    .evaluated();
}

/// Any number.
pub(crate) const NUMBER: FieldForm = FieldForm::Number { least: f64::MIN, most: f64::MAX };
/// A number that is not negative.
pub(crate) const POSITIVE: FieldForm = FieldForm::Number { least: 0.0, most: f64::MAX };
/// A percentage.
pub(crate) const PERCENT: FieldForm = FieldForm::Number { least: 0.0, most: 100.0 };
/// Up to 400 days: longer than any window or shift, shorter than a clock's mistakes.
pub(crate) const LONGEST_MS: u64 = 400 * 24 * 3_600 * 1_000;
/// A span that may be zero.
pub(crate) const SPAN: FieldForm = FieldForm::Duration { least_ms: 0, most_ms: LONGEST_MS };
/// A span of at least a millisecond.
pub(crate) const SOME_TIME: FieldForm = FieldForm::Duration { least_ms: 1, most_ms: LONGEST_MS };
/// A TCP port.
pub(crate) const TCP_PORT: FieldForm = FieldForm::Integer { least: 1, most: 65_535 };
/// A list of texts.
pub(crate) const TEXTS: FieldForm = FieldForm::List(&FieldForm::Text);
