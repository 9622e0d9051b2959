//! The truth by trial: every new node is given one machine that may come, and the pods are
//! set down one by one as a scheduler would find it then. What breaks in any such world makes
//! the decision infeasible. Slow, for small problems; shares nothing with the verifier.

use std::collections::BTreeSet;

use dunnage_engine_core::decision::{NewNode, Target, TemplateState};
use dunnage_engine_core::problem::*;

use crate::generated::Rng;
use crate::tables::{Answer, Tables};

/// What a node has for one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    Absent,
    Value(u32),
    /// A value that no table names.
    Other,
}

/// Worlds tried when there are more.
const WORLDS: usize = 64;

type Found = Option<String>;

/// Why the decision is infeasible, when it is.
pub fn violation(t: &Tables, a: &Answer, rng: &mut Rng) -> Found {
    if let Some(x) = bookkeeping(t, a).or_else(|| pools(t, a)) {
        return Some(x);
    }
    let machines: Vec<_> = (0..a.new_nodes.len()).map(|n| machines_of(t, a, n)).collect();
    for (n, machines) in machines.iter().enumerate() {
        if let Some(x) = machine_choice(t, a, n, machines) {
            return Some(format!("new node {n}: {x}"));
        }
    }
    if let Some(x) = reservations(t, a, &machines) {
        return Some(x);
    }
    let options: Vec<Vec<Vec<Label>>> = machines
        .iter()
        .map(|m| m.iter().map(|m| m.labels.clone()).collect::<BTreeSet<_>>().into_iter().collect())
        .collect();
    let worlds = options.iter().fold(1usize, |n, o| n.saturating_mul(o.len()));
    for world in 0..worlds.min(WORLDS) {
        let mut rest = world;
        let pick = |options: &Vec<Vec<Label>>| {
            let at = if worlds > WORLDS { rng.next() as usize } else { rest };
            rest /= options.len();
            options[at % options.len()].clone()
        };
        let labels: Vec<_> = options.iter().map(pick).collect();
        if let Some(x) = world_breaks(t, a, &labels) {
            return Some(format!("{x} when machines are {labels:?}"));
        }
    }
    None
}

fn bookkeeping(t: &Tables, a: &Answer) -> Found {
    let classes = a.placements.iter().map(|p| p.class).chain(a.unplaced.iter().map(|u| u.class));
    if classes.into_iter().any(|c| c as usize >= t.classes.len()) {
        return Some("class does not exist".into());
    }
    let mut seen = vec![0u64; t.classes.len()];
    let mut pods = vec![0u64; a.new_nodes.len()];
    for p in &a.placements {
        seen[p.class as usize] += u64::from(p.count);
        let exists = match p.target {
            Target::Node(n) => (n as usize) < t.nodes.len(),
            Target::New(n) => (n as usize) < pods.len(),
        };
        if !exists {
            return Some("target does not exist".into());
        }
        if let Target::New(n) = p.target {
            pods[n as usize] += u64::from(p.count);
        }
        if t.classes[p.class as usize].has_device_claims {
            return Some("device claims".into());
        }
    }
    for u in &a.unplaced {
        seen[u.class as usize] += u64::from(u.count);
    }
    if seen.iter().zip(&t.classes).any(|(s, c)| *s != u64::from(c.count)) {
        return Some("pods lost or made up".into());
    }
    for (n, node) in a.new_nodes.iter().enumerate() {
        if pods[n] != u64::from(node.pods) || pods[n] == 0 {
            return Some("number of pods".into());
        }
        if a.templates.get(node.template as usize) != Some(&TemplateState::Open) {
            return Some("template".into());
        }
        let mask = mask(a, n);
        let own = &t.template_types[t.templates[node.template as usize].types.range()];
        if mask.is_empty() || mask.iter().any(|x| !own.contains(x)) {
            return Some("mask".into());
        }
    }
    None
}

fn mask(a: &Answer, n: usize) -> Vec<u32> {
    let words = &a.type_masks[n * a.type_words..][..a.type_words];
    (0..words.len() as u32 * 64).filter(|t| words[*t as usize / 64] >> (t % 64) & 1 != 0).collect()
}

