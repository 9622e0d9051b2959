//! Machines that the settings leave out: larger or dearer than wished for.

use std::collections::BTreeMap;

use super::types::TypeRow;
use crate::error::Warning;
use crate::settings::{Settings, amount};

/// Takes out what is larger than `maxNodeCpu` or `maxNodeMemory` or dearer than `maxNodePrice`;
/// tells how much is left of each pool.
pub fn narrow(
    rows: &mut BTreeMap<String, Vec<TypeRow>>,
    settings: &Settings,
    warnings: &mut Vec<Warning>,
) {
    let most = |name: &str, wish: &Option<_>| wish.as_ref().and_then(|q| amount(name, q));
    let cpu = most("cpu", &settings.max_node_cpu);
    let memory = most("memory", &settings.max_node_memory);
    let price = settings.max_node_price_microusd.map(i64::from);
    let wishes = [("maxNodeCpu", cpu), ("maxNodeMemory", memory), ("maxNodePrice", price)];
    let named: Vec<&str> =
        wishes.iter().filter(|(_, x)| x.is_some()).map(|(name, _)| *name).collect();
    if named.is_empty() {
        return;
    }
    let exceeds = |row: &TypeRow, name: &str, most: Option<i64>| {
        most.is_some_and(|most| row.capacity.get(name).copied().unwrap_or(0) > most)
    };
    for (pool, rows) in rows {
        let before = rows.len();
        rows.retain(|row| !exceeds(row, "cpu", cpu) && !exceeds(row, "memory", memory));
        if let Some(most) = price {
            for row in rows.iter_mut() {
                row.offerings.retain(|o| o.price_microusd <= most);
            }
            rows.retain(|row| !row.offerings.is_empty());
        }
        if rows.len() < before {
            warnings.push(Warning::new(
                "TypesLeftOut",
                format!("NodePool {pool}"),
                format!(
                    "settings.{} leave(s) {} of its {before} instance types",
                    named.join(", settings."),
                    rows.len()
                ),
            ));
        }
    }
}
