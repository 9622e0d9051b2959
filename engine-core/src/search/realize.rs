//! A packing becomes nodes: each planned machine is opened and filled through the acceptance
//! that all strategies share.
//!
//! Pods of a spread over zones are placed last and in turn, always in the emptiest zone, as
//! every pod must keep the skew when it comes. What is refused stays in `left`.

use heapless::Vec;

use super::model::Model;
use super::pack::Packing;
use super::tables::{Bundle, Entry};
use super::zones::{is_zonal, zonal_group};
use crate::decision::Target;
use crate::limits::Exceeded;
use crate::place::relax::Subject;
use crate::place::state::row;
use crate::place::{Pod, Solve};
use crate::problem::{NONE, PodClass};
use crate::resources;

/// Templates whose limits are shared among planned machines; of further ones a machine may be no
/// larger than planned.
const TEMPLATES: usize = 64;
/// Most resources of a problem.
const MOST: usize = crate::limits::RESOURCES;

/// Opens and fills the planned machines; `left` loses the pods placed, by class. `nodes` holds
/// the new node of each planned machine.
pub(crate) fn realize(
    solve: &mut Solve,
    model: &Model,
    packing: &Packing,
    left: &mut [u32],
    nodes: &mut [u32],
) -> Result<(), Exceeded> {
    let mut realizer = Realizer { solve, model, packing, left, nodes, planned: [0; TEMPLATES] };
    realizer.count_planned();
    let mut first = 0;
    for bundle in packing.bundles() {
        realizer.open_bundle(bundle, first)?;
        first += bundle.count as usize;
    }
    realizer.spread()
}

struct Realizer<'r, 's, 'p, 'm, 'k> {
    solve: &'s mut Solve<'p, 'm>,
    model: &'r Model<'k>,
    packing: &'r Packing<'k>,
    left: &'r mut [u32],
    nodes: &'r mut [u32],
    /// Machines of each template that are still to be opened.
    planned: [u32; TEMPLATES],
}

