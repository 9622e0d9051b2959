//! The tables of one solve, carved from lent memory and filled from the problem.

use crate::decision::{NewNode, TemplateState};
use crate::limits::Exceeded;
use crate::place::counts::Counts;
use crate::problem::{ABSENT, CapacityType, HostPort, NONE, Problem};
use crate::requirements::Layout;
use crate::resources;
use crate::workspace::{Caps, Carver, ENTRY, SCRATCH_ROWS, Sizes};

/// Nodes that exist.
pub(crate) struct Nodes<'m> {
    /// Dense label sets; they take on pods' requirements under Karpenter's rules.
    pub sets: &'m mut [u64],
    pub ports: &'m mut [u64],
    pub claims: &'m mut [u64],
    /// What is left after pods and the DaemonSet pods still to come.
    pub remaining: &'m mut [i64],
    /// Claims in use, parallel to the problem's `node_volumes`.
    pub volumes: &'m mut [u32],
    /// The order in which nodes are tried.
    pub order: &'m mut [u32],
    /// Classes that each node refuses for good.
    pub refused: &'m mut [u64],
}

/// Nodes that this solve opens.
pub(crate) struct News<'m> {
    pub len: usize,
    pub rows: &'m mut [NewNode],
    pub sets: &'m mut [u64],
    pub masks: &'m mut [u64],
    pub ports: &'m mut [u64],
    pub held: &'m mut [u64],
    pub requests: &'m mut [i64],
    /// Largest amount that any type left offers, overhead taken off.
    pub ceilings: &'m mut [i64],
    /// The order in which they are tried.
    pub order: &'m mut [u32],
    /// Classes that each of them refuses for good.
    pub refused: &'m mut [u64],
    /// New nodes that are in everything like the one before.
    pub copies: &'m mut [u64],
}

/// What templates can still do.
pub(crate) struct Templates<'m> {
    /// Values that a template's nodes can have of each key, in the layout of a set.
    pub universe: &'m mut [u64],
    /// Types that satisfy the template.
    pub masks: &'m mut [u64],
    /// What the limits leave; only limited resources mean anything.
    pub remaining: &'m mut [i64],
    /// Nodes that may still be opened; `NONE` for no limit.
    pub nodes: &'m mut [u32],
    /// First row of each template in the two tables below, which have a row for each of its
    /// types: templates may share stretches of `template_types`.
    pub at: &'m mut [u32],
    /// DaemonSet overhead and ports.
    pub overhead: &'m mut [i64],
    pub ports: &'m mut [u64],
    pub states: &'m mut [TemplateState],
}

/// Working room of one acceptance test.
pub(crate) struct Scratch<'m> {
    /// Requirements of the pod, preference included.
    pub all: &'m mut [u64],
    /// Requirements of the pod without preferences.
    pub strict: &'m mut [u64],
    /// Node, pod.
    pub joined: &'m mut [u64],
    /// Node, pod, volume.
    pub placed: &'m mut [u64],
    /// What topology leaves.
    pub topology: &'m mut [u64],
    /// All of it together: the requirements after acceptance.
    pub result: &'m mut [u64],
    /// Domain bits of one group, and of several together.
    pub bits: &'m mut [u64],
    pub distinct: &'m mut [u64],
    pub mask: &'m mut [u64],
    pub filtered: &'m mut [u64],
    /// `result` and `filtered` once the node draws on reservations, or does without.
    pub narrowed: &'m mut [u64],
    pub kept: &'m mut [u64],
    /// Sum of requests.
    pub total: &'m mut [i64],
    pub row: &'m mut [i64],
    /// One price per type.
    pub prices: &'m mut [i64],
    pub pod_ports: &'m mut [u64],
    pub held: &'m mut [u64],
}

/// All tables of a solve.
pub(crate) struct State<'p, 'm> {
    pub p: Problem<'p>,
    pub z: Sizes,
    pub layout: Layout<'m>,
    /// Keys that some offering has a label of.
    pub offering_keys: &'m mut [u32],
    /// Dense forms of the problem's sets.
    pub sets: &'m mut [u64],
    /// For each host port, those that it clashes with.
    pub clashes: &'m mut [u64],
    /// Units left of each reservation.
    pub units: &'m mut [u32],
    /// What is left of each quota.
    pub quotas: &'m mut [i64],
    pub nodes: Nodes<'m>,
    pub news: News<'m>,
    pub templates: Templates<'m>,
    pub counts: Counts<'m>,
    pub scratch: Scratch<'m>,
    /// The queue's cells.
    pub queue: &'m mut [u32],
    /// Pods left over by class.
    pub left: &'m mut [u32],
    pub has_preferring_taint: bool,
    /// Acceptance asks as if quotas were not there.
    pub forgets_quotas: bool,
    pub steps: u64,
    /// Pods placed so far.
    pub placed: u32,
    /// Minima of per-node groups found last: (pods placed, group, minimum).
    pub minima: [(u32, u32, u32); 8],
}

