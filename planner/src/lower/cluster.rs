//! Nodes as the scheduler sees them: Node and NodeClaim joined, with the pods bound to them.
//!
//! Follows Karpenter's state nodes: whose labels and taints count while a node is young, what
//! capacity it has before the kubelet reports it, and which nodes are about to go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dunnage_api::{NodeClaim, labels};
use k8s_openapi::api::core::v1::{Node, Pod, Taint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::error::{ErrorCode, Origin, PlanError};
use crate::pod::{self, Amounts};
use crate::quantity::{Rounding, parse_resource};
use crate::snapshot::{Snapshot, Sourced};

/// A Node, a NodeClaim, or both for one machine.
#[derive(Debug)]
pub struct StateNode<'a> {
    /// Name of the node once it is registered, else of the claim.
    pub name: String,
    /// Its host name label, else its name.
    pub hostname: String,
    /// The Node, when it has joined.
    pub node: Option<&'a Node>,
    /// The NodeClaim, when it is managed.
    pub claim: Option<&'a NodeClaim>,
    /// Labels that count now.
    pub labels: &'a BTreeMap<String, String>,
    /// Taints that count now.
    pub taints: Vec<&'a Taint>,
    /// The whole machine.
    pub capacity: Amounts,
    /// What pods may use.
    pub allocatable: Amounts,
    /// Fully started, or not managed.
    pub is_initialized: bool,
    /// It is being deleted.
    pub is_leaving: bool,
    /// Pods bound to it that still use it (rows of the Snapshot's pods), ascending by name.
    pub pods: Vec<usize>,
}

impl StateNode<'_> {
    /// The NodePool that it belongs to.
    pub fn pool(&self) -> Option<&str> {
        self.labels.get(labels::NODE_POOL).map(String::as_str)
    }
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();

/// The nodes of the Snapshot, ascending by name.
pub fn state_nodes(snapshot: &Snapshot) -> Result<Vec<StateNode<'_>>, Vec<PlanError>> {
    let mut errors = Vec::new();
    let claims = claims_by_machine(snapshot);
    let mut joined = BTreeSet::new();
    let mut nodes = Vec::new();
    for node in &snapshot.nodes {
        let claim = claims.of(node).map(|at| {
            joined.insert(at);
            &snapshot.node_claims[at]
        });
        if claim.is_none() && is_waiting_for_claim(node) {
            continue;
        }
        nodes.extend(state_node(Some(node), claim, &mut errors));
    }
    for (at, claim) in snapshot.node_claims.iter().enumerate() {
        if !joined.contains(&at) {
            nodes.extend(state_node(None, Some(claim), &mut errors));
        }
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    add_pods(&mut nodes, snapshot);
    if errors.is_empty() { Ok(nodes) } else { Err(errors) }
}

/// A managed node without a provider id, or one that is young and has no type yet, is not
/// known to the scheduler.
fn is_waiting_for_claim(node: &Node) -> bool {
    let labels = node.metadata.labels.as_ref().unwrap_or(&NO_LABELS);
    let is_managed = labels.contains_key(labels::NODE_POOL);
    let has_id = provider_id(node).is_some();
    let is_young = labels.get(labels::INITIALIZED).is_none_or(|v| v != "true");
    is_managed && (!has_id || (is_young && !labels.contains_key(labels::INSTANCE_TYPE)))
}

fn provider_id(node: &Node) -> Option<&str> {
    node.spec.as_ref()?.provider_id.as_deref().filter(|id| !id.is_empty())
}

/// Claims by provider id, and by node name for those that say only that.
struct Claims<'a> {
    by_id: HashMap<&'a str, usize>,
    by_node: HashMap<&'a str, usize>,
}

fn claims_by_machine(snapshot: &Snapshot) -> Claims<'_> {
    let mut claims = Claims { by_id: HashMap::new(), by_node: HashMap::new() };
    let mut rows: Vec<usize> = (0..snapshot.node_claims.len()).collect();
    rows.sort_by_key(|at| snapshot.node_claims[*at].metadata.name.as_deref());
    for at in rows {
        let Some(status) = &snapshot.node_claims[at].status else { continue };
        match (&status.provider_id, &status.node_name) {
            (Some(id), _) if !id.is_empty() => {
                claims.by_id.entry(id).or_insert(at);
            }
            (_, Some(node)) if !node.is_empty() => {
                claims.by_node.entry(node).or_insert(at);
            }
            _ => {}
        }
    }
    claims
}

impl Claims<'_> {
    fn of(&self, node: &Node) -> Option<usize> {
        let by_id = provider_id(node).and_then(|id| self.by_id.get(id));
        by_id.or_else(|| self.by_node.get(node.metadata.name.as_deref()?)).copied()
    }
}

