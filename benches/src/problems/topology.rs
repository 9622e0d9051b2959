//! Topology groups, what is counted in them, and the rules of classes.

use dunnage_engine_core::problem::{
    Domain, Group, GroupKind, Link, NONE, NodeCount, PodClass, Requirement, Span, Term,
};

use crate::draw::Draw;
use crate::problems::Size;
use crate::problems::labels::{Labels, set};
use crate::problems::machines::tolerations;
use crate::tables::{Tables, add, push};

/// A rule of classes: the group, its inverse, which classes it selects and which own it.
struct Rule {
    group: u32,
    inverse: u32,
    kind: GroupKind,
    selects: Vec<u32>,
    owners: Vec<u32>,
}

/// Writes groups and gives classes their rules.
pub fn groups(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) {
    let classes = t.classes.len() as u32;
    let mut rules = Vec::new();
    for _ in 0..draw.below(size.groups + 1) {
        use GroupKind::{Affinity, AntiAffinity, Inverse, Spread};
        let kind = draw.one_of(&[Spread, Spread, Affinity, AntiAffinity, AntiAffinity, Inverse]);
        let selects = draw.some_below(classes, 50);
        let mut owners = match kind {
            // Its owners stand on nodes already.
            Inverse => Vec::new(),
            _ => draw.some_below(classes, 30),
        };
        let template = group(t, draw, kind, labels, owners.first().copied());
        if template.filter.len > 0 || template.honors_taints {
            // Owners with other selectors or tolerations have a group of their own.
            owners.truncate(1);
        }
        let group = add(&mut t.groups, template);
        let inverse = if kind == AntiAffinity {
            let row = Group { kind: Inverse, filter: Span::default(), ..template };
            add(&mut t.groups, row)
        } else {
            NONE
        };
        rules.push(Rule { group, inverse, kind, selects, owners });
    }
    count(t, draw);
    give(t, draw, &rules);
}

fn group(
    t: &mut Tables,
    draw: &mut Draw,
    kind: GroupKind,
    labels: &Labels,
    owner: Option<u32>,
) -> Group {
    let is_hostname = draw.chance(35);
    let key = draw.one_of(&[labels.zone, labels.zone, labels.kind, labels.family, labels.team]);
    let mut row =
        Group { kind, key: if is_hostname { NONE } else { key }, is_hostname, ..Group::default() };
    if kind == GroupKind::Spread {
        row.max_skew = 1 + draw.below(2);
        row.min_domains = draw.one_of(&[0, 0, 0, 1, 2, 3]);
        row.honors_taints = draw.chance(30);
        row.honors_pool_taints = row.honors_taints;
        if let Some(owner) = owner {
            let class = t.classes[owner as usize];
            row.tolerations = class.tolerations;
            if draw.chance(70) {
                row.filter = filter(t, &class);
            }
        } else {
            row.tolerations = tolerations(t, draw);
        }
    }
    row
}

/// What the owner itself asks of nodes: selector and any one term.
fn filter(t: &mut Tables, class: &PodClass) -> Span {
    let selector = t.sets[class.selector as usize].of(&t.requirements).to_vec();
    let terms = class.required.of(&t.terms).to_vec();
    let own = |t: &Tables, term: &Term| t.sets[term.set as usize].of(&t.requirements).to_vec();
    let sets: Vec<Vec<Requirement>> = if terms.is_empty() {
        vec![selector]
    } else {
        // A selector on the key of a term wins, which is narrower or the same.
        terms.iter().map(|term| [selector.clone(), own(t, term)].concat()).collect()
    };
    if sets == [Vec::new()] {
        return Span::default();
    }
    let rows: Vec<_> = sets.into_iter().map(|rows| Term { set: set(t, rows), weight: 0 }).collect();
    push(&mut t.terms, rows)
}

/// Writes known domains and the pods that real nodes hold.
fn count(t: &mut Tables, draw: &mut Draw) {
    let mut on_nodes = vec![Vec::new(); t.nodes.len()];
    for g in 0..t.groups.len() {
        let group = t.groups[g];
        let has_pods = draw.chance(50);
        if group.is_hostname {
            let mut total = 0;
            for rows in &mut on_nodes {
                let count = if has_pods && draw.chance(40) { 1 + draw.below(2) } else { 0 };
                if count > 0 {
                    rows.push(NodeCount { group: g as u32, count });
                    total += count;
                }
            }
            t.groups[g].total = total;
            continue;
        }
        let mut known: Vec<u32> =
            t.nodes.iter().filter_map(|n| label(t, n.set, group.key)).collect();
        known.sort_unstable();
        known.dedup();
        let rows: Vec<_> = known
            .into_iter()
            .map(|value| Domain { value, count: if has_pods { draw.below(3) } else { 0 } })
            .collect();
        t.groups[g].total = rows.iter().map(|d| d.count).sum();
        t.groups[g].domains = push(&mut t.domains, rows);
    }
    for (node, rows) in t.nodes.iter_mut().zip(on_nodes) {
        node.counts = push(&mut t.node_counts, rows);
    }
}

/// The value of a node's label.
fn label(t: &Tables, node: u32, key: u32) -> Option<u32> {
    let rows = t.sets[node as usize].of(&t.requirements);
    let row = rows.iter().find(|r| r.key == key)?;
    row.values.of(&t.requirement_values).first().copied()
}

fn give(t: &mut Tables, draw: &mut Draw, rules: &[Rule]) {
    for class in 0..t.classes.len() as u32 {
        let mut links = Vec::new();
        let mut matches = Vec::new();
        for rule in rules {
            if rule.selects.contains(&class) {
                matches.push(rule.group);
                if rule.inverse != NONE {
                    matches.push(rule.inverse);
                }
            }
            if rule.owners.contains(&class) {
                let is_soft = draw.chance(25);
                let weight = match rule.kind {
                    _ if !is_soft => 0,
                    GroupKind::Spread => 1,
                    _ => 1 + draw.below(3),
                };
                let inverse = if is_soft { NONE } else { rule.inverse };
                links.push((
                    rule.kind,
                    Link { group: rule.group, weight, inverse, ..Link::default() },
                ));
            }
        }
        links.sort_by_key(|(kind, link)| match kind {
            GroupKind::Spread => (*kind, 0),
            // Required ones, then the heaviest preferences.
            _ => (*kind, if link.weight == 0 { 0 } else { 100 - link.weight }),
        });
        let row = &mut t.classes[class as usize];
        row.links = push(&mut t.links, links.into_iter().map(|(_, link)| link));
        row.matches = push(&mut t.matches, matches);
    }
}
