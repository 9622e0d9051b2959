//! Instance types in names and integers: labels, sizes, offerings with prices in micro-dollars.
//!
//! Which types a pool has is given; overlays change them in [`super::overlays`].

use std::collections::BTreeMap;

use dunnage_api::labels::{
    self, ARCH, CAPACITY_TYPE, CAPACITY_TYPE_RESERVED, INSTANCE_TYPE, OS, ZONE,
};

use super::cluster::amounts_of;
use super::dialect::{AZURE_NO_ZONE, Dialect};
use super::needs::{Need, Needs};
use crate::error::{Origin, PlanError, Warning};
use crate::instance_type::{InstanceType, Offering, PriceSource};
use crate::pod::Amounts;
use crate::quantity::microusd_from_usd;

/// The instance types of each NodePool.
#[derive(Clone, Debug, Default)]
pub struct TypeLists {
    /// Lists that pools share.
    pub lists: Vec<Vec<InstanceType>>,
    /// Which list each NodePool has; a pool without one takes no part.
    pub of_pool: BTreeMap<String, usize>,
}

impl TypeLists {
    /// The same types for every pool of the Snapshot.
    pub fn shared(types: Vec<InstanceType>, snapshot: &crate::snapshot::Snapshot) -> Self {
        let names = snapshot.node_pools.iter().filter_map(|pool| pool.metadata.name.clone());
        Self { lists: vec![types], of_pool: names.map(|name| (name, 0)).collect() }
    }
}

/// An instance type as one pool sees it. The order of the fields is the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeRow {
    /// Provider's name.
    pub name: String,
    /// Its offerings have no zone. Stands here so that zonal offerings win ties.
    pub is_unzoned: bool,
    /// Labels that its nodes can carry.
    pub needs: Needs,
    /// The whole machine.
    pub capacity: Amounts,
    /// What pods can use of it; below zero when the overhead is greater than the machine.
    pub allocatable: Amounts,
    /// Where and how it is sold, in ascending order.
    pub offerings: Vec<OfferingRow>,
}

/// An offering of a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferingRow {
    /// Zone; empty for none.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// Micro-dollars per hour; `i64::MAX` when unknown.
    pub price_microusd: i64,
    /// Can be bought.
    pub is_available: bool,
    /// Reservation that it draws on.
    pub reservation: Option<String>,
    /// Machines that the reservation still holds.
    pub reservation_capacity: u32,
    /// Its labels, zone and capacity type included.
    pub labels: BTreeMap<String, String>,
    /// Where the price comes from. Nobody knows a missing one; a price of the user's makes
    /// the offering available.
    pub price_source: PriceSource,
}

/// The same with offerings of Azure's zone `0` taken for what they are: sold without a zone.
/// Those that a zone matches in price are left out, since they would never be chosen.
///
/// DIFFERS: Karpenter takes `0` for a zone like others, and spreads pods over it.
pub fn without_zone_zero(own: &InstanceType) -> InstanceType {
    let mut own = own.clone();
    for requirement in own.requirements.iter_mut().filter(|r| r.key == ZONE) {
        requirement.values.retain(|zone| zone != AZURE_NO_ZONE);
    }
    for offering in own.offerings.iter_mut().filter(|o| o.zone == AZURE_NO_ZONE) {
        offering.zone.clear();
    }
    let in_zones = own.offerings.iter().filter(|o| o.available && !o.zone.is_empty());
    let prices: Vec<(String, f64)> = in_zones.map(|o| (o.capacity_type.clone(), o.price)).collect();
    own.offerings.retain(|o| {
        !o.zone.is_empty()
            || !prices.iter().any(|(kind, price)| *kind == o.capacity_type && *price <= o.price)
    });
    own
}

/// Memory that the machine sets aside for huge pages of every size.
fn huge_pages(capacity: &Amounts) -> i64 {
    let sizes = capacity.iter().filter(|(name, _)| name.starts_with("hugepages-"));
    sizes.fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
}

