//! Rows of the tables from names, once the dictionary stands. Equal rows are written once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dunnage_engine_core::problem::{self, Link, NONE, PodClass, Resource, Span, Term, VolumeUse};

use super::dictionary::{Dictionary, Sets};
use super::groups::Groups;
use super::intern::{Lists, Numbers};
use super::needs::Needs;
use super::rules::Rule;
use super::shape::Shape;
use super::tolerations::{Symbols, Tolerated};
use super::volumes::{ClaimName, PodVolumes};
use super::{Names, Tables};
use crate::pod::{Amounts, HostPort};

/// Writes rows.
#[derive(Default)]
pub struct Writer {
    /// The tables so far.
    pub tables: Tables,
    /// Their names.
    pub names: Names,
    /// Keys and values.
    pub dictionary: Dictionary,
    /// Taints and tolerations.
    pub symbols: Symbols,
    sets: Sets,
    columns: BTreeMap<String, usize>,
    quantities: HashMap<Vec<i64>, u32>,
    terms: Lists<(u32, u32)>,
    ports: Lists<HostPort>,
    links: Lists<(u32, u32, u32, Span)>,
    variants: Lists<u32>,
    matches: Lists<u32>,
    alternatives: Lists<u32>,
    uses: Lists<(u32, u32, u32)>,
}

/// A class without its count, to compare.
type ClassKey = ([u32; 2], [Span; 8], bool);

/// Classes by what they ask for.
pub type Classes = Numbers<ClassKey>;

impl Writer {
    /// Fixes the resource columns: cpu, memory, pods, then the others by name.
    pub fn resources(&mut self, named: BTreeSet<String>) {
        let first = ["cpu", "memory", "pods"];
        let others = named.iter().map(String::as_str).filter(|name| !first.contains(name));
        for name in first.into_iter().chain(others) {
            self.columns.insert(name.to_owned(), self.names.resources.len());
            self.names.resources.push(name.to_owned());
            self.tables.resources.push(Resource { is_pods: name == "pods", is_cpu: name == "cpu" });
        }
    }

