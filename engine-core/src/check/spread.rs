//! Topology rules over the values of a label, replayed in the order of placing.
//!
//! A node to open may still be in several domains. Its pods count nowhere for sure then, and
//! possibly in each; a rule must hold whichever domain it turns out to be.

use super::existing;
use super::labels::Allowed;
use super::machine::Opened;
use super::tables::{self, Case, domain_words, is_per_node};
use super::topology::Arrival;
use super::violation::{Rule, Violation};
use super::{Lent, pools};
use crate::decision::{Target, TemplateState};
use crate::problem::{Group, GroupKind, NONE, PodClass, Problem, Template};

/// Domains that the target of a placement may be in.
#[derive(Clone, Copy)]
enum Domains<'m> {
    /// The label of a real node.
    Label(Option<u32>),
    /// A bit for each value, then one for another value or none.
    Open(&'m [u64], u32),
}

impl Domains<'_> {
    fn contains(self, value: u32) -> bool {
        match self {
            Self::Label(label) => label == Some(value),
            Self::Open(bits, _) => bits[value as usize / 64] >> (value % 64) & 1 != 0,
        }
    }

    /// True when the target may be outside all domains.
    fn may_lack(self) -> bool {
        match self {
            Self::Label(label) => label.is_none(),
            Self::Open(_, values) => self.contains(values),
        }
    }

    /// True when exactly one domain is possible.
    fn is_settled(self) -> bool {
        match self {
            Self::Label(label) => label.is_some(),
            Self::Open(bits, _) => {
                bits.iter().map(|w| w.count_ones()).sum::<u32>() == 1 && !self.may_lack()
            }
        }
    }
}

/// Counts by domain of all groups over a label.
struct Counts<'m> {
    /// First count and first word of each group.
    at: &'m [u32],
    word_at: &'m [u32],
    /// Least that surely counts, most that may count.
    least: &'m mut [u32],
    most: &'m mut [u32],
    /// Domains that exist or can be offered, as bits.
    known: &'m mut [u64],
}

impl Counts<'_> {
    fn least(&self, group: u32, value: u32) -> u32 {
        self.least[(self.at[group as usize] + value) as usize]
    }

    fn most(&self, group: u32, value: u32) -> u32 {
        self.most[(self.at[group as usize] + value) as usize]
    }

    fn is_known(&self, group: u32, value: u32) -> bool {
        let word = self.word_at[group as usize] + value / 64;
        self.known[word as usize] >> (value % 64) & 1 != 0
    }

    fn learn(&mut self, group: u32, value: u32) {
        let word = self.word_at[group as usize] + value / 64;
        self.known[word as usize] |= 1 << (value % 64);
    }

    fn add(&mut self, group: u32, values: u32, domains: Domains, pods: u32, sure: bool) {
        for value in (0..values).filter(|v| domains.contains(*v)) {
            let at = (self.at[group as usize] + value) as usize;
            self.most[at] = self.most[at].saturating_add(pods);
            if sure && domains.is_settled() {
                self.least[at] = self.least[at].saturating_add(pods);
                self.learn(group, value);
            }
        }
    }
}

/// Domains of all new nodes: for each key that a group uses, and each node, a row of bits.
struct Openings<'m> {
    /// First word of each key within a node's words; `NONE` for a key without groups.
    at: &'m [u32],
    words: &'m [u64],
    width: usize,
}

/// Replays all placements against the rules over labels.
pub(super) fn replay(
    case: Case,
    numbers: &mut Lent<u32>,
    words: &mut Lent<u64>,
) -> Result<(), Violation> {
    let problem = case.problem;
    let key_at = numbers.take(problem.keys.len() + 1)?;
    let (width, widest) = lay_out_domains(problem, key_at);
    let open = words.take(width * case.decision.new_nodes.len())?;
    find_openings(case, key_at, open, width);
    let openings = Openings { at: key_at, words: open, width };

    let at = numbers.take(problem.groups.len() + 1)?;
    let word_at = numbers.take(problem.groups.len() + 1)?;
    let (cells, known) = lay_out_counts(problem, at, word_at);
    let mut counts = Counts {
        at,
        word_at,
        least: numbers.take(cells)?,
        most: numbers.take(cells)?,
        known: words.take(known)?,
    };
    load(case, &mut counts, words.take(widest)?);
    for row in 0..case.decision.placements.len() as u32 {
        let arrival = Arrival::of(case, row);
        if arrival.placement.count > 0 {
            keeps_rules(arrival, &openings, &counts)?;
            record(arrival, &openings, &mut counts);
        }
    }
    Ok(())
}

