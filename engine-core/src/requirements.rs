//! Requirement algebra on dense sets: intersection, compatibility, operators.
//!
//! A dense set is a row of words with a fixed place for every key of the problem, so that
//! sets are copied, narrowed and compared without searching. Copies Karpenter's algebra
//! exactly, its asymmetries included: see each function.

use crate::problem::{NONE, Problem, Requirement, Value};

const PRESENT: u64 = 1;
const COMPLEMENT: u64 = 2;
const LOWER: u64 = 4;
const UPPER: u64 = 8;
/// A node that lacks the label does not satisfy it, whatever the values say.
const MUST_EXIST: u64 = 16;
const MIN_VALUES_SHIFT: u32 = 16;
/// Words of a key before its value bits: header, lower bound, upper bound.
const FIXED: usize = 3;

/// Where each key's words lie in a dense set.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'m> {
    offsets: &'m [u32],
}

impl<'m> Layout<'m> {
    /// Numbers of memory that [`Layout::build`] needs for `problem`.
    pub fn numbers(problem: &Problem) -> usize {
        problem.keys.len() + 1
    }

    /// Words of one dense set of `problem`.
    pub fn words(problem: &Problem) -> usize {
        problem.keys.iter().map(|k| FIXED + (k.values.len as usize).div_ceil(64)).sum()
    }

    /// Lays the keys of `problem` out in `memory` ([`Layout::numbers`] long).
    pub fn build(problem: &Problem, memory: &'m mut [u32]) -> Self {
        let mut at = 0;
        for (offset, key) in memory.iter_mut().zip(problem.keys) {
            *offset = at;
            at += (FIXED + (key.values.len as usize).div_ceil(64)) as u32;
        }
        if let Some(last) = memory.get_mut(problem.keys.len()) {
            *last = at;
        }
        Self { offsets: memory }
    }

    /// Number of keys.
    pub fn keys(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Words of one set.
    pub fn len(&self) -> usize {
        self.offsets[self.keys()] as usize
    }

    /// True when the problem mentions no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn range(&self, key: usize) -> core::ops::Range<usize> {
        self.offsets[key] as usize..self.offsets[key + 1] as usize
    }

