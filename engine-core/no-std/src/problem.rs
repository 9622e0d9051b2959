//! A small but real problem in static tables.
//!
//! Two NodePools: the first for everybody, the second tainted for batch pods. Three types in
//! three zones. Six web pods spread over zones; one small pod fits the node that exists; two
//! batch pods tolerate the taint and ask for the second pool; one pod is larger than any
//! machine.

use dunnage_engine_core::problem::{
    CapacityType, Daemon, Domain, Effect, Group, GroupKind, InstanceType, Key, Label, Link, NONE,
    Node, Offering, PodClass, Problem, Requirement, Resource, Rules, Run, Span, Taint, Template,
    Toleration, TolerationOperator, Value, Variant, WellKnown,
};

/// Rows of the classes.
pub const HUGE: u32 = 0;
pub const WEB: u32 = 1;
pub const BATCH: u32 = 2;
pub const SMALL: u32 = 3;
/// Row of the tainted template.
pub const TAINTED: u32 = 1;

const ZONE: u32 = 0;
const POOL: u32 = 1;

const fn span(start: u32, len: u32) -> Span {
    Span { start, len }
}

const EMPTY: Span = span(0, 0);

const fn is_in(key: u32, values: Span) -> Requirement {
    Requirement {
        key,
        is_complement: false,
        values,
        lower: None,
        upper: None,
        min_values: 0,
        must_exist: false,
    }
}

/// `requirement_values` are 0, 1, 2.
static SETS: [Span; 6] = [EMPTY, span(0, 1), span(1, 1), span(2, 1), span(3, 1), span(4, 2)];
static REQUIREMENTS: [Requirement; 6] = [
    // 1: all zones. 2: pool 0. 3: pool 1. 4: the pool that batch pods ask for.
    is_in(ZONE, span(0, 3)),
    is_in(POOL, span(0, 1)),
    is_in(POOL, span(1, 1)),
    is_in(POOL, span(1, 1)),
    // 5: the node that exists.
    is_in(ZONE, span(1, 1)),
    is_in(POOL, span(0, 1)),
];

/// cpu in milli, memory in bytes, pods.
static QUANTITIES: [i64; 33] = [
    2_000,
    8 << 30,
    29, // 0: capacity of the small type
    1_900,
    7 << 30,
    29, // 1: what pods can use of it
    4_000,
    16 << 30,
    58, // 2
    3_900,
    15 << 30,
    58, // 3
    8_000,
    32 << 30,
    58, // 4
    7_900,
    30 << 30,
    58, // 5
    100,
    64 << 20,
    1, // 6: the DaemonSet
    1_500,
    1 << 30,
    1, // 7: web
    3_000,
    1 << 30,
    1, // 8: batch
    500,
    1 << 28,
    1, // 9: small; also what the node has left, daemon included
    64_000,
    1 << 30,
    1, // 10: huge
];

const fn instance_type(row: u32) -> InstanceType {
    InstanceType { set: 1, capacity: 2 * row, variants: span(row, 1), offerings: span(3 * row, 3) }
}

const fn offering(row: u32) -> Offering {
    Offering {
        labels: span(row % 3, 1),
        price_microusd: 96_000 * (1 << (row / 3)) + row as i64 % 3,
        variant: 0,
        is_available: true,
        capacity_type: CapacityType::OnDemand,
        reservation: NONE,
        charges: span(0, 0),
        penalty_microusd: 0,
    }
}

const fn template(set: u32, taints: Span) -> Template {
    Template {
        set,
        taints,
        types: span(0, 3),
        weight: 0,
        limit: NONE,
        limited: 0,
        usage: NONE,
        node_limit: None,
        node_usage: 0,
    }
}

const fn class(requests: u32, count: u32) -> PodClass {
    PodClass {
        requests,
        count,
        selector: 0,
        required: EMPTY,
        preferred: EMPTY,
        tolerations: EMPTY,
        links: EMPTY,
        matches: EMPTY,
        ports: EMPTY,
        volume_alternatives: EMPTY,
        volume_uses: EMPTY,
        has_device_claims: false,
    }
}

const fn domain(value: u32) -> Domain {
    Domain { value, count: 0 }
}

/// The problem.
pub static PROBLEM: Problem<'static> = Problem {
    rules: Rules::MENDED,
    keys: &[
        Key { values: span(0, 3), is_well_known: true },
        Key { values: span(3, 2), is_well_known: true },
    ],
    values: &[Value { integer: None }; 5],
    sets: &SETS,
    requirements: &REQUIREMENTS,
    requirement_values: &[0, 1, 2],
    resources: &[
        Resource { is_cpu: true, is_pods: false },
        Resource { is_cpu: false, is_pods: false },
        Resource { is_cpu: false, is_pods: true },
    ],
    quantities: &QUANTITIES,
    taints: &[Taint { key: 1, value: 1, integer: None, effect: Effect::NoSchedule }],
    tolerations: &[Toleration {
        key: 1,
        value: 0,
        integer: None,
        operator: TolerationOperator::Exists,
        effect: None,
    }],
    templates: &[template(2, EMPTY), template(3, span(0, 1))],
    template_types: &[0, 1, 2],
    types: &[instance_type(0), instance_type(1), instance_type(2)],
    variants: &[Variant { allocatable: 1 }, Variant { allocatable: 3 }, Variant { allocatable: 5 }],
    offerings: &[
        offering(0),
        offering(1),
        offering(2),
        offering(3),
        offering(4),
        offering(5),
        offering(6),
        offering(7),
        offering(8),
    ],
    offering_labels: &[
        Label { key: ZONE, value: 0 },
        Label { key: ZONE, value: 1 },
        Label { key: ZONE, value: 2 },
    ],
    reservations: &[],
    quotas: &[],
    charges: &[],
    daemons: &[Daemon {
        requests: 6,
        selector: 0,
        required: EMPTY,
        tolerations: span(0, 1),
        ports: EMPTY,
    }],
    nodes: &[Node {
        set: 5,
        taints: EMPTY,
        available: 9,
        allocatable: NONE,
        daemon_requests: 6,
        is_initialized: true,
        ports: EMPTY,
        counts: EMPTY,
        volumes: EMPTY,
        claims: EMPTY,
    }],
    node_counts: &[],
    node_volumes: &[],
    node_claims: &[],
    classes: &[
        class(10, 1),
        PodClass { links: span(0, 1), matches: span(0, 1), ..class(7, 6) },
        PodClass { selector: 4, tolerations: span(0, 1), ..class(8, 2) },
        class(9, 1),
    ],
    runs: &[
        Run { class: HUGE, count: 1 },
        Run { class: WEB, count: 6 },
        Run { class: BATCH, count: 2 },
        Run { class: SMALL, count: 1 },
    ],
    terms: &[],
    links: &[Link { group: 0, weight: 0, inverse: NONE, variants: EMPTY }],
    link_variants: &[],
    matches: &[0],
    groups: &[Group {
        kind: GroupKind::Spread,
        key: ZONE,
        is_hostname: false,
        max_skew: 1,
        min_domains: 0,
        filter: EMPTY,
        honors_taints: false,
        honors_pool_taints: false,
        tolerations: EMPTY,
        domains: span(0, 1),
        total: 0,
    }],
    domains: &[domain(1)],
    ports: &[],
    volume_alternatives: &[],
    volume_uses: &[],
    well: WellKnown {
        zone: ZONE,
        capacity_type: NONE,
        reserved: NONE,
        hostname: NONE,
        reservation: NONE,
    },
};
