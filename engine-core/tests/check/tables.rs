//! Tables of a problem and of a decision that own their rows, written with few words.

use dunnage_engine_core::check::{CheckMemory, CheckNeed, Rule, Violation, check};
use dunnage_engine_core::decision::{
    Decision, Effort, NewNode, Placement, Reason, Target, TemplateState, Unplaced,
};
use dunnage_engine_core::problem::*;
use dunnage_engine_core::requirements::Layout;

/// Resource columns of every problem here.
pub const CPU: usize = 0;
pub const PODS: usize = 2;

/// What a requirement asks, with values as ranks.
#[derive(Clone, Copy)]
pub enum Ask<'a> {
    In(&'a [u32]),
    NotIn(&'a [u32]),
    Exists,
    DoesNotExist,
    Gt(i64),
}

/// An offering in words: zone, capacity type as ranks of keys 0 and 1.
#[derive(Clone, Copy)]
pub struct Sale {
    pub zone: u32,
    pub kind: CapacityType,
    pub price: i64,
    pub variant: u16,
    pub is_available: bool,
    pub reservation: u32,
}

pub fn sale(zone: u32, price: i64) -> Sale {
    Sale {
        zone,
        kind: CapacityType::OnDemand,
        price,
        variant: 0,
        is_available: true,
        reservation: NONE,
    }
}

/// Owned tables of a problem.
#[derive(Clone, Default)]
pub struct Tables {
    pub rules: Rules,
    pub keys: Vec<Key>,
    pub values: Vec<Value>,
    pub sets: Vec<Span>,
    pub requirements: Vec<Requirement>,
    pub requirement_values: Vec<u32>,
    pub resources: Vec<Resource>,
    pub quantities: Vec<i64>,
    pub taints: Vec<Taint>,
    pub tolerations: Vec<Toleration>,
    pub templates: Vec<Template>,
    pub template_types: Vec<u32>,
    pub types: Vec<InstanceType>,
    pub variants: Vec<Variant>,
    pub offerings: Vec<Offering>,
    pub offering_labels: Vec<Label>,
    pub reservations: Vec<u32>,
    pub quotas: Vec<Quota>,
    pub charges: Vec<Charge>,
    pub daemons: Vec<Daemon>,
    pub nodes: Vec<Node>,
    pub node_counts: Vec<NodeCount>,
    pub node_volumes: Vec<NodeVolume>,
    pub node_claims: Vec<u32>,
    pub classes: Vec<PodClass>,
    pub runs: Vec<Run>,
    pub terms: Vec<Term>,
    pub links: Vec<Link>,
    /// See `Problem::link_variants`.
    pub link_variants: Vec<u32>,
    pub matches: Vec<u32>,
    pub groups: Vec<Group>,
    pub domains: Vec<Domain>,
    pub ports: Vec<HostPort>,
    pub volume_alternatives: Vec<u32>,
    pub volume_uses: Vec<VolumeUse>,
    pub well: WellKnown,
}

/// Appends `rows` and names the stretch.
pub fn push<T: Clone>(table: &mut Vec<T>, rows: &[T]) -> Span {
    let start = table.len() as u32;
    table.extend_from_slice(rows);
    Span { start, len: rows.len() as u32 }
}

/// Appends a row and names it.
pub fn add<T>(table: &mut Vec<T>, row: T) -> u32 {
    table.push(row);
    table.len() as u32 - 1
}

/// The zone key, the capacity-type key, the reservation key.
pub const ZONE: u32 = 0;
pub const KIND: u32 = 1;
pub const RESERVATION: u32 = 2;
pub const ZONES: u32 = 3;

impl Tables {
    /// cpu, memory and pods; zones, kinds of capacity, two reservation ids; set 0 is empty.
    pub fn new() -> Self {
        let resources = vec![
            Resource { is_cpu: true, ..Default::default() },
            Resource::default(),
            Resource { is_pods: true, ..Default::default() },
        ];
        let mut t = Self { resources, ..Default::default() };
        t.key(ZONES, true);
        t.key(3, true);
        t.key(2, true);
        t.well = WellKnown {
            zone: ZONE,
            capacity_type: KIND,
            reserved: CapacityType::Reserved as u32,
            reservation: RESERVATION,
            ..Default::default()
        };
        t.set(&[]);
        t
    }

    /// A key with values that read as 0, 1, 2 and so on.
    pub fn key(&mut self, values: u32, is_well_known: bool) -> u32 {
        let rows: Vec<_> = (0..values).map(|v| Value { integer: Some(i64::from(v)) }).collect();
        let values = push(&mut self.values, &rows);
        add(&mut self.keys, Key { values, is_well_known })
    }

    pub fn set(&mut self, asks: &[(u32, Ask)]) -> u32 {
        let mut rows = Vec::new();
        for (key, ask) in asks {
            let mut r = Requirement { key: *key, ..Default::default() };
            match ask {
                Ask::In(v) => r.values = push(&mut self.requirement_values, v),
                Ask::NotIn(v) => {
                    r.values = push(&mut self.requirement_values, v);
                    r.is_complement = true;
                }
                Ask::Exists => r.is_complement = true,
                Ask::DoesNotExist => {}
                Ask::Gt(n) => (r.is_complement, r.lower) = (true, Some(n + 1)),
            }
            rows.push(r);
        }
        rows.sort_by_key(|r| r.key);
        let span = push(&mut self.requirements, &rows);
        add(&mut self.sets, span)
    }

    /// A required term or a filter of one set.
    pub fn term(&mut self, asks: &[(u32, Ask)]) -> Term {
        Term { set: self.set(asks), weight: 0 }
    }

    pub fn amounts(&mut self, row: [i64; 3]) -> u32 {
        self.quantities.extend_from_slice(&row);
        (self.quantities.len() / 3) as u32 - 1
    }

    /// A type with sizes (cpu of each variant) and offerings.
    pub fn instance_type(&mut self, asks: &[(u32, Ask)], cpus: &[i64], sales: &[Sale]) -> u32 {
        let variants: Vec<_> = cpus
            .iter()
            .map(|cpu| Variant { allocatable: self.amounts([*cpu, 4 * cpu, 110]) })
            .collect();
        let capacity = self.amounts([cpus[0], 4 * cpus[0], 110]);
        let variants = push(&mut self.variants, &variants);
        let mut offerings = Vec::new();
        for s in sales {
            let mut labels =
                vec![Label { key: ZONE, value: s.zone }, Label { key: KIND, value: s.kind as u32 }];
            if s.reservation != NONE {
                labels.push(Label { key: RESERVATION, value: s.reservation });
            }
            offerings.push(Offering {
                labels: push(&mut self.offering_labels, &labels),
                price_microusd: s.price,
                variant: s.variant,
                is_available: s.is_available,
                capacity_type: s.kind,
                reservation: s.reservation,
                ..Offering::default()
            });
        }
        let offerings = push(&mut self.offerings, &offerings);
        let set = self.set(asks);
        add(&mut self.types, InstanceType { set, capacity, variants, offerings })
    }

    pub fn template(&mut self, set: u32, types: &[u32]) -> u32 {
        let types = push(&mut self.template_types, types);
        let row = Template { set, types, limit: NONE, usage: NONE, ..Default::default() };
        add(&mut self.templates, row)
    }

    /// A node with labels (key, rank) and cpu left.
    pub fn node(&mut self, labels: &[(u32, u32)], cpu: i64) -> u32 {
        let values: Vec<[u32; 1]> = labels.iter().map(|(_, v)| [*v]).collect();
        let asks: Vec<_> = labels.iter().zip(&values).map(|((k, _), v)| (*k, Ask::In(v))).collect();
        let set = self.set(&asks);
        let available = self.amounts([cpu, 4 * cpu, 110]);
        let row = Node {
            set,
            available,
            allocatable: NONE,
            daemon_requests: NONE,
            is_initialized: true,
            ..Default::default()
        };
        add(&mut self.nodes, row)
    }

    /// Pods that ask for cpu.
    pub fn class(&mut self, count: u32, cpu: i64) -> u32 {
        let requests = self.amounts([cpu, cpu, 1]);
        let class = add(&mut self.classes, PodClass { requests, count, ..Default::default() });
        self.runs.push(Run { class, count });
        class
    }

    /// A topology group; `key` is `NONE` for single nodes.
    pub fn group(&mut self, kind: GroupKind, key: u32, max_skew: u32) -> u32 {
        let row = Group { kind, key, is_hostname: key == NONE, max_skew, ..Default::default() };
        add(&mut self.groups, row)
    }

    /// Gives a class a rule that must hold.
    pub fn link(&mut self, class: u32, group: u32, inverse: u32) {
        let mut rows = self.classes[class as usize].links.of(&self.links).to_vec();
        rows.push(Link { group, weight: 0, inverse, ..Link::default() });
        self.classes[class as usize].links = push(&mut self.links, &rows);
    }

    /// Lets groups select a class.
    pub fn matched(&mut self, class: u32, groups: &[u32]) {
        self.classes[class as usize].matches = push(&mut self.matches, groups);
    }

    pub fn problem(&self) -> Problem<'_> {
        Problem {
            rules: self.rules,
            keys: &self.keys,
            values: &self.values,
            sets: &self.sets,
            requirements: &self.requirements,
            requirement_values: &self.requirement_values,
            resources: &self.resources,
            quantities: &self.quantities,
            taints: &self.taints,
            tolerations: &self.tolerations,
            templates: &self.templates,
            template_types: &self.template_types,
            types: &self.types,
            variants: &self.variants,
            offerings: &self.offerings,
            offering_labels: &self.offering_labels,
            reservations: &self.reservations,
            quotas: &self.quotas,
            charges: &self.charges,
            daemons: &self.daemons,
            nodes: &self.nodes,
            node_counts: &self.node_counts,
            node_volumes: &self.node_volumes,
            node_claims: &self.node_claims,
            classes: &self.classes,
            runs: &self.runs,
            terms: &self.terms,
            links: &self.links,
            link_variants: &self.link_variants,
            matches: &self.matches,
            groups: &self.groups,
            domains: &self.domains,
            ports: &self.ports,
            volume_alternatives: &self.volume_alternatives,
            volume_uses: &self.volume_uses,
            well: self.well,
        }
    }
}

