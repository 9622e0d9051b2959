//! Quantities.

use dunnage_planner::quantity::{
    Rounding, format_bytes, format_milli, format_units, is_quantity, parse_microusd, parse_milli,
    parse_units,
};

/// Quantities: rounding up is never less than rounding down nor more than one unit above it,
/// a thousandth is a thousandth, and what is formatted reads back.
pub fn quantity(bytes: &[u8]) -> bool {
    let text = &*String::from_utf8_lossy(bytes);
    if let Ok(price) = parse_microusd(text) {
        assert!(price >= 0, "prices start at 0");
    }
    let (up, down) = (parse_units(text, Rounding::Up), parse_units(text, Rounding::Down));
    if let (Ok(up), Ok(down)) = (up, down) {
        assert!(is_quantity(text));
        assert!(down >= 0 && (up == down || up == down + 1), "{down} to {up}");
        for (format, amount) in [(format_units(up), up), (format_bytes(down), down)] {
            assert_eq!(parse_units(&format, Rounding::Up), Ok(amount), "{format}");
            assert_eq!(parse_units(&format, Rounding::Down), Ok(amount), "{format}");
        }
    }
    let (up, down) = (parse_milli(text, Rounding::Up), parse_milli(text, Rounding::Down));
    if let (Ok(up), Ok(down)) = (up, down) {
        assert!(down >= 0 && (up == down || up == down + 1), "{down}m to {up}m");
        assert_eq!(parse_milli(&format_milli(up), Rounding::Down), Ok(up));
        let whole = parse_units(text, Rounding::Down);
        assert_eq!(whole, Ok(down / 1000), "the same number in whole units");
    }
    true
}
