//! The input as the rules look at it: pools with what they can launch, workloads with the pools
//! that take them. Read once; no rule is in here.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::NodePool;
use dunnage_api::labels::{
    ARCH, CAPACITY_TYPE, OS, Provider, REGION, WINDOWS_BUILD, ZONE, normalized,
};
use dunnage_api::node_pool::Disruption;

use super::types::{Choice, choices};
use super::workloads::{Workload, probes, takers, workloads};
use crate::duration::{Lifetime, parse_crd};
use crate::explain::with_words;
use crate::options::{Options, Strategy};
use crate::plan::{Failure, Plan, decide};
use crate::read::{Reading, Refused};
use crate::snapshot::{NodeClass, Snapshot, Sourced};

/// Requirements that a wide twin keeps: they say what kind of machine is asked for, and where,
/// not which of its kind.
const KEPT: [&str; 6] = [ARCH, OS, CAPACITY_TYPE, ZONE, REGION, WINDOWS_BUILD];

/// The zone label of Azure's disk driver, which pods ask for as well.
const AZURE_DISK_ZONE: &str = "topology.disk.csi.azure.com/zone";

/// The input as the rules look at it.
pub(super) struct World<'a> {
    /// The objects.
    pub snapshot: &'a Snapshot,
    /// What an API server would refuse of the input; it is in no other field.
    pub refused: &'a [Refused],
    /// The plan of the input.
    pub plan: &'a Plan,
    /// NodePools by name.
    pub pools: Vec<Pool<'a>>,
    /// Whatever brings pods, by name.
    pub workloads: Vec<Workload>,
    /// Zones in which something is sold or stands.
    pub zones: BTreeSet<String>,
}

/// A NodePool.
pub(super) struct Pool<'a> {
    /// Itself.
    pub object: &'a NodePool,
    /// `NodePool name`.
    pub name: String,
    /// Its node class, when it is in the input.
    pub class: Option<&'a NodeClass>,
    /// How its nodes may be disrupted, with defaults.
    pub disruption: Disruption,
    /// Machines that it can launch; none when it takes no part in a plan.
    pub own: Option<Choice>,
    /// Machines that it could launch with those requirements only that are in [`KEPT`].
    pub wide: Option<Choice>,
    /// Every machine of its node class.
    pub any: Option<Choice>,
}

impl Pool<'_> {
    /// Seconds after which a quiet node may be consolidated; none for never.
    pub fn consolidate_after_secs(&self) -> Option<i64> {
        match parse_crd(self.disruption.consolidate_after.as_deref().unwrap_or("0s")) {
            Ok(Lifetime::Seconds(secs)) if !self.object.is_static() => Some(secs),
            _ => None,
        }
    }

    /// Nodes with pods on them are replaced or emptied to save money.
    pub fn consolidates_used_nodes(&self) -> bool {
        self.consolidate_after_secs().is_some()
            && self.disruption.consolidation_policy.as_deref() != Some("WhenEmpty")
    }

    /// The label that a key means to the pool's cloud.
    pub fn label<'k>(&self, key: &'k str) -> &'k str {
        let group = &self.object.spec.template.spec.node_class_ref.group;
        match Provider::of_group(group) {
            Provider::Azure if key == AZURE_DISK_ZONE => ZONE,
            provider => normalized(provider, key),
        }
    }
}

impl<'a> World<'a> {
    /// Reads the input that is left without what was refused.
    pub fn of(reading: &'a Reading, plan: &'a Plan, options: &Options) -> Result<Self, Failure> {
        let snapshot = &reading.snapshot;
        let mut workloads = workloads(snapshot);
        let probe = probe(snapshot, &workloads);
        // The rules of the others break requirements; how hard is searched does not matter.
        let options = Options { strategy: Strategy::Greedy, ..options.clone() };
        let decided = decide(&probe, &options)?;
        let choices = with_words(&decided.lowered, |w| {
            takers(w, &decided.lowered.names.pods, &mut workloads);
            choices(w)
        });
        let pools: Vec<Pool<'a>> =
            snapshot.node_pools.iter().map(|pool| Pool::of(snapshot, pool, &choices)).collect();
        let sold = pools.iter().filter_map(|pool| pool.any.as_ref()).flat_map(|any| &any.zones);
        let zones = sold.cloned().chain(stands(snapshot)).collect();
        Ok(Self { snapshot, refused: &reading.refused, plan, pools, workloads, zones })
    }

