//! Pod classes and the queue.

use dunnage_engine_core::problem::{HostPort, NONE, PodClass, Run, Span, Term, VolumeUse};

use crate::draw::Draw;
use crate::problems::Size;
use crate::problems::labels::{Labels, random_set, requirement, set, values};
use crate::problems::machines::{amounts, tolerations};
use crate::tables::{Tables, push};

/// Writes ports to choose from; nodes take some of them.
pub fn port_pool(t: &mut Tables, draw: &mut Draw) {
    for _ in 0..8 {
        let port = HostPort {
            address: draw.below(3),
            port: 80 + draw.below(2),
            protocol: draw.one_of(&[1, 1, 1, 2]),
        };
        t.ports.push(port);
    }
    for i in 0..t.nodes.len() {
        let ports = ports(t, draw, 25);
        t.nodes[i].ports = ports;
    }
}

/// No ports, or a stretch of the pool.
pub fn ports(t: &Tables, draw: &mut Draw, percent: u32) -> Span {
    if !draw.chance(percent) || t.ports.is_empty() {
        return Span::default();
    }
    Span { start: draw.below(t.ports.len() as u32 - 1), len: 1 + draw.below(2) }
}

/// Writes classes without topology rules, and the queue.
pub fn classes(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) {
    for _ in 0..draw.between(1, size.classes) {
        let class = class(t, draw, size, labels);
        t.classes.push(class);
    }
    queue(t, draw);
}

fn class(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) -> PodClass {
    let cpu = 250 * i64::from(draw.below(16));
    let device = if draw.chance(10) { 1 } else { 0 };
    let requests = amounts(t, [cpu, 250 * i64::from(draw.below(10)), 1, device]);
    let count = draw.between(1, size.pods);
    let selector = if draw.chance(30) { random_set(t, draw, labels, 30) } else { 0 };
    let required = if draw.chance(25) { terms(t, draw, labels, false) } else { Span::default() };
    let preferred = if draw.chance(25) { terms(t, draw, labels, true) } else { Span::default() };
    PodClass {
        requests,
        count,
        selector,
        required,
        preferred,
        tolerations: tolerations(t, draw),
        links: Span::default(),
        matches: Span::default(),
        ports: ports(t, draw, 20),
        volume_alternatives: volume_alternatives(t, draw, labels),
        volume_uses: volume_uses(t, draw),
        has_device_claims: draw.chance(2),
    }
}

/// Node-affinity terms; preferred ones are the heaviest first.
fn terms(t: &mut Tables, draw: &mut Draw, labels: &Labels, preferred: bool) -> Span {
    let mut rows: Vec<_> = (0..1 + draw.below(3))
        .map(|_| {
            let set = random_set(t, draw, labels, 35);
            let weight = if preferred { 1 + draw.below(3) } else { 0 };
            Term { set, weight }
        })
        .collect();
    rows.sort_by_key(|term| core::cmp::Reverse(term.weight));
    push(&mut t.terms, rows)
}

fn volume_alternatives(t: &mut Tables, draw: &mut Draw, labels: &Labels) -> Span {
    if !draw.chance(15) || values(t, labels.zone) == 0 {
        return Span::default();
    }
    let rows: Vec<_> = (0..1 + draw.below(2))
        .map(|_| {
            let row = requirement(t, draw, labels.zone);
            set(t, vec![row])
        })
        .collect();
    push(&mut t.volume_alternatives, rows)
}

fn volume_uses(t: &mut Tables, draw: &mut Draw) -> Span {
    if !draw.chance(20) {
        return Span::default();
    }
    let is_shared = draw.chance(50);
    let claim = if is_shared { draw.below(3) } else { NONE };
    let count = if is_shared { 1 } else { 1 + draw.below(2) };
    let drawn = draw.below(2);
    // All that share a claim attach it with its one driver.
    let driver = if is_shared { claim % 2 } else { drawn };
    push(&mut t.volume_uses, [VolumeUse { driver, claim, count }])
}

/// Writes runs: classes in order, some of them in two stretches.
fn queue(t: &mut Tables, draw: &mut Draw) {
    let mut late = Vec::new();
    for (class, row) in (0..).zip(&t.classes) {
        let first = if row.count > 1 && draw.chance(20) {
            draw.between(1, row.count - 1)
        } else {
            row.count
        };
        t.runs.push(Run { class, count: first });
        if first < row.count {
            late.push(Run { class, count: row.count - first });
        }
    }
    t.runs.extend(late);
}
