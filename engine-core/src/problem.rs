//! The input of a decision: tables of small integers, lent by the caller.
//!
//! Names, quantities and selectors were translated by the planner; equal pods are one
//! [`PodClass`] with a count. Rows refer to other tables by index or by [`Span`]. What an
//! index means is said at each field; [`NONE`] stands for "no row".
//!
//! Orders that carry meaning, so that no name is needed to break a tie:
//! - values of one key ascend by name; instance types ascend by name; nodes ascend by name;
//! - templates stand in the order in which they are tried (weight, then name);
//! - runs stand in the order in which pods are placed.

/// "No row", in every index of the tables.
pub const NONE: u32 = u32::MAX;

/// In [`Node::available`]: the node does not have the resource at all, which differs from
/// having none left: a DaemonSet that asks for it takes nothing away.
pub const ABSENT: i64 = i64::MIN;

/// A stretch of rows in another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// First row.
    pub start: u32,
    /// Number of rows.
    pub len: u32,
}

impl Span {
    /// The stretch as an index range.
    pub fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// The rows of `table` that the stretch names; empty when it leaves the table.
    pub fn of<T>(self, table: &[T]) -> &[T] {
        table.get(self.range()).unwrap_or(&[])
    }
}

/// The whole input of one placement.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problem<'a> {
    /// Which rules hold: Karpenter's as they are, or mended.
    pub rules: Rules,
    /// Label keys that some pod, pool, volume or topology rule mentions. A key that only
    /// instance types or nodes carry can change no answer and is left out.
    pub keys: &'a [Key],
    /// Values of all keys, grouped by key.
    pub values: &'a [Value],
    /// Requirement sets: each a stretch of `requirements`.
    pub sets: &'a [Span],
    /// Requirements; a set has at most one row for a key, in ascending key order.
    pub requirements: &'a [Requirement],
    /// Values named by requirements, as ranks within their key (0 = first value of the key).
    pub requirement_values: &'a [u32],
    /// Resources of every row of `quantities`, in column order.
    pub resources: &'a [Resource],
    /// Rows of `resources.len()` amounts. cpu in milli, everything else in whole units
    /// (bytes, pods, devices). A row index counts rows, not cells.
    pub quantities: &'a [i64],
    /// Taints of templates and nodes.
    pub taints: &'a [Taint],
    /// Tolerations of classes and daemons.
    pub tolerations: &'a [Toleration],
    /// NodePools that may open nodes, in the order in which they are tried.
    pub templates: &'a [Template],
    /// Instance types of each template (rows of `types`), ascending.
    pub template_types: &'a [u32],
    /// Instance types, ascending by name. A type whose price or size an overlay changes for
    /// one pool stands here once more for that pool.
    pub types: &'a [InstanceType],
    /// Sizes of types: the base first, then one row per capacity override.
    pub variants: &'a [Variant],
    /// Offerings, grouped by type.
    pub offerings: &'a [Offering],
    /// Labels of offerings.
    pub offering_labels: &'a [Label],
    /// Reservations and how many machines they still hold.
    pub reservations: &'a [u32],
    /// What new nodes may take together, over all templates.
    pub quotas: &'a [Quota],
    /// What a node of an offering takes from quotas.
    pub charges: &'a [Charge],
    /// DaemonSets, each as the pod it would run.
    pub daemons: &'a [Daemon],
    /// Nodes that exist or are being launched, ascending by name; those that are about to go
    /// are not among them.
    pub nodes: &'a [Node],
    /// Pods already on nodes that per-node topology groups count: (group, count) by node.
    pub node_counts: &'a [NodeCount],
    /// Attachable volume drivers of nodes: limit and claims in use.
    pub node_volumes: &'a [NodeVolume],
    /// Claims in use on a node that pods of several classes share, ascending (claim ids).
    pub node_claims: &'a [u32],
    /// Classes of equal pods.
    pub classes: &'a [PodClass],
    /// The queue: stretches of equal pods in the order in which pods are placed.
    pub runs: &'a [Run],
    /// Node-affinity terms of classes and daemons, and term sets of node filters.
    pub terms: &'a [Term],
    /// Topology rules of classes.
    pub links: &'a [Link],
    /// Groups that stand in for a link's group as its class relaxes (rows of `groups`).
    pub link_variants: &'a [u32],
    /// Groups that select a class, ascending (rows of `groups`).
    pub matches: &'a [u32],
    /// Topology groups.
    pub groups: &'a [Group],
    /// Known domains of groups with the number of pods that count there, from real nodes.
    pub domains: &'a [Domain],
    /// Host ports.
    pub ports: &'a [HostPort],
    /// Alternatives that volumes leave for the node: requirement sets.
    pub volume_alternatives: &'a [u32],
    /// Volumes that classes attach.
    pub volume_uses: &'a [VolumeUse],
    /// Keys with a meaning of their own.
    pub well: WellKnown,
}

