//! Tables fit together: every row that is named exists, and orders that are relied on hold.
//!
//! Everything else in the check reads tables without looking again.

use super::tables::{RESOURCES, is_per_node};
use super::violation::{Rule, Violation};
use crate::decision::{Decision, Target, TemplateState};
use crate::problem::{Group, NONE, Problem, Requirement, Span};

fn inside(span: Span, len: usize) -> bool {
    u64::from(span.start) + u64::from(span.len) <= len as u64
}

fn row(row: u32, len: usize) -> bool {
    (row as usize) < len
}

fn row_or_none(index: u32, len: usize) -> bool {
    index == NONE || row(index, len)
}

/// Refuses a problem whose tables contradict each other.
pub(super) fn problem_is_sound(problem: &Problem) -> Result<(), Violation> {
    let is_sound = problem.resources.len() <= RESOURCES
        && problem.quantities.len().is_multiple_of(problem.resources.len())
        && labels_are_sound(problem)
        && types_are_sound(problem)
        && templates_are_sound(problem)
        && daemons_are_sound(problem)
        && nodes_are_sound(problem)
        && classes_are_sound(problem)
        && groups_are_sound(problem);
    if is_sound { Ok(()) } else { Err(Violation::of(Rule::Problem)) }
}

fn amounts(problem: &Problem) -> usize {
    problem.quantities.len() / problem.resources.len().max(1)
}

fn labels_are_sound(p: &Problem) -> bool {
    let ascends = |rows: &[Requirement]| rows.windows(2).all(|w| w[0].key < w[1].key);
    let ranks = |r: &Requirement| {
        let values = r.values.of(p.requirement_values);
        let most = p.keys[r.key as usize].values.len as usize;
        inside(r.values, p.requirement_values.len())
            && values.iter().all(|v| row(*v, most))
            && values.windows(2).all(|w| w[0] < w[1])
    };
    p.keys.iter().all(|k| inside(k.values, p.values.len()))
        && p.requirements.iter().all(|r| row(r.key, p.keys.len()) && ranks(r))
        && p.sets.iter().all(|s| inside(*s, p.requirements.len()) && ascends(s.of(p.requirements)))
        && p.terms.iter().all(|t| row(t.set, p.sets.len()))
}

fn types_are_sound(p: &Problem) -> bool {
    let label = |l: &crate::problem::Label| {
        row(l.key, p.keys.len()) && l.value < p.keys[l.key as usize].values.len
    };
    let offerings = |t: &crate::problem::InstanceType| {
        t.offerings.of(p.offerings).iter().all(|o| u32::from(o.variant) < t.variants.len)
    };
    p.variants.iter().all(|v| row(v.allocatable, amounts(p)))
        && p.offering_labels.iter().all(label)
        && p.offerings.iter().all(|o| {
            inside(o.labels, p.offering_labels.len())
                && row_or_none(o.reservation, p.reservations.len())
        })
        && p.types.iter().all(|t| {
            row(t.set, p.sets.len())
                && row(t.capacity, amounts(p))
                && inside(t.variants, p.variants.len())
                && inside(t.offerings, p.offerings.len())
                && offerings(t)
        })
}

fn templates_are_sound(p: &Problem) -> bool {
    p.template_types.iter().all(|t| row(*t, p.types.len()))
        && p.templates.iter().all(|t| {
            row(t.set, p.sets.len())
                && inside(t.taints, p.taints.len())
                && inside(t.types, p.template_types.len())
                && t.types.of(p.template_types).windows(2).all(|w| w[0] < w[1])
                && row_or_none(t.limit, amounts(p))
                && row_or_none(t.usage, amounts(p))
        })
}

fn daemons_are_sound(p: &Problem) -> bool {
    p.daemons.iter().all(|d| {
        row(d.requests, amounts(p))
            && row(d.selector, p.sets.len())
            && inside(d.required, p.terms.len())
            && inside(d.tolerations, p.tolerations.len())
            && inside(d.ports, p.ports.len())
    })
}

fn nodes_are_sound(p: &Problem) -> bool {
    p.node_counts.iter().all(|c| row(c.group, p.groups.len()))
        && p.nodes.iter().all(|n| {
            row(n.set, p.sets.len())
                && inside(n.taints, p.taints.len())
                && row(n.available, amounts(p))
                && row_or_none(n.daemon_requests, amounts(p))
                && inside(n.ports, p.ports.len())
                && inside(n.counts, p.node_counts.len())
                && inside(n.volumes, p.node_volumes.len())
                && inside(n.claims, p.node_claims.len())
                && n.claims.of(p.node_claims).windows(2).all(|w| w[0] < w[1])
        })
}