fn values(problem: &Problem, group: &Group) -> u32 {
    problem.keys[group.key as usize].values.len
}

/// Places the keys of groups within a node's words; the sum of words and the most of one key.
fn lay_out_domains(problem: &Problem, key_at: &mut [u32]) -> (usize, usize) {
    let (mut width, mut widest) = (0, 0);
    for (key, at) in (0..problem.keys.len() as u32).zip(key_at.iter_mut()) {
        *at = NONE;
        if problem.groups.iter().any(|g| !is_per_node(g) && g.key == key) {
            let words = domain_words(problem.keys[key as usize].values.len as usize);
            *at = width as u32;
            width += words;
            widest = widest.max(words);
        }
    }
    (width, widest)
}

/// Places the counts and words of groups; how many there are.
fn lay_out_counts(problem: &Problem, at: &mut [u32], word_at: &mut [u32]) -> (usize, usize) {
    let (mut cells, mut words) = (0, 0);
    for (g, group) in problem.groups.iter().enumerate() {
        (at[g], word_at[g]) = (cells, words);
        if !is_per_node(group) {
            cells += values(problem, group);
            words += values(problem, group).div_ceil(64);
        }
    }
    (cells as usize, words as usize)
}

/// Writes the domains that each new node may be in.
fn find_openings(case: Case, key_at: &[u32], words: &mut [u64], width: usize) {
    if width == 0 {
        return;
    }
    for (row, words) in (0..).zip(words.chunks_exact_mut(width)) {
        let opened = Opened::of(case, row);
        for (key, at) in (0..case.problem.keys.len() as u32).zip(key_at) {
            if *at != NONE {
                let values = tables::values(case.problem, key).len();
                let bits = &mut words[*at as usize..][..domain_words(values)];
                find_domains(opened, key, values as u32, bits);
            }
        }
    }
}

/// Writes the values of `key` that machines of the node may have.
fn find_domains(opened: Opened, key: u32, values: u32, bits: &mut [u64]) {
    let problem = opened.case.problem;
    let all = tables::values(problem, key);
    let asked = opened.asks(key);
    let is_asked = |v: &u32| asked.is_none_or(|a| a.allows(*v, all));
    bits.fill(0);
    let mut set = |value: u32| bits[value as usize / 64] |= 1 << (value % 64);
    for (_, t) in opened.types() {
        let own = tables::find(problem, t.set, key).filter(|own| own.is_list());
        for (_, o) in opened.gets(t) {
            match (tables::offered_value(problem, o, key), own, asked) {
                (Some(value), _, _) => set(value),
                (None, Some(own), _) => {
                    (0..values).filter(is_asked).filter(|v| own.allows(*v, all)).for_each(&mut set);
                }
                (None, None, Some(asked)) if asked.is_list() => {
                    (0..values).filter(is_asked).for_each(&mut set);
                }
                (None, None, _) => set(values),
            }
        }
    }
}

/// Sets counts to what real nodes hold, and known domains to theirs and those on offer.
fn load(case: Case, counts: &mut Counts, bits: &mut [u64]) {
    let problem = case.problem;
    counts.least.fill(0);
    counts.most.fill(0);
    counts.known.fill(0);
    for (row, group) in (0..).zip(problem.groups).filter(|(_, g)| !is_per_node(g)) {
        for domain in group.domains.of(problem.domains) {
            let at = (counts.at[row as usize] + domain.value) as usize;
            (counts.least[at], counts.most[at]) = (domain.count, domain.count);
            counts.learn(row, domain.value);
        }
    }
    for (template, state) in problem.templates.iter().zip(case.decision.templates) {
        if *state == TemplateState::Open {
            learn_offers(case, template, counts, bits);
        }
    }
}

