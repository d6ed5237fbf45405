//! A small recording that the product makes itself, for a first try: a pump that starts, runs
//! and is throttled by a closing valve.

use jiff::civil::date;
use std::io::{self, Write};

/// Seconds of the recording.
pub(crate) const SAMPLE_SECONDS: u32 = 300;

/// Writes `datetime;Pressure;Volume Flow;Motor Current;State`, one row a second, with one gap.
///
/// # Errors
/// Whatever the writer says.
pub(crate) fn write_sample(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "datetime;Pressure;Volume Flow;Motor Current;State")?;
    let start = date(2024, 5, 13).at(6, 0, 0, 0);
    for second in 0..SAMPLE_SECONDS {
        let time = start + jiff::Span::new().seconds(i64::from(second));
        let at = f64::from(second);
        let speed = (at / 20.0).min(1.0);
        let valve = if second > 200 { 1.0 - (at - 200.0) / 150.0 } else { 1.0 };
        let ripple = (at * 0.7).sin();
        let pressure = 0.4 + 2.6 * speed * (1.6 - 0.6 * valve) + 0.02 * ripple;
        let flow = 120.0 * speed * valve + 0.5 * ripple;
        let current = 0.6 + 1.5 * speed * (0.7 + 0.3 * valve) + 0.03 * ripple;
        let state = match (second < 20, second > 200) {
            (true, _) => "starting",
            (_, true) => "throttled",
            _ => "running",
        };
        let stamp = time.strftime("%Y-%m-%d %H:%M:%S");
        // Row 121 lost its flow meter: an empty cell is a gap.
        if second == 120 {
            writeln!(out, "{stamp};{pressure:.4};;{current:.4};{state}")?;
        } else {
            writeln!(out, "{stamp};{pressure:.4};{flow:.3};{current:.4};{state}")?;
        }
    }
    Ok(())
}
