//! Pods on a node to open: judged on every machine that may come.

use super::existing::pods_share_no_port;
use super::labels::{Allowed, share_a_value};
use super::tables::{self, Case, RESOURCES};
use super::violation::{Rule, Violation};
use crate::decision::{NewNode, Target};
use crate::problem::{
    CapacityType, Daemon, InstanceType, NONE, Offering, PodClass, Problem, Requirement, Span,
    Template,
};

/// Most instance types that one launch request holds.
pub(super) const TYPES_PER_NEW_NODE: usize = 600;

/// A node to open, as the set of machines that may come.
#[derive(Clone, Copy)]
pub(super) struct Opened<'a> {
    pub case: Case<'a>,
    pub node: &'a NewNode,
    pub template: &'a Template,
    mask: &'a [u64],
    set: &'a [u64],
}

impl<'a> Opened<'a> {
    /// The node of row `row` of the decision.
    pub fn of(case: Case<'a>, row: u32) -> Self {
        let decision = case.decision;
        let node = &decision.new_nodes[row as usize];
        let mask = &decision.type_masks[row as usize * decision.type_words..];
        let set = &decision.sets[row as usize * decision.set_words..];
        Self {
            case,
            node,
            template: &case.problem.templates[node.template as usize],
            mask: &mask[..decision.type_words],
            set: &set[..decision.set_words],
        }
    }

    /// Types of the mask, ascending, with their rows.
    pub fn types(self) -> impl Iterator<Item = (u32, &'a InstanceType)> + use<'a> {
        let is_set = move |row: u32| self.mask[row as usize / 64] >> (row % 64) & 1 != 0;
        (0..).zip(self.case.problem.types).filter(move |(row, _)| is_set(*row))
    }

    /// Words of `key` in the node's requirement set.
    fn words(self, key: u32) -> &'a [u64] {
        let offsets = self.case.offsets;
        &self.set[offsets[key as usize] as usize..offsets[key as usize + 1] as usize]
    }