/// Slices that the solve does not carve.
pub(crate) struct Slices<'m> {
    pub words: &'m mut [u64],
    pub amounts: &'m mut [i64],
    pub numbers: &'m mut [u32],
    pub new_nodes: &'m mut [NewNode],
    pub templates: &'m mut [TemplateState],
}

impl<'p, 'm> State<'p, 'm> {
    /// Carves and fills all tables.
    pub fn new(p: &Problem<'p>, caps: Caps, lent: Slices<'m>) -> Result<Self, Exceeded> {
        let z = Sizes::of(p, caps);
        let mut w = Carver::new(lent.words);
        let mut a = Carver::new(lent.amounts);
        let mut n = Carver::new(lent.numbers);
        let layout = Layout::build(p, n.take(z.keys + 1)?);
        let (r, b) = (z.resources, caps.new_nodes);
        let mut templates = Carver::new(lent.templates);
        let mut rows = Carver::new(lent.new_nodes);
        let mut state = Self {
            p: *p,
            z,
            layout,
            offering_keys: n.take(z.keys)?,
            sets: w.take(z.sets * z.set)?,
            clashes: w.take(z.ports * z.port_mask)?,
            units: n.take(z.reservations)?,
            quotas: a.take(z.quotas)?,
            nodes: Nodes {
                sets: w.take(z.nodes * z.set)?,
                ports: w.take(z.nodes * z.port_mask)?,
                claims: w.take(z.nodes * z.claims)?,
                remaining: a.take(z.nodes * r)?,
                volumes: n.take(z.node_volumes)?,
                order: n.take(z.nodes)?,
                refused: w.take(z.nodes * z.class_mask)?,
            },
            news: News {
                len: 0,
                rows: rows.take(b)?,
                sets: w.take(b * z.set)?,
                masks: w.take(b * z.mask)?,
                ports: w.take(b * z.port_mask)?,
                held: w.take(b * z.hold)?,
                requests: a.take(b * r)?,
                ceilings: a.take(b * r)?,
                order: n.take(b)?,
                refused: w.take(b * z.class_mask)?,
                copies: w.take(b.div_ceil(64))?,
            },
            templates: Templates {
                universe: w.take(z.templates * z.set)?,
                masks: w.take(z.templates * z.mask)?,
                remaining: a.take(z.templates * r)?,
                nodes: n.take(z.templates)?,
                at: n.take(z.templates)?,
                overhead: a.take(z.template_types * r)?,
                ports: w.take(z.template_types * z.port_mask)?,
                states: templates.take(z.templates)?,
            },
            counts: Counts::carve(&z, &mut w, &mut n)?,
            scratch: Scratch::carve(&z, &mut w, &mut a)?,
            queue: n.take(z.runs * ENTRY)?,
            left: n.take(z.classes)?,
            has_preferring_taint: false,
            forgets_quotas: false,
            steps: 0,
            placed: 0,
            minima: [(NONE, NONE, 0); 8],
        };
        state.fill()?;
        Ok(state)
    }

    fn fill(&mut self) -> Result<(), Exceeded> {
        let p = self.p;
        for (i, span) in p.sets.iter().enumerate() {
            let set = &mut self.sets[i * self.z.set..][..self.z.set];
            self.layout.write(set, &p, span.of(p.requirements));
        }
        self.offering_keys.fill(0);
        for label in p.offering_labels {
            self.offering_keys[label.key as usize] = 1;
        }
        for (i, a) in p.ports.iter().enumerate() {
            let row = &mut self.clashes[i * self.z.port_mask..][..self.z.port_mask];
            row.fill(0);
            for (j, b) in p.ports.iter().enumerate() {
                if clash(a, b) {
                    row[j / 64] |= 1 << (j % 64);
                }
            }
        }
        self.units.copy_from_slice(p.reservations);
        for (left, quota) in self.quotas.iter_mut().zip(p.quotas) {
            *left = quota.limit.saturating_sub(quota.usage);
        }
        self.left.fill(0);
        self.nodes.refused.fill(0);
        self.news.copies.fill(0);
        self.counts.load(&p)?;
        self.fill_templates();
        self.fill_nodes();
        Ok(())
    }