impl Realizer<'_, '_, '_, '_, '_> {
    /// Counts the machines planned for each template.
    fn count_planned(&mut self) {
        for bundle in self.packing.bundles() {
            let template = self.model.machines[bundle.machine as usize].template as usize;
            if let Some(planned) = self.planned.get_mut(template) {
                *planned += bundle.count;
            }
        }
    }

    /// Opens the machines of a bundle; `first` is the number of machines planned before.
    fn open_bundle(&mut self, bundle: &Bundle, first: usize) -> Result<(), Exceeded> {
        let entries = self.packing.entries(bundle);
        let template = self.model.machines[bundle.machine as usize].template as usize;
        let p = &self.solve.state.p;
        let is_plain = |e: &Entry| {
            let item = &self.model.items[e.item as usize];
            item.zone == NONE && counts_nowhere(&p.classes[item.class as usize])
        };
        let can_copy = self.solve.state.is_unlimited(template)
            && self.solve.state.z.reservations == 0
            && entries.iter().all(is_plain);
        let mut model_node = NONE;
        for copy in 0..bundle.count as usize {
            self.solve.stop.poll()?;
            let node = if can_copy && model_node != NONE && self.all_are_left(entries) {
                self.copy(model_node, entries)?
            } else {
                self.open(bundle)?
            };
            if model_node == NONE && self.is_complete(node, entries) {
                model_node = node;
            }
            if let Some(at) = self.nodes.get_mut(first + copy) {
                *at = node;
            }
        }
        Ok(())
    }

    fn is_complete(&self, node: u32, entries: &[Entry]) -> bool {
        let planned: u32 = entries.iter().map(|e| e.count).sum();
        node != NONE && self.solve.state.news.rows[node as usize].pods == planned
    }

    fn all_are_left(&self, entries: &[Entry]) -> bool {
        // Several items of one class stand apart only by zone, and such nodes are not copied.
        entries
            .iter()
            .all(|e| self.left[self.model.items[e.item as usize].class as usize] >= e.count)
    }

    fn copy(&mut self, node: u32, entries: &[Entry]) -> Result<u32, Exceeded> {
        let new = self.solve.state.open_copy(node as usize)? as u32;
        for e in entries {
            let item = &self.model.items[e.item as usize];
            let target = Target::New(new);
            self.solve.note_more(item.class, target, item.relaxed, e.count)?;
            self.left[item.class as usize] -= e.count;
        }
        Ok(new)
    }

    /// Opens one machine with what may be placed at once; [`NONE`] when nothing may, or the
    /// machine refuses.
    fn open(&mut self, bundle: &Bundle) -> Result<u32, Exceeded> {
        let mut node = NONE;
        for e in self.packing.entries(bundle) {
            let item = &self.model.items[e.item as usize];
            if item.zone != NONE {
                continue;
            }
            let mut pods = e.count.min(self.left[item.class as usize]);
            if pods > 0 && node == NONE {
                node = self.open_for(bundle, e)?;
                if node == NONE {
                    return Ok(NONE);
                }
                pods -= 1;
            }
            self.add(node, e, pods)?;
        }
        Ok(node)
    }

    /// Opens the machine of a bundle for the first pod of an entry.
    fn open_for(&mut self, bundle: &Bundle, e: &Entry) -> Result<u32, Exceeded> {
        let machine = &self.model.machines[bundle.machine as usize];
        let total = self.total(bundle);
        let (pod, item) = self.pod(e)?;
        let state = &mut self.solve.state;
        if state.load_pod(&pod).is_err() {
            return Ok(NONE);
        }
        // A rule over zones would choose one by its counts alone, not the one that was planned.
        let is_ruled = |e: &Entry| {
            let class = &state.p.classes[self.model.items[e.item as usize].class as usize];
            class.links.of(state.p.links).iter().any(|link| is_zonal(&state.p, link.group))
        };
        if machine.zone != NONE && self.packing.entries(bundle).iter().any(is_ruled) {
            state.pin(state.p.well.zone as usize, machine.zone);
        }
        let template = machine.template as usize;
        let total = &total[..state.z.resources];
        let share = match self.planned.get_mut(template) {
            Some(planned) => {
                let share = *planned;
                // A machine that refused may be tried again for another class.
                *planned = share.saturating_sub(1);
                share
            }
            None => u32::MAX,
        };
        let planned = (machine.instance_type, share);
        if state.on_planned(&pod, template, total, planned).is_err() {
            return Ok(NONE);
        }
        let node = state.open(&pod, template)? as u32;
        self.solve.note_more(item.0, Target::New(node), item.1, 1)?;
        self.left[item.0 as usize] -= 1;
        Ok(node)
    }

    /// What all pods of a planned machine ask for.
    fn total(&self, bundle: &Bundle) -> [i64; MOST] {
        let (p, r) = (&self.solve.state.p, self.solve.state.z.resources);
        let mut total = [0i64; MOST];
        for e in self.packing.entries(bundle) {
            let class = self.model.items[e.item as usize].class;
            let requests = row(p.quantities, p.classes[class as usize].requests, r);
            for (sum, more) in total.iter_mut().zip(requests) {
                *sum = sum.saturating_add(more.saturating_mul(i64::from(e.count)));
            }
        }
        total
    }

    /// A pod of the entry as it is placed, its class and its steps of relaxation.
    fn pod(&self, e: &Entry) -> Result<(Pod, (u32, u32)), Exceeded> {
        let state = &self.solve.state;
        let item = &self.model.items[e.item as usize];
        let mut pod = Pod::at(state, item.class as usize, item.relaxed)?;
        let subject = Subject::of(&state.p, &pod.class, state.has_preferring_taint)?;
        if let Some(lenient) = pod.relaxed.without_soft_node_spreads(&subject) {
            pod.relaxed = lenient;
        }
        Ok((pod, (item.class, item.relaxed)))
    }

    /// Puts up to `pods` pods of the entry onto an open node.
    fn add(&mut self, node: u32, e: &Entry, pods: u32) -> Result<(), Exceeded> {
        if pods == 0 {
            return Ok(());
        }
        let (pod, (class, relaxed)) = self.pod(e)?;
        let b = node as usize;
        if self.solve.state.load_pod(&pod).is_err() {
            return Ok(());
        }
        let mut placed = 0;
        while placed < pods && self.solve.state.on_new(&pod, b).is_ok() {
            self.solve.state.commit_new(&pod, b)?;
            placed += 1;
            if counts_nowhere(&pod.class) && self.holds(b, &pod.class, pods - placed) {
                self.solve.state.add_more(&pod, b, pods - placed);
                placed = pods;
            }
        }
        if placed > 0 {
            self.solve.note_more(class, Target::New(node), relaxed, placed)?;
            self.left[class as usize] -= placed;
        }
        Ok(())
    }

    /// True when every type left of the node holds `count` more pods of the class.
    fn holds(&self, b: usize, class: &PodClass, count: u32) -> bool {
        let state = &self.solve.state;
        let (p, r, m) = (&state.p, state.z.resources, state.z.mask);
        let mut total = [0i64; MOST];
        let total = &mut total[..r];
        total.copy_from_slice(&state.news.requests[b * r..][..r]);
        let requests = row(p.quantities, class.requests, r);
        for (sum, more) in total.iter_mut().zip(requests) {
            *sum = sum.saturating_add(more.saturating_mul(i64::from(count)));
        }
        let t = state.news.rows[b].template as usize;
        crate::requirements::ranks(&state.news.masks[b * m..][..m]).all(|x| {
            let overhead = &state.templates.overhead[state.template_type(t, x) * r..][..r];
            p.types[x as usize].variants.of(p.variants).iter().all(|v| {
                let allocatable = row(p.quantities, v.allocatable, r);
                resources::fits(total, overhead, allocatable, p.rules.negative_blocks_all)
            })
        }) && class.ports.len == 0
    }

    /// Places the pods of rules over zones, class by class.
    fn spread(&mut self) -> Result<(), Exceeded> {
        for class in 0..self.left.len() {
            let mut cursors: Vec<Cursor, 64> = Vec::new();
            for (i, item) in self.model.items[..self.model.items_len].iter().enumerate() {
                if item.class as usize == class && item.zone != NONE {
                    // LIMIT: the model divides a spread among no more zones than this.
                    let _ = cursors.push(Cursor::new(i as u32, item.zone));
                }
            }
            if let Some(group) = zonal_group(&self.solve.state.p, class) {
                self.spread_class(class, group as usize, &mut cursors)?;
            }
        }
        Ok(())
    }

    fn spread_class(
        &mut self,
        class: usize,
        group: usize,
        cursors: &mut Vec<Cursor, 64>,
    ) -> Result<(), Exceeded> {
        while self.left[class] > 0 {
            for at in (0..cursors.len()).rev() {
                if !cursors[at].settle(self.packing) {
                    cursors.swap_remove(at);
                }
            }
            let counts = &self.solve.state.counts;
            let emptiest = cursors.iter_mut().min_by_key(|c| (counts.get(group, c.zone), c.zone));
            let Some(cursor) = emptiest else { return Ok(()) };
            let entry = Entry { item: cursor.item, count: 1 };
            let before = self.left[class];
            let bundle = self.packing.bundles()[cursor.bundle];
            let at = cursor.machine;
            match self.nodes.get(at).copied().unwrap_or(NONE) {
                NONE => self.nodes[at] = self.open_for(&bundle, &entry)?,
                node => self.add(node, &entry, 1)?,
            }
            if self.left[class] == before {
                cursor.skip_machine();
            } else {
                cursor.used += 1;
            }
        }
        Ok(())
    }
}

