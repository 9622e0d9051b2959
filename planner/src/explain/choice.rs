//! Why a launch is counted as the machine that it is: what else holds the same pods and for how
//! much more, and which test keeps machines out that would cost less.
//!
//! The launch itself is the plan's: its types, its requirements, its cheapest. Nothing is decided
//! anew; offerings are read in the order in which the plan chooses, by price, then type, then zone.

use std::collections::BTreeMap;

use dunnage_api::labels::INSTANCE_TYPE;
use dunnage_engine_core::problem::{
    InstanceType, Offering, PodClass, Problem, Requirement as Row, Span, Template,
};
use dunnage_engine_core::requirements::values_of;
use dunnage_engine_core::resources;
use serde::Serialize;

use super::fresh::{Missed, test};
use crate::plan::{Choice, Launch, Money, Plan, Requirement};
use crate::raise::{Words, readable, requirement_words, usable};

/// Most rows of what else holds the pods.
const NEXT: usize = 5;
/// Most machines that are named for one test that keeps machines out.
const NEAREST: usize = 3;

/// Why a launch is counted as its machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchExplanation {
    /// Its number in the plan, from 1.
    pub launch: usize,
    /// NodePool that opens it.
    pub node_pool: String,
    /// Its cheapest offering.
    pub chosen: Choice,
    /// Number of its pods.
    pub pods: usize,
    /// Requests of its pods and DaemonSets.
    pub requests: BTreeMap<String, String>,
    /// Machines that hold these pods, the chosen one included.
    pub holding: Counts,
    /// What else holds these pods, the cheapest first.
    pub next: Vec<NextBest>,
    /// What would cost less and does not hold them, by the first test that fails.
    pub cheaper: Vec<Refused>,
}

/// How many instance types, in how many offerings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Instance types with at least one of the offerings.
    pub types: usize,
    /// Offerings.
    pub offerings: usize,
}

/// A machine that would hold the same pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextBest {
    /// Name of the type.
    pub instance_type: String,
    /// Zones that sell it at this price.
    pub zones: Vec<String>,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// USD per hour.
    pub price_per_hour: Money,
    /// USD per hour beyond the chosen one.
    pub more_per_hour: Money,
    /// The same as a percentage of the chosen one's price.
    pub more_percent: Option<f64>,
}

/// Cheaper machines that fail one test first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// `label`, `size`, `soldOut` or `other`.
    pub test: &'static str,
    /// The label key or the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How many instance types.
    pub types: usize,
    /// Those that come nearest to the chosen price.
    pub nearest: Vec<CheaperMachine>,
}

/// A machine that costs less and does not hold the pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheaperMachine {
    /// The machine.
    #[serde(flatten)]
    pub choice: Choice,
    /// What is needed, and what it has.
    pub message: String,
}

/// Class of each pod of the plan, by name.
pub(super) fn classes<'a>(w: &'a Words) -> BTreeMap<&'a str, usize> {
    let rows = w.names.pods.iter().enumerate();
    rows.flat_map(|(row, pods)| pods.iter().map(move |pod| (pod.as_str(), row))).collect()
}

/// Why the launch of that row is counted as its machine.
pub(super) fn launch(w: &Words, plan: &Plan, row: usize) -> Option<LaunchExplanation> {
    let own = plan.launch.get(row)?;
    let asked = Asked::of(w, own)?;
    let mut said = LaunchExplanation {
        launch: row + 1,
        node_pool: own.node_pool.clone(),
        chosen: own.cheapest.clone(),
        pods: own.pods.len(),
        requests: own.requests.clone(),
        ..LaunchExplanation::default()
    };
    let mut holding = asked.holding();
    holding.sort_by_key(|&(ty, offering)| (asked.counted(offering), ty, offering));
    let mut types: Vec<&String> = holding.iter().map(|(ty, _)| &w.names.types[*ty]).collect();
    types.sort_unstable();
    types.dedup();
    said.holding = Counts { types: types.len(), offerings: holding.len() };
    let chosen = holding.iter().position(|&(ty, o)| asked.choice(ty, o) == own.cheapest);
    let counted = match chosen {
        Some(at) => asked.counted(holding.remove(at).1),
        None => own.cheapest.price_per_hour.0.unwrap_or(i64::MAX),
    };
    said.next = asked.next(&holding);
    said.cheaper = asked.cheaper(counted);
    Some(said)
}

