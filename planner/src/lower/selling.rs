//! Instance types and offerings as rows, and which types each template has.

use std::collections::BTreeMap;

use dunnage_api::labels::{CAPACITY_TYPE_RESERVED, CAPACITY_TYPE_SPOT};
use dunnage_engine_core::problem::{
    CapacityType, InstanceType, Label, NONE, Offering, Span, Variant,
};

use super::quotas::{self, QuotaRule};
use super::types::{OfferingRow, TypeRow};
use super::writer::Writer;
use crate::settings::ShareMillionths;

/// On what terms machines are sold.
pub struct Terms<'a> {
    /// The gate ReservedCapacity.
    pub reserves: bool,
    /// What new nodes may take together.
    pub quotas: &'a [QuotaRule],
    /// What spot capacity counts as dearer.
    pub spot_penalty: ShareMillionths,
}

/// Writes the types of all templates, each distinct one once, ascending by name. Returns the
/// stretch of `template_types` of each template.
pub fn write(pools: &[Vec<TypeRow>], terms: &Terms, writer: &mut Writer) -> Vec<Span> {
    writer.tables.quotas.extend(terms.quotas.iter().map(|rule| rule.row));
    writer.names.quotas.extend(terms.quotas.iter().map(|rule| rule.name.clone()));
    let mut rows: BTreeMap<&TypeRow, u32> = BTreeMap::new();
    for row in pools.iter().flatten() {
        rows.entry(row).or_insert(0);
    }
    let reservations = if terms.reserves { reservations(pools) } else { BTreeMap::new() };
    for (number, (row, own)) in rows.iter_mut().enumerate() {
        *own = number as u32;
        write_type(row, &reservations, terms, writer);
    }
    let ids: Vec<(&String, u32)> =
        reservations.iter().map(|(id, (_, capacity))| (id, *capacity)).collect();
    for (id, capacity) in ids {
        writer.tables.reservations.push(capacity);
        writer.names.reservations.push(id.clone());
    }
    let mut spans: BTreeMap<Vec<u32>, Span> = BTreeMap::new();
    pools
        .iter()
        .map(|pool| {
            let mut types: Vec<u32> = pool.iter().map(|row| rows[row]).collect();
            types.sort_unstable();
            types.dedup();
            let table = &mut writer.tables.template_types;
            *spans.entry(types).or_insert_with_key(|types| {
                let span = Span { start: table.len() as u32, len: types.len() as u32 };
                table.extend(types);
                span
            })
        })
        .collect()
}

/// Reservations by id: row, and the least capacity that an available offering reports.
fn reservations(pools: &[Vec<TypeRow>]) -> BTreeMap<String, (u32, u32)> {
    let mut all: BTreeMap<String, (u32, Option<u32>)> = BTreeMap::new();
    for offering in pools.iter().flatten().flat_map(|row| &row.offerings) {
        let Some(id) = &offering.reservation else { continue };
        let least = &mut all.entry(id.clone()).or_default().1;
        if offering.is_available {
            let own = offering.reservation_capacity;
            *least = Some(least.map_or(own, |least| least.min(own)));
        }
    }
    all.into_iter()
        .enumerate()
        .map(|(row, (id, (_, least)))| (id, (row as u32, least.unwrap_or(0))))
        .collect()
}

fn write_type(
    row: &TypeRow,
    reservations: &BTreeMap<String, (u32, u32)>,
    terms: &Terms,
    writer: &mut Writer,
) {
    let offerings =
        Span { start: writer.tables.offerings.len() as u32, len: row.offerings.len() as u32 };
    for offering in &row.offerings {
        let labels = labels(offering, writer);
        let labels_span =
            Span { start: writer.tables.offering_labels.len() as u32, len: labels.len() as u32 };
        writer.tables.offering_labels.extend(labels);
        let charges = quotas::charges(terms.quotas, row, offering);
        let charges_span =
            Span { start: writer.tables.charges.len() as u32, len: charges.len() as u32 };
        writer.tables.charges.extend(charges);
        let reservation = offering.reservation.as_ref().and_then(|id| reservations.get(id));
        writer.tables.offerings.push(Offering {
            labels: labels_span,
            price_microusd: offering.price_microusd,
            variant: 0,
            is_available: offering.is_available,
            capacity_type: match offering.capacity_type.as_str() {
                CAPACITY_TYPE_RESERVED => CapacityType::Reserved,
                CAPACITY_TYPE_SPOT => CapacityType::Spot,
                _ => CapacityType::OnDemand,
            },
            reservation: reservation.map_or(NONE, |(row, _)| *row),
            charges: charges_span,
            penalty_microusd: penalty(offering, terms.spot_penalty),
        });
        writer.names.zones.push(offering.zone.clone());
        writer.names.price_sources.push(offering.price_source);
        writer.names.capacity_types.push(offering.capacity_type.clone());
    }
    let own = InstanceType {
        set: writer.set(&row.needs),
        capacity: writer.amounts(&row.capacity, 0),
        variants: Span { start: writer.tables.variants.len() as u32, len: 1 },
        offerings,
    };
    let allocatable = writer.amounts(&row.allocatable, 0);
    writer.tables.variants.push(Variant { allocatable });
    writer.tables.types.push(own);
    writer.names.types.push(row.name.clone());
}

/// What the risk of losing a spot machine is worth, per hour.
fn penalty(offering: &OfferingRow, share: ShareMillionths) -> u32 {
    if offering.capacity_type != CAPACITY_TYPE_SPOT || offering.price_microusd == i64::MAX {
        return 0;
    }
    let worth = i128::from(offering.price_microusd) * i128::from(share.0) / 1_000_000;
    u32::try_from(worth).unwrap_or(u32::MAX)
}

fn labels(offering: &OfferingRow, writer: &Writer) -> Vec<Label> {
    let own = &offering.labels;
    let mut labels: Vec<Label> =
        own.iter().filter_map(|(key, value)| writer.dictionary.label(key, value)).collect();
    labels.sort_by_key(|label| label.key);
    labels
}
