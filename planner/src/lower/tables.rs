//! Owned twin of the engine's `Problem`, so that a problem can be built, stored and replayed.

use dunnage_engine_core::problem::{
    Charge, Daemon, Domain, Group, HostPort, InstanceType, Key, Label, Link, Node, NodeCount,
    NodeVolume, Offering, PodClass, Quota, Requirement, Resource, Rules, Run, Span, Taint,
    Template, Term, Toleration, Value, Variant, VolumeUse, WellKnown,
};
use serde::{Deserialize, Serialize};

/// The engine's tables, owned. Each field is the table of the same name in
/// [`dunnage_engine_core::problem::Problem`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// See `Problem::rules`.
    pub rules: Rules,
    /// See `Problem::keys`.
    pub keys: Vec<Key>,
    /// See `Problem::values`.
    pub values: Vec<Value>,
    /// See `Problem::sets`.
    pub sets: Vec<Span>,
    /// See `Problem::requirements`.
    pub requirements: Vec<Requirement>,
    /// See `Problem::requirement_values`.
    pub requirement_values: Vec<u32>,
    /// See `Problem::resources`.
    pub resources: Vec<Resource>,
    /// See `Problem::quantities`.
    pub quantities: Vec<i64>,
    /// See `Problem::taints`.
    pub taints: Vec<Taint>,
    /// See `Problem::tolerations`.
    pub tolerations: Vec<Toleration>,
    /// See `Problem::templates`.
    pub templates: Vec<Template>,
    /// See `Problem::template_types`.
    pub template_types: Vec<u32>,
    /// See `Problem::types`.
    pub types: Vec<InstanceType>,
    /// See `Problem::variants`.
    pub variants: Vec<Variant>,
    /// See `Problem::offerings`.
    pub offerings: Vec<Offering>,
    /// See `Problem::offering_labels`.
    pub offering_labels: Vec<Label>,
    /// See `Problem::reservations`.
    pub reservations: Vec<u32>,
    /// See `Problem::quotas`.
    pub quotas: Vec<Quota>,
    /// See `Problem::charges`.
    pub charges: Vec<Charge>,
    /// See `Problem::daemons`.
    pub daemons: Vec<Daemon>,
    /// See `Problem::nodes`.
    pub nodes: Vec<Node>,
    /// See `Problem::node_counts`.
    pub node_counts: Vec<NodeCount>,
    /// See `Problem::node_volumes`.
    pub node_volumes: Vec<NodeVolume>,
    /// See `Problem::node_claims`.
    pub node_claims: Vec<u32>,
    /// See `Problem::classes`.
    pub classes: Vec<PodClass>,
    /// See `Problem::runs`.
    pub runs: Vec<Run>,
    /// See `Problem::terms`.
    pub terms: Vec<Term>,
    /// See `Problem::links`.
    pub links: Vec<Link>,
    /// See `Problem::link_variants`.
    pub link_variants: Vec<u32>,
    /// See `Problem::matches`.
    pub matches: Vec<u32>,
    /// See `Problem::groups`.
    pub groups: Vec<Group>,
    /// See `Problem::domains`.
    pub domains: Vec<Domain>,
    /// See `Problem::ports`.
    pub ports: Vec<HostPort>,
    /// See `Problem::volume_alternatives`.
    pub volume_alternatives: Vec<u32>,
    /// See `Problem::volume_uses`.
    pub volume_uses: Vec<VolumeUse>,
    /// See `Problem::well`.
    pub well: WellKnown,
}
