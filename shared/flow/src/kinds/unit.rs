//! `unit`: converts between units, or scales by a factor and an offset. Holds the table of units.
//!
//! Units of one quantity convert into one another: base = value * factor + offset. The symbols are
//! those that plants write; a second spelling is a row of its own.
//!
//! **Invariants**: symbols are unique; a conversion stays within one quantity.

use crate::kind::field::FieldForm::Integer;
use crate::kind::field::NUMBER;
use crate::kind::{Complaints, FieldForm, FieldSpec, Fields, Kind, PLAIN};
use serde_json::Value;

pub(crate) static KIND: Kind = Kind {
    name: "unit",
    summary: "Converts a number to another unit, or scales it.",
    fields: &[
        FieldSpec::VALUE,
        FieldSpec::optional("from", FieldForm::Unit, "The value's unit."),
        FieldSpec::optional("to", FieldForm::Unit, "The result's unit, of the same quantity."),
        FieldSpec::optional(
            "factor",
            NUMBER,
            "Instead of units: result = value * factor + offset.",
        )
        .evaluated(),
        FieldSpec::preset("offset", NUMBER, "0", "Goes with `factor`.").evaluated(),
        FieldSpec::optional(
            "decimals",
            Integer { least: 0, most: 15 },
            "The result is rounded to so many decimals, halves away from zero.",
        ),
        FieldSpec::INTO,
    ],
    check,
    ..PLAIN
};

fn check(fields: &Fields, complaints: &mut Complaints) {
    let unit = |name| fields.get(name).and_then(Value::as_str);
    let has_units = fields.contains_key("from") || fields.contains_key("to");
    if has_units == fields.contains_key("factor") {
        complaints.step("needs either `from` and `to`, or `factor`");
    } else if has_units {
        if fields.contains_key("offset") {
            complaints.field("offset", "goes with `factor`, not with units");
        }
        match (unit("from"), unit("to")) {
            (Some(from), Some(to)) => {
                if let (Some(one), Some(other)) = (find(from), find(to))
                    && one.quantity != other.quantity
                {
                    complaints.field(
                        "to",
                        format!("{from} is {}, {to} is {}", one.quantity, other.quantity),
                    );
                }
            }
            _ => complaints.step("needs both `from` and `to`"),
        }
    }
}

/// One unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its symbol.
    pub symbol: &'static str,
    /// What it measures.
    pub quantity: &'static str,
    /// base = value * factor + offset.
    pub factor: f64,
    /// base = value * factor + offset.
    pub offset: f64,
}

/// The unit of this symbol.
#[must_use]
pub fn find(symbol: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.symbol == symbol)
}

/// Factor and offset from one unit to another: result = value * factor + offset.
#[must_use]
pub fn conversion(from: &str, to: &str) -> Option<(f64, f64)> {
    let (from, to) = (find(from)?, find(to)?);
    (from.quantity == to.quantity)
        .then(|| (from.factor / to.factor, (from.offset - to.offset) / to.factor))
}

const fn unit(quantity: &'static str, symbol: &'static str, factor: f64) -> Unit {
    Unit { symbol, quantity, factor, offset: 0.0 }
}

const fn shifted(quantity: &'static str, symbol: &'static str, factor: f64, offset: f64) -> Unit {
    Unit { symbol, quantity, factor, offset }
}

const PI: f64 = std::f64::consts::PI;
/// Standard gravity, exact by definition.
const GRAVITY: f64 = 9.806_65;
/// International avoirdupois pound in kilograms, exact.
const POUND: f64 = 0.453_592_37;
/// US liquid gallon in cubic meters, exact.
const GALLON: f64 = 0.003_785_411_784;

