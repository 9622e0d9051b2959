//! What an empty new node of each pool would say to a pod: taints, labels, then every
//! instance type by label, size and offering, each test on its own.

use dunnage_engine_core::problem::{CapacityType, Daemon, InstanceType, NONE, PodClass, Template};
use dunnage_engine_core::requirements::Incompatible;
use dunnage_engine_core::{resources, taints};
use serde::Serialize;

use crate::raise::{Words, is_usable};

/// What a pool's empty node says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolExplanation {
    /// NodePool.
    pub node_pool: String,
    /// Its weight.
    pub weight: u32,
    /// An empty node of the pool takes the pod.
    pub fits: bool,
    /// First taint that is not tolerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taint: Option<String>,
    /// First label on which pod and pool do not agree, with both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// How many instance types pass each test.
    pub types: TypeTests,
    /// The type that came nearest, when none passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestMiss>,
}

/// How many instance types of a pool pass each test on its own, and all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeTests {
    /// Types of the pool.
    pub asked: u32,
    /// Labels fit pod and pool.
    pub labels: u32,
    /// Large enough for the pod and the DaemonSets.
    pub large: u32,
    /// An offering is not sold out and fits.
    pub offered: u32,
    /// All three.
    pub all: u32,
}

/// The type that came nearest to taking a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearestMiss {
    /// Name of the type.
    pub instance_type: String,
    /// What it fails, and what would have to change.
    pub message: String,
}

/// Every pool's word on the class, in the order in which pools are tried.
pub(super) fn pools(w: &Words, class: &PodClass) -> Vec<PoolExplanation> {
    let templates = w.p.templates.iter().enumerate();
    templates.map(|(row, template)| pool(w, class, row, template)).collect()
}

fn pool(w: &Words, class: &PodClass, row: usize, template: &Template) -> PoolExplanation {
    let mut said = PoolExplanation {
        node_pool: w.pool(row as u32).to_owned(),
        weight: template.weight,
        ..PoolExplanation::default()
    };
    let tolerations = class.tolerations.of(w.p.tolerations);
    let pool_taints = template.taints.of(w.p.taints);
    said.taint = taints::untolerated(pool_taints, tolerations, false)
        .map(|at| w.taint(template.taints.start + at as u32).to_owned());
    let (node, refusal) = joined(w, class, template);
    said.requirement = refusal.map(|refusal| refusal_words(w, class, template, refusal));
    let mut nearest: Option<(Missed, usize)> = None;
    for &at in template.types.of(w.p.template_types) {
        let Some(ty) = w.p.types.get(at as usize) else { continue };
        let missed = test(w, w.row(class.requests), template, ty, &node);
        said.types.asked += 1;
        said.types.labels += u32::from(missed.label.is_none());
        said.types.large += u32::from(missed.short.is_none());
        said.types.offered += u32::from(missed.is_offered);
        said.types.all += u32::from(missed.count() == 0);
        let rank = |m: &Missed| (m.count(), m.short.map_or(0, |(_, _, _, permille)| permille));
        if nearest.as_ref().is_none_or(|(best, _)| rank(&missed) < rank(best)) {
            nearest = Some((missed, at as usize));
        }
    }
    if let Some((missed, at)) = nearest.filter(|(missed, _)| missed.count() > 0) {
        said.nearest = Some(NearestMiss {
            instance_type: w.names.types.get(at).cloned().unwrap_or_default(),
            message: missed.words(w),
        });
    }
    said.fits = said.taint.is_none() && said.requirement.is_none() && said.types.all > 0;
    said
}

/// The pool's requirements with the pod's: of several required terms the first that the pool
/// can meet, else the first. Preferences are left out: they can be given up.
fn joined(w: &Words, class: &PodClass, template: &Template) -> (Vec<u64>, Option<Incompatible>) {
    let pool = w.dense(template.set);
    let terms = class.required.of(w.p.terms);
    let sets: Vec<Option<u32>> =
        if terms.is_empty() { vec![None] } else { terms.iter().map(|t| Some(t.set)).collect() };
    let mut first = None;
    for term in sets {
        let mut pod = w.dense(class.selector);
        if let Some(set) = term {
            w.layout.add(&mut pod, &w.dense(set), &w.p);
        }
        let refusal = w.layout.incompatible(&pool, &pod, true, &w.p);
        let mut node = pool.clone();
        w.layout.add(&mut node, &pod, &w.p);
        if refusal.is_none() {
            return (node, None);
        }
        first.get_or_insert((node, refusal));
    }
    // INVARIANT: `sets` has at least one row.
    first.unwrap_or((pool, None))
}

/// How the nodes can be bought on which an empty new node of the pool takes the class, spot and
/// otherwise; neither when none takes it.
pub(crate) fn sold_as(w: &Words, class: &PodClass, template: &Template) -> (bool, bool) {
    let tolerations = class.tolerations.of(w.p.tolerations);
    let (node, refusal) = joined(w, class, template);
    let pool_taints = template.taints.of(w.p.taints);
    let (mut spot, mut other) = (false, false);
    if refusal.is_some() || taints::untolerated(pool_taints, tolerations, false).is_some() {
        return (spot, other);
    }
    for &at in template.types.of(w.p.template_types) {
        let Some(ty) = w.p.types.get(at as usize) else { continue };
        let missed = test(w, w.row(class.requests), template, ty, &node);
        if missed.count() == 0 {
            let offerings = ty.offerings.of(w.p.offerings);
            for o in offerings.iter().filter(|o| is_usable(&w.p, &w.layout, &node, o)) {
                let is_spot = o.capacity_type == CapacityType::Spot;
                (spot, other) = (spot || is_spot, other || !is_spot);
            }
        }
        if spot && other {
            break;
        }
    }
    (spot, other)
}