    /// Column of a resource.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.get(name).copied()
    }

    /// A row of amounts; resources without a column are left out, missing ones are `missing`.
    pub fn amounts(&mut self, amounts: &Amounts, missing: i64) -> u32 {
        let mut row = vec![missing; self.columns.len()];
        for (name, amount) in amounts {
            if let Some(column) = self.columns.get(name) {
                row[*column] = *amount;
            }
        }
        self.quantities(row)
    }

    /// A row of amounts by column.
    pub fn quantities(&mut self, row: Vec<i64>) -> u32 {
        let next = self.quantities.len() as u32;
        if let Some(found) = self.quantities.get(&row) {
            return *found;
        }
        self.tables.quantities.extend(&row);
        self.quantities.insert(row, next);
        next
    }

    /// A requirement set.
    pub fn set(&mut self, needs: &Needs) -> u32 {
        self.sets.set(needs, &self.dictionary, &mut self.tables)
    }

    /// A requirement set of labels with one value each.
    pub fn labels(&mut self, labels: Vec<problem::Label>) -> u32 {
        self.sets.labels(labels, &mut self.tables)
    }

    /// Terms: weight and set.
    pub fn terms<'n>(&mut self, terms: impl IntoIterator<Item = (u32, &'n Needs)>) -> Span {
        let list = terms.into_iter().map(|(weight, needs)| (self.set(needs), weight)).collect();
        self.terms
            .span(&mut self.tables.terms, list, |(set, weight)| Term { set: *set, weight: *weight })
    }

    /// Tolerations.
    pub fn tolerations(&mut self, list: &[Tolerated]) -> Span {
        self.symbols.tolerations(list, &mut self.tables)
    }

    /// Taints.
    pub fn taints(&mut self, list: &[&k8s_openapi::api::core::v1::Taint]) -> Span {
        self.symbols.taints(list, &mut self.tables, &mut self.names.taints)
    }

    /// Host ports; every spelling of "all addresses" is 0.
    pub fn ports(&mut self, list: &[HostPort]) -> Span {
        let is_any = |port: &HostPort| port.ip == "0.0.0.0" || port.ip == "::";
        let before = self.tables.ports.len();
        let Self { ports, tables, symbols, .. } = self;
        let span = ports.span(&mut tables.ports, list.to_vec(), |port| problem::HostPort {
            address: if is_any(port) { 0 } else { symbols.symbol(&port.ip) },
            port: u32::try_from(port.port).unwrap_or(0),
            protocol: symbols.symbol(&port.protocol),
        });
        if self.tables.ports.len() > before {
            self.names.ports.extend(list.iter().map(|port| {
                let address = if is_any(port) { String::new() } else { format!("{}:", port.ip) };
                format!("{address}{}/{}", port.port, port.protocol)
            }));
        }
        span
    }

    /// Rows of groups, ascending.
    pub fn matches(&mut self, groups: Vec<u32>) -> Span {
        self.matches.span(&mut self.tables.matches, groups, |g| *g)
    }

    fn links(&mut self, rules: &[Rule], groups: &Groups) -> Span {
        let mut list = Vec::new();
        for rule in rules {
            let inverse = rule.inverse.as_ref().and_then(|group| groups.number(group));
            let group = groups.number(&rule.group).unwrap_or(NONE);
            let variants = rule.variants.iter().map(|g| groups.number(g).unwrap_or(group));
            let variants = variants.collect();
            let variants =
                self.variants.span(&mut self.tables.link_variants, variants, |group| *group);
            list.push((group, rule.weight, inverse.unwrap_or(NONE), variants));
        }
        self.links.span(&mut self.tables.links, list, |(group, weight, inverse, variants)| Link {
            group: *group,
            weight: *weight,
            inverse: *inverse,
            variants: *variants,
        })
    }

    /// What a shape contributes to a class.
    pub fn shape(&mut self, shape: &Shape, groups: &Groups) -> PodClass {
        PodClass {
            requests: self.amounts(&shape.amounts, 0),
            selector: self.set(&shape.selector),
            required: self.terms(shape.required.iter().map(|needs| (0, needs))),
            preferred: self.terms(shape.preferred.iter().map(|(w, needs)| (*w, needs))),
            tolerations: self.tolerations(&shape.tolerations),
            links: self.links(&shape.rules, groups),
            ports: self.ports(&shape.ports),
            has_device_claims: shape.has_device_claims,
            ..PodClass::default()
        }
    }

    /// Where volumes force a pod to be, and what they attach. `shared` numbers the claims
    /// that several pods use, `drivers` the drivers with limits.
    pub fn volumes(
        &mut self,
        volumes: &PodVolumes,
        drivers: &[&str],
        shared: &BTreeMap<ClaimName, u32>,
    ) -> (Span, Span) {
        let sets = volumes.alternatives.iter().map(|needs| self.set(needs)).collect();
        let places = self.alternatives.span(&mut self.tables.volume_alternatives, sets, |s| *s);
        let mut rows: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (driver, claim) in &volumes.attached {
            let Ok(driver) = drivers.binary_search(&driver.as_str()) else { continue };
            let claim = shared.get(claim).copied().unwrap_or(NONE);
            *rows.entry((driver as u32, claim)).or_default() += 1;
        }
        let list = rows.into_iter().map(|((driver, claim), count)| (driver, claim, count));
        let uses = self.uses.span(&mut self.tables.volume_uses, list.collect(), |row| VolumeUse {
            driver: row.0,
            claim: row.1,
            count: row.2,
        });
        (places, uses)
    }

    /// Row of a class; a new one is written with no pods as yet.
    pub fn class(&mut self, class: PodClass, classes: &mut Classes) -> u32 {
        let spans = [
            class.required,
            class.preferred,
            class.tolerations,
            class.links,
            class.matches,
            class.ports,
            class.volume_alternatives,
            class.volume_uses,
        ];
        let key = ([class.requests, class.selector], spans, class.has_device_claims);
        let (number, is_new) = classes.number(key);
        if is_new {
            self.tables.classes.push(class);
            self.names.pods.push(Vec::new());
        }
        number
    }
}