/// A launch, and what its pods ask of a machine.
struct Asked<'a, 'w> {
    w: &'a Words<'w>,
    launch: &'a Launch,
    template: &'a Template,
    /// What the node is: the pool's requirements with those of the launch.
    node: Vec<u64>,
    /// Classes of the pods, each once.
    classes: Vec<&'a PodClass>,
    /// What the pods request together.
    requests: Vec<i64>,
    /// It draws on a reservation.
    is_reserved: bool,
}

impl<'a, 'w> Asked<'a, 'w> {
    fn of(w: &'a Words<'w>, launch: &'a Launch) -> Option<Self> {
        let is_own = |name: &crate::lower::TemplateName| {
            name.node_pool == launch.node_pool && name.node_class == launch.node_class
        };
        let template = w.p.templates.get(w.names.templates.iter().position(is_own)?)?;
        let class_of = classes(w);
        let mut rows: Vec<usize> =
            launch.pods.iter().filter_map(|pod| class_of.get(pod.as_str()).copied()).collect();
        let mut requests = vec![0; w.p.resources.len()];
        for class in rows.iter().filter_map(|row| w.p.classes.get(*row)) {
            resources::add(&mut requests, w.row(class.requests));
        }
        rows.sort_unstable();
        rows.dedup();
        let mut node = w.dense(template.set);
        for requirement in &launch.requirements {
            add_words(w, &mut node, requirement);
        }
        Some(Self {
            w,
            launch,
            template,
            node,
            classes: rows.iter().filter_map(|row| w.p.classes.get(*row)).collect(),
            requests,
            is_reserved: launch.because.iter().any(|because| because.code == "reservationUsed"),
        })
    }

    fn types(&self) -> impl Iterator<Item = (usize, &'a InstanceType, Missed)> {
        let rows = self.template.types.of(self.w.p.template_types).iter();
        rows.filter_map(|&row| {
            let ty = self.w.p.types.get(row as usize)?;
            Some((row as usize, ty, test(self.w, &self.requests, self.template, ty, &self.node)))
        })
    }

    /// The launch itself says which types hold its pods.
    fn is_listed(&self, row: usize) -> bool {
        self.w.names.types.get(row).is_some_and(|name| self.launch.instance_types.contains(name))
    }

    /// Type and offering of every machine that the launch can be.
    fn holding(&self) -> Vec<(usize, usize)> {
        // One name can be two rows, with zones and without: the tests tell which is meant.
        let rows = self.types().filter(|(row, _, missed)| {
            self.is_listed(*row) && missed.label.is_none() && missed.short.is_none()
        });
        rows.flat_map(|(row, ty, _)| {
            let (p, layout) = (&self.w.p, &self.w.layout);
            let sold: Vec<usize> = usable(p, layout, &self.node, ty, self.is_reserved).collect();
            sold.into_iter().map(move |offering| (row, offering))
        })
        .collect()
    }

    fn offering(&self, row: usize) -> Offering {
        self.w.p.offerings.get(row).copied().unwrap_or_default()
    }

    /// What the offering counts as when the plan chooses.
    fn counted(&self, row: usize) -> i64 {
        self.offering(row).counted_microusd()
    }

    fn choice(&self, ty: usize, offering: usize) -> Choice {
        let named = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        Choice {
            instance_type: named(&self.w.names.types, ty),
            zone: named(&self.w.names.zones, offering),
            capacity_type: named(&self.w.names.capacity_types, offering),
            price_per_hour: Money::of_price(self.offering(offering).price_microusd),
        }
    }

