//! Names to numbers: a Snapshot becomes the engine's tables.
//!
//! The one place where text is interned and quantities become integers. `Tables` owns what
//! `Problem` borrows; `Names` remembers what each number meant, for `raise`.

use dunnage_engine_core::problem;

use crate::error::{PlanError, Warning};
use crate::instance_type::PriceSource;
use crate::options::Options;
use crate::snapshot::Snapshot;

mod assemble;
mod buffers;
mod cluster;
mod counting;
mod daemons;
mod dialect;
mod dictionary;
mod groups;
mod intern;
mod narrow;
mod needs;
mod nodes;
mod overlays;
mod pdb;
mod pods;
mod quotas;
mod rules;
mod selector;
mod selling;
mod shape;
mod spot_share;
mod static_pools;
pub mod tables;
mod templates;
mod tolerations;
mod types;
mod volumes;
mod writer;

pub(crate) use cluster::{StateNode, state_nodes};
pub use quotas::{QuotaName, Unit};
pub use static_pools::StaticLaunch;
pub use tables::Tables;
pub use types::TypeLists;

/// Lowers a Snapshot to the engine's tables. `types` says which instance types each NodePool
/// has; a pool without a list takes no part. The order of the Snapshot's lists changes nothing.
///
/// # Errors
/// Amounts that cannot be read, with their place in the input. Pods that cannot be placed are
/// no errors: see [`Lowered::rejected`].
pub fn lower(
    snapshot: &Snapshot,
    types: &TypeLists,
    options: &Options,
) -> Result<Lowered, Vec<PlanError>> {
    assemble::lower(snapshot, types, options)
}

/// A lowered Snapshot.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The engine's input.
    pub tables: Tables,
    /// What the numbers mean.
    pub names: Names,
    /// Pods that are not given to the engine at all, with the reason.
    pub rejected: Vec<Rejected>,
    /// Nodes that NodePools with replicas lack, by pool; they hold no pods of this plan.
    pub static_launches: Vec<StaticLaunch>,
    /// What is worth knowing, ascending.
    pub warnings: Vec<Warning>,
}

/// A pod that was refused before placing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// `namespace/name`.
    pub pod: String,
    /// Stable code, for example `claimNotFound`.
    pub code: &'static str,
    /// One sentence: what is wrong and what to change.
    pub message: String,
}

/// What the numbers of the tables mean. Each list runs parallel to the table it names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Label keys.
    pub keys: Vec<String>,
    /// Label values, parallel to `Problem::values`.
    pub values: Vec<String>,
    /// Resource names in column order.
    pub resources: Vec<String>,
    /// Taints as users write them: `key=value:Effect`.
    pub taints: Vec<String>,
    /// Templates.
    pub templates: Vec<TemplateName>,
    /// Instance types.
    pub types: Vec<String>,
    /// Zone of each offering; empty for none.
    pub zones: Vec<String>,
    /// Capacity type of each offering.
    pub capacity_types: Vec<String>,
    /// Where the price of each offering comes from.
    pub price_sources: Vec<PriceSource>,
    /// Reservation ids.
    pub reservations: Vec<String>,
    /// Quotas.
    pub quotas: Vec<QuotaName>,
    /// DaemonSets as `namespace/name`.
    pub daemons: Vec<String>,
    /// Nodes.
    pub nodes: Vec<String>,
    /// Pods of each class as `namespace/name`, in the order of the queue.
    pub pods: Vec<Vec<String>>,
    /// Topology groups.
    pub groups: Vec<GroupName>,
    /// Ports as `[address:]port/protocol`.
    pub ports: Vec<String>,
    /// Drivers of attachable volumes.
    pub drivers: Vec<String>,
}

/// A template's NodePool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateName {
    /// NodePool.
    pub node_pool: String,
    /// Its node class.
    pub node_class: String,
    /// Where in the Snapshot's `node_pools` it stands.
    pub index: usize,
}

/// A topology group in the users' words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupName {
    /// Topology key, hostname included.
    pub key: String,
    /// Selector as text, for example `app=web`.
    pub selector: String,
    /// Namespaces; empty for all.
    pub namespaces: Vec<String>,
}

impl Tables {
    /// The tables as the engine takes them.
    pub fn problem(&self) -> problem::Problem<'_> {
        problem::Problem {
            rules: self.rules,
            keys: &self.keys,
            values: &self.values,
            sets: &self.sets,
            requirements: &self.requirements,
            requirement_values: &self.requirement_values,
            resources: &self.resources,
            quantities: &self.quantities,
            taints: &self.taints,
            tolerations: &self.tolerations,
            templates: &self.templates,
            template_types: &self.template_types,
            types: &self.types,
            variants: &self.variants,
            offerings: &self.offerings,
            offering_labels: &self.offering_labels,
            reservations: &self.reservations,
            quotas: &self.quotas,
            charges: &self.charges,
            daemons: &self.daemons,
            nodes: &self.nodes,
            node_counts: &self.node_counts,
            node_volumes: &self.node_volumes,
            node_claims: &self.node_claims,
            classes: &self.classes,
            runs: &self.runs,
            terms: &self.terms,
            links: &self.links,
            link_variants: &self.link_variants,
            matches: &self.matches,
            groups: &self.groups,
            domains: &self.domains,
            ports: &self.ports,
            volume_alternatives: &self.volume_alternatives,
            volume_uses: &self.volume_uses,
            well: self.well,
        }
    }
}

#[cfg(test)]
mod tests;