    /// The pools that take pods of the workload.
    pub fn takers<'w>(&'w self, workload: &'w Workload) -> impl Iterator<Item = &'w Pool<'a>> {
        let takes = |pool: &&Pool<'_>| {
            let name = pool.object.metadata.name.as_deref().unwrap_or_default();
            workload.takers.contains_key(name)
        };
        self.pools.iter().filter(takes)
    }
}

impl<'a> Pool<'a> {
    fn of(
        snapshot: &'a Snapshot,
        pool: &'a Sourced<NodePool>,
        choices: &BTreeMap<String, Choice>,
    ) -> Self {
        let name = pool.metadata.name.as_deref().unwrap_or_default();
        let class = &pool.spec.template.spec.node_class_ref;
        let found = snapshot.node_class(&class.group, &class.kind, &class.name);
        Self {
            object: &pool.object,
            name: format!("NodePool {name}"),
            class: found.map(|class| &class.object),
            disruption: pool.disruption(),
            own: choices.get(name).cloned(),
            wide: choices.get(&wide_name(name)).cloned(),
            any: choices.get(&any_name(pool)).cloned(),
        }
    }
}

/// Zones that the cloud is known to have since something of the cluster is there.
fn stands(snapshot: &Snapshot) -> impl Iterator<Item = String> + '_ {
    let nodes = snapshot.nodes.iter().filter_map(|node| node.metadata.labels.as_ref());
    let nodes = nodes.filter_map(|labels| labels.get(ZONE).cloned());
    let subnets = snapshot.node_classes.iter().flat_map(|class| match &class.object {
        NodeClass::Ec2(class) => class.status.as_ref().map_or(&[][..], |status| &status.subnets),
        NodeClass::Aks(_) => &[],
    });
    nodes.chain(subnets.map(|subnet| subnet.zone.clone()))
}

/// True for the name of a pool that no input has: names of objects have no slash.
pub(super) fn is_twin(pool: &str) -> bool {
    pool.contains('/')
}

fn wide_name(pool: &str) -> String {
    format!("{pool}/wide")
}

fn any_name(pool: &NodePool) -> String {
    let class = &pool.spec.template.spec.node_class_ref;
    format!("{}/{}/{}/any", class.group, class.kind, class.name)
}

/// The input with one pending pod for each workload, and with twins of the pools that ask for
/// less. What is lowered from it says what each pool can launch and which workloads it takes.
fn probe(snapshot: &Snapshot, workloads: &[Workload]) -> Snapshot {
    let mut probe = snapshot.clone();
    probe.warnings.clear();
    probe.pods = probes(workloads);
    let mut twins: BTreeMap<String, NodePool> = BTreeMap::new();
    for pool in &snapshot.node_pools {
        let kept = |key: &str| {
            let group = &pool.spec.template.spec.node_class_ref.group;
            KEPT.contains(&normalized(Provider::of_group(group), key))
        };
        let wide = wide_name(pool.metadata.name.as_deref().unwrap_or_default());
        twins.insert(wide.clone(), twin(pool, &wide, kept));
        let any = any_name(pool);
        twins.entry(any.clone()).or_insert_with(|| twin(pool, &any, |_| false));
    }
    probe.node_pools.extend(twins.into_values().map(Sourced::from));
    probe.capacity_buffers.clear();
    probe
}

/// A pool of the same class with some of the requirements, and nothing else that narrows it.
fn twin(pool: &NodePool, name: &str, kept: impl Fn(&str) -> bool) -> NodePool {
    let mut twin = NodePool::default();
    twin.metadata.name = Some(name.to_owned());
    let (own, spec) = (&pool.spec.template.spec, &mut twin.spec.template.spec);
    spec.node_class_ref = own.node_class_ref.clone();
    spec.requirements = own.requirements.iter().filter(|r| kept(&r.key)).cloned().collect();
    for requirement in &mut spec.requirements {
        requirement.min_values = None;
    }
    twin
}

/// True for a label that says what kind of machine is asked for and where.
pub(super) fn is_kept(key: &str) -> bool {
    KEPT.contains(&key)
}