/// Where the next pod of an item was planned.
struct Cursor {
    item: u32,
    zone: u32,
    bundle: usize,
    copy: u32,
    /// Planned machine, counted over all bundles.
    machine: usize,
    used: u32,
}

impl Cursor {
    fn new(item: u32, zone: u32) -> Self {
        Self { item, zone, bundle: 0, copy: 0, machine: 0, used: 0 }
    }

    fn skip_machine(&mut self) {
        self.copy += 1;
        self.machine += 1;
        self.used = 0;
    }

    /// Moves on to a machine with a planned pod that is not placed; false when there is none.
    fn settle(&mut self, packing: &Packing) -> bool {
        while let Some(bundle) = packing.bundles().get(self.bundle) {
            let planned = packing.entries(bundle).iter().find(|e| e.item == self.item);
            let planned = planned.map_or(0, |e| e.count);
            if self.copy >= bundle.count || planned == 0 {
                self.machine += (bundle.count - self.copy) as usize;
                self.bundle += 1;
                (self.copy, self.used) = (0, 0);
            } else if self.used >= planned {
                self.skip_machine();
            } else {
                return true;
            }
        }
        false
    }
}

/// True when no topology rule restricts or counts pods of the class.
fn counts_nowhere(class: &PodClass) -> bool {
    class.links.len == 0 && class.matches.len == 0
}
