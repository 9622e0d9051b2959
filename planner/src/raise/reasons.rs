//! One sentence for each reason: what is needed, the best there is, and what to change.
//!
//! The engine says why in numbers; nothing is judged again here.

use dunnage_engine_core::decision::{Reason, ReasonCode, TypeCounts};
use dunnage_engine_core::problem::{NONE, PodClass};

use super::codes;
use super::words::Words;
use crate::plan::{Because, TypesTested};

/// The reason in the user's words.
pub(crate) fn because(w: &Words, class: &PodClass, r: &Reason) -> Because {
    let mut said = Because { code: codes::name(r.code).to_owned(), ..Because::default() };
    if r.template != NONE {
        said.node_pool = Some(w.pool(r.template).to_owned());
    }
    if r.types.all > 0 {
        said.types = Some(tested(r.types));
    }
    said.message = match r.code {
        ReasonCode::Size | ReasonCode::OfferedTooSmall => too_small(w, class, r, &mut said),
        ReasonCode::Limit => limit(w, r, &mut said),
        ReasonCode::Quota => quota(w, r, &mut said),
        ReasonCode::NodeLimit | ReasonCode::MinValues => counted(w, r, &mut said),
        ReasonCode::Spread | ReasonCode::Affinity | ReasonCode::AntiAffinity => {
            topology(w, r, &mut said)
        }
        ReasonCode::Taint => {
            let taint = w.taint(r.subject);
            said.subject = Some(taint.to_owned());
            let pool = w.pool(r.template);
            format!(
                "pool `{pool}` taints its nodes `{taint}`, which the pod does not tolerate: \
                 add the toleration to the pod or use a pool without the taint"
            )
        }
        ReasonCode::Requirement
        | ReasonCode::UnknownLabel
        | ReasonCode::Volume
        | ReasonCode::Labels
        | ReasonCode::TopologyConflict => label(w, class, r, &mut said),
        _ => plain(w, class, r),
    };
    said
}

/// The counts as the answer has them.
pub(crate) fn tested(c: TypeCounts) -> TypesTested {
    TypesTested {
        asked: c.all,
        labels: c.labels,
        large: c.large,
        offered: c.offered,
        labels_large: c.labels_large,
        labels_offered: c.labels_offered,
        large_offered: c.large_offered,
    }
}

fn too_small(w: &Words, class: &PodClass, r: &Reason, said: &mut Because) -> String {
    let pool = w.pool(r.template);
    let c = r.types;
    if r.subject == NONE || r.subject as usize >= w.p.resources.len() {
        return plain(w, class, r);
    }
    said.subject = Some(w.resource(r.subject).to_owned());
    said.need = Some(w.quantity(r.subject, r.need));
    said.best = Some(w.quantity(r.subject, r.best));
    let (need, best) = (w.amount(r.subject, r.need), w.amount(r.subject, r.best));
    let among = match r.code {
        ReasonCode::Size => "the largest type that it allows".to_owned(),
        _ => format!(
            "the largest of its {} types that can be bought and have fitting labels",
            c.labels_offered
        ),
    };
    let key = w.resource(r.subject);
    if r.best <= 0 && r.code == ReasonCode::Size {
        return format!(
            "needs {need} and no type that pool `{pool}` allows has any `{key}`: allow types that \
             have it"
        );
    }
    // The engine's best is less than the machine when DaemonSets take their part.
    let named = match w.largest(r.template, r.subject) {
        Some((name, amount)) if r.code == ReasonCode::Size && amount >= r.best => {
            format!("{best} (`{name}`)")
        }
        _ => best,
    };
    let daemons = if w.p.daemons.is_empty() { "" } else { " with its DaemonSets" };
    format!(
        "needs {need}{daemons} and {among} in pool `{pool}` has {named}: lower the request or \
         allow larger types"
    )
}

fn limit(w: &Words, r: &Reason, said: &mut Because) -> String {
    let pool = w.pool(r.template);
    if r.subject == NONE || r.subject as usize >= w.p.resources.len() {
        return format!(
            "the limits of pool `{pool}` leave room for no type that fits: raise the limits"
        );
    }
    said.subject = Some(w.resource(r.subject).to_owned());
    said.need = Some(w.quantity(r.subject, r.need));
    said.best = Some(w.quantity(r.subject, r.best));
    format!(
        "the smallest type that fits has {} and the limits of pool `{pool}` leave {} (nodes opened \
         before in this plan count as their largest type): raise `limits.{}` of the pool or allow \
         smaller types",
        w.amount(r.subject, r.need),
        w.amount(r.subject, r.best),
        w.resource(r.subject)
    )
}