    /// The first rows of `holding`, zones of one price together.
    fn next(&self, holding: &[(usize, usize)]) -> Vec<NextBest> {
        let mut rows: Vec<NextBest> = Vec::new();
        for &(ty, offering) in holding {
            let one = self.choice(ty, offering);
            let like = rows.iter().position(|row| {
                row.instance_type == one.instance_type
                    && row.capacity_type == one.capacity_type
                    && row.price_per_hour == one.price_per_hour
            });
            match like {
                Some(at) => rows[at].zones.push(one.zone),
                None if rows.len() == NEXT => break,
                None => rows.push(self.next_best(one)),
            }
        }
        rows
    }

    fn next_best(&self, one: Choice) -> NextBest {
        let chosen = self.launch.cheapest.price_per_hour.0;
        let more = one.price_per_hour.0.zip(chosen).map(|(own, chosen)| own - chosen);
        NextBest {
            instance_type: one.instance_type,
            zones: vec![one.zone],
            capacity_type: one.capacity_type,
            price_per_hour: one.price_per_hour,
            more_per_hour: Money(more),
            more_percent: more.zip(chosen).and_then(|(more, own)| super::percent(more, own)),
        }
    }

    /// Types with an offering below `counted`, by the first test that fails.
    fn cheaper(&self, counted: i64) -> Vec<Refused> {
        let mut all: Vec<(Why, CheaperMachine)> = Vec::new();
        for (row, ty, missed) in self.types() {
            let below = |o: &usize| self.counted(*o) < counted;
            let refusals = ty.offerings.range().filter(below).map(|o| {
                let why = self.why(row, ty, &missed, o);
                (why, self.counted(o), o)
            });
            // The offering that fails the latest test speaks for the type.
            let Some((why, _, o)) = refusals.min_by_key(|(why, price, o)| (why.rank, *price, *o))
            else {
                continue;
            };
            let message = why.message.clone();
            all.push((why, CheaperMachine { choice: self.choice(row, o), message }));
        }
        grouped(all)
    }

    /// The first test that the offering of the type fails.
    fn why(&self, row: usize, ty: &InstanceType, missed: &Missed, offering: usize) -> Why {
        let own = |key: u32| self.w.said(ty.set, key);
        if let Some(key) = missed.label {
            return self.label(key, own(key).unwrap_or_default());
        }
        if let Some(why) = self.other_type(row, ty) {
            return why;
        }
        if let Some((column, need, has, _)) = missed.short {
            let name = self.w.resource(column);
            let message = format!(
                "needs {}, has {}: short by {}",
                self.w.amount(column, need),
                readable(name, has),
                readable(name, need.saturating_sub(has))
            );
            return Why { rank: 2, test: "size", subject: Some(name.to_owned()), message };
        }
        let o = self.offering(offering);
        for label in o.labels.of(self.w.p.offering_labels) {
            let (key, at) = (label.key as usize, label.key);
            let need = self.w.layout.get(&self.node, key);
            let allows = need.allows(label.value, values_of(&self.w.p, key));
            if self.w.layout.has(&self.node, key) && !allows {
                let first = self.w.p.keys.get(key).map_or(0, |key| key.values.start);
                let value = self.w.names.values.get((first + label.value) as usize);
                return self.label(at, format!("`{}`", value.map_or("", String::as_str)));
            }
        }
        let (rank, test, message) = match o.is_available {
            false => (0, "soldOut", "holds the pods, and cannot be bought now"),
            true => (
                1,
                "other",
                "passes each test by itself: limits, host ports, minValues or reservations, which \
                 depend on the rest of the plan, exclude it",
            ),
        };
        Why { rank, test, subject: None, message: message.to_owned() }
    }

    fn label(&self, key: u32, own: String) -> Why {
        let at = key as usize;
        let need = self.w.layout.get(&self.node, at);
        let allowed = requirement_words(&self.w.p, self.w.names, at, need);
        let message = format!("its `{}` is {own}, the node must have {allowed}", self.w.key(key));
        Why { rank: 3, test: "label", subject: Some(self.w.key(key).to_owned()), message }
    }

