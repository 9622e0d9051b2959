//! The dictionary: which label keys the engine sees, and the number of each value.
//!
//! Keys are those that something mentions; their values are everything that is named for
//! them anywhere. Both ascend by name, so that the numbers do not depend on the input's order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dunnage_api::labels::HOSTNAME;
use dunnage_engine_core::problem::{self, Label, Requirement, Span, Value, WellKnown};

use super::Tables;
use super::dialect::Dialect;
use super::intern::Lists;
use super::needs::{Need, Needs, integer};

/// Stands for the host names that nothing mentions.
pub const OTHER_HOST: &str = "";

/// Keys and values while they are collected.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    keys: BTreeMap<String, BTreeSet<String>>,
}

impl Mentions {
    /// The key is asked for or is a topology key.
    pub fn key(&mut self, key: &str) {
        if !self.keys.contains_key(key) {
            self.keys.insert(key.to_owned(), BTreeSet::new());
        }
    }

    /// Everything that a requirement set names.
    pub fn needs(&mut self, needs: &Needs) {
        for (key, need) in &needs.0 {
            self.key(key);
            for value in &need.values {
                self.value(key, value);
            }
        }
    }

    /// A value of a key, if the key is mentioned at all.
    pub fn value(&mut self, key: &str, value: &str) {
        if let Some(values) = self.keys.get_mut(key)
            && !values.contains(value)
        {
            values.insert(value.to_owned());
        }
    }

    /// Everything that a set names for keys that are mentioned already.
    pub fn values(&mut self, needs: &Needs) {
        for (key, need) in &needs.0 {
            if self.keys.contains_key(key) {
                need.values.iter().for_each(|value| self.value(key, value));
            }
        }
    }

    /// True when the key is mentioned.
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }
}

/// Keys and values with their numbers.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    keys: HashMap<String, u32>,
    ranks: Vec<HashMap<String, u32>>,
}

impl Dictionary {
    /// Numbers the keys and values, writes their tables and gives the names back:
    /// keys, and values parallel to the table.
    pub fn build(
        mut mentions: Mentions,
        dialect: &Dialect,
        tables: &mut Tables,
    ) -> (Self, Vec<String>, Vec<String>) {
        if mentions.has(HOSTNAME) {
            mentions.value(HOSTNAME, OTHER_HOST);
        }
        let mut own = Self::default();
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, named) in mentions.keys {
            own.keys.insert(key.clone(), keys.len() as u32);
            let span = Span { start: tables.values.len() as u32, len: named.len() as u32 };
            tables
                .keys
                .push(problem::Key { values: span, is_well_known: dialect.is_well_known(&key) });
            keys.push(key);
            let mut ranks = HashMap::with_capacity(named.len());
            for (rank, value) in named.into_iter().enumerate() {
                tables.values.push(Value { integer: integer(&value) });
                ranks.insert(value.clone(), rank as u32);
                values.push(value);
            }
            own.ranks.push(ranks);
        }
        tables.well = own.well_known(dialect);
        (own, keys, values)
    }

    fn well_known(&self, dialect: &Dialect) -> WellKnown {
        use dunnage_api::labels::{CAPACITY_TYPE, CAPACITY_TYPE_RESERVED, ZONE};
        let key = |key: &str| self.key(key).unwrap_or(problem::NONE);
        WellKnown {
            zone: key(ZONE),
            capacity_type: key(CAPACITY_TYPE),
            reserved: self
                .label(CAPACITY_TYPE, CAPACITY_TYPE_RESERVED)
                .map_or(problem::NONE, |label| label.value),
            hostname: key(HOSTNAME),
            reservation: key(dialect.reservation_key()),
        }
    }

    /// Number of a key.
    pub fn key(&self, key: &str) -> Option<u32> {
        self.keys.get(key).copied()
    }

    /// A key with one value, when both have numbers.
    pub fn label(&self, key: &str, value: &str) -> Option<Label> {
        let key = self.key(key)?;
        let value = *self.ranks[key as usize].get(value)?;
        Some(Label { key, value })
    }
}

/// A requirement with its values spelled out, so that equal sets are found again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row {
    key: u32,
    is_complement: bool,
    values: Vec<u32>,
    lower: Option<i64>,
    upper: Option<i64>,
    min_values: u16,
    must_exist: bool,
}

/// Writes requirement sets; equal ones once.
#[derive(Debug, Default)]
pub struct Sets {
    values: Lists<u32>,
    found: HashMap<Vec<Row>, u32>,
}

impl Sets {
    /// Row of `sets` for what is said about keys of the dictionary; other keys are left out.
    pub fn set(&mut self, needs: &Needs, dictionary: &Dictionary, tables: &mut Tables) -> u32 {
        let mut rows: Vec<Row> =
            needs.0.iter().filter_map(|(key, need)| row(key, need, dictionary)).collect();
        rows.sort_by_key(|row| row.key);
        self.write(rows, tables)
    }

    /// Row of `sets` for labels with one value each.
    pub fn labels(&mut self, mut labels: Vec<Label>, tables: &mut Tables) -> u32 {
        labels.sort_by_key(|label| label.key);
        let one = |label: Label| Row {
            key: label.key,
            is_complement: false,
            values: vec![label.value],
            lower: None,
            upper: None,
            min_values: 0,
            must_exist: false,
        };
        self.write(labels.into_iter().map(one).collect(), tables)
    }

    fn write(&mut self, rows: Vec<Row>, tables: &mut Tables) -> u32 {
        if let Some(set) = self.found.get(&rows) {
            return *set;
        }
        let start = tables.requirements.len() as u32;
        for row in &rows {
            let values =
                self.values.span(&mut tables.requirement_values, row.values.clone(), |v| *v);
            tables.requirements.push(Requirement {
                key: row.key,
                is_complement: row.is_complement,
                values,
                lower: row.lower,
                upper: row.upper,
                min_values: row.min_values,
                must_exist: row.must_exist,
            });
        }
        let set = tables.sets.len() as u32;
        tables.sets.push(Span { start, len: rows.len() as u32 });
        self.found.insert(rows, set);
        set
    }
}

fn row(key: &str, need: &Need, dictionary: &Dictionary) -> Option<Row> {
    let number = dictionary.key(key)?;
    let ranks = &dictionary.ranks[number as usize];
    let mut values: Vec<u32> =
        need.values.iter().filter_map(|value| ranks.get(value).copied()).collect();
    values.sort_unstable();
    Some(Row {
        key: number,
        is_complement: need.is_complement,
        values,
        lower: need.lower,
        upper: need.upper,
        min_values: need.min_values,
        must_exist: need.must_exist,
    })
}