fn state_node<'a>(
    node: Option<&'a Sourced<Node>>,
    claim: Option<&'a Sourced<NodeClaim>>,
    errors: &mut Vec<PlanError>,
) -> Option<StateNode<'a>> {
    let node_labels = node.map(|n| n.metadata.labels.as_ref().unwrap_or(&NO_LABELS));
    let says = |key: &str| {
        claim.is_none() || node_labels.is_some_and(|l| l.get(key).is_some_and(|v| v == "true"))
    };
    let is_registered = node.is_some() && says(labels::REGISTERED);
    let is_initialized = node.is_some() && says(labels::INITIALIZED);
    // Young: the claim speaks for the node, as the kubelet has not said everything yet.
    let young = claim.filter(|_| node.is_none() || !is_registered);
    let name = match (young, node) {
        (Some(claim), _) => claim.metadata.name.clone(),
        (None, Some(node)) => node.metadata.name.clone(),
        (None, None) => None,
    }?;
    let labels = match young {
        Some(claim) => claim.metadata.labels.as_ref().unwrap_or(&NO_LABELS),
        None => node_labels.unwrap_or(&NO_LABELS),
    };
    let hostname = labels.get(labels::HOSTNAME).cloned().unwrap_or_else(|| name.clone());
    let sizes = Sizes { node, claim, is_initialized };
    let capacity = sizes.read(false).map_err(|e| errors.push(*e)).ok()?;
    let allocatable = sizes.read(true).map_err(|e| errors.push(*e)).ok()?;
    Some(StateNode {
        name,
        hostname,
        node: node.map(|n| &n.object),
        claim: claim.map(|c| &c.object),
        labels,
        taints: taints(node, claim, young.is_some(), is_initialized),
        capacity,
        allocatable,
        is_initialized,
        is_leaving: is_leaving(node, claim),
        pods: Vec::new(),
    })
}

fn is_leaving(node: Option<&Sourced<Node>>, claim: Option<&Sourced<NodeClaim>>) -> bool {
    match claim {
        Some(claim) => {
            let is_terminating =
                claim.condition("InstanceTerminating").is_some_and(|c| c.status == "True");
            claim.metadata.deletion_timestamp.is_some() || is_terminating
        }
        None => node.is_some_and(|n| n.metadata.deletion_timestamp.is_some()),
    }
}

fn taints<'a>(
    node: Option<&'a Sourced<Node>>,
    claim: Option<&'a Sourced<NodeClaim>>,
    is_young: bool,
    is_initialized: bool,
) -> Vec<&'a Taint> {
    let own: &[Taint] = match (claim, node) {
        (Some(claim), _) if is_young => &claim.spec.taints,
        (_, Some(node)) => node.spec.as_ref().and_then(|s| s.taints.as_deref()).unwrap_or_default(),
        (Some(claim), None) => &claim.spec.taints,
        (None, None) => &[],
    };
    let startup = claim.map_or(&[][..], |c| &c.spec.startup_taints);
    let is_passing = |taint: &Taint| {
        claim.is_some()
            && !is_initialized
            && (labels::is_known_ephemeral_taint(&taint.key, &taint.effect)
                || startup.iter().any(|s| s.key == taint.key && s.effect == taint.effect))
    };
    own.iter().filter(|taint| !is_passing(taint)).collect()
}

/// Where the size of a node is read from.
struct Sizes<'a> {
    node: Option<&'a Sourced<Node>>,
    claim: Option<&'a Sourced<NodeClaim>>,
    is_initialized: bool,
}

impl Sizes<'_> {
    fn read(&self, is_allocatable: bool) -> Result<Amounts, Box<PlanError>> {
        let field = if is_allocatable { "status.allocatable" } else { "status.capacity" };
        let mut amounts = Amounts::new();
        if let Some(node) = self.node {
            let status = node.status.as_ref();
            let list = status.and_then(|s| {
                if is_allocatable { s.allocatable.as_ref() } else { s.capacity.as_ref() }
            });
            amounts = amounts_of(list, field, &node.origin)?;
        }
        // A kubelet reports zero of extended resources until their plugin is up.
        if let Some(claim) = self.claim.filter(|_| !self.is_initialized) {
            let list = claim
                .status
                .as_ref()
                .map(|s| if is_allocatable { &s.allocatable } else { &s.capacity });
            for (name, amount) in amounts_of(list, field, &claim.origin)? {
                let own = amounts.entry(name).or_default();
                if *own == 0 {
                    *own = amount;
                }
            }
        }
        Ok(amounts)
    }
}

/// A list of capacities, rounded down.
pub fn amounts_of(
    list: Option<&BTreeMap<String, Quantity>>,
    field: &str,
    origin: &Origin,
) -> Result<Amounts, Box<PlanError>> {
    let mut amounts = Amounts::new();
    for (name, quantity) in list.into_iter().flatten() {
        let amount = parse_resource(name, &quantity.0, Rounding::Down).map_err(|error| {
            let path = format!("{field}.{name}");
            let message = format!("`{}` {error}", crate::error::quoted(&quantity.0));
            let code = ErrorCode::InvalidQuantity;
            Box::new(PlanError::at(code, origin.clone(), &path, message).with_value(&quantity.0))
        })?;
        amounts.insert(name.clone(), amount);
    }
    Ok(amounts)
}

fn add_pods(nodes: &mut [StateNode], snapshot: &Snapshot) {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(name) = node.node.and_then(|n| n.metadata.name.as_deref()) {
            by_name.insert(name, at);
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (row, own) in snapshot.pods.iter().enumerate() {
        if let Some(at) = pod::node_name(own).and_then(|name| by_name.get(name))
            && !pod::is_terminal(own)
        {
            found.push((*at, row));
        }
    }
    found.sort_by_cached_key(|(_, row)| full_key(&snapshot.pods[*row]));
    for (at, row) in found {
        nodes[at].pods.push(row);
    }
}

/// Namespace and name of a pod, to order by.
pub fn full_key(pod: &Pod) -> (String, String) {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    (text(&pod.metadata.namespace), text(&pod.metadata.name))
}
