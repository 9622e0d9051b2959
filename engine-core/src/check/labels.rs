//! Values that a label may take: membership, inclusion, overlap.
//!
//! Known values are tried one by one. Values that no table knows are those of complements;
//! they matter for inclusion, never for a count.

use crate::problem::{Problem, Requirement, Value};

/// Values that one key may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed<'a> {
    is_complement: bool,
    listed: Listed<'a>,
    lower: Option<i64>,
    upper: Option<i64>,
    /// Exclusions that a missing label does not satisfy.
    must_exist: bool,
}

#[derive(Clone, Copy, Debug)]
enum Listed<'a> {
    Ranks(&'a [u32]),
    Bits(&'a [u64]),
}

impl<'a> Allowed<'a> {
    /// As a requirement of the problem says.
    pub fn sparse(problem: &Problem<'a>, r: &Requirement) -> Self {
        Self {
            is_complement: r.is_complement,
            listed: Listed::Ranks(r.values.of(problem.requirement_values)),
            lower: r.lower,
            upper: r.upper,
            must_exist: r.must_exist,
        }
    }

    /// As the words of one key of a new node say: a header (bit 0 present, 1 complement,
    /// 2 has a lower bound, 3 has an upper one, 4 the label must be there, 16 and up minValues),
    /// the bounds, value bits.
    /// Nothing when the key is not present.
    pub fn dense(words: &'a [u64]) -> Option<Self> {
        let head = words[0];
        (head & 1 != 0).then(|| Self {
            is_complement: head & 2 != 0,
            listed: Listed::Bits(&words[3..]),
            lower: (head & 4 != 0).then_some(words[1] as i64),
            upper: (head & 8 != 0).then_some(words[2] as i64),
            must_exist: head & 16 != 0,
        })
    }

    fn lists(&self, rank: u32) -> bool {
        match self.listed {
            Listed::Ranks(ranks) => ranks.binary_search(&rank).is_ok(),
            Listed::Bits(bits) => {
                bits.get(rank as usize / 64).is_some_and(|w| w >> (rank % 64) & 1 != 0)
            }
        }
    }

    fn lists_nothing(&self) -> bool {
        match self.listed {
            Listed::Ranks(ranks) => ranks.is_empty(),
            Listed::Bits(bits) => bits.iter().all(|w| *w == 0),
        }
    }

    fn is_bounded(&self) -> bool {
        self.lower.is_some() || self.upper.is_some()
    }

    /// True when values that no table knows are allowed.
    fn is_open(&self) -> bool {
        self.is_complement && !matches!((self.lower, self.upper), (Some(l), Some(u)) if l > u)
    }

    /// True for a list of values with at least one in it.
    pub fn is_list(&self) -> bool {
        !self.is_complement && !self.lists_nothing()
    }

    /// True for an empty list: the label is not there.
    pub fn names_no_value(&self) -> bool {
        !self.is_complement && self.lists_nothing()
    }

    /// True when a node without the label satisfies it: something is excluded and nothing
    /// asked for.
    pub fn permits_absence(&self) -> bool {
        if self.must_exist {
            return false;
        }
        if self.is_complement {
            !self.is_bounded() && !self.lists_nothing()
        } else {
            self.lists_nothing()
        }
    }

    /// True when the value of this rank is allowed.
    pub fn allows(&self, rank: u32, values: &[Value]) -> bool {
        if self.lists(rank) == self.is_complement {
            return false;
        }
        if !self.is_bounded() {
            return true;
        }
        let number = values.get(rank as usize).and_then(|v| v.integer);
        number
            .is_some_and(|n| self.lower.is_none_or(|l| l <= n) && self.upper.is_none_or(|u| n <= u))
    }

    /// True when every value of `self` is one of `other`.
    pub fn is_within(&self, other: Allowed, values: &[Value]) -> bool {
        let known = (0..values.len() as u32)
            .all(|rank| !self.allows(rank, values) || other.allows(rank, values));
        known && (!self.is_open() || other.covers_unknown(self))
    }

    fn covers_unknown(&self, of: &Allowed) -> bool {
        self.is_complement
            && self.lower.is_none_or(|l| of.lower.is_some_and(|x| l <= x))
            && self.upper.is_none_or(|u| of.upper.is_some_and(|x| x <= u))
    }
}

/// True when one value is allowed by all of `sets`.
pub(super) fn share_a_value(sets: &[Allowed], values: &[Value]) -> bool {
    let all = |rank: u32| sets.iter().all(|s| s.allows(rank, values));
    let shortest = sets.iter().find_map(|s| match s.listed {
        Listed::Ranks(ranks) if !s.is_complement => Some(ranks),
        _ => None,
    });
    if let Some(ranks) = shortest {
        return ranks.iter().any(|rank| all(*rank));
    }
    let known = (0..values.len() as u32).any(all);
    let lower = sets.iter().filter_map(|s| s.lower).max();
    let upper = sets.iter().filter_map(|s| s.upper).min();
    let is_open = sets.iter().all(|s| s.is_complement);
    known || is_open && !matches!((lower, upper), (Some(l), Some(u)) if l > u)
}
