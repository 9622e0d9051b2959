//! Every capacity of the engine, with the reason for its number.
//!
//! A capacity here is a constant of the program. Everything else is sized from the problem
//! (see [`crate::workspace`]), and going over is an ordinary answer: [`Exceeded`] names the
//! limit, its value and the need.

/// Most alternatives of one kind that a pod may carry: required node-affinity terms,
/// preferences of one kind, or spread constraints. They are tracked in one 64-bit word.
pub const TERMS_PER_POD: usize = 64;

/// Most DaemonSets that are told apart when their overhead per instance type is computed.
/// Above it, a cluster would spend its nodes on agents.
pub const DAEMONS: usize = 1 << 16;

/// Most resources of one problem: cpu, memory, pods, storage and 60 extended ones.
/// Limited resources of a NodePool are one 64-bit word.
pub const RESOURCES: usize = 64;

/// Most topology groups that can restrict one pod: those it owns and the anti-affinity of
/// others that selects it. Spread of a pod over more rules than this has no use known to us.
pub const GROUPS_PER_POD: usize = 256;

/// Most instance types sent with one new node, as the cloud request holds no more.
pub const TYPES_PER_NEW_NODE: usize = 600;

/// Most joint choices of topology domains that are tried for one pod on one node before it
/// is refused: ten zones by six capacity types.
pub const DOMAIN_CHOICES: usize = 64;

/// A named limit that was hit. Never a panic, never a silent cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exceeded {
    /// Which limit.
    pub limit: Limit,
    /// How much it holds.
    pub value: u64,
    /// How much was needed; at least `value + 1` when the full need is not known.
    pub need: u64,
}

/// The limits by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Limit {
    /// [`TERMS_PER_POD`].
    TermsPerPod,
    /// [`DAEMONS`].
    Daemons,
    /// [`RESOURCES`].
    Resources,
    /// [`GROUPS_PER_POD`].
    GroupsPerPod,
    /// Bundles of a packing for which memory was lent.
    Bundles,
    /// Entries of a packing for which memory was lent.
    Entries,
    /// New nodes for which memory was lent.
    NewNodes,
    /// Rows of placements for which memory was lent.
    Placements,
    /// Rows of reasons for which memory was lent.
    Reasons,
    /// Rows of per-node topology counts for which memory was lent.
    NodeCounts,
    /// Memory lent for the fixed tables: shorter than [`crate::workspace::Need`] says.
    Memory,
    /// The caller's patience: see [`crate::stop::Stop`].
    Stopped,
}

impl core::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.limit == Limit::Stopped {
            return f.write_str("the caller stopped the solve");
        }
        write!(f, "limit {:?} is {} and {} are needed", self.limit, self.value, self.need)
    }
}

impl core::error::Error for Exceeded {}