/// Keys that the engine treats in a way of their own; [`NONE`] when no table mentions them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WellKnown {
    /// `topology.kubernetes.io/zone`.
    pub zone: u32,
    /// `karpenter.sh/capacity-type`.
    pub capacity_type: u32,
    /// Rank of the value `reserved` of the capacity-type key.
    pub reserved: u32,
    /// `kubernetes.io/hostname`. As a topology key it never stands in `keys`: groups mark it
    /// by [`Group::is_hostname`].
    pub hostname: u32,
    /// Key of the reservation id.
    pub reservation: u32,
}

impl Default for WellKnown {
    fn default() -> Self {
        Self { zone: NONE, capacity_type: NONE, reserved: NONE, hostname: NONE, reservation: NONE }
    }
}

/// A label key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Its rows of `values`, ascending by name.
    pub values: Span,
    /// A new node may lack the key and still satisfy a requirement on it, since the launch
    /// will set it.
    pub is_well_known: bool,
}

/// A label value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Value {
    /// The value read as a decimal integer, when it is one.
    pub integer: Option<i64>,
}

/// What a requirement says about one key: a set of values, or all but a set, within bounds.
///
/// `In` lists values; `NotIn` is a complement that lists exclusions; `Exists` is an empty
/// complement; `DoesNotExist` lists nothing; `Gt`, `Lt`, `Gte` and `Lte` are empty
/// complements with inclusive integer bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Requirement {
    /// Row of `keys`.
    pub key: u32,
    /// True when `values` are excluded rather than allowed.
    pub is_complement: bool,
    /// Rows of `requirement_values`, ascending.
    pub values: Span,
    /// Lowest allowed integer.
    pub lower: Option<i64>,
    /// Highest allowed integer.
    pub upper: Option<i64>,
    /// At least so many distinct values must stay possible among the instance types.
    pub min_values: u16,
    /// A complement with exclusions that a missing label does not satisfy: `Exists` or a bound
    /// went into it together with `NotIn`. `In`, `Exists` and bounds ask for the label anyway.
    pub must_exist: bool,
}

/// A resource column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Resource {
    /// The pods column: every pod requests 1 of it.
    pub is_pods: bool,
    /// The cpu column.
    pub is_cpu: bool,
}

/// Effect of a taint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Effect {
    /// Pods that do not tolerate it are not placed.
    #[default]
    NoSchedule,
    /// The same, until the preference is given up.
    PreferNoSchedule,
    /// The same, and running pods are evicted.
    NoExecute,
}

/// A taint. Keys and values are symbols: equal text, equal number; 0 is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Taint {
    /// Symbol of the key.
    pub key: u32,
    /// Symbol of the value.
    pub value: u32,
    /// The value read as an integer, for tolerations that compare.
    pub integer: Option<i64>,
    /// What it does.
    pub effect: Effect,
}

/// How a toleration compares the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TolerationOperator {
    /// Same value.
    #[default]
    Equal,
    /// Any value.
    Exists,
    /// The taint's integer is less than the toleration's.
    Lt,
    /// The taint's integer is greater than the toleration's.
    Gt,
}

/// A toleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Toleration {
    /// Symbol of the key; 0 with `Exists` tolerates every key.
    pub key: u32,
    /// Symbol of the value.
    pub value: u32,
    /// The value read as an integer.
    pub integer: Option<i64>,
    /// How values compare.
    pub operator: TolerationOperator,
    /// Only this effect; any when absent.
    pub effect: Option<Effect>,
}

/// A NodePool that may open nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Template {
    /// Requirement set: pool requirements, labels, pool name, class name.
    pub set: u32,
    /// Taints of its nodes; startup taints are not among them.
    pub taints: Span,
    /// Rows of `template_types`.
    pub types: Span,
    /// Weight; templates stand in descending weight.
    pub weight: u32,
    /// Row of `quantities` with the pool's limits; [`NONE`] when it has none.
    pub limit: u32,
    /// Which resources the limit names, as bits by column.
    pub limited: u64,
    /// Row of `quantities` with the capacity of the pool's nodes that count; `NONE` for zero.
    pub usage: u32,
    /// Most nodes of the pool.
    pub node_limit: Option<u32>,
    /// Nodes of the pool that count.
    pub node_usage: u32,
}

