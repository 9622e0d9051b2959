//! A user's price file: JSON or CSV rows of region, instanceType, zone, capacityType, price.
//!
//! Every row is checked before anything is changed, and every bad row is reported with its
//! number and value. Rows that name nothing here (another region, an unknown type) are
//! counted, not refused: one file may serve many regions.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use super::{CAPACITY_TYPES, has_label, labels, set_price};
use crate::instance_type::InstanceType;
use crate::quantity::{parse_microusd, usd_from_microusd};

/// LIMIT: rows of a price file; all types of all regions with zones need fewer.
pub const MAX_PRICE_ROWS: usize = 1_000_000;
/// LIMIT: errors reported for one file; the rest is likely the same mistake.
pub const MAX_PRICE_ERRORS: usize = 100;
/// LIMIT: characters of a wrong value that an error repeats.
const MAX_SHOWN: usize = 80;

const FIELDS: [&str; 5] = ["region", "instanceType", "zone", "capacityType", "price"];

/// A row that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("price file row {row}: {field} `{value}` {why}")]
pub struct PriceFileError {
    /// Row from 1: the line of a CSV, the position in a JSON list. 0 for the whole file.
    pub row: usize,
    /// Field that is wrong.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong with it.
    pub why: String,
}

impl PriceFileError {
    fn new(row: usize, field: &'static str, value: &str, why: impl Into<String>) -> Self {
        let mut value = value.to_owned();
        if let Some((cut, _)) = value.char_indices().nth(MAX_SHOWN) {
            value.truncate(cut);
            value.push('…');
        }
        Self { row, field, value, why: why.into() }
    }
}

/// What a price file did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceReport {
    /// Offerings that have a price of the file now.
    pub offerings: usize,
    /// Rows, from 1 as in the errors, that name no offering here.
    pub unmatched_rows: Vec<usize>,
}

/// One row, checked.
struct Row {
    number: usize,
    region: Option<String>,
    instance_type: String,
    zone: Option<String>,
    capacity_type: String,
    microusd: i64,
}

/// Sets the prices that a file gives. The text is JSON if it starts with `[` or `{` (a list
/// of rows, or an object with the list under `prices`), else CSV with a header; `#` starts a
/// comment line. Empty cells and null count as absent. A row without a zone is for all zones;
/// a row with a zone goes before one without, a later row before an earlier.
///
/// # Errors
/// Every row that cannot be used, up to [`MAX_PRICE_ERRORS`]; nothing is changed then.
pub fn apply_price_file(
    types: &mut [InstanceType],
    text: &str,
) -> Result<PriceReport, Vec<PriceFileError>> {
    let text = text.trim_start_matches('\u{feff}');
    let rows = match text.trim_start().chars().next() {
        Some('[' | '{') => from_json(text)?,
        _ => from_csv(text)?,
    };
    let mut by_type: BTreeMap<&str, Vec<(usize, &Row)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_type.entry(&row.instance_type).or_default().push((at, row));
    }
    let mut is_matched = vec![false; rows.len()];
    let mut report = PriceReport::default();
    for one in types {
        let Some(own) = by_type.get(one.name.as_str()) else { continue };
        let here: Vec<_> = own
            .iter()
            .filter(|(_, r)| r.region.as_ref().is_none_or(|x| has_label(one, labels::REGION, x)))
            .collect();
        for offering in &mut one.offerings {
            let mut best: Option<&Row> = None;
            for (at, row) in &here {
                let is_zone = row.zone.as_ref().is_none_or(|zone| *zone == offering.zone);
                if !is_zone || row.capacity_type != offering.capacity_type {
                    continue;
                }
                is_matched[*at] = true;
                if best.is_none_or(|b| row.zone.is_some() >= b.zone.is_some()) {
                    best = Some(row);
                }
            }
            if let Some(row) = best {
                set_price(offering, usd_from_microusd(row.microusd));
                report.offerings += 1;
            }
        }
    }
    let unmatched = rows.iter().zip(&is_matched).filter(|(_, is)| !**is);
    report.unmatched_rows = unmatched.map(|(row, _)| row.number).collect();
    Ok(report)
}

/// Collects rows and errors up to the limits.
#[derive(Default)]
struct Reading {
    rows: Vec<Row>,
    errors: Vec<PriceFileError>,
}