fn refusal_words(w: &Words, class: &PodClass, t: &Template, refusal: Incompatible) -> String {
    let (key, lacks) = match refusal {
        Incompatible::Unknown(key) => (key, true),
        Incompatible::Conflict(key) => (key, false),
    };
    let asked = w.asked(class, key).unwrap_or_else(|| "a value".to_owned());
    let name = w.key(key);
    if lacks {
        return format!("the pod asks for `{name}` {asked}, a label that the pool does not define");
    }
    let allowed = w.said(t.set, key).unwrap_or_else(|| "any value".to_owned());
    format!("the pod asks for `{name}` {asked}, the pool allows {allowed}")
}

/// What one type fails.
#[derive(Clone, Copy)]
pub(super) struct Missed {
    /// First key on which the labels exclude each other.
    pub label: Option<u32>,
    /// Shortest resource: column, need, best, and the shortage in thousandths of the need.
    pub short: Option<(u32, i64, i64, u64)>,
    /// Some offering can be used.
    is_offered: bool,
}

impl Missed {
    fn count(&self) -> u32 {
        u32::from(self.label.is_some())
            + u32::from(self.short.is_some())
            + u32::from(!self.is_offered)
    }

    fn words(&self, w: &Words) -> String {
        let mut parts = Vec::new();
        if let Some(key) = self.label {
            parts
                .push(format!("its `{}` is another: widen what pod or pool ask of it", w.key(key)));
        }
        if let Some((column, need, best, _)) = self.short {
            parts.push(format!(
                "needs {} and has {}: lower the request by {}",
                w.amount(column, need),
                crate::raise::readable(w.resource(column), best),
                crate::raise::readable(w.resource(column), need.saturating_sub(best)),
            ));
        }
        if !self.is_offered {
            parts.push(
                "cannot be bought in the zones and capacity types that are left: allow others"
                    .to_owned(),
            );
        }
        parts.join("; ")
    }
}

/// Holds a type of the template against pods that request `asked` and a node like `node`.
pub(super) fn test(
    w: &Words,
    asked: &[i64],
    t: &Template,
    ty: &InstanceType,
    node: &[u64],
) -> Missed {
    let own = w.dense(ty.set);
    let label = w.layout.conflict(&own, node, &w.p).map(|key| key as u32);
    let mut need = asked.to_vec();
    resources::add(&mut need, &daemons_of_type(w, t, ty));
    let short = ty
        .variants
        .of(w.p.variants)
        .iter()
        .map(|variant| shortest(&need, w.row(variant.allocatable)))
        .min_by_key(|short| short.map_or(0, |(_, _, _, permille)| permille))
        .flatten();
    let offerings = ty.offerings.of(w.p.offerings);
    let is_offered = offerings.iter().any(|o| is_usable(&w.p, &w.layout, node, o));
    Missed { label, short, is_offered }
}

/// The resource of which the largest part of the need is missing.
pub(super) fn shortest(need: &[i64], have: &[i64]) -> Option<(u32, i64, i64, u64)> {
    let short = need.iter().zip(have).enumerate().filter(|(_, (n, h))| **n > 0 && n > h);
    short
        .map(|(column, (n, h))| {
            let missing = i128::from(*n) - i128::from((*h).max(0));
            (column as u32, *n, *h, (missing * 1000 / i128::from(*n)) as u64)
        })
        .max_by_key(|&(column, _, _, permille)| (permille, std::cmp::Reverse(column)))
}

/// What the DaemonSets request that run on nodes of the template and type.
pub(crate) fn daemons_of_type(w: &Words, t: &Template, ty: &InstanceType) -> Vec<i64> {
    let own = w.dense(ty.set);
    let mut sum = vec![0; w.p.resources.len()];
    for daemon in w.p.daemons.iter().filter(|daemon| runs(w, daemon, t, &own)) {
        resources::add(&mut sum, w.row(daemon.requests));
    }
    sum
}

/// True when the DaemonSet runs on nodes of the template and type.
fn runs(w: &Words, daemon: &Daemon, template: &Template, own: &[u64]) -> bool {
    let tolerations = daemon.tolerations.of(w.p.tolerations);
    if taints::untolerated(template.taints.of(w.p.taints), tolerations, true).is_some() {
        return false;
    }
    let pool = w.dense(template.set);
    any_term(w, daemon, |pod| {
        w.layout.incompatible(&pool, pod, true, &w.p).is_none()
            && w.layout.conflict(own, pod, &w.p).is_none()
    })
}

/// True when the selector together with one of the required terms passes `test`.
pub(super) fn any_term(w: &Words, daemon: &Daemon, test: impl Fn(&[u64]) -> bool) -> bool {
    let selector =
        if daemon.selector == NONE { vec![0; w.layout.len()] } else { w.dense(daemon.selector) };
    let terms = daemon.required.of(w.p.terms);
    if terms.is_empty() {
        return test(&selector);
    }
    terms.iter().any(|term| {
        let mut pod = selector.clone();
        w.layout.add(&mut pod, &w.dense(term.set), &w.p);
        test(&pod)
    })
}