    /// What the launch request asks of the label `key`.
    pub fn asks(self, key: u32) -> Option<Allowed<'a>> {
        Allowed::dense(self.words(key))
    }

    /// Distinct values of `key` that the launch request asks the cloud to keep possible.
    fn min_values(self, key: u32) -> u16 {
        let head = self.words(key)[0];
        if head & 1 != 0 { (head >> 16) as u16 } else { 0 }
    }

    /// True when the cloud may answer the launch request with this offering. A reservation
    /// that the node does not hold is not to be had.
    pub fn can_get(self, offering: &Offering) -> bool {
        let problem = self.case.problem;
        let draws =
            offering.capacity_type == CapacityType::Reserved && offering.reservation != NONE;
        offering.is_available
            && draws == self.node.is_reserved
            && offering.labels.of(problem.offering_labels).iter().all(|l| match self.asks(l.key) {
                Some(asked) => asked.allows(l.value, tables::values(problem, l.key)),
                None => problem.keys[l.key as usize].is_well_known,
            })
    }

    /// Offerings of a type that the cloud may answer with; none for a type whose labels the
    /// launch request rules out.
    pub fn gets(self, of: &InstanceType) -> impl Iterator<Item = (u32, &'a Offering)> + use<'a> {
        let meets = self.labels_meet(of);
        tables::offerings(self.case.problem, of).filter(move |(_, o)| meets && self.can_get(o))
    }

    fn labels_meet(self, of: &InstanceType) -> bool {
        let problem = self.case.problem;
        tables::set(problem, of.set).iter().all(|r| {
            let own = Allowed::sparse(problem, r);
            self.asks(r.key).is_none_or(|asked| {
                share_a_value(&[own, asked], tables::values(problem, r.key))
                    || own.permits_absence() && asked.permits_absence()
            })
        })
    }

    /// True when every machine that may come satisfies the requirement.
    pub fn satisfies(self, r: &Requirement) -> bool {
        let problem = self.case.problem;
        let (wanted, values) = (Allowed::sparse(problem, r), tables::values(problem, r.key));
        let asked = self.asks(r.key);
        if let Some(asked) = asked
            && asked.is_within(wanted, values)
        {
            return wanted.permits_absence() || self.carries(r.key, asked);
        }
        if asked.is_none() && wanted.permits_absence() && self.lacks(r.key) {
            return true;
        }
        self.types().all(|(_, t)| {
            let own = tables::find(problem, t.set, r.key);
            self.gets(t).all(|(_, o)| match (tables::offered_value(problem, o, r.key), own) {
                (Some(value), _) => wanted.allows(value, values),
                (None, Some(own)) if own.is_list() => (0..values.len() as u32)
                    .filter(|v| own.allows(*v, values))
                    .filter(|v| asked.is_none_or(|a| a.allows(*v, values)))
                    .all(|v| wanted.allows(v, values)),
                _ => false,
            })
        })
    }

    /// True when the node surely has the label: the launch sets a well-known one, and one
    /// that the request lists or the pool defines.
    fn carries(self, key: u32, asked: Allowed) -> bool {
        let problem = self.case.problem;
        if asked.names_no_value() {
            return false;
        }
        let is_defined = || {
            let own = tables::find(problem, self.template.set, key);
            own.is_some_and(|own| !own.permits_absence())
        };
        asked.is_list() || problem.keys[key as usize].is_well_known || is_defined()
    }

    /// True when no machine that may come has the label, which the request does not ask for.
    fn lacks(self, key: u32) -> bool {
        let problem = self.case.problem;
        !problem.keys[key as usize].is_well_known
            && tables::find(problem, self.template.set, key).is_none()
            && self.types().all(|(_, t)| {
                tables::find(problem, t.set, key).is_none_or(|own| !own.is_list())
                    && self.gets(t).all(|(_, o)| tables::offered_value(problem, o, key).is_none())
            })
    }

    /// The first key on which some machine misses a set.
    pub fn missed(self, set: u32) -> Option<u32> {
        let mut rows = tables::set(self.case.problem, set).iter();
        rows.find(|r| !self.satisfies(r)).map(|r| r.key)
    }

    /// True when no key of the request rules the set out.
    pub fn may_satisfy(self, set: u32) -> bool {
        let problem = self.case.problem;
        tables::set(problem, set).iter().all(|r| {
            let wanted = Allowed::sparse(problem, r);
            match self.asks(r.key) {
                None => wanted.permits_absence() || !self.lacks(r.key),
                Some(asked) => {
                    wanted.permits_absence() && asked.permits_absence()
                        || share_a_value(&[asked, wanted], tables::values(problem, r.key))
                }
            }
        })
    }

    /// Row of the overhead table for a type of the template.
    fn template_type(self, row: u32) -> Option<usize> {
        let problem = self.case.problem;
        let rows = self.template.types.of(problem.template_types);
        let before = &problem.templates[..self.node.template as usize];
        let first: usize = before.iter().map(|t| t.types.len as usize).sum();
        Some(first + rows.binary_search(&row).ok()?)
    }

    /// DaemonSet requests on a type of the mask.
    fn overhead(self, row: u32) -> &'a [i64] {
        let width = self.case.problem.resources.len();
        let at = self.template_type(row).unwrap_or(0);
        &self.case.overhead[at * width..][..width]
    }

    /// The column that is short when `requests` go onto an offering of the type.
    fn short(self, requests: &[i64], type_row: u32, offering: &Offering) -> Option<u32> {
        let of = &self.case.problem.types[type_row as usize];
        let variant = of.variants.start as usize + usize::from(offering.variant);
        let room = self.case.amounts(self.case.problem.variants[variant].allocatable);
        let need = requests.iter().zip(self.overhead(type_row)).map(|(r, o)| r.saturating_add(*o));
        let mut cells = (0..).zip(need.zip(room));
        cells.find(|(_, (need, room))| *need > 0 && need > room).map(|(column, _)| column)
    }
}

/// Checks node `row` of the decision with the placements `rows`, ascending by class.
pub(super) fn hosts(case: Case, row: u32, rows: &[u32]) -> Result<(), Violation> {
    let opened = Opened::of(case, row);
    let requests = case.requests(rows);
    is_offered(opened, rows)
        .and_then(|()| accepts(opened, rows))
        .and_then(|()| fits(opened, &requests))
        .and_then(|()| says_requests(opened, row, &requests))
        .and_then(|()| ports_are_free(opened, rows))
        .and_then(|()| keeps_min_values(opened))
        .map_err(|v| v.on(Target::New(row)))
}

