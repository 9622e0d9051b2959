//! The tables of a problem, owned and growing.

use dunnage_engine_core::problem::{
    Charge, Daemon, Domain, Group, HostPort, InstanceType, Key, Label, Link, Node, NodeCount,
    NodeVolume, Offering, PodClass, Problem, Quota, Requirement, Resource, Rules, Run, Span, Taint,
    Template, Term, Toleration, Value, Variant, VolumeUse, WellKnown,
};

/// Owned tables; each field is the table of the same name of [`Problem`].
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Tables {
    pub keys: Vec<Key>,
    pub values: Vec<Value>,
    pub sets: Vec<Span>,
    pub requirements: Vec<Requirement>,
    pub requirement_values: Vec<u32>,
    pub resources: Vec<Resource>,
    pub quantities: Vec<i64>,
    pub taints: Vec<Taint>,
    pub tolerations: Vec<Toleration>,
    pub templates: Vec<Template>,
    pub template_types: Vec<u32>,
    pub types: Vec<InstanceType>,
    pub variants: Vec<Variant>,
    pub offerings: Vec<Offering>,
    pub offering_labels: Vec<Label>,
    pub reservations: Vec<u32>,
    pub quotas: Vec<Quota>,
    pub charges: Vec<Charge>,
    pub daemons: Vec<Daemon>,
    pub nodes: Vec<Node>,
    pub node_counts: Vec<NodeCount>,
    pub node_volumes: Vec<NodeVolume>,
    pub node_claims: Vec<u32>,
    pub classes: Vec<PodClass>,
    pub runs: Vec<Run>,
    pub terms: Vec<Term>,
    pub links: Vec<Link>,
    /// See `Problem::link_variants`.
    pub link_variants: Vec<u32>,
    pub matches: Vec<u32>,
    pub groups: Vec<Group>,
    pub domains: Vec<Domain>,
    pub ports: Vec<HostPort>,
    pub volume_alternatives: Vec<u32>,
    pub volume_uses: Vec<VolumeUse>,
    pub well: WellKnown,
}

/// Appends rows to a table and names the stretch.
pub fn push<T>(table: &mut Vec<T>, rows: impl IntoIterator<Item = T>) -> Span {
    let start = table.len() as u32;
    table.extend(rows);
    Span { start, len: table.len() as u32 - start }
}

/// Appends one row to a table and names it.
pub fn add<T>(table: &mut Vec<T>, row: T) -> u32 {
    table.push(row);
    table.len() as u32 - 1
}

impl Tables {
    /// The tables as the engine takes them.
    pub fn problem(&self, rules: Rules) -> Problem<'_> {
        Problem {
            rules,
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