fn quota(w: &Words, r: &Reason, said: &mut Because) -> String {
    let Some(name) = w.names.quotas.get(r.subject as usize) else { return String::new() };
    said.subject = Some(name.name.clone());
    said.need = Some(name.unit.plain(r.need));
    said.best = Some(name.unit.plain(r.best));
    let place = name.region.as_ref().map_or_else(String::new, |r| format!(" in {r}"));
    let fix = if name.is_wish { "raise the setting" } else { "ask the cloud for more" };
    format!(
        "the cheapest machine that fits takes {} and the quota `{}`{place} leaves {}: {fix}, or \
         allow machines that it does not count",
        name.unit.words(r.need),
        name.name,
        name.unit.words(r.best.max(0))
    )
}

fn counted(w: &Words, r: &Reason, said: &mut Because) -> String {
    let pool = w.pool(r.template);
    said.need = Some(r.need.to_string());
    said.best = Some(r.best.to_string());
    if r.code == ReasonCode::NodeLimit {
        said.subject = Some("nodes".to_owned());
        return format!(
            "pool `{pool}` would have {} nodes and its limit is {}: raise `limits.nodes` of the pool",
            r.need, r.best
        );
    }
    if r.subject == NONE {
        (said.need, said.best) = (None, None);
        return format!(
            "the 600 cheapest types that pool `{pool}` may send to the cloud are too few for its \
             minValues: lower minValues or set minValuesPolicy to BestEffort"
        );
    }
    let key = w.key(r.subject);
    said.subject = Some(key.to_owned());
    format!(
        "pool `{pool}` asks for {} different values of `{key}` and the types that fit have {}: \
         lower minValues, widen the pool or set minValuesPolicy to BestEffort",
        r.need, r.best
    )
}

fn topology(w: &Words, r: &Reason, said: &mut Because) -> String {
    let (rule, domain) = (w.group(r.subject), w.domain(r.subject));
    let key = w.names.groups.get(r.subject as usize).map(|name| name.key.clone());
    said.subject = key;
    if r.best != i64::MAX {
        said.best = Some(r.best.to_string());
    }
    match r.code {
        ReasonCode::Spread => {
            said.need = Some(r.need.to_string());
            let best = match r.best {
                i64::MAX => format!("the pod may use no {domain} that is known"),
                best => format!("the best {domain} it may use would have a skew of {best}"),
            };
            format!(
                "{rule} allows a skew of {} and {best}: raise maxSkew, open further domains or \
                 use ScheduleAnyway",
                r.need
            )
        }
        ReasonCode::Affinity => {
            let found = match r.best {
                0 | i64::MAX => "there is none anywhere".to_owned(),
                count => format!("{count} are counted, none where this pod may go"),
            };
            format!(
                "{rule} needs a {domain} that holds such a pod and {found}: place those pods \
                 first, widen the affinity or make it a preference"
            )
        }
        _ => format!(
            "{rule} needs a {domain} without such a pod and every one that this pod may use has \
             {}: open further domains, lower the replicas or make the anti-affinity a preference",
            if r.best == i64::MAX { "one".to_owned() } else { format!("{} or more", r.best) }
        ),
    }
}

fn label(w: &Words, class: &PodClass, r: &Reason, said: &mut Because) -> String {
    let pool = w.pool(r.template);
    if r.subject == NONE {
        return match r.code {
            ReasonCode::TopologyConflict => format!(
                "its topology rules can each be met in pool `{pool}`, but not all at once: loosen \
                 one of them"
            ),
            _ => format!(
                "no instance type of pool `{pool}` has the labels that pod and pool ask for \
                 together ({}): widen one of them",
                counts(r.types)
            ),
        };
    }
    let key = w.key(r.subject);
    said.subject = Some(key.to_owned());
    let asked = w.asked(class, r.subject);
    let allowed = w.p.templates.get(r.template as usize).and_then(|t| w.said(t.set, r.subject));
    said.need.clone_from(&asked);
    said.best.clone_from(&allowed);
    let wants = asked.map_or_else(String::new, |a| format!(" {a}"));
    let allows = allowed.map_or_else(|| "any value".to_owned(), |a| format!("`{a}`"));
    match r.code {
        ReasonCode::UnknownLabel => format!(
            "asks for label `{key}`{wants}, which nodes of pool `{pool}` will not have{}: add it \
             to the pool's template labels or requirements, or drop it from the pod",
            hint(w, key)
        ),
        ReasonCode::Volume => format!(
            "its volume needs a node whose `{key}` pool `{pool}` does not open (it allows \
             {allows}): let the pool allow the volume's place"
        ),
        ReasonCode::Labels => format!(
            "no instance type of pool `{pool}` has `{key}`{wants} (0 of {}): widen what the pod \
             or the pool asks of `{key}`",
            r.types.all
        ),
        ReasonCode::TopologyConflict => format!(
            "its topology rules over `{key}` can each be met in pool `{pool}`, but not all at \
             once: loosen one of them"
        ),
        _ => format!(
            "asks for `{key}`{wants} and pool `{pool}` allows {allows}: let the pool allow it or \
             drop it from the pod"
        ),
    }
}

