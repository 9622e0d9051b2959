//! Which machines a pool can launch, and pools that can launch too few.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_engine_core::problem::{InstanceType, Template};

use super::world::{Pool, World, is_kept};
use super::{Findings, counted, listed};
use crate::plan::Money;
use crate::raise::{Words, is_usable};

/// Fewest types of a pool that is not narrow: as many as Karpenter asks for before it replaces
/// one spot node by another.
pub(super) const FEW_TYPES: usize = 15;

/// What a pool can choose from.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Types that fit and of which something is not sold out.
    pub types: BTreeSet<String>,
    /// Micro-dollars an hour of the cheapest vCPU of these.
    pub cheapest_cpu_microusd: Option<i64>,
    /// Zones in which any type of the class is sold.
    pub zones: BTreeSet<String>,
    /// Labels that all nodes of the pool have, whatever their type.
    pub common_labels: BTreeSet<String>,
}

/// What each pool can choose from, by its name.
pub(super) fn choices(w: &Words<'_>) -> BTreeMap<String, Choice> {
    let templates = w.p.templates.iter().enumerate();
    templates.map(|(row, t)| (w.pool(row as u32).to_owned(), choice(w, t))).collect()
}

fn choice(w: &Words<'_>, template: &Template) -> Choice {
    let mut choice = Choice::default();
    let pool = w.dense(template.set);
    let cpu = w.p.resources.iter().position(|resource| resource.is_cpu).unwrap_or(0) as u32;
    let mut lacking: BTreeSet<usize> = BTreeSet::new();
    let mut is_first = true;
    for &at in template.types.of(w.p.template_types) {
        let Some(ty) = w.p.types.get(at as usize) else { continue };
        let own = w.dense(ty.set);
        lacking.extend(
            (0..w.layout.keys())
                .filter(|&key| !w.layout.has(&own, key) || w.layout.get(&own, key).only_forbids()),
        );
        is_first = false;
        choice.zones.extend(zones(w, ty));
        if w.layout.conflict(&own, &pool, &w.p).is_some() {
            continue;
        }
        let cores_milli = w.cell(ty.capacity, cpu);
        for offering in ty.offerings.of(w.p.offerings) {
            if !is_usable(&w.p, &w.layout, &pool, offering) {
                continue;
            }
            choice.types.insert(w.names.types.get(at as usize).cloned().unwrap_or_default());
            if offering.price_microusd != i64::MAX && cores_milli > 0 {
                let price = i128::from(offering.price_microusd) * 1000 / i128::from(cores_milli);
                let price = i64::try_from(price).unwrap_or(i64::MAX);
                let least = choice.cheapest_cpu_microusd.get_or_insert(price);
                *least = price.min(*least);
            }
        }
    }
    if !is_first {
        let common = (0..w.layout.keys()).filter(|key| !lacking.contains(key));
        choice.common_labels = common.map(|key| w.key(key as u32).to_owned()).collect();
    }
    choice
}

/// Zones of the offerings of a type, sold out or not.
fn zones<'w>(w: &'w Words<'_>, ty: &InstanceType) -> impl Iterator<Item = String> + 'w {
    let names = ty.offerings.range().filter_map(|row| w.names.zones.get(row));
    names.filter(|zone| !zone.is_empty()).cloned()
}

/// The requirements that a wide twin does not have, as they are written.
fn narrowing(pool: &Pool<'_>) -> String {
    let all = &pool.object.spec.template.spec.requirements;
    let kept = |key: &str| is_kept(pool.label(key));
    let own = all.iter().enumerate().filter(|(_, r)| !kept(&r.key));
    let shown: Vec<String> = own
        .map(|(i, r)| {
            let values = if r.values.is_empty() {
                String::new()
            } else {
                format!(" [{}]", listed(&r.values))
            };
            format!("`spec.template.spec.requirements[{i}]` (`{}` {}{values})", r.key, r.operator)
        })
        .collect();
    shown.join(", ")
}

pub(super) fn narrow_node_pool(world: &World<'_>, found: &mut Findings) {
    for pool in &world.pools {
        let (Some(own), Some(wide)) = (&pool.own, &pool.wide) else { continue };
        let (few, many) = (own.types.len(), wide.types.len());
        // Where nobody could do better there is nothing to mend.
        if few == 0 || few >= FEW_TYPES || many < FEW_TYPES {
            continue;
        }
        let message = format!(
            "only {} can be used, fewer than {FEW_TYPES}: when they are sold out nothing is \
             launched; without the requirements that narrow it there were {many}{}",
            counted(few, "instance type"),
            dearer(own, wide)
        );
        let fix = format!(
            "widen {}: allow more values, until `spec.template.spec.requirements` leave at \
             least {FEW_TYPES} instance types",
            narrowing(pool)
        );
        found.add(&pool.name, message, fix);
    }
}

/// What narrowness costs: the cheapest vCPU of both.
fn dearer(own: &Choice, wide: &Choice) -> String {
    let (Some(own), Some(wide)) = (own.cheapest_cpu_microusd, wide.cheapest_cpu_microusd) else {
        return String::new();
    };
    if own <= wide || wide <= 0 {
        return String::new();
    }
    let more = (i128::from(own) - i128::from(wide)) * 100 / i128::from(wide);
    format!(
        ", and the cheapest vCPU {} USD/h instead of {} ({more} % more)",
        Money::of_price(own),
        Money::of_price(wide)
    )
}

pub(super) fn empty_node_pool(world: &World<'_>, found: &mut Findings) {
    for pool in &world.pools {
        let (Some(own), Some(any)) = (&pool.own, &pool.any) else { continue };
        if !own.types.is_empty() || any.types.is_empty() {
            continue;
        }
        let message = format!(
            "no instance type meets all its requirements and is sold, so it opens no nodes; its \
             node class has {}",
            counted(any.types.len(), "instance type")
        );
        let all = &pool.object.spec.template.spec.requirements;
        let keys: Vec<String> = all.iter().map(|r| format!("`{}`", r.key)).collect();
        let fix = format!(
            "change `spec.template.spec.requirements` so that one machine has all of {}: \
             `dunnage catalog list` shows what is sold",
            keys.join(", ")
        );
        found.add(&pool.name, message, fix);
    }
}