    /// The launch lists its types instead of asking for them, so what pods ask of the type is
    /// asked again here.
    fn other_type(&self, row: usize, ty: &InstanceType) -> Option<Why> {
        let w = self.w;
        let key = w.names.keys.iter().position(|name| name == INSTANCE_TYPE)?;
        let own = w.dense(ty.set);
        let excludes = |class: &&&PodClass| {
            let terms = class.required.of(w.p.terms);
            let clashes = |set: u32| w.layout.conflicts_on(&own, &w.dense(set), key, &w.p);
            clashes(class.selector)
                || (!terms.is_empty() && terms.iter().all(|term| clashes(term.set)))
        };
        if self.is_listed(row) {
            return None;
        }
        let class = self.classes.iter().find(excludes)?;
        let message = format!(
            "the pods ask for `{INSTANCE_TYPE}` {}",
            w.asked(class, key as u32).unwrap_or_default()
        );
        Some(Why { rank: 3, test: "label", subject: Some(INSTANCE_TYPE.to_owned()), message })
    }
}

/// Why a machine does not hold the pods.
struct Why {
    /// The greater, the earlier the test.
    rank: u8,
    test: &'static str,
    subject: Option<String>,
    message: String,
}

/// Rows of one test and subject together: size first, for it is what people look for, then the
/// rest by name; in each the machines that cost the most.
fn grouped(all: Vec<(Why, CheaperMachine)>) -> Vec<Refused> {
    let mut groups: BTreeMap<(bool, &'static str, Option<String>), Vec<CheaperMachine>> =
        BTreeMap::new();
    for (why, machine) in all {
        groups.entry((why.test != "size", why.test, why.subject)).or_default().push(machine);
    }
    let rows = groups.into_iter().map(|((_, test, subject), mut machines)| {
        let price = |m: &CheaperMachine| std::cmp::Reverse(m.choice.price_per_hour);
        machines.sort_by(|a, b| {
            (price(a), &a.choice.instance_type).cmp(&(price(b), &b.choice.instance_type))
        });
        // Two rows of one name are one type.
        let mut seen = Vec::new();
        machines.retain(|m| {
            let is_new = !seen.contains(&m.choice.instance_type);
            seen.push(m.choice.instance_type.clone());
            is_new
        });
        let types = machines.len();
        machines.truncate(NEAREST);
        Refused { test, subject, types, nearest: machines }
    });
    rows.collect()
}

/// Narrows `node` by a requirement in the words of a NodeClaim.
fn add_words(w: &Words, node: &mut [u64], requirement: &Requirement) {
    let Some(key) = w.names.keys.iter().position(|name| *name == requirement.key) else { return };
    let Some(own) = w.p.keys.get(key) else { return };
    let known = w.names.values.get(own.values.range()).unwrap_or(&[]);
    let rank = |value: &String| known.iter().position(|name| name == value).map(|at| at as u32);
    let is_bound = matches!(requirement.operator.as_str(), "Gte" | "Lte");
    let mut values: Vec<u32> = match is_bound {
        true => Vec::new(),
        false => requirement.values.iter().filter_map(rank).collect(),
    };
    values.sort_unstable();
    let bound = |operator: &str| {
        let is_own = requirement.operator == operator;
        is_own.then(|| requirement.values.first()?.parse::<i64>().ok()).flatten()
    };
    let row = Row {
        key: key as u32,
        is_complement: !matches!(requirement.operator.as_str(), "In" | "DoesNotExist"),
        values: Span { start: 0, len: values.len() as u32 },
        lower: bound("Gte"),
        upper: bound("Lte"),
        ..Row::default()
    };
    let p = Problem { requirement_values: &values, ..w.p };
    let mut set = vec![0; w.layout.len()];
    w.layout.write(&mut set, &p, &[row]);
    w.layout.add(node, &set, &w.p);
}
