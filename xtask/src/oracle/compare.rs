//! Is our answer one that Karpenter could have given? Exactly, by a tie that is proven, or
//! not. It knows nothing of programs and files.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Answer, Launch};
use super::groups::Groups;
use super::kinds::Kind;

/// How one of our answers stands to the oracle's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything equals one run.
    Exact,
    /// Equal but for a choice that is free, and why it is.
    Tie(&'static str),
    /// Neither; what differs from the nearest run.
    Different(Vec<String>),
}

/// Holds `ours` against the distinct answers of the oracle's runs.
pub fn compare(ours: &Answer, theirs: &[Answer], groups: &Groups) -> Verdict {
    if theirs.contains(ours) {
        return Verdict::Exact;
    }
    let grouped = Grouped::of(ours, groups);
    let all: Vec<Grouped> = theirs.iter().map(|t| Grouped::of(t, groups)).collect();
    if all.contains(&grouped) {
        return Verdict::Tie("interchangeable pods");
    }
    if all.iter().any(|t| grouped.costs_the_same(t)) {
        return Verdict::Tie("equal price, launches and use of nodes");
    }
    if all.iter().any(|t| grouped.is_same_under_other_zones(t)) {
        return Verdict::Tie("interchangeable zones");
    }
    let nearest = all.iter().min_by_key(|t| differences(&grouped, t).len());
    Verdict::Different(
        nearest.map_or_else(
            || vec!["the oracle gave no answer".to_owned()],
            |t| differences(&grouped, t),
        ),
    )
}

/// For inputs on which no two runs of upstream agree: the same pods placed and left for the
/// same reasons as in some run, and no fewer or more launches, and no lower or higher
/// price, than the runs themselves span. A weaker proof than a tie of `compare`.
pub fn is_within_span(ours: &Answer, theirs: &[Answer], groups: &Groups) -> bool {
    let grouped = Grouped::of(ours, groups);
    let has_same_pods = theirs.iter().any(|t| grouped.has_same_pods(&Grouped::of(t, groups)));
    let spans = |of: fn(&Answer) -> i64| {
        let mine = of(ours);
        theirs.iter().any(|t| of(t) <= mine) && theirs.iter().any(|t| of(t) >= mine)
    };
    has_same_pods
        && spans(Answer::price_microusd)
        && spans(|a| i64::try_from(a.launches.len()).unwrap_or(i64::MAX))
}

/// An answer in which interchangeable pods have one name.
#[derive(Debug, PartialEq, Eq)]
struct Grouped {
    answer: Answer,
    /// Group → how many of it stay unplaced for these kinds of reason.
    unplaced: BTreeMap<(String, BTreeSet<Kind>), usize>,
    /// Group → how many of it are placed.
    placed: BTreeMap<String, usize>,
}

impl Grouped {
    fn of(answer: &Answer, groups: &Groups) -> Self {
        let mut unplaced = BTreeMap::new();
        for (pod, kinds) in &answer.unplaced {
            *unplaced.entry((groups.name(pod), kinds.clone())).or_insert(0) += 1;
        }
        let mut placed = BTreeMap::new();
        for pod in answer.placed() {
            *placed.entry(groups.name(pod)).or_insert(0) += 1;
        }
        let mut answer = answer.renamed(|p| groups.name(p));
        answer.unplaced.clear();
        Self { answer, unplaced, placed }
    }

    fn has_same_pods(&self, other: &Self) -> bool {
        self.placed == other.placed && self.unplaced == other.unplaced
    }

    /// The same pods on as many machines for the same money, and the same on what exists.
    fn costs_the_same(&self, other: &Self) -> bool {
        self.has_same_pods(other)
            && self.answer.launches.len() == other.answer.launches.len()
            && self.answer.price_microusd() == other.answer.price_microusd()
            && self.answer.bind == other.answer.bind
    }

    /// One exchange of zone names turns the launches into the other's. Prices follow the
    /// zone, so they are left out.
    fn is_same_under_other_zones(&self, other: &Self) -> bool {
        if !self.has_same_pods(other) || self.answer.bind != other.answer.bind {
            return false;
        }
        let want = without_prices(&other.answer.launches, &|z| z.to_owned());
        let from = zones(&self.answer.launches);
        let mut all = from.clone();
        all.extend(zones(&other.answer.launches));
        let all: Vec<String> = all.into_iter().collect();
        arrangements(&all).into_iter().any(|to| {
            let swap = |z: &str| {
                let at = all.iter().position(|a| a == z);
                at.and_then(|i| to.get(i)).cloned().unwrap_or_else(|| z.to_owned())
            };
            without_prices(&self.answer.launches, &swap) == want
        })
    }
}

