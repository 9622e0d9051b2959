//! Texts from outside.

use dunnage_planner::error::PlanError;
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::plan::{Failure, plan};
use dunnage_planner::quantity::{
    Rounding, format_bytes, format_milli, format_units, is_quantity, parse_microusd, parse_milli,
    parse_units,
};
use dunnage_planner::read::{Source, read};

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

/// A text is a cluster: it is read and planned under both strategies, or refused with errors
/// that say where and what. True when it was planned.
pub fn front_door(bytes: &[u8]) -> bool {
    let source = match Source::from_bytes("input.yaml", bytes.to_vec()) {
        Ok(source) => source,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return false;
        }
    };
    let snapshot = match read(&[source]) {
        Ok(snapshot) => snapshot,
        Err(errors) => {
            explained(&errors);
            return false;
        }
    };
    let mut is_planned = false;
    for (_, strategy) in Strategy::ALL {
        match plan(&snapshot, &Options { strategy, ..Options::default() }) {
            Ok(_) => is_planned = true,
            Err(Failure::Input(errors)) => explained(&errors),
            // A limit of the engine is an answer; a refused decision or table is not.
            Err(Failure::Broken(why)) => assert!(why.starts_with("limit "), "{why}"),
        }
    }
    is_planned
}

fn explained(errors: &[PlanError]) {
    assert!(!errors.is_empty(), "a refusal without a reason");
    errors.iter().for_each(|e| assert!(!e.to_string().is_empty()));
}
