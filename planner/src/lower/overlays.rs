//! NodeOverlays: other prices and more capacity for some types of some pools.
//!
//! Heaviest first; what an overlay of equal weight sets as well is a conflict, and the later
//! one is dropped whole.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::amounts_of;
use super::dialect::Dialect;
use super::needs::{Need, Needs};
use super::types::{OfferingRow, TypeRow, allocatable};
use crate::error::Warning;
use crate::instance_type::PriceSource;
use crate::pod::Amounts;
use crate::quantity::parse_microusd;
use crate::snapshot::Snapshot;

/// Parts that one type of one pool may be split into by what pods ask for. LIMIT: each part is
/// a type of its own to the engine.
const MAX_PARTS: usize = 16;
/// Hundred percent in millionths.
const WHOLE: i128 = 100_000_000;

/// How an overlay sets a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Price {
    Absolute(i64),
    /// Micro-dollars to add.
    Added(i64),
    /// Millionths of a percent to add.
    Percent(i64),
}

impl Price {
    fn applied(self, base: i64) -> i64 {
        let price = match self {
            Self::Absolute(price) => i128::from(price),
            _ if base == i64::MAX => return base,
            Self::Added(more) => i128::from(base) + i128::from(more),
            Self::Percent(percent) => {
                let twice = 2 * i128::from(base) * (WHOLE + i128::from(percent));
                (twice + WHOLE).div_euclid(2 * WHOLE)
            }
        };
        i64::try_from(price.max(0)).unwrap_or(i64::MAX)
    }
}

/// An overlay that can be used.
#[derive(Clone, Debug)]
struct Overlay {
    name: String,
    weight: i64,
    needs: Needs,
    price: Option<Price>,
    capacity: Amounts,
}

/// The types of one pool before overlays.
pub struct PoolTypes {
    /// Labels of its nodes, without its requirements.
    pub labels: Needs,
    /// Requirements, labels, name: what a new node starts with.
    pub template: Needs,
    /// Types, each with its overhead.
    pub types: Vec<(TypeRow, Amounts)>,
}

/// A type of a pool, or the part of it that carries `extra`.
struct Part {
    extra: Needs,
    /// Weight of the last overlay that names each offering's price, whether or not it counts.
    priced: BTreeMap<usize, i64>,
    prices: BTreeMap<usize, Price>,
    /// Resources, and the weight of the last overlay that names each.
    sized: BTreeMap<String, (i64, i64)>,
    /// Weight and resources of the last overlay that set capacity.
    last: Option<(i64, BTreeSet<String>)>,
}

/// What decides about overlays besides themselves.
pub struct OverlayRules<'a> {
    /// Spelling of labels.
    pub dialect: &'a Dialect,
    /// The mended rules hold.
    pub is_mended: bool,
    /// Label keys that pods ask for.
    pub asked: &'a BTreeSet<String>,
}

/// Applies the Snapshot's overlays; the result has the types of each pool, ascending.
pub fn apply(
    snapshot: &Snapshot,
    pools: Vec<PoolTypes>,
    rules: &OverlayRules,
    warnings: &mut Vec<Warning>,
) -> Vec<Vec<TypeRow>> {
    let overlays = overlays(snapshot, rules.dialect, warnings);
    let mut parts: Vec<Vec<Vec<Part>>> =
        pools.iter().map(|pool| pool.types.iter().map(|_| vec![Part::whole()]).collect()).collect();
    for overlay in &overlays {
        let changed = rules.plan(overlay, &pools, &parts);
        match changed {
            Some(changed) => {
                for ((pool, at), new) in changed {
                    parts[pool][at] = new;
                }
            }
            None => warnings.push(Warning::new(
                "OverlayConflict",
                format!("NodeOverlay {}", overlay.name),
                "another overlay of the same weight sets the same price or resource: it is \
                 ignored; give it another weight",
            )),
        }
    }
    let finish = |(pool, parts): (PoolTypes, Vec<Vec<Part>>)| {
        let mut rows: Vec<TypeRow> = pool
            .types
            .into_iter()
            .zip(parts)
            .flat_map(|(base, parts)| {
                parts.into_iter().map(move |part| part.row(&base)).collect::<Vec<_>>()
            })
            .collect();
        rows.sort();
        rows
    };
    pools.into_iter().zip(parts).map(finish).collect()
}

type Changed = BTreeMap<(usize, usize), Vec<Part>>;