/// Limits, with the largest machine of each mask.
fn pools(t: &Tables, a: &Answer) -> Found {
    let width = t.resources.len();
    for (row, template) in t.templates.iter().enumerate() {
        let own = || (0..a.new_nodes.len()).filter(|n| a.new_nodes[*n].template == row as u32);
        let count = own().count() as u32;
        if count > 0 && template.node_limit.is_some_and(|l| template.node_usage + count > l) {
            return Some("node limit".into());
        }
        for r in (0..width).filter(|r| template.limit != NONE && template.limited >> r & 1 != 0) {
            let cell = |x: u32| t.quantities[x as usize * width + r];
            let largest = |n| mask(a, n).iter().map(|x| cell(t.types[*x as usize].capacity)).max();
            let sum: i64 = own().filter_map(largest).sum();
            let used = if template.usage == NONE { 0 } else { cell(template.usage) };
            if sum > 0 && used + sum > cell(template.limit) {
                return Some("limit".into());
            }
        }
    }
    None
}

fn requirements(t: &Tables, set: u32) -> &[Requirement] {
    &t.requirements[t.sets[set as usize].range()]
}

/// True when a label satisfies a requirement, by the meaning of the operators.
fn meets(t: &Tables, r: &Requirement, label: Label) -> bool {
    let listed = &t.requirement_values[r.values.range()];
    let is_bounded = r.lower.is_some() || r.upper.is_some();
    match label {
        Label::Absent if r.is_complement => !is_bounded && !listed.is_empty(),
        Label::Absent => listed.is_empty(),
        Label::Other => r.is_complement && !is_bounded,
        Label::Value(v) => {
            let value = t.values[t.keys[r.key as usize].values.start as usize + v as usize];
            let within = !is_bounded
                || value.integer.is_some_and(|n| {
                    r.lower.unwrap_or(i64::MIN) <= n && n <= r.upper.unwrap_or(i64::MAX)
                });
            listed.contains(&v) != r.is_complement && within
        }
    }
}

fn satisfied(t: &Tables, set: u32, labels: &[Label]) -> bool {
    requirements(t, set).iter().all(|r| meets(t, r, labels[r.key as usize]))
}

/// Labels of a real node.
fn node_labels(t: &Tables, node: usize) -> Vec<Label> {
    (0..t.keys.len() as u32).map(|k| node_label(t, node, k)).collect()
}

pub fn node_label(t: &Tables, node: usize, key: u32) -> Label {
    let own = requirements(t, t.nodes[node].set).iter().find(|r| r.key == key);
    own.map_or(Label::Absent, |r| Label::Value(t.requirement_values[r.values.start as usize]))
}

/// What the launch request says of one key.
#[derive(Clone, Copy, Debug)]
struct Request {
    is_complement: bool,
    listed: u64,
    lower: Option<i64>,
    upper: Option<i64>,
    min_values: u16,
}

fn request(t: &Tables, a: &Answer, n: usize, key: usize) -> Option<Request> {
    // All keys here have at most 64 values: header, bounds, one word.
    let words = &a.sets[n * a.set_words + key * 4..][..4];
    let bit = |i: u32| words[0] >> i & 1 != 0;
    assert!(t.keys[key].values.len <= 64);
    bit(0).then(|| Request {
        is_complement: bit(1),
        listed: words[3],
        lower: bit(2).then_some(words[1] as i64),
        upper: bit(3).then_some(words[2] as i64),
        min_values: (words[0] >> 16) as u16,
    })
}

fn asked(t: &Tables, q: &Request, key: usize, value: u32) -> bool {
    let number = t.values[t.keys[key].values.start as usize + value as usize].integer;
    let is_bounded = q.lower.is_some() || q.upper.is_some();
    let within = number
        .is_some_and(|n| q.lower.unwrap_or(i64::MIN) <= n && n <= q.upper.unwrap_or(i64::MAX));
    (q.listed >> value & 1 != 0) != q.is_complement && (!is_bounded || within)
}

/// One machine that may come.
struct Machine {
    type_row: u32,
    offering: u32,
    labels: Vec<Label>,
}