/// A known label that the key may have been meant to be.
fn hint(w: &Words, key: &str) -> String {
    let tail = key.rsplit('/').next().unwrap_or(key);
    let known = w.names.keys.iter().zip(w.p.keys).filter(|(_, row)| row.is_well_known);
    let similar = known
        .map(|(name, _)| name.as_str())
        .find(|name| *name != key && (name.contains(key) || name.ends_with(tail)));
    similar.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn plain(w: &Words, class: &PodClass, r: &Reason) -> String {
    let pool = w.pool(r.template);
    let c = counts(r.types);
    let place = place(w, class);
    match r.code {
        ReasonCode::NoPools => {
            "needs a new node and no node pool can open one: add a NodePool, or \
                                make one ready that is neither static nor being deleted"
                .to_owned()
        }
        ReasonCode::NoTypesInPools => "needs a new node and the requirements of every node pool \
                                       leave no instance type: widen the requirements of a pool"
            .to_owned(),
        ReasonCode::HostPort => format!(
            "a DaemonSet takes its host port on every type of pool `{pool}`: change the host port \
             of the pod or of the DaemonSet"
        ),
        ReasonCode::DeviceClaims => "claims devices through resource claims, which are not \
                                     scheduled: ask for them as extended resources"
            .to_owned(),
        ReasonCode::ReservationTaken => format!(
            "fits a capacity reservation of pool `{pool}` of which no unit is left, and waits for \
             the next pass: enlarge the reservation or allow on-demand or spot"
        ),
        ReasonCode::ReservationLost => format!(
            "would make a node of pool `{pool}` give up its capacity reservation, and waits for \
             the next pass: loosen what the pod asks for or enlarge the reservation"
        ),
        ReasonCode::NothingFits => format!(
            "no instance type of pool `{pool}` passes any test ({c}): widen the pool and lower \
             what the pod asks for"
        ),
        ReasonCode::LabelsAndSize => format!(
            "no instance type of pool `{pool}` has fitting labels and none is large enough ({c}): \
             widen the labels and lower the requests"
        ),
        ReasonCode::LabelsAndOffering => format!(
            "no instance type of pool `{pool}` has fitting labels and none can be bought{place} \
             ({c}): widen labels, zones and capacity types"
        ),
        ReasonCode::SizeAndOffering => format!(
            "no instance type of pool `{pool}` is large enough and none can be bought{place} \
             ({c}): lower the requests and widen zones and capacity types"
        ),
        ReasonCode::Offering => format!(
            "no instance type of pool `{pool}` can be bought{place} in the zones and capacity \
             types that are left ({c}): allow further zones or capacity types, or wait for capacity"
        ),
        ReasonCode::FittingNotOffered => format!(
            "{} types of pool `{pool}` have fitting labels and are large enough, but none of them \
             can be bought{place} ({c}): allow further zones, capacity types or types",
            r.types.labels_large
        ),
        ReasonCode::OfferedNotFitting => format!(
            "{} types of pool `{pool}` are large enough and can be bought, but none of them has \
             fitting labels ({c}): widen the labels that pod or pool ask for",
            r.types.large_offered
        ),
        // The engine names the shortest resource over all types, which says nothing here: the
        // type that is large enough fails another test.
        ReasonCode::NoTypePassesAll => format!(
            "no instance type of pool `{pool}` passes every test at once ({c}): widen the test \
             that the fewest types pass"
        ),
        _ => format!("does not fit pool `{pool}` ({c}): widen the pool or lower the requests"),
    }
}

/// Where the pod wants to be: " where the pod asks for `zone` In [a]"; empty without a wish.
fn place(w: &Words, class: &PodClass) -> String {
    let keys = [w.p.well.zone, w.p.well.capacity_type].into_iter().filter(|&key| key != NONE);
    let asked = keys.filter_map(|key| Some(format!("`{}` {}", w.key(key), w.asked(class, key)?)));
    match asked.collect::<Vec<_>>() {
        asked if asked.is_empty() => String::new(),
        asked => format!(" where the pod asks to be ({})", asked.join(", ")),
    }
}

/// "of 812 types 40 have fitting labels, 12 are large enough, 800 can be bought".
pub(crate) fn counts(c: TypeCounts) -> String {
    format!(
        "of {} types {} have fitting labels, {} are large enough, {} can be bought",
        c.all, c.labels, c.large, c.offered
    )
}