impl OverlayRules<'_> {
    /// What the overlay changes; `None` when it conflicts with an earlier one anywhere.
    fn plan(
        &self,
        overlay: &Overlay,
        pools: &[PoolTypes],
        parts: &[Vec<Vec<Part>>],
    ) -> Option<Changed> {
        let mut changed = Changed::new();
        for (at_pool, pool) in pools.iter().enumerate() {
            for (at, (base, _)) in pool.types.iter().enumerate() {
                let touched: Vec<usize> = base
                    .offerings
                    .iter()
                    .enumerate()
                    .filter(|(_, offering)| self.touches(overlay, offering))
                    .map(|(i, _)| i)
                    .collect();
                if touched.is_empty() {
                    continue;
                }
                let own = &parts[at_pool][at];
                let mut new = Vec::new();
                let mut is_changed = false;
                for part in own {
                    let Some(narrowing) = self.narrowing(overlay, pool, base, part) else {
                        new.push(part.copy());
                        continue;
                    };
                    if part.conflicts(overlay, &touched, self.is_mended) {
                        return None;
                    }
                    is_changed = true;
                    new.extend(part.split(&narrowing));
                    let mut with = part.copy();
                    with.extra.add_all(&narrowing);
                    with.set(overlay, &touched);
                    new.push(with);
                }
                if is_changed && new.len() <= MAX_PARTS {
                    changed.insert((at_pool, at), new);
                }
            }
        }
        Some(changed)
    }

    fn touches(&self, overlay: &Overlay, offering: &OfferingRow) -> bool {
        let labels = offering.labels.iter().filter(|(_, value)| !value.is_empty());
        let labels = self.dialect.labels(labels);
        overlay.needs.accepts(&labels, |key| self.dialect.is_well_known(key))
    }

    /// What a node must carry besides its type's labels for the overlay to count; `None` when
    /// it cannot count.
    ///
    /// DIFFERS: Karpenter knows a pool's labels only, not what its requirements allow.
    fn narrowing(
        &self,
        overlay: &Overlay,
        pool: &PoolTypes,
        base: &TypeRow,
        part: &Part,
    ) -> Option<Needs> {
        let mut labels = pool.labels.clone();
        labels.add_all(&base.needs);
        if !self.is_mended {
            return labels.accepts(&overlay.needs, |_| false).then(Needs::default);
        }
        labels.add_all(&pool.template);
        labels.add_all(&part.extra);
        let mut narrowing = Needs::default();
        for (key, need) in &overlay.needs.0 {
            let Some(own) = labels.get(key) else {
                if need.lets_lack() {
                    continue;
                }
                return None;
            };
            if !own.meets(need) {
                if own.lets_lack() && need.lets_lack() {
                    continue;
                }
                return None;
            }
            let is_open = own.is_complement && !base.needs.0.contains_key(key);
            let is_list = !own.is_complement
                && !base.needs.0.contains_key(key)
                && own.values.iter().any(|value| !need.allows(value));
            if (is_open && *need != Need::exists()) || is_list {
                // What is outside of bounds cannot be said in one requirement.
                let has_bounds = need.lower.is_some() || need.upper.is_some();
                if has_bounds || !self.asked.contains(key) {
                    return None;
                }
                narrowing.add(key, need.clone());
            }
        }
        Some(narrowing)
    }
}

impl Part {
    fn whole() -> Self {
        Self {
            extra: Needs::default(),
            priced: BTreeMap::new(),
            prices: BTreeMap::new(),
            sized: BTreeMap::new(),
            last: None,
        }
    }

    fn copy(&self) -> Self {
        Self {
            extra: self.extra.clone(),
            priced: self.priced.clone(),
            prices: self.prices.clone(),
            sized: self.sized.clone(),
            last: self.last.clone(),
        }
    }

    /// The parts that do not carry all of `narrowing`.
    fn split(&self, narrowing: &Needs) -> Vec<Self> {
        let mut rest = Vec::new();
        let mut inside = Needs::default();
        for (key, need) in &narrowing.0 {
            let mut outside = self.copy();
            outside.extra.add_all(&inside);
            outside.extra.add(
                key,
                Need { is_complement: !need.is_complement, min_values: 0, ..need.clone() },
            );
            rest.push(outside);
            inside.add(key, need.clone());
        }
        rest
    }

    /// Karpenter compares capacity with the last overlay only.
    fn conflicts(&self, overlay: &Overlay, touched: &[usize], is_mended: bool) -> bool {
        let price = overlay.price.is_some()
            && touched.iter().any(|i| self.priced.get(i) == Some(&overlay.weight));
        let capacity = if is_mended {
            overlay
                .capacity
                .keys()
                .any(|name| self.sized.get(name).is_some_and(|(_, w)| *w == overlay.weight))
        } else {
            self.last.as_ref().is_some_and(|(weight, names)| {
                *weight == overlay.weight && overlay.capacity.keys().any(|n| names.contains(n))
            })
        };
        price || capacity
    }

