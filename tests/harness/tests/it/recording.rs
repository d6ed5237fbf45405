//! Goal: a recording goes in and comes out value by value.

use millrace_harness::Appliance;

#[test]
fn the_sample_recording_comes_back_value_by_value() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let file = appliance.folder().join("pump.csv");
    let file = file.to_str().expect("a readable path");
    appliance.cli(&["sample-recording", file])?;
    let replay = ["replay", file, "--path", "plant/pump", "--time", "datetime", "--separator", ";"];
    // Years old: the default class of one day does not take it.
    let refused = appliance.output(&replay)?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success());
    assert!(said.contains("--shift-to-now") && said.contains("--retention keep"), "{said}");
    let mut all = replay.to_vec();
    all.extend(["--as-fast-as-possible", "--retention", "keep"]);
    let stored = appliance.cli(&all)?;
    assert!(stored.contains("1199 of 1199 values stored"), "{stored}");

    let text = std::fs::read_to_string(file)?;
    let mut rows = text.lines().map(|row| row.split(';').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let rows: Vec<_> = rows.collect();
    for (index, column) in header.iter().enumerate().skip(1) {
        let topic = format!("main/plant/pump/{column}");
        let csv = appliance.cli(&["query", "raw", &topic, "--from", "2020-01-01T00:00:00Z"])?;
        let back: Vec<(String, String)> = csv
            .lines()
            .skip(1)
            .map(|row| {
                let cells: Vec<_> = row.split(',').collect();
                let time = cells[0].replace('T', " ");
                (time.get(..19).expect("a whole second").to_owned(), cells[4].to_owned())
            })
            .collect();
        let sent: Vec<(String, String)> = rows
            .iter()
            .filter(|row| !row[index].is_empty())
            .map(|row| (row[0].to_owned(), row[index].to_owned()))
            .collect();
        assert_eq!(back.len(), sent.len(), "{column}");
        for (back, sent) in back.iter().zip(&sent) {
            assert_eq!(back.0, sent.0, "{column}");
            let same = back.1 == sent.1 || back.1.parse::<f64>().ok() == sent.1.parse::<f64>().ok();
            assert!(same, "{column}: {back:?} for {sent:?}");
        }
    }
    Ok(())
}

#[test]
fn a_faulty_recording_is_refused_with_its_row_before_anything_is_sent() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let file = appliance.folder().join("bad.csv");
    let mut out = std::fs::File::create(&file)?;
    std::io::Write::write_all(&mut out, b"t,a\n2026-01-01 00:00:00,1\n2026-01-01 00:00:01,NaN\n")?;
    let file = file.to_str().expect("a readable path");
    let output = appliance.output(&["replay", file, "--path", "p", "--time", "t"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("row 3, column 'a': 'NaN'"), "{said}");
    assert_eq!(appliance.ledger()?["received"], 0);
    Ok(())
}