    /// What `set` says about `key`; a key it does not hold reads as `Exists`.
    pub fn get<'s>(&self, set: &'s [u64], key: usize) -> Need<'s> {
        Need::read(&set[self.range(key)])
    }

    /// True when `set` says something about `key`.
    pub fn has(&self, set: &[u64], key: usize) -> bool {
        set[self.offsets[key] as usize] & PRESENT != 0
    }

    /// Lowers the minValues of a key that `set` holds.
    pub fn set_min_values(&self, set: &mut [u64], key: usize, min_values: u16) {
        let head = &mut set[self.offsets[key] as usize];
        *head = *head & ((1 << MIN_VALUES_SHIFT) - 1) | u64::from(min_values) << MIN_VALUES_SHIFT;
    }

    /// Writes the dense form of a sparse set.
    pub fn write(&self, set: &mut [u64], problem: &Problem, sparse: &[Requirement]) {
        set.fill(0);
        for r in sparse {
            let words = &mut set[self.range(r.key as usize)];
            let mut head = PRESENT | u64::from(r.min_values) << MIN_VALUES_SHIFT;
            head |= if r.is_complement { COMPLEMENT } else { 0 };
            head |= if r.lower.is_some() { LOWER } else { 0 };
            head |= if r.upper.is_some() { UPPER } else { 0 };
            let asks = r.must_exist || r.is_complement == (r.values.len == 0);
            head |= if asks && !problem.rules.existence_is_lost { MUST_EXIST } else { 0 };
            words[0] = head;
            words[1] = r.lower.unwrap_or(0) as u64;
            words[2] = r.upper.unwrap_or(0) as u64;
            for &v in r.values.of(problem.requirement_values) {
                words[FIXED + v as usize / 64] |= 1 << (v % 64);
            }
        }
    }

    /// Narrows `key` of `set` to the values whose bits are set in `bits`.
    pub fn restrict(&self, set: &mut [u64], key: usize, values: &[Value], bits: &[u64]) {
        let range = self.range(key);
        let other = Need { head: PRESENT, lower: 0, upper: 0, bits };
        intersect(&mut set[range], other, values);
    }

    /// Adds what `other` says about `key` to `set`.
    pub fn add_key(&self, set: &mut [u64], other: &[u64], key: usize, values: &[Value]) {
        let range = self.range(key);
        if other[range.start] & PRESENT != 0 {
            let need = Need::read(&other[range.clone()]);
            intersect(&mut set[range], need, values);
        }
    }

    /// Adds every requirement of `other` to `set`.
    pub fn add(&self, set: &mut [u64], other: &[u64], problem: &Problem) {
        for key in 0..self.keys() {
            self.add_key(set, other, key, values_of(problem, key));
        }
    }

    /// Adds the listed values of `other` on `key` to the bits of `set`, whatever they mean.
    pub fn union_bits(&self, set: &mut [u64], other: &[u64], key: usize) {
        let range = self.range(key);
        for (a, b) in set[range.clone()][FIXED..].iter_mut().zip(&other[range][FIXED..]) {
            *a |= b;
        }
    }

    /// Sets the bit of one value of `key`.
    pub fn set_bit(&self, set: &mut [u64], key: usize, value: u32) {
        set[self.range(key)][FIXED + value as usize / 64] |= 1 << (value % 64);
    }

    /// True when the two sets say different things about `key`.
    pub fn differs(&self, a: &[u64], b: &[u64], key: usize) -> bool {
        a[self.range(key)] != b[self.range(key)]
    }

    /// True when every node that `set` describes satisfies `other`; `room` is as long as a set.
    /// A well-known label that `set` names is there.
    pub fn is_within(
        &self,
        set: &[u64],
        other: &[u64],
        room: &mut [u64],
        problem: &Problem,
    ) -> bool {
        room.copy_from_slice(set);
        self.add(room, other, problem);
        (0..self.keys()).all(|key| {
            let range = self.range(key);
            let changed = (set[range.start] ^ room[range.start]) & ((1 << MIN_VALUES_SHIFT) - 1);
            let ignored = if problem.keys[key].is_well_known { MUST_EXIST } else { 0 };
            changed & !ignored == 0 && set[range.clone()][1..] == room[range][1..]
        })
    }

    /// Words of value bits of `key`.
    pub fn bit_words(&self, key: usize) -> usize {
        self.range(key).len() - FIXED
    }

    /// The first key on which the two sets exclude each other. Keys that only one side holds
    /// are fine, and so is a pair that only forbids (`NotIn` or `DoesNotExist` on both).
    pub fn conflict(&self, a: &[u64], b: &[u64], problem: &Problem) -> Option<usize> {
        (0..self.keys()).find(|&key| self.conflicts_on(a, b, key, problem))
    }

    /// [`Layout::conflict`] on one key.
    pub fn conflicts_on(&self, a: &[u64], b: &[u64], key: usize, problem: &Problem) -> bool {
        let range = self.range(key);
        if a[range.start] & b[range.start] & PRESENT == 0 {
            return false;
        }
        let (a, b) = (Need::read(&a[range.clone()]), Need::read(&b[range]));
        !a.meets(b, values_of(problem, key)) && !(a.only_forbids() && b.only_forbids())
    }

    /// Why `incoming` cannot be added to `node`: the node lacks a label that it asks for
    /// (a well-known one may still be set at launch when `allows_well_known`), or the two
    /// exclude each other. Not symmetric.
    pub fn incompatible(
        &self,
        node: &[u64],
        incoming: &[u64],
        allows_well_known: bool,
        problem: &Problem,
    ) -> Option<Incompatible> {
        self.incompatible_on(node, node, incoming, allows_well_known, problem)
    }

    /// [`Layout::incompatible`] where `own` says which labels the node has, and `node` what it
    /// has come to be with the pods placed on it: what pods forbid gives a node no label.
    pub fn incompatible_on(
        &self,
        own: &[u64],
        node: &[u64],
        incoming: &[u64],
        allows_well_known: bool,
        problem: &Problem,
    ) -> Option<Incompatible> {
        for key in 0..self.keys() {
            if self.lacks(own, incoming, allows_well_known, key, problem) {
                return Some(Incompatible::Unknown(key as u32));
            }
        }
        self.conflict(node, incoming, problem).map(|key| Incompatible::Conflict(key as u32))
    }

    fn lacks(&self, node: &[u64], incoming: &[u64], wk: bool, key: usize, p: &Problem) -> bool {
        self.has(incoming, key)
            && !self.has(node, key)
            && !(wk && p.keys[key].is_well_known)
            && !self.get(incoming, key).only_forbids()
    }
}