/// An instance type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InstanceType {
    /// Requirement set: the labels its nodes can carry.
    pub set: u32,
    /// Row of `quantities`: the whole machine.
    pub capacity: u32,
    /// Rows of `variants`; the first is the base.
    pub variants: Span,
    /// Rows of `offerings`.
    pub offerings: Span,
}

/// A size of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variant {
    /// Row of `quantities`: what pods can use.
    pub allocatable: u32,
}

/// An instance type in one place at one price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Offering {
    /// Rows of `offering_labels`: zone, capacity type and others, ascending by key.
    pub labels: Span,
    /// Micro-dollars per hour, not negative; `i64::MAX` for an unknown price.
    pub price_microusd: i64,
    /// Which variant of the type it brings (0 = base).
    pub variant: u16,
    /// Not sold out.
    pub is_available: bool,
    /// What kind of capacity it is.
    pub capacity_type: CapacityType,
    /// Row of `reservations` that a launch draws on, or [`NONE`].
    pub reservation: u32,
    /// Rows of `charges`.
    pub charges: Span,
    /// Micro-dollars per hour that it counts as beyond its price while choosing: what the risk
    /// of losing the machine is worth. Never in a reported price.
    pub penalty_microusd: u32,
}

impl Offering {
    /// Micro-dollars per hour that choices go by: price and penalty.
    pub fn counted_microusd(&self) -> i64 {
        self.price_microusd.saturating_add(i64::from(self.penalty_microusd))
    }
}

/// What new nodes may take of something, over all templates: of a cloud account's quota, of
/// the cluster's capacity, of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quota {
    /// Most that may be taken, in the quota's own unit.
    pub limit: i64,
    /// What nodes that exist take.
    pub usage: i64,
}

/// What one node takes from a quota. A node counts as its cheapest machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Charge {
    /// Row of `quotas`.
    pub quota: u32,
    /// In the quota's unit, not negative.
    pub amount: i64,
}

/// Kinds of capacity, in the order in which a launch prefers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CapacityType {
    /// Paid for already.
    Reserved,
    /// May be taken away.
    Spot,
    /// At list price.
    #[default]
    OnDemand,
}

/// A key with one value, as a rank within the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Label {
    /// Row of `keys`.
    pub key: u32,
    /// Rank of the value within the key.
    pub value: u32,
}

/// A DaemonSet, as the pod that it would run on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Daemon {
    /// Row of `quantities`: what one pod of it requests, `pods` included.
    pub requests: u32,
    /// Requirement set of its node selector.
    pub selector: u32,
    /// Required node-affinity terms (rows of `terms`), any of which suffices; empty for none.
    pub required: Span,
    /// Its tolerations.
    pub tolerations: Span,
    /// Host ports it takes.
    pub ports: Span,
}

/// A node that exists, or is being launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// Requirement set: its labels, each an `In` of one value.
    pub set: u32,
    /// Taints that count; ephemeral and startup taints of a young node are left out.
    pub taints: Span,
    /// Row of `quantities`: allocatable less the requests of all its pods; [`ABSENT`] for a
    /// resource that the node does not have.
    pub available: u32,
    /// Row of `quantities`: allocatable, nothing taken off, as kube-scheduler scores it;
    /// [`NONE`] when nobody asks.
    pub allocatable: u32,
    /// Row of `quantities`: requests of the DaemonSet pods on it; [`NONE`] for none.
    pub daemon_requests: u32,
    /// Initialized nodes are tried first.
    pub is_initialized: bool,
    /// Host ports in use.
    pub ports: Span,
    /// Rows of `node_counts`, ascending by group.
    pub counts: Span,
    /// Rows of `node_volumes`, ascending by driver.
    pub volumes: Span,
    /// Rows of `node_claims`, ascending.
    pub claims: Span,
}

/// Pods on a node that a per-node group counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeCount {
    /// Row of `groups`.
    pub group: u32,
    /// Number of pods.
    pub count: u32,
}

/// What a node may attach of one driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeVolume {
    /// Driver number.
    pub driver: u32,
    /// Most claims.
    pub limit: u32,
    /// Claims in use, shared ones included.
    pub used: u32,
}

