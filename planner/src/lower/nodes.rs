//! Existing nodes as rows: what is left of them, and what runs there already.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::labels::HOSTNAME;
use dunnage_engine_core::problem::{ABSENT, Label, NONE, Node, NodeCount, NodeVolume, Span};

use super::cluster::StateNode;
use super::counting::Counted;
use super::dialect::Dialect;
use super::dictionary::OTHER_HOST;
use super::pods::request_error;
use super::volumes::{ClaimName, Storage};
use super::writer::Writer;
use crate::error::PlanError;
use crate::pod::{self, Amounts, HostPort};
use crate::snapshot::Snapshot;

/// What the pods of a node use.
#[derive(Clone, Debug, Default)]
pub struct Load {
    requests: Amounts,
    daemons: Amounts,
    has_daemons: bool,
    ports: BTreeSet<HostPort>,
    /// Claims that count against limits: driver, claim.
    pub attached: BTreeSet<(String, ClaimName)>,
}

/// What runs on each state node; empty for nodes that go.
pub fn loads(
    snapshot: &Snapshot,
    nodes: &[StateNode],
    storage: &Storage,
    is_mended: bool,
) -> Result<Vec<Load>, Vec<PlanError>> {
    let has_limits = !storage.drivers().is_empty();
    let mut errors = Vec::new();
    let mut all = Vec::new();
    for node in nodes {
        let mut load = Load::default();
        for row in node.pods.iter().filter(|_| !node.is_leaving) {
            let own = &snapshot.pods[*row];
            match pod::requests(own) {
                Ok(requests) => {
                    if pod::is_owned_by_daemon_set(own) {
                        load.has_daemons = true;
                        add(&mut load.daemons, &requests);
                    }
                    add(&mut load.requests, &requests);
                }
                Err(error) => errors.push(request_error(&error, &own.origin)),
            }
            if let Some(spec) = &own.spec {
                load.ports.extend(pod::host_ports(spec, is_mended));
            }
            if has_limits {
                load.attached.extend(storage.attached(&Storage::claim_names(own)));
            }
        }
        all.push(load);
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let own = sum.entry(name.clone()).or_default();
        *own = own.saturating_add(*amount);
    }
}

/// What node rows are written with.
pub struct NodeWriter<'a> {
    /// State nodes, ascending by name.
    pub nodes: &'a [StateNode<'a>],
    /// What runs on each.
    pub loads: &'a [Load],
    /// Counts of each group.
    pub counted: &'a [Counted],
    /// Limits of nodes.
    pub storage: &'a Storage<'a>,
    /// Claims that several pods use.
    pub shared: &'a BTreeMap<ClaimName, u32>,
    /// Spelling of labels.
    pub dialect: &'a Dialect,
}

impl NodeWriter<'_> {
    /// Writes the nodes that stay.
    pub fn write(&self, writer: &mut Writer) {
        let drivers = self.storage.drivers();
        let mut counts: BTreeMap<usize, Vec<NodeCount>> = BTreeMap::new();
        for (group, counted) in self.counted.iter().enumerate() {
            for (at, count) in &counted.nodes {
                let row = NodeCount { group: group as u32, count: *count };
                counts.entry(*at).or_default().push(row);
            }
        }
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_leaving) {
            let own = counts.remove(&at).unwrap_or_default();
            let row = self.row(at, node, own, &drivers, writer);
            writer.tables.nodes.push(row);
            writer.names.nodes.push(node.name.clone());
        }
        writer.names.drivers = drivers.into_iter().map(str::to_owned).collect();
    }

    fn row(
        &self,
        at: usize,
        node: &StateNode,
        counts: Vec<NodeCount>,
        drivers: &[&str],
        writer: &mut Writer,
    ) -> Node {
        let load = &self.loads[at];
        let mut available = Amounts::new();
        for (name, amount) in &node.allocatable {
            let used = load.requests.get(name).copied().unwrap_or(0);
            available.insert(name.clone(), amount.saturating_sub(used));
        }
        let labels = self.labels(node, writer);
        let start = writer.tables.node_counts.len() as u32;
        let counts_span = Span { start, len: counts.len() as u32 };
        writer.tables.node_counts.extend(counts);
        let (volumes, claims) = self.volumes(node, load, drivers, writer);
        let ports: Vec<HostPort> = load.ports.iter().cloned().collect();
        Node {
            set: writer.labels(labels),
            taints: writer.taints(&node.taints),
            available: writer.amounts(&available, ABSENT),
            allocatable: writer.amounts(&node.allocatable, 0),
            daemon_requests: if load.has_daemons { writer.amounts(&load.daemons, 0) } else { NONE },
            is_initialized: node.is_initialized,
            ports: writer.ports(&ports),
            counts: if counts_span.len == 0 { Span::default() } else { counts_span },
            volumes,
            claims,
        }
    }

    fn labels(&self, node: &StateNode, writer: &Writer) -> Vec<Label> {
        let dictionary = &writer.dictionary;
        let mut labels: Vec<(bool, Label)> = node
            .labels
            .iter()
            .filter_map(|(key, value)| {
                let meant = self.dialect.normalized(key);
                if meant == HOSTNAME {
                    return None;
                }
                // The current spelling wins over an old one.
                Some((meant != key, dictionary.label(meant, value)?))
            })
            .collect();
        let host = dictionary.label(HOSTNAME, &node.hostname);
        labels.extend(host.or_else(|| dictionary.label(HOSTNAME, OTHER_HOST)).map(|l| (false, l)));
        labels.sort_by_key(|(is_old, label)| (label.key, *is_old));
        labels.dedup_by_key(|(_, label)| label.key);
        labels.into_iter().map(|(_, label)| label).collect()
    }

    fn volumes(
        &self,
        node: &StateNode,
        load: &Load,
        drivers: &[&str],
        writer: &mut Writer,
    ) -> (Span, Span) {
        let name = node.node.and_then(|n| n.metadata.name.as_deref());
        let limits = name.map(|name| self.storage.limits(name)).unwrap_or_default();
        let tables = &mut writer.tables;
        let (start, claims_start) =
            (tables.node_volumes.len() as u32, tables.node_claims.len() as u32);
        for (number, driver) in drivers.iter().enumerate() {
            let Some(limit) = limits.get(driver) else { continue };
            let used = load.attached.iter().filter(|(own, _)| own == driver).count() as u32;
            let row = NodeVolume { driver: number as u32, limit: *limit, used };
            tables.node_volumes.push(row);
        }
        let mut shared: Vec<u32> = load
            .attached
            .iter()
            .filter(|(driver, _)| limits.contains_key(driver.as_str()))
            .filter_map(|(_, claim)| self.shared.get(claim).copied())
            .collect();
        shared.sort_unstable();
        tables.node_claims.extend(shared);
        let span = |start: u32, end: usize| {
            let len = end as u32 - start;
            if len == 0 { Span::default() } else { Span { start, len } }
        };
        (span(start, tables.node_volumes.len()), span(claims_start, tables.node_claims.len()))
    }
}