/// Zones that an `In` of any launch names. The text is `In {"a", "b"}`.
fn zones(launches: &[Launch]) -> BTreeSet<String> {
    let quoted = launches.iter().flat_map(|l| l.zone.split('"').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

fn without_prices(launches: &[Launch], zone: &dyn Fn(&str) -> String) -> Vec<Launch> {
    let renamed = |launch: &Launch| {
        let mut parts: Vec<String> = launch.zone.split('"').map(str::to_owned).collect();
        let mut names: Vec<String> = parts.iter().skip(1).step_by(2).map(|z| zone(z)).collect();
        names.sort();
        for (part, name) in parts.iter_mut().skip(1).step_by(2).zip(names) {
            *part = name;
        }
        Launch { zone: parts.join("\""), price_microusd: 0, ..launch.clone() }
    };
    let mut out: Vec<Launch> = launches.iter().map(renamed).collect();
    out.sort();
    out
}

/// Every order of the names; none for more than six, where it would be no proof but a search.
fn arrangements(names: &[String]) -> Vec<Vec<String>> {
    if names.len() > 6 {
        return Vec::new();
    }
    let mut out = vec![Vec::new()];
    for name in names {
        out = out
            .iter()
            .flat_map(|done: &Vec<String>| {
                (0..=done.len()).map(|at| {
                    let mut next = done.clone();
                    next.insert(at, name.clone());
                    next
                })
            })
            .collect();
    }
    out
}

/// What differs, a line each, in the order in which one would look.
fn differences(ours: &Grouped, theirs: &Grouped) -> Vec<String> {
    let mut out = Vec::new();
    let groups: BTreeSet<&String> = ours.placed.keys().chain(theirs.placed.keys()).collect();
    for group in groups {
        let count = |side: &Grouped| side.placed.get(group).copied().unwrap_or(0);
        if count(ours) != count(theirs) {
            out.push(format!("placed, {group}: ours {}, theirs {}", count(ours), count(theirs)));
        }
    }
    let reasons = |a: &Grouped, b: &Grouped, who: &str, out: &mut Vec<String>| {
        for ((group, kinds), n) in &a.unplaced {
            if b.unplaced.get(&(group.clone(), kinds.clone())) != Some(n) {
                let kinds: Vec<&str> = kinds.iter().map(Kind::name).collect();
                out.push(format!("{who} leaves {n} {group} because of {kinds:?}"));
            }
        }
    };
    reasons(ours, theirs, "ours", &mut out);
    reasons(theirs, ours, "theirs", &mut out);
    let (o, t) = (&ours.answer, &theirs.answer);
    if o.launches.len() != t.launches.len() {
        out.push(format!("launches: ours {}, theirs {}", o.launches.len(), t.launches.len()));
    }
    if o.price_microusd() != t.price_microusd() {
        out.push(format!(
            "micro-dollars: ours {}, theirs {}",
            o.price_microusd(),
            t.price_microusd()
        ));
    }
    let nodes: BTreeSet<&String> = o.bind.keys().chain(t.bind.keys()).collect();
    for node in nodes.into_iter().filter(|n| o.bind.get(*n) != t.bind.get(*n)) {
        let shown = |a: &Answer| tally(a.bind.get(node).map_or(&[][..], Vec::as_slice));
        out.push(format!("node {node}: ours {}, theirs {}", shown(o), shown(t)));
    }
    out.extend(only_in(&o.launches, &t.launches, "ours"));
    out.extend(only_in(&t.launches, &o.launches, "theirs"));
    out
}

/// Launches of one side that the other lacks.
fn only_in(these: &[Launch], others: &[Launch], who: &str) -> Vec<String> {
    let mut rest = others.to_vec();
    let mut out = Vec::new();
    for launch in these {
        if let Some(at) = rest.iter().position(|o| o == launch) {
            rest.remove(at);
            continue;
        }
        out.push(format!(
            "only {who}: {} types={} zone={} capacity={} price={} pods={}",
            launch.pool,
            shown_types(&launch.types),
            launch.zone,
            launch.capacity_type,
            launch.price_microusd,
            tally(&launch.pods)
        ));
    }
    out
}

fn shown_types(types: &BTreeSet<String>) -> String {
    let few: Vec<&str> = types.iter().take(4).map(String::as_str).collect();
    format!("{}[{}…]", types.len(), few.join(" "))
}

/// `2x like a, 1x like b`.
fn tally(pods: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in pods {
        *counts.entry(pod).or_insert(0) += 1;
    }
    let rows: Vec<String> = counts.iter().map(|(p, n)| format!("{n}x {p}")).collect();
    format!("({})", rows.join(", "))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
