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
    if is_json_number(text) || matches!(text, "true" | "false") {
        return Ok(Some(text.to_owned()));
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(format!("{number:?}"))),
        Ok(_) => Err(RecordingError::NotAValue {
            line,
            column: column.to_owned(),
            text: text.to_owned(),
        }),
        Err(_) => {
            let mut json = String::with_capacity(text.len() + 2);
            millrace_model::json::write_string(text, &mut json);
            Ok(Some(json))
        }
    }
}

fn is_json_number(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
        && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
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
    fn nan_and_infinity_are_refused_with_their_row() {
        for text in ["NaN", "nan", "inf", "-Infinity", "1e999x", "1e400"] {
            match to_json(text, 7, "Current") {
                Err(error) => assert!(error.to_string().contains("row 7"), "{error}"),
                Ok(value) => assert_eq!((text, value.as_deref()), ("1e999x", Some("\"1e999x\""))),
            }
        }
    }
}