/// The mask is one that the template can offer, and the template's own demands are kept.
fn is_offered(opened: Opened, rows: &[u32]) -> Result<(), Violation> {
    let Opened { case, node, template, .. } = opened;
    let pods = rows.iter().fold(0_u64, |n, r| n + u64::from(case.placement(*r).count));
    if pods == 0 || pods != u64::from(node.pods) {
        return Err(Violation::of(Rule::NodePods));
    }
    let len: usize = opened.mask.iter().map(|w| w.count_ones() as usize).sum();
    if len == 0 || len > TYPES_PER_NEW_NODE {
        return Err(Violation::of(Rule::TypeMask));
    }
    for (row, _) in opened.types() {
        if opened.template_type(row).is_none() {
            return Err(Violation::of(Rule::TypeMask).row(row));
        }
    }
    match opened.missed(template.set) {
        Some(key) => Err(Violation::of(Rule::Template).row(key)),
        None => Ok(()),
    }
}

fn accepts(opened: Opened, rows: &[u32]) -> Result<(), Violation> {
    let class_of = |r: &u32| opened.case.placement(*r).class;
    for rows in rows.chunk_by(|a, b| class_of(a) == class_of(b)) {
        let row = class_of(&rows[0]);
        accepts_class(opened, opened.case.class(row)).map_err(|v| v.class(row))?;
    }
    Ok(())
}

fn accepts_class(opened: Opened, class: &PodClass) -> Result<(), Violation> {
    let problem = opened.case.problem;
    if class.has_device_claims {
        return Err(Violation::of(Rule::DeviceClaims));
    }
    if let Some(taint) = tables::repelling(problem, opened.template.taints, class.tolerations) {
        return Err(Violation::of(Rule::Taint).row(taint));
    }
    if let Some(key) = opened.missed(class.selector) {
        return Err(Violation::of(Rule::Selector).row(key));
    }
    let terms = class.required.of(problem.terms);
    if !terms.is_empty() && !terms.iter().any(|t| opened.missed(t.set).is_none()) {
        return Err(Violation::of(Rule::Term));
    }
    let alternatives = class.volume_alternatives.of(problem.volume_alternatives);
    if !alternatives.is_empty() && !alternatives.iter().any(|s| opened.missed(*s).is_none()) {
        return Err(Violation::of(Rule::Volume));
    }
    Ok(())
}

/// Each type that can come has an offering that hosts the pods; the stated one is the
/// cheapest of those.
fn fits(opened: Opened, requests: &[i64]) -> Result<(), Violation> {
    let (problem, node) = (opened.case.problem, opened.node);
    let (mut is_stated_found, mut cheapest) = (false, None);
    for (row, of) in opened.types() {
        let (mut hosts, mut short) = (false, None);
        for (at, offering) in opened.gets(of) {
            if let Some(column) = opened.short(requests, row, offering) {
                short = Some(column);
                continue;
            }
            hosts = true;
            is_stated_found |= at == node.offering && row == node.instance_type;
            // Which machines of a quota are had depends on who was there first.
            let is_open = offering.charges.len == 0 || at == node.offering;
            let counted = offering.counted_microusd();
            if is_open && cheapest.is_none_or(|(least, _)| counted < least) {
                cheapest = Some((counted, at));
            }
        }
        if let Some(column) = short
            && !hosts
        {
            return Err(Violation::of(Rule::Resource).row(column));
        }
    }
    if cheapest.is_none() {
        return Err(Violation::of(Rule::NoMachine));
    }
    let stated = &problem.offerings[node.offering as usize];
    if !is_stated_found {
        return Err(Violation::of(Rule::Offering).row(node.offering));
    }
    if stated.price_microusd != node.price_microusd {
        return Err(Violation::of(Rule::Price).row(node.offering));
    }
    match cheapest {
        Some((least, at)) if least < stated.counted_microusd() => {
            Err(Violation::of(Rule::Cheapest).row(at))
        }
        _ => Ok(()),
    }
}

/// Stated requests are those of the pods and the least overhead of the types that are left.
fn says_requests(opened: Opened, row: u32, requests: &[i64]) -> Result<(), Violation> {
    let width = opened.case.problem.resources.len();
    let mut least = [i64::MAX; RESOURCES];
    for (row, _) in opened.types() {
        for (cell, one) in least.iter_mut().zip(opened.overhead(row)) {
            *cell = (*cell).min(*one);
        }
    }
    let stated = &opened.case.decision.requests[row as usize * width..][..width];
    for (column, ((stated, pods), least)) in (0..).zip(stated.iter().zip(requests).zip(least)) {
        if *stated != pods.saturating_add(least) {
            return Err(Violation::of(Rule::Requests).row(column));
        }
    }
    Ok(())
}