impl Reading {
    /// Checks one row given as the texts of [`FIELDS`]. False when enough has been seen.
    fn row(&mut self, number: usize, cells: [Option<String>; 5]) -> bool {
        let [region, instance_type, zone, capacity_type, price] =
            cells.map(|cell| cell.filter(|text| !text.is_empty()));
        let mut wrong = |field, value: &str, why| {
            self.errors.push(PriceFileError::new(number, field, value, why))
        };
        let name = instance_type.unwrap_or_default();
        if name.is_empty() {
            wrong("instanceType", "", "must name an instance type".to_owned());
        }
        let kind = capacity_type.unwrap_or_default();
        let is_known = CAPACITY_TYPES.contains(&kind.as_str());
        if !is_known {
            wrong("capacityType", &kind, "must be on-demand, spot or reserved".to_owned());
        }
        let price = price.unwrap_or_default();
        match parse_microusd(&price) {
            Ok(microusd) if is_known && !name.is_empty() => self.rows.push(Row {
                number,
                region,
                instance_type: name,
                zone,
                capacity_type: kind,
                microusd,
            }),
            Ok(_) => {}
            Err(error) => wrong("price", &price, error.to_string()),
        }
        self.has_room(number)
    }

    fn has_room(&mut self, number: usize) -> bool {
        if self.rows.len() > MAX_PRICE_ROWS {
            let why = format!("is one row more than the limit of {MAX_PRICE_ROWS}");
            self.errors.push(PriceFileError::new(number, "row", "", why));
            return false;
        }
        self.errors.len() < MAX_PRICE_ERRORS
    }

    fn finish(mut self) -> Result<Vec<Row>, Vec<PriceFileError>> {
        self.errors.truncate(MAX_PRICE_ERRORS);
        if self.errors.is_empty() { Ok(self.rows) } else { Err(self.errors) }
    }
}

fn whole_file(value: &str, why: impl Into<String>) -> Vec<PriceFileError> {
    vec![PriceFileError::new(0, "file", value, why)]
}

fn from_json(text: &str) -> Result<Vec<Row>, Vec<PriceFileError>> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| whole_file("", format!("is not valid JSON: {error}")))?;
    let list = match &value {
        Value::Object(object) => object.get("prices"),
        other => Some(other),
    };
    let Some(Value::Array(items)) = list else {
        return Err(whole_file("", "must be a list of rows, or an object with a list `prices`"));
    };
    let mut reading = Reading::default();
    for (at, item) in items.iter().enumerate() {
        let number = at + 1;
        let Value::Object(fields) = item else {
            let shown = item.to_string();
            let why = "must be an object";
            reading.errors.push(PriceFileError::new(number, "row", &shown, why));
            if !reading.has_room(number) {
                break;
            }
            continue;
        };
        if let Some(other) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let why = format!("is no field; known are {}", FIELDS.join(", "));
            reading.errors.push(PriceFileError::new(number, "field", other, why));
        }
        let cell = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        if !reading.row(number, FIELDS.map(cell)) {
            break;
        }
    }
    reading.finish()
}

fn from_csv(text: &str) -> Result<Vec<Row>, Vec<PriceFileError>> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else {
        return Err(whole_file("", "has no rows"));
    };
    let mut columns = Vec::new();
    for name in header.split(',').map(unquoted) {
        let Some(at) = FIELDS.iter().position(|field| *field == name) else {
            let why = format!("is no column; known are {}", FIELDS.join(", "));
            return Err(vec![PriceFileError::new(number, "column", name, why)]);
        };
        if columns.contains(&at) {
            return Err(vec![PriceFileError::new(number, "column", name, "stands there twice")]);
        }
        columns.push(at);
    }
    let mut reading = Reading::default();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').map(unquoted).collect();
        if cells.len() != columns.len() {
            let why = format!("has {} cells, the header {}", cells.len(), columns.len());
            reading.errors.push(PriceFileError::new(number, "row", line, why));
            if !reading.has_room(number) {
                break;
            }
            continue;
        }
        let mut row = [const { None }; 5];
        for (at, cell) in columns.iter().zip(cells) {
            row[*at] = Some(cell.to_owned());
        }
        if !reading.row(number, row) {
            break;
        }
    }
    reading.finish()
}

fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(cell)
}