/// Makes the domains that a template can offer known to the groups that may count them.
fn learn_offers(case: Case, template: &Template, counts: &mut Counts, bits: &mut [u64]) {
    let problem = case.problem;
    for key in 0..problem.keys.len() as u32 {
        let minds = |g: &Group| !is_per_node(g) && g.key == key;
        if !problem.groups.iter().any(minds) {
            continue;
        }
        let values = tables::values(problem, key).len() as u32;
        find_offers(case, template, key, bits);
        for (row, group) in (0..).zip(problem.groups).filter(|(_, g)| minds(g)) {
            let shuns = group.honors_pool_taints
                && tables::untolerated(problem, template.taints, group.tolerations).is_some();
            let offered = |v: &u32| bits[*v as usize / 64] >> (v % 64) & 1 != 0;
            for value in (0..values).filter(|v| !shuns && offered(v)) {
                counts.learn(row, value);
            }
        }
    }
}

/// Writes the values of `key` that machines of the template can have.
fn find_offers(case: Case, template: &Template, key: u32, bits: &mut [u64]) {
    let problem = case.problem;
    let all = tables::values(problem, key);
    let pool = tables::find(problem, template.set, key);
    let is_offered = problem.offering_labels.iter().any(|l| l.key == key);
    bits.fill(0);
    let mut set = |value: u32| bits[value as usize / 64] |= 1 << (value % 64);
    for t in pools::types_of(case, template) {
        let of = &problem.types[t as usize];
        if is_offered {
            tables::offerings(problem, of)
                .filter(|(_, o)| tables::is_sold(problem, template.set, o))
                .filter_map(|(_, o)| tables::offered_value(problem, o, key))
                .for_each(&mut set);
            continue;
        }
        let own = tables::find(problem, of.set, key);
        if own.is_some_and(|a| a.is_list()) || pool.is_some_and(|a| a.is_list()) {
            let allows = |side: Option<Allowed>, v: u32| side.is_none_or(|a| a.allows(v, all));
            (0..all.len() as u32)
                .filter(|v| allows(own, *v) && allows(pool, *v))
                .for_each(&mut set);
        }
    }
}

fn domains<'m>(arrival: Arrival, group: &Group, openings: &Openings<'m>) -> Domains<'m> {
    let problem = arrival.case.problem;
    match arrival.placement.target {
        Target::Node(row) => {
            let node = &problem.nodes[row as usize];
            Domains::Label(existing::label(problem, node, group.key))
        }
        Target::New(row) => {
            let values = values(problem, group);
            let at = row as usize * openings.width + openings.at[group.key as usize] as usize;
            Domains::Open(&openings.words[at..][..domain_words(values as usize)], values)
        }
    }
}

/// Some required term of the class holds on the target, and with it every rule.
fn keeps_rules(arrival: Arrival, openings: &Openings, counts: &Counts) -> Result<(), Violation> {
    let problem = arrival.case.problem;
    if arrival.rules().any(|(_, g, _)| !is_per_node(g)) {
        let terms = arrival.class.required.of(problem.terms);
        let mut result = Ok(());
        if terms.is_empty() {
            keeps_own(arrival, None, openings, counts)?;
        }
        for term in terms.iter().filter(|t| term_holds(arrival, t.set)) {
            result = keeps_own(arrival, Some(term.set), openings, counts);
            if result.is_ok() {
                break;
            }
        }
        result?;
    }
    let inverse = |g: &Group| !is_per_node(g) && g.kind == GroupKind::Inverse;
    for (g, group) in arrival.matches().filter(|(_, g)| inverse(g)) {
        let domains = domains(arrival, group, openings);
        let mut values = (0..values(problem, group)).filter(|v| domains.contains(*v));
        if values.any(|v| counts.most(g, v) > 0) {
            return Err(arrival.refuse(Rule::InverseAntiAffinity, g));
        }
    }
    Ok(())
}

fn term_holds(arrival: Arrival, set: u32) -> bool {
    let case = arrival.case;
    match arrival.placement.target {
        Target::Node(row) => {
            existing::missed(case.problem, &case.problem.nodes[row as usize], set).is_none()
        }
        Target::New(row) => Opened::of(case, row).missed(set).is_none(),
    }
}

/// What the pod itself says about a domain: selector and one term.
#[derive(Clone, Copy)]
struct Own<'a> {
    problem: &'a Problem<'a>,
    class: &'a PodClass,
    term: Option<u32>,
    key: u32,
}

