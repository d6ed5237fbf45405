//! Quality of a sample as an OPC UA status code.
//!
//! The upper two bits are the severity (OPC 10000-4, 7.38.1): 00 good, 01 uncertain, 10 bad.
//! The code travels unchanged from device to export.

use serde::{Deserialize, Serialize};

/// An OPC UA status code, whole.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Quality(pub u32);

/// The three grades that the severity bits tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The value can be used.
    Good,
    /// The value is doubtful: outside of its schema's range, from a stale source.
    Uncertain,
    /// The value must not be used.
    Bad,
}

impl Quality {
    /// Good (0x00000000).
    pub const GOOD: Self = Self(0);
    /// Uncertain without detail (0x40000000).
    pub const UNCERTAIN: Self = Self(0x4000_0000);
    /// UncertainEngineeringUnitsExceeded (0x40940000): outside of the schema's range.
    pub const UNCERTAIN_RANGE: Self = Self(0x4094_0000);
    /// Bad without detail (0x80000000).
    pub const BAD: Self = Self(0x8000_0000);

    /// Reads the severity bits; the reserved pattern 11 counts as bad.
    #[must_use]
    pub fn grade(self) -> Grade {
        match self.0 >> 30 {
            0 => Grade::Good,
            1 => Grade::Uncertain,
            _ => Grade::Bad,
        }
    }

    /// Parses what devices send: `good`, `uncertain`, `bad` in any case, or the code as a number.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("good") {
            Some(Self::GOOD)
        } else if text.eq_ignore_ascii_case("uncertain") {
            Some(Self::UNCERTAIN)
        } else if text.eq_ignore_ascii_case("bad") {
            Some(Self::BAD)
        } else {
            text.parse().ok().map(Self)
        }
    }

    /// `good`, `uncertain` or `bad`.
    #[must_use]
    pub fn grade_text(self) -> &'static str {
        match self.grade() {
            Grade::Good => "good",
            Grade::Uncertain => "uncertain",
            Grade::Bad => "bad",
        }
    }
}