/// The values of a key.
pub fn values_of<'a>(problem: &Problem<'a>, key: usize) -> &'a [Value] {
    problem.keys[key].values.of(problem.values)
}

/// Why two sets do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incompatible {
    /// The node does not define the key.
    Unknown(u32),
    /// The values exclude each other.
    Conflict(u32),
}

/// How a requirement reads to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// One of the values.
    In,
    /// None of the values.
    NotIn,
    /// Any value.
    Exists,
    /// No value.
    DoesNotExist,
}

/// What a dense set says about one key.
#[derive(Clone, Copy, Debug)]
pub struct Need<'s> {
    head: u64,
    lower: i64,
    upper: i64,
    bits: &'s [u64],
}

impl<'s> Need<'s> {
    fn read(words: &'s [u64]) -> Self {
        let head = if words[0] & PRESENT == 0 { COMPLEMENT } else { words[0] };
        Self { head, lower: words[1] as i64, upper: words[2] as i64, bits: &words[FIXED..] }
    }

    /// True when values are excluded rather than listed.
    pub fn is_complement(&self) -> bool {
        self.head & COMPLEMENT != 0
    }

    /// Lowest allowed integer.
    pub fn lower(&self) -> Option<i64> {
        (self.head & LOWER != 0).then_some(self.lower)
    }

    /// Highest allowed integer.
    pub fn upper(&self) -> Option<i64> {
        (self.head & UPPER != 0).then_some(self.upper)
    }

    /// Distinct values that must stay possible.
    pub fn min_values(&self) -> u16 {
        (self.head >> MIN_VALUES_SHIFT) as u16
    }

    /// Listed values (excluded ones of a complement) as bits by rank.
    pub fn bits(&self) -> &'s [u64] {
        self.bits
    }

    /// Number of listed values.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// True when no value is listed.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&w| w == 0)
    }

    /// The one value that is allowed, when exactly one is listed.
    pub fn single(&self) -> Option<u32> {
        if self.is_complement() || self.len() != 1 {
            return None;
        }
        let word = self.bits.iter().position(|&w| w != 0)?;
        Some(word as u32 * 64 + self.bits[word].trailing_zeros())
    }

    /// Ranks of the listed values, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = u32> + 's {
        ranks(self.bits)
    }

    /// How it reads: bounds do not change the operator.
    pub fn operator(&self) -> Operator {
        match (self.is_complement(), self.is_empty()) {
            (true, false) => Operator::NotIn,
            (true, true) => Operator::Exists,
            (false, false) => Operator::In,
            (false, true) => Operator::DoesNotExist,
        }
    }

    /// True when a missing label satisfies it: `NotIn` and `DoesNotExist`, unless something
    /// that went into it asks for the label.
    pub fn only_forbids(&self) -> bool {
        matches!(self.operator(), Operator::NotIn | Operator::DoesNotExist)
            && self.head & MUST_EXIST == 0
    }

    fn in_bounds(&self, value: Value) -> bool {
        within(value, self.lower(), self.upper())
    }

    /// True when the value of this rank is allowed.
    pub fn allows(&self, rank: u32, values: &[Value]) -> bool {
        let listed = self.bits[rank as usize / 64] >> (rank % 64) & 1 != 0;
        listed != self.is_complement() && self.in_bounds(values[rank as usize])
    }

    /// True when some value is allowed by both. Two complements always meet unless their
    /// bounds cross, even when the exclusions leave nothing.
    pub fn meets(&self, other: Need, values: &[Value]) -> bool {
        let (lower, upper) = bounds(*self, other);
        if crosses(lower, upper) {
            return false;
        }
        if self.is_complement() && other.is_complement() {
            return true;
        }
        let mut common =
            self.bits.iter().zip(other.bits).map(|(a, b)| self.mask(*a) & other.mask(*b));
        if lower.is_none() && upper.is_none() {
            return common.any(|w| w != 0);
        }
        common
            .enumerate()
            .any(|(i, w)| word_ranks(i, w).any(|rank| within(values[rank as usize], lower, upper)))
    }

    fn mask(&self, word: u64) -> u64 {
        if self.is_complement() { !word } else { word }
    }
}