/// Pods that the engine cannot tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PodClass {
    /// Row of `quantities`: what one pod requests, `pods` = 1 included.
    pub requests: u32,
    /// Pods of the class in all runs.
    pub count: u32,
    /// Requirement set of the node selector.
    pub selector: u32,
    /// Required node-affinity terms (rows of `terms`) in list order; any one suffices.
    pub required: Span,
    /// Preferred node-affinity terms, heaviest first, ties in list order.
    pub preferred: Span,
    /// Tolerations.
    pub tolerations: Span,
    /// Topology rules (rows of `links`): spreads in list order, then affinity, then
    /// anti-affinity; preferred ones heaviest first, ties in list order.
    pub links: Span,
    /// Groups of every kind whose selector and namespaces select the class.
    pub matches: Span,
    /// Host ports.
    pub ports: Span,
    /// Rows of `volume_alternatives`; empty for no restriction.
    pub volume_alternatives: Span,
    /// Rows of `volume_uses`.
    pub volume_uses: Span,
    /// Asks for devices by claim, which is reported and not scheduled.
    pub has_device_claims: bool,
}

/// A stretch of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Run {
    /// Row of `classes`.
    pub class: u32,
    /// Pods in a row.
    pub count: u32,
}

/// A node-affinity term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Term {
    /// Requirement set.
    pub set: u32,
    /// Weight of a preference; 0 for a required term.
    pub weight: u32,
}

/// A topology rule of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// Row of `groups`.
    pub group: u32,
    /// 0 for a rule that must hold; else a preference: the weight of an affinity term, or 1
    /// for a spread that may be given up.
    pub weight: u32,
    /// Row of `groups` of the inverse of a required anti-affinity term, or [`NONE`].
    pub inverse: u32,
    /// Rows of `link_variants`: the group that counts while the n-th required term is tried,
    /// then the same once soft taints are tolerated; empty when it is always `group`. Only
    /// under Karpenter's rules: see [`Rules::relaxed_spreads_count_afresh`].
    pub variants: Span,
}

/// Kinds of topology groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum GroupKind {
    /// Topology spread.
    #[default]
    Spread,
    /// Be where such pods are.
    Affinity,
    /// Be where no such pods are.
    AntiAffinity,
    /// The other side of a required anti-affinity: its owners keep the selected pods away.
    Inverse,
}

/// Pods that are counted together over the domains of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Group {
    /// Kind.
    pub kind: GroupKind,
    /// Row of `keys`; [`NONE`] when the domains are single nodes.
    pub key: u32,
    /// Domains are single nodes (`kubernetes.io/hostname`).
    pub is_hostname: bool,
    /// Most by which a domain may be ahead of the emptiest.
    pub max_skew: u32,
    /// With fewer eligible domains than this the minimum counts as zero; 0 for unset.
    pub min_domains: u32,
    /// Nodes that offer a domain and count pods: any of these sets (rows of `terms`) must be
    /// satisfied; empty for all nodes.
    pub filter: Span,
    /// Nodes whose taints are not tolerated by `tolerations` neither offer nor count.
    pub honors_taints: bool,
    /// Domains of pools whose taints are not tolerated are not known to the group.
    pub honors_pool_taints: bool,
    /// Tolerations for the two fields above.
    pub tolerations: Span,
    /// Rows of `domains`, ascending by value; empty for per-node groups.
    pub domains: Span,
    /// Pods already counted in all domains (per-node groups included).
    pub total: u32,
}

/// A domain that real nodes offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Domain {
    /// Rank of the value within the group's key.
    pub value: u32,
    /// Pods that count there.
    pub count: u32,
}

/// A host port: symbols for address and protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HostPort {
    /// Symbol of the address; 0 for all addresses.
    pub address: u32,
    /// Port number.
    pub port: u32,
    /// Symbol of the protocol.
    pub protocol: u32,
}

/// A volume that a class attaches through a driver with a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VolumeUse {
    /// Driver number.
    pub driver: u32,
    /// Claim id that pods share; [`NONE`] for claims of each pod's own.
    pub claim: u32,
    /// Number of claims of each pod's own; 1 for a shared one.
    pub count: u32,
}

