//! Whole files, good and at fault.

use super::*;
use std::io::Write as _;

fn reading(text: &str, zone: Zone) -> (tempfile::NamedTempFile, Reading) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let reading = Reading {
        file: file.path().to_owned(),
        time_column: "datetime".to_owned(),
        separator: b';',
        zone,
    };
    (file, reading)
}

fn fault(text: &str) -> String {
    let (_file, reading) = reading(text, Zone::named("Europe/Berlin").unwrap());
    reading.survey().unwrap_err().to_string()
}

#[test]
fn a_good_file_is_read_row_by_row() {
    let text = "datetime;Volume Flow RateRMS;b\n2020-02-08 13:30:47;122.664;\n\
                2020-02-08 13:30:48;32.0;on\n";
    let (_file, reading) = reading(text, Zone::utc());
    let survey = reading.survey().unwrap();
    assert_eq!((survey.rows, survey.values), (2, 3));
    let mut rows = reading.rows().unwrap();
    let row = rows.next().unwrap().unwrap();
    assert_eq!(row.time.to_rfc3339(), "2020-02-08T13:30:47Z");
    assert_eq!((row.line, row.values), (2, vec![Some("122.664".to_owned()), None]));
}

#[test]
fn local_time_is_read_in_its_zone() {
    let (_file, reading) =
        reading("datetime;a\n2020-07-08 13:30:47;1\n", Zone::named("Europe/Berlin").unwrap());
    assert_eq!(reading.survey().unwrap().first.to_rfc3339(), "2020-07-08T11:30:47Z");
}

#[test]
fn faults_are_told_with_their_row() {
    let check = |text: &str, expected: &str| {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text:?}: {fault}");
    };
    check("datetime;a;a\n", "row 1: the column 'a' stands twice");
    check("time;a\n2020-01-01 00:00:00;1\n", "has no column 'datetime'; it has: time, a");
    check("datetime;a\n2020-01-01 00:00:00;1\ndatetime;a\n", "row 3: the header stands here again");
    check("datetime;a;b\n2020-01-01 00:00:00;1\n", "row 2: 2 cells where the header has 3");
    check("datetime;a\n2020-01-01 00:00:00;NaN\n", "row 2, column 'a': 'NaN'");
    check("datetime;a\nyesterday;1\n", "row 2: 'yesterday' is not a time");
    check(
        "datetime;a\n2020-10-25 02:30:00;1\n",
        "row 2: the local time 2020-10-25 02:30:00 exists twice",
    );
    check(
        "datetime;a\n2020-03-29 02:30:00;1\n",
        "row 2: the local time 2020-03-29 02:30:00 does not exist",
    );
    check("datetime;a#\n2020-01-01 00:00:00;1\n", "the column 'a#' cannot be a topic");
    check("datetime;a\n", "has no rows");
}

#[test]
fn the_sample_that_the_product_makes_is_a_good_file() {
    let mut text = Vec::new();
    write_sample(&mut text).unwrap();
    let (_file, reading) = reading(std::str::from_utf8(&text).unwrap(), Zone::utc());
    let survey = reading.survey().unwrap();
    assert_eq!(survey.rows, 300);
    assert_eq!(survey.values, 4 * 300 - 1);
}
