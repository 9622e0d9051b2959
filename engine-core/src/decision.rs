//! The output of a decision: which pods go where, what is opened for them, and why the rest
//! waits. Rows are numbers of the problem's tables; the planner turns them into names.

use crate::problem::Span;

/// The answer, in memory lent by the caller.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decision<'m> {
    /// Nodes to open, in the order of opening.
    pub new_nodes: &'m [NewNode],
    /// Instance types of new nodes: `type_words` words for each, bit t = type t still fits.
    pub type_masks: &'m [u64],
    /// Words of one mask.
    pub type_words: usize,
    /// Requirement sets of new nodes in dense form, `set_words` words for each; read them
    /// with [`crate::requirements::Layout`].
    pub sets: &'m [u64],
    /// Words of one dense set.
    pub set_words: usize,
    /// Requests of new nodes, one row of the problem's resources for each: pods and the
    /// least DaemonSet overhead of the surviving types.
    pub requests: &'m [i64],
    /// Pods placed, in the order of placing; equal neighbours are one row.
    pub placements: &'m [Placement],
    /// Pods left over, ascending by class.
    pub unplaced: &'m [Unplaced],
    /// Why: stretches of this table belong to `unplaced`.
    pub reasons: &'m [Reason],
    /// For each template: why it takes no part at all, if so.
    pub templates: &'m [TemplateState],
    /// What it took.
    pub effort: Effort,
}

/// A node to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NewNode {
    /// Row of the problem's templates.
    pub template: u32,
    /// Pods on it.
    pub pods: u32,
    /// Cheapest usable offering of its types under its requirements (row of `offerings`), by
    /// price, then type, then zone.
    pub offering: u32,
    /// Type of that offering (row of `types`).
    pub instance_type: u32,
    /// Price of that offering in micro-dollars per hour.
    pub price_microusd: i64,
    /// minValues was lowered to what the types can offer.
    pub is_min_values_lowered: bool,
    /// It holds a unit of at least one reservation, so its capacity type is `reserved`.
    pub is_reserved: bool,
}

/// Where a pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Target {
    /// Row of the problem's nodes.
    Node(u32),
    /// Row of the decision's new nodes.
    New(u32),
}

impl Default for Target {
    fn default() -> Self {
        Self::Node(0)
    }
}

/// Pods of one class that go to one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Placement {
    /// Row of the problem's classes.
    pub class: u32,
    /// Number of pods.
    pub count: u32,
    /// Where.
    pub target: Target,
    /// How many steps of relaxation it took (0: every preference holds).
    pub relaxed: u32,
}

/// Pods of one class that fit nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unplaced {
    /// Row of the problem's classes.
    pub class: u32,
    /// Number of pods.
    pub count: u32,
    /// Rows of the decision's reasons: one per template in order, or one alone.
    pub reasons: Span,
}

/// Whether a template takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TemplateState {
    /// It can open nodes.
    #[default]
    Open,
    /// No instance type satisfies it.
    NoTypes,
    /// The types that satisfy it are too few for its minValues.
    MinValues,
}

/// Why a class could not be placed by a template, or at all. The meaning of `subject`,
/// `need` and `best` is said at each code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reason {
    /// What failed.
    pub code: ReasonCode,
    /// Row of the problem's templates; `NONE` when no template was asked.
    pub template: u32,
    /// A row of the table that the code names.
    pub subject: u32,
    /// What the pod needs.
    pub need: i64,
    /// The best there is.
    pub best: i64,
    /// Instance types of the template: all, those whose labels fit, those that are large
    /// enough, those with a usable offering.
    pub types: TypeCounts,
}

/// How many instance types of a template pass each test on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TypeCounts {
    /// Types asked.
    pub all: u32,
    /// Labels fit.
    pub labels: u32,
    /// Large enough.
    pub large: u32,
    /// A usable offering.
    pub offered: u32,
    /// Labels fit and large enough.
    pub labels_large: u32,
    /// Labels fit and a usable offering.
    pub labels_offered: u32,
    /// Large enough and a usable offering.
    pub large_offered: u32,
}

/// What failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum ReasonCode {
    /// There is no template.
    #[default]
    NoPools,
    /// Every template was dropped because no type satisfies it.
    NoTypesInPools,
    /// A taint is not tolerated; `subject` is its row.
    Taint,
    /// The pod's requirement and the pool's exclude each other; `subject` is the key.
    Requirement,
    /// The pool does not define the label at all; `subject` is the key.
    UnknownLabel,
    /// The volume's place and the node exclude each other; `subject` is the key.
    Volume,
    /// A topology spread leaves no domain; `subject` is the group, `need` its max skew,
    /// `best` the lowest skew that any allowed domain would have (`i64::MAX`: no domain).
    Spread,
    /// No allowed domain holds a pod that the affinity asks for; `subject` is the group,
    /// `best` the number of such pods in all domains.
    Affinity,
    /// Every allowed domain holds a pod that the anti-affinity excludes; `subject` is the
    /// group, `best` the lowest count.
    AntiAffinity,
    /// Each topology rule could be met, but not all at once; `subject` is the key.
    TopologyConflict,
    /// Host ports clash with DaemonSets on every type.
    HostPort,
    /// minValues is not reached; `subject` is the key, `need` the minimum, `best` the count.
    MinValues,
    /// No type passes any of the three tests.
    NothingFits,
    /// No type has fitting labels; none is large enough.
    LabelsAndSize,
    /// No type has fitting labels; none has a usable offering.
    LabelsAndOffering,
    /// No type is large enough; none has a usable offering.
    SizeAndOffering,
    /// No type has fitting labels; `subject` is the first key that none meets, or `NONE`.
    Labels,
    /// No type is large enough; `subject` is the resource that is shortest, `need` and
    /// `best` in its unit.
    Size,
    /// No type has a usable offering.
    Offering,
    /// Types with fitting labels are large enough, but none of those is offered.
    FittingNotOffered,
    /// Types that are large enough and offered do not have fitting labels.
    OfferedNotFitting,
    /// Types with fitting labels that are offered are not large enough; fields as `Size`.
    OfferedTooSmall,
    /// No single type passes all three tests together; fields as `Size`.
    NoTypePassesAll,
    /// The pool's limit leaves no type; `subject` is the resource, `need` the smallest
    /// fitting capacity, `best` what the limit leaves.
    Limit,
    /// The pool's node limit is used up; `need` is nodes in use + 1, `best` the limit.
    NodeLimit,
    /// A reservation fits but has no unit left; the pod waits for the next pass.
    ReservationTaken,
    /// Placing the pod would give up the reservation that the node holds.
    ReservationLost,
    /// Types that would do exceed what is left of a quota; `subject` is the quota, `need` the
    /// least that a fitting machine takes, `best` what is left.
    Quota,
    /// The pod claims devices, which are not scheduled.
    DeviceClaims,
}

/// What a decision took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Effort {
    /// Acceptance tests of a pod on a node, each over all remaining types.
    pub steps: u64,
    /// Bytes of lent memory that were written at the peak.
    pub memory_bytes: u64,
}