/// Owned tables of a decision.
#[derive(Clone, Default)]
pub struct Answer {
    pub new_nodes: Vec<NewNode>,
    pub type_masks: Vec<u64>,
    pub type_words: usize,
    pub sets: Vec<u64>,
    pub set_words: usize,
    pub requests: Vec<i64>,
    pub placements: Vec<Placement>,
    pub unplaced: Vec<Unplaced>,
    pub reasons: Vec<Reason>,
    pub templates: Vec<TemplateState>,
}

impl Answer {
    pub fn new(t: &Tables) -> Self {
        let p = t.problem();
        Self {
            type_words: p.types.len().div_ceil(64),
            set_words: Layout::words(&p),
            templates: vec![TemplateState::Open; p.templates.len()],
            ..Default::default()
        }
    }

    pub fn of(d: &Decision) -> Self {
        Self {
            new_nodes: d.new_nodes.to_vec(),
            type_masks: d.type_masks.to_vec(),
            type_words: d.type_words,
            sets: d.sets.to_vec(),
            set_words: d.set_words,
            requests: d.requests.to_vec(),
            placements: d.placements.to_vec(),
            unplaced: d.unplaced.to_vec(),
            reasons: d.reasons.to_vec(),
            templates: d.templates.to_vec(),
        }
    }

