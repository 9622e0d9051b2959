//! Instance types, templates, DaemonSets and nodes.

use dunnage_engine_core::problem::{
    ABSENT, CapacityType, Daemon, Effect, InstanceType, Label, NONE, Node, NodeVolume, Offering,
    Resource, Span, Taint, Template, Term, Toleration, TolerationOperator, Variant,
};

use crate::draw::Draw;
use crate::problems::Size;
use crate::problems::labels::{
    Labels, ON_DEMAND, RESERVED, SIZES, SPOT, is_in, random_set, requirement, set, values,
};
use crate::problems::pods;
use crate::tables::{Tables, push};

/// Columns of rows: cpu, memory, pods, a device.
const CPU: usize = 0;
const PODS: usize = 2;

/// Writes a row of amounts.
pub fn amounts(t: &mut Tables, row: [i64; 4]) -> u32 {
    t.quantities.extend(row);
    (t.quantities.len() / row.len()) as u32 - 1
}

/// Writes taints to choose from, and the resource columns.
pub fn taint_pool(t: &mut Tables, draw: &mut Draw) {
    t.resources = vec![Resource::default(); 4];
    t.resources[CPU].is_cpu = true;
    t.resources[PODS].is_pods = true;
    for _ in 0..6 {
        let taint = taint(draw);
        t.taints.push(taint);
    }
}

fn taint(draw: &mut Draw) -> Taint {
    let value = draw.below(3);
    Taint {
        key: 1 + draw.below(2),
        value,
        integer: (value > 0).then(|| i64::from(value)),
        effect: draw.one_of(&[Effect::NoSchedule, Effect::PreferNoSchedule, Effect::NoExecute]),
    }
}

/// No taints, or a stretch of the pool.
fn taints(draw: &mut Draw, percent: u32) -> Span {
    if !draw.chance(percent) {
        return Span::default();
    }
    Span { start: draw.below(5), len: 1 + draw.below(2) }
}

/// Random tolerations.
pub fn tolerations(t: &mut Tables, draw: &mut Draw) -> Span {
    let count = draw.one_of(&[0, 0, 1, 2]);
    let rows: Vec<_> = (0..count)
        .map(|_| {
            use TolerationOperator::{Equal, Exists, Gt, Lt};
            let operator = draw.one_of(&[Exists, Equal, Lt, Gt]);
            let value = draw.below(3);
            Toleration {
                key: if operator == Exists { draw.below(3) } else { 1 + draw.below(2) },
                value,
                integer: Some(i64::from(value)),
                operator,
                effect: draw.one_of(&[
                    None,
                    None,
                    Some(Effect::NoSchedule),
                    Some(Effect::NoExecute),
                ]),
            }
        })
        .collect();
    push(&mut t.tolerations, rows)
}

/// Writes instance types with their offerings.
pub fn types(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) {
    for _ in 0..draw.between(1, size.types) {
        instance_type(t, draw, labels);
    }
}

fn instance_type(t: &mut Tables, draw: &mut Draw, labels: &Labels) {
    let rank = draw.below(SIZES.len() as u32);
    let cpu = SIZES[rank as usize] * 1000;
    let devices = if draw.chance(20) { 2 } else { 0 };
    let whole = [cpu, cpu * draw.one_of(&[1, 2, 4]), 4 + 4 * i64::from(draw.below(3)), devices];
    let reserve = i64::from(draw.below(3)) * 100;
    let capacity = amounts(t, whole);
    let mut variants = Vec::new();
    for scale in [4, draw.one_of(&[0, 0, 3, 5])] {
        if scale > 0 {
            let usable = [whole[0] * scale / 4 - reserve, whole[1] - reserve, whole[2], devices];
            variants.push(Variant { allocatable: amounts(t, usable) });
        }
    }
    let sizes = variants.len() as u32;
    let variants = push(&mut t.variants, variants);
    let rows = offerings(t, draw, labels, SIZES[rank as usize], sizes);
    let used = |t: &Tables, key: u32| {
        let labels = rows.iter().flat_map(|o| o.labels.of(&t.offering_labels));
        let mut ranks: Vec<u32> = labels.filter(|l| l.key == key).map(|l| l.value).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    };
    let mut own = Vec::new();
    for key in [labels.zone, labels.kind, labels.reservation] {
        let ranks = used(t, key);
        own.push(is_in(t, key, ranks));
    }
    own.push(is_in(t, labels.size, [rank]));
    let family = draw.below(values(t, labels.family));
    own.push(is_in(t, labels.family, [family]));
    let set = set(t, own);
    let offerings = push(&mut t.offerings, rows);
    t.types.push(InstanceType { set, capacity, variants, offerings });
}

fn offerings(
    t: &mut Tables,
    draw: &mut Draw,
    labels: &Labels,
    cpus: i64,
    variants: u32,
) -> Vec<Offering> {
    let mut rows = Vec::new();
    for zone in draw.some_below(values(t, labels.zone), 70) {
        let ids = values(t, labels.reservation);
        for kind in [ON_DEMAND, RESERVED, SPOT] {
            let sells = match kind {
                ON_DEMAND => !draw.chance(15),
                RESERVED => ids > 0 && draw.chance(40),
                _ => draw.chance(60),
            };
            if !sells {
                continue;
            }
            let list = cpus * 40_000 + i64::from(draw.below(4)) * 5_000;
            let mut own = vec![
                Label { key: labels.zone, value: zone },
                Label { key: labels.kind, value: kind },
            ];
            let mut reservation = NONE;
            if kind == RESERVED {
                reservation = draw.below(ids);
                own.push(Label { key: labels.reservation, value: reservation });
            }
            let (capacity_type, price_microusd) = match kind {
                ON_DEMAND => (CapacityType::OnDemand, list),
                RESERVED => (CapacityType::Reserved, list / 1000),
                _ => (CapacityType::Spot, list * i64::from(20 + draw.below(60)) / 100),
            };
            rows.push(Offering {
                labels: push(&mut t.offering_labels, own),
                price_microusd: if draw.chance(4) { i64::MAX } else { price_microusd },
                variant: draw.below(variants) as u16,
                is_available: !draw.chance(15),
                capacity_type,
                reservation,
                ..Offering::default()
            });
        }
    }
    rows
}