impl Own<'_> {
    fn allows(self, value: u32) -> bool {
        let values = tables::values(self.problem, self.key);
        let sets = core::iter::once(self.class.selector).chain(self.term);
        let mut found = sets.filter_map(|s| tables::find(self.problem, s, self.key));
        found.all(|a| a.allows(value, values))
    }
}

fn keeps_own(
    arrival: Arrival,
    term: Option<u32>,
    openings: &Openings,
    counts: &Counts,
) -> Result<(), Violation> {
    let (problem, class) = (arrival.case.problem, arrival.class);
    for (g, group, _) in arrival.rules().filter(|(_, g, _)| !is_per_node(g)) {
        let own = Own { problem, class, term, key: group.key };
        let domains = domains(arrival, group, openings);
        let (rule, is_kept) = match group.kind {
            GroupKind::Spread => {
                (Rule::Spread, keeps_skew(arrival, (g, group), own, domains, counts))
            }
            GroupKind::Affinity => {
                (Rule::Affinity, keeps_affinity(arrival, (g, group), own, domains, counts))
            }
            GroupKind::AntiAffinity | GroupKind::Inverse => {
                let is_alone = arrival.placement.count == 1 || !arrival.is_matched(g);
                let mut values = (0..values(problem, group)).filter(|v| domains.contains(*v));
                (Rule::AntiAffinity, values.all(|v| is_alone && counts.most(g, v) == 0))
            }
        };
        if !is_kept {
            return Err(arrival.refuse(rule, g));
        }
    }
    Ok(())
}

/// True when the last pod of the row, in the worst domain, is ahead of the emptiest by no
/// more than the skew.
fn keeps_skew(
    arrival: Arrival,
    (g, group): (u32, &Group),
    own: Own,
    domains: Domains,
    counts: &Counts,
) -> bool {
    if domains.may_lack() {
        return false;
    }
    let all = 0..values(own.problem, group);
    let eligible = |v: &u32| own.allows(*v) && (counts.is_known(g, *v) || domains.contains(*v));
    let is_few = all.clone().filter(eligible).count() < group.min_domains as usize;
    let pods = arrival.arriving(g, group);
    let mut targets = all.clone().filter(|v| domains.contains(*v));
    targets.all(|target| {
        let then = counts.most(g, target).saturating_add(pods);
        let others = all.clone().filter(eligible).filter(|v| *v != target);
        let least = if is_few { Some(0) } else { others.map(|v| counts.least(g, v)).min() };
        // Ahead of itself, the domain is by the last pod alone.
        let ahead = least.map_or(0, |least| then.saturating_sub(least));
        ahead.max(pods.min(1)) <= group.max_skew
    })
}

/// True when every possible domain holds a pod that is asked for, or the pod may start one.
fn keeps_affinity(
    arrival: Arrival,
    (g, group): (u32, &Group),
    own: Own,
    domains: Domains,
    counts: &Counts,
) -> bool {
    if domains.may_lack() {
        return false;
    }
    let all = 0..values(own.problem, group);
    // Nothing that may be counted stands in another domain that the pod allows: either the
    // pod follows what is in its own, or it starts.
    let may_start = |target: u32| {
        arrival.is_matched(g)
            && !all.clone().any(|v| v != target && own.allows(v) && counts.most(g, v) > 0)
    };
    let mut targets = all.clone().filter(|v| domains.contains(*v));
    targets.all(|target| counts.least(g, target) > 0 || may_start(target))
}

fn record(arrival: Arrival, openings: &Openings, counts: &mut Counts) {
    let (problem, pods) = (arrival.case.problem, arrival.placement.count);
    for (g, group) in arrival.matches() {
        if is_per_node(group) || group.kind == GroupKind::Inverse {
            continue;
        }
        let (surely, possibly) = arrival.counts(group);
        if possibly {
            let domains = domains(arrival, group, openings);
            counts.add(g, values(problem, group), domains, pods, surely);
        }
    }
    for (_, group, inverse) in arrival.rules() {
        if inverse != NONE && !is_per_node(group) {
            let domains = domains(arrival, group, openings);
            counts.add(inverse, values(problem, group), domains, pods, true);
        }
    }
}