fn machines_of(t: &Tables, a: &Answer, n: usize) -> Vec<Machine> {
    let mut machines = Vec::new();
    for type_row in mask(a, n) {
        for offering in t.types[type_row as usize].offerings.range() {
            let mut combinations = vec![vec![]];
            for key in 0..t.keys.len() {
                let options = options(t, a, n, type_row, &t.offerings[offering], key);
                combinations = combinations
                    .iter()
                    .flat_map(|c: &Vec<Label>| {
                        options.iter().map(move |o| [c.clone(), vec![*o]].concat())
                    })
                    .collect();
            }
            let o = &t.offerings[offering];
            let draws = o.capacity_type == CapacityType::Reserved && o.reservation != NONE;
            if o.is_available && draws == a.new_nodes[n].is_reserved {
                machines.extend(combinations.into_iter().map(|labels| Machine {
                    type_row,
                    offering: offering as u32,
                    labels,
                }));
            }
        }
    }
    machines
}

/// What the label of `key` may be; nothing when the launch request rules the machine out.
fn options(t: &Tables, a: &Answer, n: usize, ty: u32, o: &Offering, key: usize) -> Vec<Label> {
    let request = request(t, a, n, key);
    let fits = |v: &u32| request.is_none_or(|q| asked(t, &q, key, *v));
    let all = 0..t.keys[key].values.len;
    let is_well_known = t.keys[key].is_well_known;
    let label = t.offering_labels[o.labels.range()].iter().find(|l| l.key == key as u32);
    let own = requirements(t, t.types[ty as usize].set).iter().find(|r| r.key == key as u32);
    if let Some(own) = own
        && !all.clone().any(|v| fits(&v) && meets(t, own, Label::Value(v)))
    {
        return vec![];
    }
    if let Some(l) = label {
        let known = request.is_some() || is_well_known;
        return if fits(&l.value) && known { vec![Label::Value(l.value)] } else { vec![] };
    }
    if let Some(own) = own {
        let own = all.filter(|v| fits(v) && meets(t, own, Label::Value(*v)));
        return own.map(Label::Value).collect();
    }
    let template = t.templates[a.new_nodes[n].template as usize].set;
    let pool = requirements(t, template).iter().find(|r| r.key == key as u32);
    let is_defined = is_well_known || pool.is_some_and(|r| !meets(t, r, Label::Absent));
    let values = all.filter(fits).map(Label::Value);
    match request {
        Some(q) if !q.is_complement && q.listed == 0 => vec![Label::Absent],
        Some(q) if !q.is_complement => values.collect(),
        Some(q) if is_defined && q.lower.is_none() && q.upper.is_none() => {
            values.chain([Label::Other]).collect()
        }
        Some(_) if is_defined => values.collect(),
        None if is_well_known => values.chain([Label::Other]).collect(),
        _ => vec![Label::Absent],
    }
}

fn tolerates(t: &Tables, class_tolerations: Span, taints: Span, minds_soft: bool) -> bool {
    t.taints[taints.range()].iter().all(|x| {
        let soft = x.effect == Effect::PreferNoSchedule && !minds_soft;
        soft || t.tolerations[class_tolerations.range()].iter().any(|o| {
            // Only `Exists` without an effect stands in generated problems.
            assert!(o.operator == TolerationOperator::Exists && o.effect.is_none());
            o.key == 0 || o.key == x.key
        })
    })
}

/// DaemonSets that may run on a type that the template opens.
fn daemons<'t>(t: &'t Tables, node: &NewNode, ty: u32) -> impl Iterator<Item = &'t Daemon> {
    let template = t.templates[node.template as usize];
    t.daemons.iter().filter(move |d| {
        let terms = &t.terms[d.required.range()];
        assert!(requirements(t, d.selector).is_empty());
        let may = |set: u32| {
            requirements(t, set).iter().all(|r| {
                let side = |set: u32| requirements(t, set).iter().find(|x| x.key == r.key);
                let all = (0..t.keys[r.key as usize].values.len).map(Label::Value);
                let labels: Vec<_> = all.chain([Label::Other, Label::Absent]).collect();
                let both =
                    |x: &Requirement| labels.iter().any(|l| meets(t, r, *l) && meets(t, x, *l));
                let pool = side(template.set);
                let known = t.keys[r.key as usize].is_well_known || meets(t, r, Label::Absent);
                pool.map_or(known, both) && side(t.types[ty as usize].set).is_none_or(both)
            })
        };
        tolerates(t, d.tolerations, template.taints, false)
            && (terms.is_empty() || terms.iter().any(|x| may(x.set)))
    })
}

