//! Launches of pools with replicas, in the words of a plan.

use std::collections::BTreeMap;

use dunnage_api::labels::{CAPACITY_TYPE, HOSTNAME};
use dunnage_engine_core::limits::TYPES_PER_NEW_NODE;

use crate::lower::{Lowered, StaticLaunch};
use crate::plan::{Because, Choice, Launch, Money, Requirement};

/// One launch for each node that a pool with replicas lacks, by pool.
pub(super) fn launches(lowered: &Lowered) -> Vec<Launch> {
    lowered.static_launches.iter().flat_map(of_pool).collect()
}

fn of_pool(own: &StaticLaunch) -> impl Iterator<Item = Launch> {
    let requirements = requirements(own);
    let types: Vec<String> = own.instance_types.iter().take(TYPES_PER_NEW_NODE).cloned().collect();
    own.choices.iter().map(move |(of_type, offering)| Launch {
        node_pool: own.node_pool.clone(),
        node_class: own.node_class.clone(),
        instance_types: types.clone(),
        cheapest: Choice {
            instance_type: of_type.clone(),
            zone: offering.zone.clone(),
            capacity_type: offering.capacity_type.clone(),
            price_per_hour: Money::of_price(offering.price_microusd),
        },
        requirements: requirements.clone(),
        requests: BTreeMap::new(),
        pods: Vec::new(),
        because: vec![Because {
            code: "replicasLacking".to_owned(),
            message: format!(
                "pool `{}` asks for {} node(s) and lacks {}",
                own.node_pool,
                own.replicas,
                u64::from(own.nodes) + u64::from(own.held_by_limit)
            ),
            node_pool: Some(own.node_pool.clone()),
            ..Because::default()
        }],
    })
}

/// What the pool says, by key: its NodeClaims get the requirements of the pool unchanged.
fn requirements(own: &StaticLaunch) -> Vec<Requirement> {
    let mut rows = Vec::new();
    for (key, need) in own.needs.0.iter().filter(|(key, _)| *key != HOSTNAME) {
        let row = |operator: &str, values: Vec<String>| Requirement {
            key: key.clone(),
            operator: operator.to_owned(),
            values,
            min_values: (need.min_values > 0).then_some(need.min_values),
        };
        let values: Vec<String> = need.values.iter().cloned().collect();
        rows.extend(need.lower.map(|bound| row("Gte", vec![bound.to_string()])));
        rows.extend(need.upper.map(|bound| row("Lte", vec![bound.to_string()])));
        let has_bounds = need.lower.is_some() || need.upper.is_some();
        match (need.is_complement, values.is_empty()) {
            (true, true) if has_bounds => {}
            (true, true) => rows.push(row("Exists", values)),
            (true, false) => rows.push(row("NotIn", values)),
            (false, true) => rows.push(row("DoesNotExist", values)),
            (false, false) => rows.push(row("In", values)),
        }
    }
    if !own.needs.0.contains_key(CAPACITY_TYPE) {
        let mut kinds: Vec<String> =
            own.choices.iter().map(|(_, offering)| offering.capacity_type.clone()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        rows.push(Requirement {
            key: CAPACITY_TYPE.to_owned(),
            operator: "In".to_owned(),
            values: kinds,
            min_values: None,
        });
        rows.sort_by(|a, b| a.key.cmp(&b.key));
    }
    rows
}