/// Writes templates in descending weight.
pub fn templates(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) {
    let count = if draw.chance(3) { 0 } else { draw.between(1, size.templates) };
    let mut weight = 100;
    for _ in 0..count {
        weight -= draw.below(10);
        let set = template_set(t, draw, labels);
        let own = draw.some_below(t.types.len() as u32, 80);
        let types = push(&mut t.template_types, own);
        let has_limit = draw.chance(30);
        let (limit, usage, limited) = if has_limit {
            let cpu = 2000 * (1 + i64::from(draw.below(20)));
            let limit = amounts(t, [cpu, 64_000, 100, i64::from(draw.below(4))]);
            let used = amounts(t, [2000 * i64::from(draw.below(3)), 0, 0, 0]);
            let limited = draw.one_of(&[0b0001, 0b0011, 0b1001]);
            (limit, draw.one_of(&[NONE, used]), limited)
        } else {
            (NONE, NONE, 0)
        };
        t.templates.push(Template {
            set,
            taints: taints(draw, 25),
            types,
            weight,
            limit,
            limited,
            usage,
            node_limit: draw.chance(15).then(|| draw.below(4)),
            node_usage: draw.below(2),
        });
    }
}

fn template_set(t: &mut Tables, draw: &mut Draw, labels: &Labels) -> u32 {
    let mut rows = Vec::new();
    for key in [labels.zone, labels.kind, labels.size, labels.family] {
        if draw.chance(35) {
            let row = requirement(t, draw, key);
            rows.push(row);
        }
    }
    if draw.chance(40) {
        let value = draw.below(values(t, labels.team));
        rows.push(is_in(t, labels.team, [value]));
    }
    if draw.chance(20) {
        let key = draw.one_of(&[labels.family, labels.size, labels.zone]);
        let min_values = 1 + draw.below(3) as u16;
        match rows.iter_mut().find(|r| r.key == key) {
            Some(row) => row.min_values = min_values,
            None => {
                let mut row = requirement(t, draw, key);
                row.min_values = min_values;
                rows.push(row);
            }
        }
    }
    set(t, rows)
}

/// Writes DaemonSets.
pub fn daemons(t: &mut Tables, draw: &mut Draw, labels: &Labels) {
    for _ in 0..draw.below(4) {
        let cpu = 100 * i64::from(draw.below(8));
        let requests = amounts(t, [cpu, 100, 1, 0]);
        let selector = if draw.chance(25) { random_set(t, draw, labels, 30) } else { 0 };
        let terms: Vec<_> = (0..draw.one_of(&[0, 0, 1, 2]))
            .map(|_| Term { set: random_set(t, draw, labels, 30), weight: 0 })
            .collect();
        let required = push(&mut t.terms, terms);
        let tolerations = tolerations(t, draw);
        let ports = pods::ports(t, draw, 30);
        t.daemons.push(Daemon { requests, selector, required, tolerations, ports });
    }
}

/// Writes nodes; their topology counts follow with the groups.
pub fn nodes(t: &mut Tables, draw: &mut Draw, size: Size, labels: &Labels) {
    for _ in 0..draw.below(size.nodes + 1) {
        node(t, draw, labels);
    }
}

fn node(t: &mut Tables, draw: &mut Draw, labels: &Labels) {
    let mut rows = Vec::new();
    for (key, percent) in [
        (labels.zone, 90),
        (labels.kind, 90),
        (labels.size, 90),
        (labels.family, 80),
        (labels.team, 40),
    ] {
        if draw.chance(percent) {
            let value = draw.below(values(t, key));
            rows.push(is_in(t, key, [value]));
        }
    }
    let set = set(t, rows);
    let device = draw.one_of(&[ABSENT, ABSENT, 0, 2]);
    let cpu = 500 * i64::from(draw.below(12)) - 500;
    let available = amounts(t, [cpu, 8000, 1 + i64::from(draw.below(6)), device]);
    let daemon_requests = if draw.chance(40) {
        amounts(t, [100 * i64::from(draw.below(6)), 100, 1, 0])
    } else {
        NONE
    };
    let volumes = if draw.chance(40) {
        let limit = draw.below(4);
        let rows = [NodeVolume { driver: draw.below(2), limit, used: draw.below(limit + 1) }];
        push(&mut t.node_volumes, rows)
    } else {
        Span::default()
    };
    let claims = if volumes.len > 0 && draw.chance(40) {
        let claim = draw.below(3);
        push(&mut t.node_claims, [claim])
    } else {
        Span::default()
    };
    t.nodes.push(Node {
        set,
        taints: taints(draw, 20),
        available,
        allocatable: NONE,
        daemon_requests,
        is_initialized: draw.chance(70),
        ports: Span::default(),
        counts: Span::default(),
        volumes,
        claims,
    });
}