    fn fill_nodes(&mut self) {
        let p = self.p;
        let (w, r) = (self.z.set, self.z.resources);
        for (i, node) in p.nodes.iter().enumerate() {
            let set = &self.sets[node.set as usize * w..][..w];
            self.nodes.sets[i * w..][..w].copy_from_slice(set);
            let ports = &mut self.nodes.ports[i * self.z.port_mask..][..self.z.port_mask];
            ports.fill(0);
            node.ports.range().for_each(|q| ports[q / 64] |= 1 << (q % 64));
            let claims = &mut self.nodes.claims[i * self.z.claims..][..self.z.claims];
            claims.fill(0);
            for &c in node.claims.of(p.node_claims) {
                claims[c as usize / 64] |= 1 << (c % 64);
            }
            self.daemons_to_come(i);
            let remaining = &mut self.nodes.remaining[i * r..][..r];
            let available = row(p.quantities, node.available, r);
            for ((left, have), less) in
                remaining.iter_mut().zip(available).zip(self.scratch.row.iter())
            {
                *left = if *have == ABSENT { 0 } else { have.saturating_sub(*less) };
            }
        }
        for (used, v) in self.nodes.volumes.iter_mut().zip(p.node_volumes) {
            *used = v.used;
        }
        let ready = |ready| (0..p.nodes.len()).filter(move |&i| p.nodes[i].is_initialized == ready);
        for (at, i) in self.nodes.order.iter_mut().zip(ready(true).chain(ready(false))) {
            *at = i as u32;
        }
    }

    /// Writes into `scratch.row` what DaemonSets that belong on the node still have to take.
    fn daemons_to_come(&mut self, node: usize) {
        let p = self.p;
        let (w, r) = (self.z.set, self.z.resources);
        let row_of = |index: u32| row(p.quantities, index, r);
        self.scratch.row.fill(0);
        let n = &p.nodes[node];
        for daemon in p.daemons {
            let taints = n.taints.of(p.taints);
            if crate::taints::untolerated(taints, daemon.tolerations.of(p.tolerations), false)
                .is_some()
            {
                continue;
            }
            let terms = daemon.required.of(p.terms);
            let asked = if p.rules.daemon_first_term { terms.len().min(1) } else { terms.len() };
            let runs = (0..asked.max(1)).any(|t| {
                let labels = n.set as usize * w;
                self.load_daemon(daemon, terms.get(t))
                    && self
                        .layout
                        .incompatible(&self.sets[labels..][..w], self.scratch.strict, false, &p)
                        .is_none()
            });
            if runs {
                resources::add(self.scratch.row, row_of(daemon.requests));
            }
        }
        if n.daemon_requests != NONE {
            resources::subtract(self.scratch.row, row_of(n.daemon_requests));
        }
        self.scratch.row.iter_mut().for_each(|x| *x = (*x).max(0));
    }
}

impl<'m> Scratch<'m> {
    fn carve(
        z: &Sizes,
        w: &mut Carver<'m, u64>,
        a: &mut Carver<'m, i64>,
    ) -> Result<Self, Exceeded> {
        const { assert!(SCRATCH_ROWS >= 2) };
        Ok(Self {
            all: w.take(z.set)?,
            strict: w.take(z.set)?,
            joined: w.take(z.set)?,
            placed: w.take(z.set)?,
            topology: w.take(z.set)?,
            result: w.take(z.set)?,
            bits: w.take(z.set)?,
            distinct: w.take(z.set)?,
            mask: w.take(z.mask)?,
            filtered: w.take(z.mask)?,
            narrowed: w.take(z.set)?,
            kept: w.take(z.mask)?,
            total: a.take(z.resources)?,
            row: a.take(z.resources)?,
            prices: a.take(z.types)?,
            pod_ports: w.take(z.port_mask)?,
            held: w.take(z.hold)?,
        })
    }
}

/// Two ports clash when protocol and number are equal and so are the addresses, or one
/// stands for all addresses.
fn clash(a: &HostPort, b: &HostPort) -> bool {
    a.protocol == b.protocol
        && a.port == b.port
        && (a.address == b.address || a.address == 0 || b.address == 0)
}

/// A row of a table of amounts; `NONE` is not a row.
pub(crate) fn row(table: &[i64], index: u32, width: usize) -> &[i64] {
    table.get(index as usize * width..(index as usize + 1) * width).unwrap_or(&[])
}

/// Rank of an offering among kinds of capacity, reserved first.
pub(crate) fn is_reserved(kind: CapacityType) -> bool {
    kind == CapacityType::Reserved
}