/// What pods can use: capacity less overhead, and less huge pages of the memory.
pub fn allocatable(capacity: &Amounts, overhead: &Amounts) -> Amounts {
    let mut left = capacity.clone();
    for (name, amount) in &mut left {
        *amount = amount.saturating_sub(overhead.get(name).copied().unwrap_or(0));
    }
    let pages = huge_pages(capacity);
    if let Some(memory) = left.get_mut("memory").filter(|_| pages > 0) {
        *memory = memory.saturating_sub(pages).max(0);
    }
    left
}

impl TypeRow {
    /// Reads an instance type: a row and its overhead, or two when only some of its offerings
    /// have a zone. Prices below zero become zero, with a warning.
    pub fn of(
        own: &InstanceType,
        dialect: &Dialect,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<(Self, Amounts)>, Box<PlanError>> {
        let place = Origin::default();
        let field = |name: &str| format!("instanceTypes[{}].{name}", own.name);
        let capacity = amounts_of(Some(&own.capacity), &field("capacity"), &place)?;
        let mut overhead = Amounts::new();
        for (name, quantity) in &own.overhead {
            // Rounded up, so that what is left is rounded down.
            let up = crate::quantity::Rounding::Up;
            let amount = crate::quantity::parse_resource(name, &quantity.0, up);
            let list = BTreeMap::from([(name.clone(), quantity.clone())]);
            let checked = amounts_of(Some(&list), &field("overhead"), &place)?;
            overhead.insert(name.clone(), amount.unwrap_or_else(|_| checked[name]));
        }
        let mut offerings: Vec<OfferingRow> =
            own.offerings.iter().map(|o| offering(o, &own.name, dialect, warnings)).collect();
        offerings.sort();
        let row = Self {
            name: own.name.clone(),
            is_unzoned: false,
            needs: needs(own, dialect),
            allocatable: allocatable(&capacity, &overhead),
            capacity,
            offerings,
        };
        let rows = row.by_zone();
        Ok(rows.into_iter().map(|row| (row, overhead.clone())).collect())
    }

    /// Offerings without a zone become a type that has none: they are no domain of a spread
    /// over zones, and cannot serve what asks for a zone.
    fn by_zone(mut self) -> Vec<Self> {
        let (zoned, unzoned): (Vec<_>, Vec<_>) =
            self.offerings.drain(..).partition(|offering| !offering.zone.is_empty());
        let mut rows = Vec::new();
        if !unzoned.is_empty() {
            let mut row = Self { offerings: unzoned, is_unzoned: true, ..self.clone() };
            row.needs.0.insert(ZONE.to_owned(), Need::nothing());
            rows.push(row);
        }
        if rows.is_empty() || !zoned.is_empty() {
            self.offerings = zoned;
            if let Some(zones) = self.needs.0.get_mut(ZONE)
                && !zones.is_complement
            {
                zones.values.remove("");
            }
            rows.push(self);
        }
        rows
    }
}

/// Labels of a type. What the list leaves out follows from name and offerings; machines are
/// taken to be amd64 and linux unless they say otherwise.
fn needs(own: &InstanceType, dialect: &Dialect) -> Needs {
    let mut needs = Needs::default();
    for r in &own.requirements {
        let need = Need::of(&r.operator, &r.values, 0).unwrap_or_default();
        needs.add(dialect.normalized(&r.key), need);
    }
    let zones = Need::one_of(own.offerings.iter().map(|o| &o.zone));
    let capacity_types = Need::one_of(own.offerings.iter().map(|o| &o.capacity_type));
    for (key, need) in [
        (INSTANCE_TYPE, Need::one_of([&own.name])),
        (ZONE, zones),
        (CAPACITY_TYPE, capacity_types),
        (ARCH, Need::one_of(["amd64"])),
        (OS, Need::one_of(["linux"])),
    ] {
        if needs.get(key).is_none() {
            needs.add(key, need);
        }
    }
    needs
}

fn offering(
    own: &Offering,
    type_name: &str,
    dialect: &Dialect,
    warnings: &mut Vec<Warning>,
) -> OfferingRow {
    let mut labels: BTreeMap<String, String> = own
        .labels
        .iter()
        .map(|(key, value)| (dialect.normalized(key).to_owned(), value.clone()))
        .collect();
    if own.zone.is_empty() {
        labels.remove(ZONE);
    } else {
        labels.insert(ZONE.to_owned(), own.zone.clone());
    }
    labels.insert(CAPACITY_TYPE.to_owned(), own.capacity_type.clone());
    let key = dialect.reservation_key();
    let reservation = (own.capacity_type == CAPACITY_TYPE_RESERVED)
        .then(|| own.reservation_id.clone().or_else(|| labels.get(key).cloned()))
        .flatten();
    if let Some(id) = &reservation {
        labels.insert(key.to_owned(), id.clone());
    } else {
        // Stands for "no such label": another capacity type draws on no reservation.
        for key in [
            labels::aws::CAPACITY_RESERVATION_ID,
            labels::aws::CAPACITY_RESERVATION_TYPE,
            labels::aws::CAPACITY_RESERVATION_INTERRUPTIBLE,
        ] {
            labels.entry(key.to_owned()).or_default();
        }
    }
    OfferingRow {
        zone: own.zone.clone(),
        capacity_type: own.capacity_type.clone(),
        price_microusd: price_microusd(own.price, type_name, warnings),
        is_available: own.available,
        reservation_capacity: if reservation.is_some() { own.reservation_capacity } else { 0 },
        reservation,
        labels,
        price_source: own.price_source,
    }
}

/// To the nearest micro-dollar; not a number and too large a one count as unknown.
fn price_microusd(usd: f64, type_name: &str, warnings: &mut Vec<Warning>) -> i64 {
    if usd < 0.0 {
        let message = format!("price {usd} is below zero and counts as zero");
        warnings.push(Warning::new("NegativePrice", format!("InstanceType {type_name}"), message));
        return 0;
    }
    microusd_from_usd(usd).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Vec<TypeRow> {
        let own: InstanceType = serde_json::from_value(value).unwrap();
        let rows = TypeRow::of(&own, &Dialect::default(), &mut Vec::new()).unwrap();
        rows.into_iter().map(|(row, _)| row).collect()
    }

    #[test]
    fn allocatable_is_less_overhead_and_huge_pages() {
        let rows = read(json!({
            "name": "m", "offerings": [],
            "capacity": {"cpu": "4", "memory": "16Gi", "hugepages-2Mi": "2Gi"},
            "overhead": {"cpu": "80m", "memory": "1Gi", "ephemeral-storage": "1Gi"}
        }));
        assert_eq!(rows[0].allocatable["cpu"], 3920);
        assert_eq!(rows[0].allocatable["memory"], 13 << 30);
        assert!(!rows[0].allocatable.contains_key("ephemeral-storage"));
        let rows = read(json!({
            "name": "m", "offerings": [], "capacity": {"memory": "1Gi", "hugepages-1Gi": "2Gi"}
        }));
        assert_eq!(rows[0].allocatable["memory"], 0);
    }

    // CASE: C11
    #[test]
    fn an_offering_without_zone_is_a_type_without_zone() {
        let offer = |zone: &str| json!({"zone": zone, "capacityType": "spot", "price": 0.1});
        let rows = read(json!({"name": "m", "offerings": [offer(""), offer("b")]}));
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].needs.get(ZONE), Some(&Need::nothing()));
        assert_eq!(rows[0].offerings[0].labels.get(ZONE), None);
        assert_eq!(rows[1].needs.get(ZONE), Some(&Need::one_of(["b"])));
        assert_eq!(rows[1].offerings.len(), 1);
        assert_eq!(read(json!({"name": "m", "offerings": [offer("")]})).len(), 1);
        assert_eq!(read(json!({"name": "m", "offerings": []})).len(), 1);
    }

    #[test]
    fn odd_prices_are_zero_or_unknown() {
        let mut warnings = Vec::new();
        assert_eq!(price_microusd(-0.5, "m", &mut warnings), 0);
        assert_eq!(warnings.len(), 1);
        for (usd, want) in
            [(f64::NAN, i64::MAX), (f64::INFINITY, i64::MAX), (0.0425, 42_500), (1e-7, 0)]
        {
            assert_eq!(price_microusd(usd, "m", &mut warnings), want);
        }
        assert_eq!(warnings.len(), 1);
    }
}
