//! NodePools as templates of new nodes: which take part, in which order, with which labels,
//! taints and limits.

use std::collections::BTreeMap;

use dunnage_api::{NodePool, labels};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::cluster::{StateNode, amounts_of};
use super::dialect::Dialect;
use super::needs::{Need, Needs};
use crate::error::{PlanError, Warning};
use crate::pod::Amounts;
use crate::snapshot::{NodeClass, Snapshot};

/// The limit that counts nodes.
const NODES: &str = "nodes";

/// A pool that may open nodes.
#[derive(Clone, Debug)]
pub struct TemplateText {
    /// Row of the Snapshot's pools.
    pub index: usize,
    /// Name of the pool.
    pub name: String,
    /// Labels, pool name, class name and requirements.
    pub needs: Needs,
    /// Limits by resource.
    pub limits: Amounts,
    /// Most nodes.
    pub node_limit: Option<u32>,
}

/// Pools that may open nodes, in the order in which they are tried.
pub fn templates(
    snapshot: &Snapshot,
    dialect: &Dialect,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<TemplateText>, Vec<PlanError>> {
    let mut errors = Vec::new();
    let mut all = Vec::new();
    for (index, pool) in snapshot.node_pools.iter().enumerate() {
        if pool.is_static() || pool.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let name = pool.metadata.name.clone().unwrap_or_default();
        if !is_ready(snapshot, pool) {
            let message = "it is not ready and opens no nodes: see its conditions";
            warnings.push(Warning::new("NodePoolNotReady", format!("NodePool {name}"), message));
            continue;
        }
        match template(pool, index, &pool.origin, dialect) {
            Ok(template) => all.push(template),
            Err(error) => errors.push(*error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // Karpenter's order of equal weights is by name, descending.
    let weight = |t: &TemplateText| snapshot.node_pools[t.index].weight();
    all.sort_by(|a, b| (weight(b), &b.name).cmp(&(weight(a), &a.name)));
    Ok(all)
}

/// Leaves out pools whose own requirements and labels exclude each other: no node is like that.
///
/// DIFFERS: Karpenter reads a contradiction as "the label must be absent".
pub fn drop_contradictions(templates: &mut Vec<TemplateText>, warnings: &mut Vec<Warning>) {
    templates.retain(|template| {
        let Some(key) = template.needs.contradiction() else { return true };
        let message = format!(
            "what it says about `{key}` excludes each other, so it opens no nodes: remove one of \
             the requirements"
        );
        let pool = format!("NodePool {}", template.name);
        warnings.push(Warning::new("ContradictoryNodePool", pool, message));
        false
    });
}

/// Ready unless its conditions, or those of its class, say otherwise.
pub fn is_ready(snapshot: &Snapshot, pool: &NodePool) -> bool {
    let conditions = pool.status.as_ref().map_or(&[][..], |s| &s.conditions);
    let find = |list: &[Condition], type_: &str| {
        list.iter().find(|c| c.type_ == type_).map(|c| c.status.clone())
    };
    let refused = |type_: &str| find(conditions, type_).is_some_and(|status| status != "True");
    if find(conditions, "Ready").is_some() {
        return !refused("Ready");
    }
    if refused("ValidationSucceeded") || refused("NodeClassReady") {
        return false;
    }
    let reference = &pool.spec.template.spec.node_class_ref;
    let class = snapshot.node_class(&reference.group, &reference.kind, &reference.name);
    let own = class.and_then(|class| match &class.object {
        NodeClass::Ec2(class) => class.status.as_ref().map(|s| find(&s.conditions, "Ready")),
        NodeClass::Aks(class) => class.status.as_ref().map(|s| find(&s.conditions, "Ready")),
    });
    own.flatten().is_none_or(|status| status != "False")
}

/// Labels of new nodes of a pool, and those with its requirements.
pub fn needs_of(pool: &NodePool, dialect: &Dialect) -> (Needs, Needs) {
    let template = &pool.spec.template;
    let mut own = dialect.labels(&template.metadata.labels);
    let name = pool.metadata.name.as_deref().unwrap_or_default();
    own.add(labels::NODE_POOL, Need::one_of([name]));
    let class = &template.spec.node_class_ref;
    if !class.kind.is_empty() {
        let key = format!("{}/{}", class.group, class.kind.to_lowercase());
        own.add(&key, Need::one_of([class.name.as_str()]));
    }
    let mut needs = own.clone();
    for r in &template.spec.requirements {
        let min_values = r.min_values.and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
        let need = Need::of(&r.operator, &r.values, min_values).unwrap_or_default();
        needs.add(dialect.normalized(&r.key), need);
    }
    (own, needs)
}

fn template(
    pool: &NodePool,
    index: usize,
    origin: &crate::error::Origin,
    dialect: &Dialect,
) -> Result<TemplateText, Box<PlanError>> {
    let (_, mut needs) = needs_of(pool, dialect);
    for key in [labels::REGISTERED, labels::INITIALIZED] {
        needs.add(key, Need::one_of(["true"]));
    }
    let mut limits = amounts_of(pool.spec.limits.as_ref(), "spec.limits", origin)?;
    let nodes = limits.remove(NODES);
    Ok(TemplateText {
        index,
        name: pool.metadata.name.clone().unwrap_or_default(),
        needs,
        limits,
        node_limit: nodes.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
    })
}

/// What a pool uses: capacity of its nodes that stay, and their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Capacity.
    pub capacity: Amounts,
    /// Nodes.
    pub nodes: u32,
}

/// Usage of each pool.
pub fn usage(nodes: &[StateNode]) -> BTreeMap<String, Usage> {
    let mut all: BTreeMap<String, Usage> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.is_leaving) {
        let Some(pool) = node.pool() else { continue };
        let usage = all.entry(pool.to_owned()).or_default();
        usage.nodes += 1;
        for (name, amount) in &node.capacity {
            let sum = usage.capacity.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
    }
    all
}