    fn set(&mut self, overlay: &Overlay, touched: &[usize]) {
        if let Some(price) = overlay.price {
            for i in touched {
                self.priced.insert(*i, overlay.weight);
                self.prices.entry(*i).or_insert(price);
            }
        }
        if !overlay.capacity.is_empty() {
            for (name, amount) in &overlay.capacity {
                self.sized.entry(name.clone()).or_insert((*amount, overlay.weight)).1 =
                    overlay.weight;
            }
            self.last = Some((overlay.weight, overlay.capacity.keys().cloned().collect()));
        }
    }

    fn row(self, (base, overhead): &(TypeRow, Amounts)) -> TypeRow {
        let mut row = base.clone();
        row.needs.add_all(&self.extra);
        for (i, price) in self.prices {
            let offering = &mut row.offerings[i];
            offering.price_microusd = price.applied(offering.price_microusd);
            if matches!(price, Price::Absolute(_)) {
                offering.is_available |= offering.price_source == PriceSource::Missing;
                offering.price_source = PriceSource::User;
            }
        }
        row.offerings.sort();
        if !self.sized.is_empty() {
            for (name, (amount, _)) in self.sized {
                row.capacity.insert(name, amount);
            }
            row.allocatable = allocatable(&row.capacity, overhead);
        }
        row
    }
}

/// Overlays that can be used, in the order in which they are applied.
fn overlays(snapshot: &Snapshot, dialect: &Dialect, warnings: &mut Vec<Warning>) -> Vec<Overlay> {
    let mut all = Vec::new();
    for own in &snapshot.node_overlays {
        let name = own.metadata.name.clone().unwrap_or_default();
        match read(&own.spec, own.weight(), &name, &own.origin, dialect) {
            Ok(overlay) => all.push(overlay),
            Err(why) => warnings.push(Warning::new(
                "InvalidOverlay",
                format!("NodeOverlay {name}"),
                format!("{why}: it is ignored"),
            )),
        }
    }
    all.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
    all
}

fn read(
    spec: &dunnage_api::node_overlay::NodeOverlaySpec,
    weight: i64,
    name: &str,
    origin: &crate::error::Origin,
    dialect: &Dialect,
) -> Result<Overlay, String> {
    let mut needs = Needs::default();
    for r in &spec.requirements {
        if let Some(refusal) = dialect.refusal(&r.key, &r.operator, &r.values) {
            return Err(refusal.message);
        }
        let need = Need::of(&r.operator, &r.values, 0).unwrap_or_default();
        needs.add(dialect.normalized(&r.key), need);
    }
    let capacity = amounts_of(spec.capacity.as_ref(), "spec.capacity", origin)
        .map_err(|error| error.message.clone())?;
    let standard = ["cpu", "memory", "ephemeral-storage", "pods"];
    if let Some(name) = standard.iter().find(|name| capacity.contains_key(**name)) {
        return Err(format!("capacity of `{name}` cannot be overlaid"));
    }
    let price = match (&spec.price, &spec.price_adjustment) {
        (Some(_), Some(_)) => {
            return Err("price and priceAdjustment exclude each other".to_owned());
        }
        (Some(price), None) => Some(Price::Absolute(amount(price)?)),
        (None, Some(text)) => Some(adjustment(text)?),
        (None, None) => None,
    };
    Ok(Overlay { name: name.to_owned(), weight, needs, price, capacity })
}

fn amount(text: &str) -> Result<i64, String> {
    parse_microusd(text).map_err(|error| format!("price `{}` {error}", crate::error::quoted(text)))
}

fn adjustment(text: &str) -> Result<Price, String> {
    let (number, is_percent) = match text.strip_suffix('%') {
        Some(number) => (number, true),
        None => (text, false),
    };
    let (sign, number) = match (number.strip_prefix('-'), number.strip_prefix('+')) {
        (Some(rest), _) => (-1, rest),
        (None, Some(rest)) => (1, rest),
        (None, None) => {
            return Err(format!(
                "priceAdjustment `{}` must start with + or -",
                crate::error::quoted(text)
            ));
        }
    };
    let value = sign * amount(number)?;
    Ok(if is_percent { Price::Percent(value) } else { Price::Added(value) })
}

/// True when overlays count; warns when there are some and they do not.
pub fn is_on(snapshot: &Snapshot, warnings: &mut Vec<Warning>) -> bool {
    let gate = snapshot.settings.feature_gates.node_overlay;
    if !gate && !snapshot.node_overlays.is_empty() {
        warnings.push(Warning::new(
            "OverlaysOff",
            format!("{} NodeOverlays", snapshot.node_overlays.len()),
            "feature gate NodeOverlay is off, so they do not count: set featureGates to \
             `NodeOverlay=true`",
        ));
    }
    gate
}

#[cfg(test)]
mod tests;