/// Which rules hold. `true` keeps Karpenter 1.14's behaviour; docs/compatibility.md has a
/// row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rules {
    /// Too few values for minValues lowers the minimum instead of refusing the pool.
    pub lowers_min_values: bool,
    /// No unit left of a reservation: the node goes without, instead of deferring the pod.
    /// Karpenter does so only when it simulates a disruption.
    pub reserved_falls_back: bool,
    /// `limits.nodes` is not used up by nodes opened in the same pass.
    pub node_limit_is_static: bool,
    /// Required node-affinity terms are given up before any preference.
    pub terms_before_preferences: bool,
    /// Excluded values and values without an available offering are topology domains.
    pub unofferable_domains: bool,
    /// A zonal anti-affinity blocks every zone that the new node could still be in.
    pub anti_affinity_blocks_all: bool,
    /// A DaemonSet is judged on an existing node by its first required term only.
    pub daemon_first_term: bool,
    /// A spread's node filter refuses new nodes that lack a well-known label as yet, and the
    /// pods of those that it may still refuse raise the minimum.
    pub filter_needs_labels: bool,
    /// minValues counts values that the node's requirements exclude.
    pub min_values_unfiltered: bool,
    /// A negative amount of any resource makes a node unusable for every pod.
    pub negative_blocks_all: bool,
    /// A spread picks its one domain before other rules are looked at.
    pub spread_picks_first: bool,
    /// A limit that is used up drops types that have nothing of that resource.
    pub limit_drops_unrelated: bool,
    /// An existing node takes on the requirements of the pods placed on it.
    pub node_takes_requirements: bool,
    /// What a pod forbids of a label makes the node have that label for other rules and pods.
    pub pods_define_labels: bool,
    /// Requirements of a pod that exclude each other, and topology rules that leave no domain
    /// together, read as "the label must be absent".
    pub contradiction_is_absence: bool,
    /// `Exists` and `NotIn` on one key together read as `NotIn`, which a missing label satisfies.
    pub existence_is_lost: bool,
    /// Pods that others spread over or seek leave their new node's domain open and uncounted.
    pub counted_pods_leave_domains_open: bool,
    /// In reasons, a type counts as large enough only with a usable offering.
    pub size_needs_offering: bool,
    /// A node with more claims than a driver's limit refuses pods without volumes, too.
    pub full_attachments_block_all: bool,
    /// A spread whose pod gave something up starts a count of its own, which knows the pods
    /// that run but not those placed before it in the same pass.
    pub relaxed_spreads_count_afresh: bool,
    /// A spread over single nodes that may be given up opens a node for a pod, although nodes
    /// that are there would take the pod without it.
    pub soft_node_spreads_open_nodes: bool,
    /// A spread over single nodes takes zero as the minimum even when every node holds pods.
    pub node_minimum_is_zero: bool,
    /// Nodes of equal load keep their last order instead of their order of creation.
    pub stable_resort: bool,
    /// 0 for the stated tie-breaks; else free choices are permuted by this number, to show
    /// that two answers differ by a tie alone.
    pub tie_seed: u32,
}

impl Rules {
    /// Karpenter 1.14 with its defects.
    pub const KARPENTER: Self = Self {
        lowers_min_values: false,
        reserved_falls_back: false,
        node_limit_is_static: true,
        terms_before_preferences: true,
        unofferable_domains: true,
        anti_affinity_blocks_all: true,
        daemon_first_term: true,
        filter_needs_labels: true,
        min_values_unfiltered: true,
        negative_blocks_all: true,
        spread_picks_first: true,
        limit_drops_unrelated: true,
        node_takes_requirements: true,
        pods_define_labels: true,
        contradiction_is_absence: true,
        existence_is_lost: true,
        counted_pods_leave_domains_open: true,
        size_needs_offering: true,
        full_attachments_block_all: true,
        relaxed_spreads_count_afresh: true,
        soft_node_spreads_open_nodes: true,
        node_minimum_is_zero: true,
        stable_resort: true,
        tie_seed: 0,
    };

    /// The mended rules.
    pub const MENDED: Self = Self {
        lowers_min_values: false,
        reserved_falls_back: true,
        node_limit_is_static: false,
        terms_before_preferences: false,
        unofferable_domains: false,
        anti_affinity_blocks_all: false,
        daemon_first_term: false,
        filter_needs_labels: false,
        min_values_unfiltered: false,
        negative_blocks_all: false,
        spread_picks_first: false,
        limit_drops_unrelated: false,
        node_takes_requirements: false,
        pods_define_labels: false,
        contradiction_is_absence: false,
        existence_is_lost: false,
        counted_pods_leave_domains_open: false,
        size_needs_offering: false,
        full_attachments_block_all: false,
        relaxed_spreads_count_afresh: false,
        soft_node_spreads_open_nodes: false,
        node_minimum_is_zero: false,
        stable_resort: false,
        tie_seed: 0,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::MENDED
    }
}