fn classes_are_sound(p: &Problem) -> bool {
    let group = |g: u32| row(g, p.groups.len());
    p.links.iter().all(|l| group(l.group) && row_or_none(l.inverse, p.groups.len()))
        && p.links.iter().filter(|l| l.inverse != NONE).all(|l| {
            // Owners are counted in the inverse over the domains of the rule itself.
            p.groups[l.group as usize].key == p.groups[l.inverse as usize].key
                && is_per_node(&p.groups[l.group as usize])
                    == is_per_node(&p.groups[l.inverse as usize])
        })
        && p.matches.iter().all(|g| group(*g))
        && p.volume_alternatives.iter().all(|s| row(*s, p.sets.len()))
        && p.classes.iter().all(|c| {
            row(c.requests, amounts(p))
                && row(c.selector, p.sets.len())
                && inside(c.required, p.terms.len())
                && inside(c.tolerations, p.tolerations.len())
                && inside(c.links, p.links.len())
                && inside(c.matches, p.matches.len())
                && c.matches.of(p.matches).windows(2).all(|w| w[0] < w[1])
                && inside(c.ports, p.ports.len())
                && inside(c.volume_alternatives, p.volume_alternatives.len())
                && inside(c.volume_uses, p.volume_uses.len())
        })
}

fn groups_are_sound(p: &Problem) -> bool {
    let domains = |g: &Group| {
        inside(g.domains, p.domains.len())
            && (is_per_node(g)
                || row(g.key, p.keys.len())
                    && g.domains
                        .of(p.domains)
                        .iter()
                        .all(|d| d.value < p.keys[g.key as usize].values.len))
    };
    p.groups.iter().all(|g| {
        domains(g) && inside(g.filter, p.terms.len()) && inside(g.tolerations, p.tolerations.len())
    })
}

/// Refuses a decision whose tables do not fit each other or the problem.
pub(super) fn decision_is_sound(problem: &Problem, decision: &Decision) -> Result<(), Violation> {
    let nodes = decision.new_nodes.len();
    let set_words: usize =
        problem.keys.iter().map(|k| 3 + (k.values.len as usize).div_ceil(64)).sum();
    let words = problem.types.len().div_ceil(64);
    let is_sound = decision.type_words == words
        && decision.set_words == set_words
        && decision.type_masks.len() == nodes * words
        && decision.sets.len() == nodes * set_words
        && decision.requests.len() == nodes * problem.resources.len()
        && decision.templates.len() == problem.templates.len()
        && decision.unplaced.windows(2).all(|w| w[0].class < w[1].class)
        && decision.unplaced.iter().all(|u| inside(u.reasons, decision.reasons.len()));
    if !is_sound {
        return Err(Violation::of(Rule::Shape));
    }
    rows_exist(problem, decision)
}

fn rows_exist(problem: &Problem, decision: &Decision) -> Result<(), Violation> {
    let refuse = |row| Err(Violation::of(Rule::Index).row(row));
    for unplaced in decision.unplaced {
        if !row(unplaced.class, problem.classes.len()) {
            return refuse(unplaced.class);
        }
    }
    for reason in decision.reasons {
        if !row_or_none(reason.template, problem.templates.len()) {
            return refuse(reason.template);
        }
    }
    for placement in decision.placements {
        let (target, len) = match placement.target {
            Target::Node(row) => (row, problem.nodes.len()),
            Target::New(row) => (row, decision.new_nodes.len()),
        };
        if !row(placement.class, problem.classes.len()) {
            return refuse(placement.class);
        }
        if !row(target, len) {
            return refuse(target);
        }
    }
    new_nodes_exist(problem, decision)
}

fn new_nodes_exist(problem: &Problem, decision: &Decision) -> Result<(), Violation> {
    for (at, node) in decision.new_nodes.iter().enumerate() {
        let refuse = |rule: Rule, row| Err(Violation::of(rule).on(Target::New(at as u32)).row(row));
        if !row(node.template, problem.templates.len()) {
            return refuse(Rule::Index, node.template);
        }
        if decision.templates[node.template as usize] != TemplateState::Open {
            return refuse(Rule::TemplateState, node.template);
        }
        if !row(node.offering, problem.offerings.len()) {
            return refuse(Rule::Index, node.offering);
        }
        if !row(node.instance_type, problem.types.len()) {
            return refuse(Rule::Index, node.instance_type);
        }
        // Bits past the last type name types that do not exist.
        let mask = &decision.type_masks[at * decision.type_words..][..decision.type_words];
        let past = problem.types.len() % 64;
        if past != 0 && mask.last().is_some_and(|w| w >> past != 0) {
            return refuse(Rule::Index, problem.types.len() as u32);
        }
    }
    Ok(())
}
