//! A cell's text as the JSON value that a device would send.

use super::RecordingError;

/// The JSON text of a cell; `None` for an empty one.
///
/// # Errors
/// NaN and infinities, which JSON cannot carry: the file must say what they stand for.
pub(super) fn to_json(
    text: &str,
    line: u64,
    column: &str,
) -> Result<Option<String>, RecordingError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if matches!(text, "true" | "false") {
        return Ok(Some(text.to_owned()));
    }
    let Ok(number) = text.parse::<f64>() else {
        let mut json = String::with_capacity(text.len() + 2);
        millrace_model::json::write_string(text, &mut json);
        return Ok(Some(json));
    };
    if !number.is_finite() || is_too_long_integer(text) {
        let (column, text) = (column.to_owned(), text.to_owned());
        return Err(RecordingError::NotAValue { line, column, text });
    }
    // Numbers that JSON cannot write as they stand (`+5`, `.5`) go out as the same number.
    Ok(Some(if is_json(text) { text.to_owned() } else { format!("{number:?}") }))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// An integer beyond 64 bits, which would lose digits as a float.
fn is_too_long_integer(text: &str) -> bool {
    let is_integer = !text.contains(['.', 'e', 'E']);
    is_integer && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_its_text() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(to_json(text, 2, "a").unwrap().as_deref(), expected, "{text:?}");
        };
        check("32.0", Some("32.0"));
        check("-0.273216", Some("-0.273216"));
        check("9007199254740993", Some("9007199254740993"));
        check(" 1e-3 ", Some("1e-3"));
        check("+5", Some("5.0"));
        check(".5", Some("0.5"));
        check("true", Some("true"));
        check("open \"half\"", Some("\"open \\\"half\\\"\""));
        check("", None);
    }

    #[test]
    fn what_cannot_be_kept_is_refused_with_its_row() {
        for text in ["NaN", "nan", "inf", "-Infinity", "1e400", "18446744073709551616"] {
            let error = to_json(text, 7, "Current").unwrap_err().to_string();
            assert!(error.starts_with("row 7, column 'Current'"), "{text}: {error}");
        }
    }
}