fn cell(t: &Tables, row: u32, r: usize) -> i64 {
    t.quantities[row as usize * t.resources.len() + r]
}

fn asked_of(t: &Tables, a: &Answer, target: Target, r: usize) -> i64 {
    let own = a.placements.iter().filter(|p| p.target == target);
    own.map(|p| cell(t, t.classes[p.class as usize].requests, r) * i64::from(p.count)).sum()
}

/// Size, price, minValues and requests of one new node.
fn machine_choice(t: &Tables, a: &Answer, n: usize, machines: &[Machine]) -> Found {
    let node = &a.new_nodes[n];
    let width = t.resources.len();
    let overhead =
        |ty: u32, r: usize| -> i64 { daemons(t, node, ty).map(|d| cell(t, d.requests, r)).sum() };
    let hosts = |m: &&Machine| {
        let variant = u32::from(t.offerings[m.offering as usize].variant);
        let size = t.variants[(t.types[m.type_row as usize].variants.start + variant) as usize];
        (0..width).all(|r| {
            let need = asked_of(t, a, Target::New(n as u32), r) + overhead(m.type_row, r);
            need == 0 || need <= cell(t, size.allocatable, r)
        })
    };
    let can: BTreeSet<_> = machines.iter().map(|m| m.type_row).collect();
    let large: Vec<_> = machines.iter().filter(hosts).collect();
    if large.is_empty() || can.iter().any(|ty| large.iter().all(|m| m.type_row != *ty)) {
        return Some("a type that may come is too small, or none can come".into());
    }
    let price = |o: u32| t.offerings[o as usize].price_microusd;
    let own = large.iter().any(|m| (m.type_row, m.offering) == (node.instance_type, node.offering));
    let least = large.iter().map(|m| price(m.offering)).min();
    if !own || Some(node.price_microusd) != least || price(node.offering) != node.price_microusd {
        return Some("offering or price".into());
    }
    for (r, least) in least_overhead(t, a, n).iter().enumerate() {
        if a.requests[n * width + r] != asked_of(t, a, Target::New(n as u32), r) + least {
            return Some("requests".into());
        }
    }
    min_values(t, a, n).or_else(|| daemon_ports(t, a, n))
}

/// The least that DaemonSets ask for on any type of the mask, by resource.
pub fn least_overhead(t: &Tables, a: &Answer, n: usize) -> Vec<i64> {
    let of = |ty: &u32, r| daemons(t, &a.new_nodes[n], *ty).map(|d| cell(t, d.requests, r)).sum();
    let types = mask(a, n);
    (0..t.resources.len()).map(|r| types.iter().map(|ty| of(ty, r)).min().unwrap_or(0)).collect()
}

fn min_values(t: &Tables, a: &Answer, n: usize) -> Found {
    let node = &a.new_nodes[n];
    if node.is_min_values_lowered && !t.rules.lowers_min_values {
        return Some("lowered minValues".into());
    }
    let pool = requirements(t, t.templates[node.template as usize].set);
    for r in pool.iter().filter(|r| r.min_values > 0) {
        let Some(q) = request(t, a, n, r.key as usize) else {
            return Some("request lacks minValues".into());
        };
        let values: BTreeSet<_> = mask(a, n)
            .iter()
            .filter_map(|ty| {
                requirements(t, t.types[*ty as usize].set).iter().find(|x| x.key == r.key)
            })
            .flat_map(|x| t.requirement_values[x.values.range()].iter().copied())
            .filter(|v| asked(t, &q, r.key as usize, *v))
            .collect();
        let lowered = node.is_min_values_lowered || q.min_values >= r.min_values;
        if !lowered || values.len() < usize::from(q.min_values) {
            return Some("minValues".into());
        }
    }
    None
}

fn daemon_ports(t: &Tables, a: &Answer, n: usize) -> Found {
    for ty in mask(a, n) {
        let ports: Vec<_> = daemons(t, &a.new_nodes[n], ty).flat_map(|d| d.ports.range()).collect();
        for p in a.placements.iter().filter(|p| p.target == Target::New(n as u32)) {
            if t.classes[p.class as usize]
                .ports
                .range()
                .any(|x| ports.iter().any(|y| clash(t, x, *y)))
            {
                return Some("host port of a daemon".into());
            }
        }
    }
    None
}