/// No pod takes a host port of another pod, or of a DaemonSet of any type that may come.
fn ports_are_free(opened: Opened, rows: &[u32]) -> Result<(), Violation> {
    let case = opened.case;
    for row in rows {
        let placement = case.placement(*row);
        let ports = case.class(placement.class).ports;
        if ports.len == 0 {
            continue;
        }
        for daemon in case.problem.daemons.iter().filter(|d| d.ports.len > 0) {
            let clashing = tables::clashing(case.problem, ports, daemon.ports);
            let runs =
                || opened.types().any(|(_, t)| runs(case.problem, opened.template, t, daemon));
            if let Some(port) = clashing
                && runs()
            {
                return Err(Violation::of(Rule::HostPort).class(placement.class).row(port));
            }
        }
    }
    pods_share_no_port(case, rows)
}

/// As many values stay possible as the pool asks for, or as the request says when it was
/// lowered.
fn keeps_min_values(opened: Opened) -> Result<(), Violation> {
    let problem = opened.case.problem;
    let is_lowered = opened.node.is_min_values_lowered;
    if is_lowered && !problem.rules.lowers_min_values {
        return Err(Violation::of(Rule::MinValues));
    }
    let rows = tables::set(problem, opened.template.set);
    for r in rows.iter().filter(|r| r.min_values > 0) {
        let stated = opened.min_values(r.key);
        let is_kept = stated >= r.min_values || is_lowered;
        if !is_kept || values_left(opened, r.key) < usize::from(stated) {
            return Err(Violation::of(Rule::MinValues).row(r.key));
        }
    }
    Ok(())
}

/// Distinct values of `key` among the types of the mask, within the launch request.
fn values_left(opened: Opened, key: u32) -> usize {
    let problem = opened.case.problem;
    let values = tables::values(problem, key);
    let is_offered = |value: &u32| {
        opened.asks(key).is_none_or(|asked| asked.allows(*value, values))
            && opened.types().any(|(_, t)| {
                let own = tables::find(problem, t.set, key);
                own.is_some_and(|own| own.is_list() && own.allows(*value, values))
            })
    };
    (0..values.len() as u32).filter(is_offered).count()
}

/// Sums what the DaemonSets of each type of each template request.
pub(super) fn daemon_overhead(problem: &Problem, overhead: &mut [i64]) {
    overhead.fill(0);
    let width = problem.resources.len();
    let mut at = 0;
    for template in problem.templates {
        for row in template.types.of(problem.template_types) {
            let of = &problem.types[*row as usize];
            let cells = &mut overhead[at * width..][..width];
            for daemon in problem.daemons.iter().filter(|d| runs(problem, template, of, d)) {
                for (cell, one) in cells.iter_mut().zip(tables::amounts(problem, daemon.requests)) {
                    *cell = cell.saturating_add(*one);
                }
            }
            at += 1;
        }
    }
}

/// True when the DaemonSet may run on a machine of the type that the template opens.
fn runs(problem: &Problem, template: &Template, of: &InstanceType, daemon: &Daemon) -> bool {
    let terms = daemon.required.of(problem.terms);
    let may = |term| may_run(problem, template, of, daemon.selector, term);
    tables::repelling(problem, template.taints, daemon.tolerations).is_none()
        && if terms.is_empty() { may(None) } else { terms.iter().any(|t| may(Some(t.set))) }
}

fn may_run(
    problem: &Problem,
    template: &Template,
    of: &InstanceType,
    selector: u32,
    term: Option<u32>,
) -> bool {
    let rows = |set: Option<u32>| {
        set.map_or(Span::default(), |s| problem.sets[s as usize]).of(problem.requirements).iter()
    };
    rows(Some(selector)).chain(rows(term)).all(|r| {
        let own = Allowed::sparse(problem, r);
        let wanted = tables::find(problem, selector, r.key).unwrap_or(own);
        let also = term.and_then(|t| tables::find(problem, t, r.key)).unwrap_or(own);
        let values = tables::values(problem, r.key);
        let meets = |side: Option<Allowed>| match side {
            Some(side) => {
                share_a_value(&[wanted, also, side], values)
                    || side.permits_absence() && wanted.permits_absence() && also.permits_absence()
            }
            None => true,
        };
        let pool = tables::find(problem, template.set, r.key);
        let is_known = pool.is_some()
            || problem.keys[r.key as usize].is_well_known
            || wanted.permits_absence() && also.permits_absence();
        is_known && meets(pool) && meets(tables::find(problem, of.set, r.key))
    })
}