    pub fn decision(&self) -> Decision<'_> {
        Decision {
            new_nodes: &self.new_nodes,
            type_masks: &self.type_masks,
            type_words: self.type_words,
            sets: &self.sets,
            set_words: self.set_words,
            requests: &self.requests,
            placements: &self.placements,
            unplaced: &self.unplaced,
            reasons: &self.reasons,
            templates: &self.templates,
            effort: Effort::default(),
        }
    }

    pub fn put(&mut self, class: u32, count: u32, target: Target) {
        if let Target::New(row) = target {
            self.new_nodes[row as usize].pods += count;
        }
        self.placements.push(Placement { class, count, target, relaxed: 0 });
    }

    /// Opens a node with the template's set narrowed by `sets`, and names its first offering.
    pub fn open(&mut self, t: &Tables, template: u32, sets: &[u32], types: &[u32]) -> Target {
        let p = t.problem();
        let mut offsets = vec![0; Layout::numbers(&p)];
        let layout = Layout::build(&p, &mut offsets);
        let mut node = vec![0; layout.len()];
        let own = |set: u32| t.sets[set as usize].of(&t.requirements);
        layout.write(&mut node, &p, own(t.templates[template as usize].set));
        for set in sets {
            let mut more = vec![0; layout.len()];
            layout.write(&mut more, &p, own(*set));
            layout.add(&mut node, &more, &p);
        }
        self.sets.extend(node);
        let mut mask = vec![0; self.type_words];
        types.iter().for_each(|x| mask[*x as usize / 64] |= 1 << (x % 64));
        self.type_masks.extend(mask);
        self.requests.extend([0; 3]);
        let offering = t.types[types[0] as usize].offerings.start;
        self.new_nodes.push(NewNode {
            template,
            pods: 0,
            offering,
            instance_type: types[0],
            price_microusd: t.offerings[offering as usize].price_microusd,
            is_min_values_lowered: false,
            is_reserved: false,
        });
        Target::New(self.new_nodes.len() as u32 - 1)
    }

    /// Names an offering of a new node.
    pub fn sell(&mut self, t: &Tables, node: usize, instance_type: u32, nth: u32) {
        let offering = t.types[instance_type as usize].offerings.start + nth;
        let row = &mut self.new_nodes[node];
        (row.instance_type, row.offering) = (instance_type, offering);
        row.price_microusd = t.offerings[offering as usize].price_microusd;
    }

    /// States the requests of new nodes: pods and `daemons` cpu, memory and pods.
    pub fn state_requests(&mut self, t: &Tables, daemons: [i64; 3]) {
        for (node, row) in self.requests.chunks_mut(3).enumerate() {
            row.copy_from_slice(&daemons);
            for p in self.placements.iter().filter(|p| p.target == Target::New(node as u32)) {
                let one = t.classes[p.class as usize].requests as usize * 3;
                (0..3).for_each(|i| row[i] += t.quantities[one + i] * i64::from(p.count));
            }
        }
    }
}

/// Runs the check in memory that is exactly as large as announced and full of rubbish.
pub fn verify(t: &Tables, a: &Answer) -> Result<(), Violation> {
    verify_problem(&t.problem(), &a.decision())
}

pub fn verify_problem(problem: &Problem, decision: &Decision) -> Result<(), Violation> {
    let need = CheckNeed::of(problem, decision);
    let (mut numbers, mut words) = (vec![0xdead_beef; need.numbers], vec![!0; need.words]);
    let mut amounts = vec![-1; need.amounts];
    let mut memory =
        CheckMemory { numbers: &mut numbers, words: &mut words, amounts: &mut amounts };
    check(problem, decision, &mut memory)
}

/// Asserts that the answer is refused by this rule.
#[track_caller]
pub fn refused(t: &Tables, a: &Answer, rule: Rule) {
    match verify(t, a) {
        Ok(()) => panic!("accepted, though it breaks {rule:?}"),
        Err(v) => assert_eq!(v.rule, rule, "{v}"),
    }
}

#[track_caller]
pub fn accepted(t: &Tables, a: &Answer) {
    if let Err(v) = verify(t, a) {
        panic!("{v}");
    }
}