fn clash(t: &Tables, a: usize, b: usize) -> bool {
    let (a, b) = (t.ports[a], t.ports[b]);
    let any = a.address == 0 || b.address == 0 || a.address == b.address;
    (a.port, a.protocol) == (b.port, b.protocol) && any
}

fn reservations(t: &Tables, a: &Answer, machines: &[Vec<Machine>]) -> Found {
    for (id, units) in t.reservations.iter().enumerate() {
        let draws = |m: &Machine| t.offerings[m.offering as usize].reservation == id as u32;
        let holds = |n: &usize| a.new_nodes[*n].is_reserved && machines[*n].iter().any(draws);
        if (0..a.new_nodes.len()).filter(holds).count() > *units as usize {
            return Some("reservation".into());
        }
    }
    None
}

/// A pod that stands somewhere.
#[derive(Clone, Copy)]
struct Pod {
    class: u32,
    target: Target,
}

/// The world while pods are set down.
struct World<'t> {
    t: &'t Tables,
    a: &'t Answer,
    machines: &'t [Vec<Label>],
    pods: Vec<Pod>,
}

fn world_breaks(t: &Tables, a: &Answer, machines: &[Vec<Label>]) -> Found {
    let mut w = World { t, a, machines, pods: Vec::new() };
    for (n, node) in a.new_nodes.iter().enumerate() {
        if !satisfied(t, t.templates[node.template as usize].set, &machines[n]) {
            return Some(format!("new node {n} is not of its template"));
        }
    }
    for p in &a.placements {
        for _ in 0..p.count {
            let pod = Pod { class: p.class, target: p.target };
            if let Some(x) = w.refuses(pod) {
                return Some(format!("class {} on {:?}: {x}", p.class, p.target));
            }
            w.pods.push(pod);
        }
    }
    (0..t.nodes.len()).find_map(|n| w.node_is_over(n))
}