/// Ranks of set bits, ascending.
pub fn ranks(bits: &[u64]) -> impl Iterator<Item = u32> + '_ {
    bits.iter().enumerate().flat_map(|(i, &w)| word_ranks(i, w))
}

fn word_ranks(index: usize, word: u64) -> impl Iterator<Item = u32> {
    let mut rest = word;
    core::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        Some(index as u32 * 64 + bit)
    })
}

fn bounds(a: Need, b: Need) -> (Option<i64>, Option<i64>) {
    let lower = match (a.lower(), b.lower()) {
        (Some(x), Some(y)) => Some(x.max(y)),
        (x, y) => x.or(y),
    };
    let upper = match (a.upper(), b.upper()) {
        (Some(x), Some(y)) => Some(x.min(y)),
        (x, y) => x.or(y),
    };
    (lower, upper)
}

fn crosses(lower: Option<i64>, upper: Option<i64>) -> bool {
    matches!((lower, upper), (Some(l), Some(u)) if l > u)
}

fn within(value: Value, lower: Option<i64>, upper: Option<i64>) -> bool {
    if lower.is_none() && upper.is_none() {
        return true;
    }
    value.integer.is_some_and(|n| lower.is_none_or(|l| l <= n) && upper.is_none_or(|u| n <= u))
}

/// Intersects the words of one key with `other`. Crossing bounds leave nothing; values
/// outside the bounds are dropped; a list needs no bounds any more.
fn intersect(words: &mut [u64], other: Need, values: &[Value]) {
    let mine = if words[0] & PRESENT == 0 { COMPLEMENT } else { words[0] };
    let own = Need { head: mine, lower: words[1] as i64, upper: words[2] as i64, bits: &[] };
    let (lower, upper) = bounds(own, other);
    let min_values = u64::from(own.min_values().max(other.min_values())) << MIN_VALUES_SHIFT;
    let kept = min_values | (own.head | other.head) & MUST_EXIST;
    if crosses(lower, upper) {
        words.fill(0);
        words[0] = PRESENT | kept;
        return;
    }
    let (a, b) = (own.is_complement(), other.is_complement());
    for (i, word) in words[FIXED..].iter_mut().enumerate() {
        let (x, y) = (*word, other.bits[i]);
        let merged = match (a, b) {
            (true, true) => x | y,
            (true, false) => y & !x,
            (false, true) => x & !y,
            (false, false) => x & y,
        };
        *word = if lower.is_none() && upper.is_none() {
            merged
        } else {
            word_ranks(i, merged)
                .filter(|&r| within(values[r as usize], lower, upper))
                .fold(0, |acc, r| acc | 1 << (r % 64))
        };
    }
    let mut head = PRESENT | kept;
    if a && b {
        head |= COMPLEMENT;
        head |= if lower.is_some() { LOWER } else { 0 };
        head |= if upper.is_some() { UPPER } else { 0 };
        words[1] = lower.unwrap_or(0) as u64;
        words[2] = upper.unwrap_or(0) as u64;
    } else {
        words[1] = 0;
        words[2] = 0;
    }
    words[0] = head;
}

/// A key index as an option.
pub fn key(index: u32) -> Option<usize> {
    (index != NONE).then_some(index as usize)
}