/// All units.
pub static UNITS: &[Unit] = &[
    unit("temperature", "K", 1.0),
    shifted("temperature", "°C", 1.0, 273.15),
    shifted("temperature", "C", 1.0, 273.15),
    shifted("temperature", "°F", 5.0 / 9.0, 273.15 - 160.0 / 9.0),
    shifted("temperature", "F", 5.0 / 9.0, 273.15 - 160.0 / 9.0),
    unit("temperature", "°R", 5.0 / 9.0),
    unit("pressure", "Pa", 1.0),
    unit("pressure", "hPa", 100.0),
    unit("pressure", "kPa", 1e3),
    unit("pressure", "MPa", 1e6),
    unit("pressure", "mbar", 100.0),
    unit("pressure", "bar", 1e5),
    unit("pressure", "psi", POUND * GRAVITY / (0.0254 * 0.0254)),
    unit("pressure", "atm", 101_325.0),
    unit("pressure", "Torr", 101_325.0 / 760.0),
    unit("pressure", "mmHg", 133.322_387_415),
    unit("pressure", "mmH2O", GRAVITY),
    unit("pressure", "inH2O", GRAVITY * 25.4),
    unit("length", "m", 1.0),
    unit("length", "nm", 1e-9),
    unit("length", "µm", 1e-6),
    unit("length", "um", 1e-6),
    unit("length", "mm", 1e-3),
    unit("length", "cm", 1e-2),
    unit("length", "dm", 0.1),
    unit("length", "km", 1e3),
    unit("length", "in", 0.0254),
    unit("length", "ft", 0.3048),
    unit("length", "yd", 0.9144),
    unit("length", "mi", 1_609.344),
    unit("area", "m²", 1.0),
    unit("area", "m2", 1.0),
    unit("area", "mm²", 1e-6),
    unit("area", "mm2", 1e-6),
    unit("area", "cm²", 1e-4),
    unit("area", "cm2", 1e-4),
    unit("area", "ha", 1e4),
    unit("area", "ft²", 0.3048 * 0.3048),
    unit("area", "ft2", 0.3048 * 0.3048),
    unit("volume", "m³", 1.0),
    unit("volume", "m3", 1.0),
    unit("volume", "l", 1e-3),
    unit("volume", "L", 1e-3),
    unit("volume", "hl", 0.1),
    unit("volume", "ml", 1e-6),
    unit("volume", "mL", 1e-6),
    unit("volume", "cm³", 1e-6),
    unit("volume", "cm3", 1e-6),
    unit("volume", "gal", GALLON),
    unit("volume", "ft³", 0.3048 * 0.3048 * 0.3048),
    unit("volume", "ft3", 0.3048 * 0.3048 * 0.3048),
    unit("volume", "bbl", GALLON * 42.0),
    unit("mass", "kg", 1.0),
    unit("mass", "mg", 1e-6),
    unit("mass", "g", 1e-3),
    unit("mass", "t", 1e3),
    unit("mass", "lb", POUND),
    unit("mass", "oz", POUND / 16.0),
    unit("time", "s", 1.0),
    unit("time", "ns", 1e-9),
    unit("time", "µs", 1e-6),
    unit("time", "us", 1e-6),
    unit("time", "ms", 1e-3),
    unit("time", "min", 60.0),
    unit("time", "h", 3_600.0),
    unit("time", "d", 86_400.0),
    unit("speed", "m/s", 1.0),
    unit("speed", "m/min", 1.0 / 60.0),
    unit("speed", "mm/s", 1e-3),
    unit("speed", "km/h", 1.0 / 3.6),
    unit("speed", "ft/s", 0.3048),
    unit("speed", "ft/min", 0.3048 / 60.0),
    unit("speed", "mph", 0.44704),
    unit("volume flow", "m³/s", 1.0),
    unit("volume flow", "m³/h", 1.0 / 3_600.0),
    unit("volume flow", "m3/s", 1.0),
    unit("volume flow", "m3/h", 1.0 / 3_600.0),
    unit("volume flow", "l/s", 1e-3),
    unit("volume flow", "l/min", 1e-3 / 60.0),
    unit("volume flow", "l/h", 1e-3 / 3_600.0),
    unit("volume flow", "L/s", 1e-3),
    unit("volume flow", "L/min", 1e-3 / 60.0),
    unit("volume flow", "L/h", 1e-3 / 3_600.0),
    unit("volume flow", "gpm", GALLON / 60.0),
    unit("volume flow", "cfm", 0.3048 * 0.3048 * 0.3048 / 60.0),
    unit("mass flow", "kg/s", 1.0),
    unit("mass flow", "kg/min", 1.0 / 60.0),
    unit("mass flow", "kg/h", 1.0 / 3_600.0),
    unit("mass flow", "t/h", 1e3 / 3_600.0),
    unit("mass flow", "g/s", 1e-3),
    unit("mass flow", "lb/h", POUND / 3_600.0),
    unit("density", "kg/m³", 1.0),
    unit("density", "kg/m3", 1.0),
    unit("density", "g/cm³", 1e3),
    unit("density", "g/cm3", 1e3),
    unit("density", "kg/l", 1e3),
    unit("density", "lb/ft³", POUND / (0.3048 * 0.3048 * 0.3048)),
    unit("energy", "J", 1.0),
    unit("energy", "kJ", 1e3),
    unit("energy", "MJ", 1e6),
    unit("energy", "GJ", 1e9),
    unit("energy", "Wh", 3_600.0),
    unit("energy", "kWh", 3.6e6),
    unit("energy", "MWh", 3.6e9),
    unit("energy", "GWh", 3.6e12),
    unit("energy", "cal", 4.184),
    unit("energy", "kcal", 4_184.0),
    unit("energy", "BTU", 1_055.055_852_62),
    unit("power", "W", 1.0),
    unit("power", "mW", 1e-3),
    unit("power", "kW", 1e3),
    unit("power", "MW", 1e6),
    unit("power", "GW", 1e9),
    unit("power", "hp", 550.0 * 0.3048 * POUND * GRAVITY),
    unit("power", "PS", 75.0 * GRAVITY),
    unit("power", "BTU/h", 1_055.055_852_62 / 3_600.0),
    unit("force", "N", 1.0),
    unit("force", "kN", 1e3),
    unit("force", "MN", 1e6),
    unit("force", "kgf", GRAVITY),
    unit("force", "lbf", POUND * GRAVITY),
    unit("torque", "N·m", 1.0),
    unit("torque", "Nm", 1.0),
    unit("torque", "kNm", 1e3),
    unit("torque", "lbf·ft", POUND * GRAVITY * 0.3048),
    unit("angle", "rad", 1.0),
    unit("angle", "°", PI / 180.0),
    unit("angle", "deg", PI / 180.0),
    unit("angle", "rev", 2.0 * PI),
    unit("rotation", "rad/s", 1.0),
    unit("rotation", "rpm", 2.0 * PI / 60.0),
    unit("rotation", "1/min", 2.0 * PI / 60.0),
    unit("rotation", "°/s", PI / 180.0),
    unit("frequency", "Hz", 1.0),
    unit("frequency", "mHz", 1e-3),
    unit("frequency", "kHz", 1e3),
    unit("frequency", "MHz", 1e6),
    unit("frequency", "GHz", 1e9),
    unit("voltage", "V", 1.0),
    unit("voltage", "µV", 1e-6),
    unit("voltage", "mV", 1e-3),
    unit("voltage", "kV", 1e3),
    unit("current", "A", 1.0),
    unit("current", "µA", 1e-6),
    unit("current", "mA", 1e-3),
    unit("current", "kA", 1e3),
    unit("resistance", "Ω", 1.0),
    unit("resistance", "mΩ", 1e-3),
    unit("resistance", "kΩ", 1e3),
    unit("resistance", "MΩ", 1e6),
    unit("resistance", "ohm", 1.0),
    unit("charge", "As", 1.0),
    unit("charge", "Ah", 3_600.0),
    unit("charge", "mAh", 3.6),
    unit("ratio", "1", 1.0),
    unit("ratio", "%", 1e-2),
    unit("ratio", "‰", 1e-3),
    unit("ratio", "ppm", 1e-6),
    unit("ratio", "ppb", 1e-9),
    unit("data", "B", 1.0),
    unit("data", "bit", 0.125),
    unit("data", "kB", 1e3),
    unit("data", "MB", 1e6),
    unit("data", "GB", 1e9),
    unit("data", "TB", 1e12),
    unit("data", "KiB", 1_024.0),
    unit("data", "MiB", 1_048_576.0),
    unit("data", "GiB", 1_073_741_824.0),
    unit("acceleration", "m/s²", 1.0),
    unit("acceleration", "m/s2", 1.0),
    unit("acceleration", "mm/s²", 1e-3),
    unit("acceleration", "gn", GRAVITY),
];