impl World<'_> {
    fn labels(&self, target: Target) -> Vec<Label> {
        match target {
            Target::Node(n) => node_labels(self.t, n as usize),
            Target::New(n) => self.machines[n as usize].clone(),
        }
    }

    fn taints(&self, target: Target) -> Span {
        match target {
            Target::Node(n) => self.t.nodes[n as usize].taints,
            Target::New(n) => {
                self.t.templates[self.a.new_nodes[n as usize].template as usize].taints
            }
        }
    }

    fn refuses(&self, pod: Pod) -> Option<&'static str> {
        let t = self.t;
        let class = &t.classes[pod.class as usize];
        let labels = self.labels(pod.target);
        if !tolerates(t, class.tolerations, self.taints(pod.target), false) {
            return Some("taint");
        }
        if !satisfied(t, class.selector, &labels) {
            return Some("selector");
        }
        let alternatives = &t.volume_alternatives[class.volume_alternatives.range()];
        if !alternatives.is_empty() && !alternatives.iter().any(|s| satisfied(t, *s, &labels)) {
            return Some("volume");
        }
        let taken = |other: &Pod| {
            let theirs = t.classes[other.class as usize].ports;
            other.target == pod.target
                && class.ports.range().any(|x| theirs.range().any(|y| clash(t, x, y)))
        };
        if self.pods.iter().any(taken) {
            return Some("host port");
        }
        let terms = &t.terms[class.required.range()];
        let holding: Vec<_> = terms.iter().filter(|x| satisfied(t, x.set, &labels)).collect();
        if terms.is_empty() {
            return self.rule_breaks(pod, &labels, None);
        }
        if holding.is_empty() {
            return Some("term");
        }
        let mut results = holding.iter().map(|x| self.rule_breaks(pod, &labels, Some(x.set)));
        results.clone().all(|x| x.is_some()).then(|| results.next().flatten()).flatten()
    }

    fn selects(&self, group: u32, class: u32) -> bool {
        self.t.matches[self.t.classes[class as usize].matches.range()].contains(&group)
    }

    /// Where a target stands in a group: the node itself, or a value.
    fn domain(&self, group: &Group, target: Target) -> Option<Result<Target, u32>> {
        if group.is_hostname {
            return Some(Ok(target));
        }
        match self.labels(target)[group.key as usize] {
            Label::Value(v) => Some(Err(v)),
            _ => None,
        }
    }

    /// Pods of the group that count in a domain, or in all.
    fn count(&self, g: u32, domain: Option<Result<Target, u32>>) -> u32 {
        let (t, group) = (self.t, &self.t.groups[g as usize]);
        let there = match domain {
            None => group.total,
            Some(Ok(Target::Node(n))) => {
                let rows = &t.node_counts[t.nodes[n as usize].counts.range()];
                rows.iter().filter(|c| c.group == g).map(|c| c.count).sum()
            }
            Some(Ok(Target::New(_))) => 0,
            Some(Err(v)) => {
                let rows = &t.domains[group.domains.range()];
                rows.iter().filter(|d| d.value == v).map(|d| d.count).sum()
            }
        };
        let counts = |pod: &&Pod| {
            let links = &t.links[t.classes[pod.class as usize].links.range()];
            let is_one = if group.kind == GroupKind::Inverse {
                links.iter().any(|l| l.inverse == g)
            } else {
                self.selects(g, pod.class) && self.accepted(group, pod.target)
            };
            let own = self.domain(group, pod.target);
            is_one && own.is_some() && (domain.is_none() || own == domain)
        };
        there + self.pods.iter().filter(counts).count() as u32
    }

    fn accepted(&self, group: &Group, target: Target) -> bool {
        let terms = &self.t.terms[group.filter.range()];
        let labels = self.labels(target);
        (terms.is_empty() || terms.iter().any(|x| satisfied(self.t, x.set, &labels)))
            && (!group.honors_taints
                || tolerates(self.t, group.tolerations, self.taints(target), true))
    }

    fn rule_breaks(&self, pod: Pod, labels: &[Label], term: Option<u32>) -> Option<&'static str> {
        let t = self.t;
        let class = &t.classes[pod.class as usize];
        for l in t.links[class.links.range()].iter().filter(|l| l.weight == 0) {
            let group = &t.groups[l.group as usize];
            let domain = self.domain(group, pod.target);
            let count = |d| self.count(l.group, d);
            let own = |v: u32| {
                let sets = [Some(class.selector), term];
                sets.into_iter().flatten().all(|s| {
                    let rows = requirements(t, s).iter().filter(|r| r.key == group.key);
                    rows.into_iter().all(|r| meets(t, r, Label::Value(v)))
                })
            };
            let itself = u32::from(self.selects(l.group, pod.class));
            match group.kind {
                GroupKind::Spread => {
                    let Some(domain) = domain else { return Some("spread without domain") };
                    let least = match group.is_hostname {
                        true => self.least_node(l.group, pod.target),
                        false => self.least(l.group, labels, &own),
                    };
                    if count(Some(domain)) + itself > group.max_skew + least {
                        return Some("spread");
                    }
                }
                GroupKind::Affinity => {
                    let Some(domain) = domain else { return Some("affinity without domain") };
                    let reachable = || match group.is_hostname {
                        true => count(None) > 0,
                        false => (0..t.keys[group.key as usize].values.len)
                            .any(|v| own(v) && count(Some(Err(v))) > 0),
                    };
                    if count(Some(domain)) == 0 && (itself == 0 || reachable()) {
                        return Some("affinity");
                    }
                }
                GroupKind::AntiAffinity | GroupKind::Inverse => {
                    if domain.is_some() && count(domain) > 0 {
                        return Some("anti-affinity");
                    }
                }
            }
        }
        let inverse = t.matches[class.matches.range()].iter().find(|g| {
            let group = &t.groups[**g as usize];
            let domain = self.domain(group, pod.target);
            group.kind == GroupKind::Inverse && domain.is_some() && self.count(**g, domain) > 0
        });
        inverse.map(|_| "inverse anti-affinity")
    }

    /// Count of the emptiest domain that the pod may use.
    fn least(&self, g: u32, labels: &[Label], own: &dyn Fn(u32) -> bool) -> u32 {
        let (t, group) = (self.t, &self.t.groups[g as usize]);
        let all = 0..t.keys[group.key as usize].values.len;
        let here = |v: u32| labels[group.key as usize] == Label::Value(v);
        let known = |v: u32| {
            t.domains[group.domains.range()].iter().any(|d| d.value == v)
                || self.count(g, Some(Err(v))) > 0
                || here(v)
                || (0..t.templates.len()).any(|x| self.offers(group, x, v))
        };
        let counts: Vec<_> =
            all.filter(|v| own(*v) && known(*v)).map(|v| self.count(g, Some(Err(v)))).collect();
        if counts.len() < group.min_domains as usize {
            0
        } else {
            counts.into_iter().min().unwrap_or(0)
        }
    }

    /// Count of the emptiest node that the policies of the group accept.
    fn least_node(&self, g: u32, target: Target) -> u32 {
        let group = &self.t.groups[g as usize];
        let real = (0..self.t.nodes.len() as u32).map(Target::Node);
        let new = (0..self.a.new_nodes.len() as u32).map(Target::New);
        let opened = new.filter(|n| self.pods.iter().any(|p| p.target == *n));
        let nodes: BTreeSet<_> =
            real.chain(opened).filter(|n| self.accepted(group, *n)).chain([target]).collect();
        let counts = nodes.iter().map(|n| self.count(g, Some(Ok(*n))));
        if nodes.len() < group.min_domains as usize { 0 } else { counts.min().unwrap_or(0) }
    }

    /// True when a machine of the template may be in the zone, or be of the kind.
    fn offers(&self, group: &Group, row: usize, value: u32) -> bool {
        let t = self.t;
        let template = &t.templates[row];
        if self.a.templates[row] != TemplateState::Open
            || group.honors_pool_taints && !tolerates(t, group.tolerations, template.taints, true)
        {
            return false;
        }
        let pool = requirements(t, template.set);
        let allows = |key: u32, v: u32| {
            pool.iter().filter(|r| r.key == key).all(|r| meets(t, r, Label::Value(v)))
        };
        t.template_types[template.types.range()].iter().any(|ty| {
            let ty = &t.types[*ty as usize];
            let own = requirements(t, ty.set);
            let compatible = own.iter().all(|r| {
                let mut values = t.requirement_values[r.values.range()].iter();
                values.any(|v| allows(r.key, *v))
            });
            compatible
                && t.offerings[ty.offerings.range()].iter().any(|o| {
                    let labels = &t.offering_labels[o.labels.range()];
                    o.is_available
                        && labels.iter().all(|l| allows(l.key, l.value))
                        && labels.iter().any(|l| l.key == group.key && l.value == value)
                })
        })
    }

    /// Size, ports and volumes of a real node.
    fn node_is_over(&self, n: usize) -> Found {
        let t = self.t;
        let (node, target) = (&t.nodes[n], Target::Node(n as u32));
        let labels = node_labels(t, n);
        let runs = |d: &&Daemon| {
            let terms = &t.terms[d.required.range()];
            tolerates(t, d.tolerations, node.taints, true)
                && (terms.is_empty() || terms.iter().any(|x| satisfied(t, x.set, &labels)))
        };
        let here: Vec<_> = self.pods.iter().filter(|p| p.target == target).collect();
        for r in 0..t.resources.len() {
            let daemons: i64 = t.daemons.iter().filter(runs).map(|d| cell(t, d.requests, r)).sum();
            let asked = asked_of(t, self.a, target, r);
            if asked > 0 && asked > cell(t, node.available, r) - daemons {
                return Some(format!("node {n} is too small"));
            }
        }
        let class = |p: &Pod| &t.classes[p.class as usize];
        let port =
            |p: &&&Pod| class(p).ports.range().any(|x| node.ports.range().any(|y| clash(t, x, y)));
        if here.iter().find(port).is_some() {
            return Some(format!("node {n} has the host port"));
        }
        for volume in &t.node_volumes[node.volumes.range()] {
            let uses = || {
                here.iter()
                    .flat_map(|p| &t.volume_uses[class(p).volume_uses.range()])
                    .filter(|u| u.driver == volume.driver)
            };
            let own: u32 = uses().filter(|u| u.claim == NONE).map(|u| u.count).sum();
            let old = &t.node_claims[node.claims.range()];
            let shared: BTreeSet<_> =
                uses().map(|u| u.claim).filter(|c| *c != NONE && !old.contains(c)).collect();
            let more = own + shared.len() as u32;
            if more > 0 && volume.used + more > volume.limit {
                return Some(format!("node {n} attaches too much"));
            }
        }
        None
    }
}
