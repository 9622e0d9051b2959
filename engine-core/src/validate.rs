//! Whether the tables of a problem hang together: every index and stretch stays inside the
//! table it names, and the orders that carry meaning hold.
//!
//! A problem that the planner lowered passes by construction; one that was read from a file
//! need not. Solving starts with this check, so that a malformed table is an answer and never
//! a panic.

use crate::limits::{Exceeded, Limit, RESOURCES};
use crate::problem::{GroupKind, NONE, Problem, Span};

/// A row that does not hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Malformed {
    /// The table, by its field in [`Problem`].
    pub table: &'static str,
    /// The row in it.
    pub row: u32,
    /// The field of the row.
    pub field: &'static str,
}

impl core::fmt::Display for Malformed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "row {} of table `{}` has a bad `{}`", self.row, self.table, self.field)
    }
}

impl core::error::Error for Malformed {}

/// Why a problem could not be solved. A pod that fits nowhere is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Error {
    /// A limit was hit.
    Limit(Exceeded),
    /// A table does not hang together.
    Malformed(Malformed),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Limit(e) => e.fmt(f),
            Self::Malformed(e) => e.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

impl From<Exceeded> for Error {
    fn from(e: Exceeded) -> Self {
        Self::Limit(e)
    }
}

/// One row under test.
#[derive(Clone, Copy)]
struct At {
    table: &'static str,
    row: usize,
}

impl At {
    fn bad(self, field: &'static str) -> Error {
        Error::Malformed(Malformed { table: self.table, row: self.row as u32, field })
    }

    fn is(self, holds: bool, field: &'static str) -> Result<(), Error> {
        if holds { Ok(()) } else { Err(self.bad(field)) }
    }

    fn row(self, index: u32, table: usize, field: &'static str) -> Result<(), Error> {
        self.is((index as usize) < table, field)
    }

    fn row_or_none(self, index: u32, table: usize, field: &'static str) -> Result<(), Error> {
        self.is(index == NONE || (index as usize) < table, field)
    }

    fn span(self, span: Span, table: usize, field: &'static str) -> Result<(), Error> {
        self.is(span.start as usize + span.len as usize <= table, field)
    }
}

fn rows<T: Copy>(
    table: &'static str,
    rows: &[T],
    test: impl Fn(At, T) -> Result<(), Error>,
) -> Result<(), Error> {
    rows.iter().enumerate().try_for_each(|(row, &x)| test(At { table, row }, x))
}

impl Problem<'_> {
    /// Checks that the tables hang together.
    ///
    /// # Errors
    /// The first row that does not, or the number of resources when it is over its limit.
    pub fn validate(&self) -> Result<(), Error> {
        if self.resources.len() > RESOURCES {
            let (value, need) = (RESOURCES as u64, self.resources.len() as u64);
            return Err(Exceeded { limit: Limit::Resources, value, need }.into());
        }
        self.validate_sets()?;
        self.validate_templates()?;
        self.validate_types()?;
        self.validate_nodes()?;
        self.validate_classes()?;
        self.validate_groups()
    }

    fn amounts(&self) -> usize {
        self.quantities.len().checked_div(self.resources.len()).unwrap_or(0)
    }

    fn validate_sets(&self) -> Result<(), Error> {
        rows("keys", self.keys, |at, k| at.span(k.values, self.values.len(), "values"))?;
        rows("requirements", self.requirements, |at, r| {
            at.row(r.key, self.keys.len(), "key")?;
            at.span(r.values, self.requirement_values.len(), "values")?;
            let most = self.keys[r.key as usize].values.len;
            at.is(r.values.of(self.requirement_values).iter().all(|&v| v < most), "values")
        })?;
        rows("sets", self.sets, |at, s| {
            at.span(s, self.requirements.len(), "requirements")?;
            at.is(s.of(self.requirements).is_sorted_by(|a, b| a.key < b.key), "key order")
        })?;
        rows("terms", self.terms, |at, t| at.row(t.set, self.sets.len(), "set"))
    }

    fn validate_templates(&self) -> Result<(), Error> {
        rows("templates", self.templates, |at, t| {
            at.row(t.set, self.sets.len(), "set")?;
            at.span(t.taints, self.taints.len(), "taints")?;
            at.span(t.types, self.template_types.len(), "types")?;
            at.is(t.types.of(self.template_types).is_sorted_by(|a, b| a < b), "type order")?;
            at.row_or_none(t.limit, self.amounts(), "limit")?;
            at.row_or_none(t.usage, self.amounts(), "usage")
        })?;
        rows("template_types", self.template_types, |at, t| at.row(t, self.types.len(), "type"))
    }

    fn validate_types(&self) -> Result<(), Error> {
        rows("types", self.types, |at, t| {
            at.row(t.set, self.sets.len(), "set")?;
            at.row(t.capacity, self.amounts(), "capacity")?;
            at.is(t.variants.len > 0, "variants")?;
            at.span(t.variants, self.variants.len(), "variants")?;
            at.span(t.offerings, self.offerings.len(), "offerings")
        })?;
        rows("variants", self.variants, |at, v| {
            at.row(v.allocatable, self.amounts(), "allocatable")
        })?;
        rows("offerings", self.offerings, |at, o| {
            at.span(o.labels, self.offering_labels.len(), "labels")?;
            at.row_or_none(o.reservation, self.reservations.len(), "reservation")?;
            at.span(o.charges, self.charges.len(), "charges")?;
            at.is(o.price_microusd >= 0, "price_microusd")
        })?;
        rows("charges", self.charges, |at, c| {
            at.row(c.quota, self.quotas.len(), "quota")?;
            at.is(c.amount >= 0, "amount")
        })?;
        rows("offering_labels", self.offering_labels, |at, l| {
            at.row(l.key, self.keys.len(), "key")?;
            at.is(l.value < self.keys[l.key as usize].values.len, "value")
        })
    }

    fn validate_nodes(&self) -> Result<(), Error> {
        rows("daemons", self.daemons, |at, d| {
            at.row(d.requests, self.amounts(), "requests")?;
            at.row(d.selector, self.sets.len(), "selector")?;
            at.span(d.required, self.terms.len(), "required")?;
            at.span(d.tolerations, self.tolerations.len(), "tolerations")?;
            at.span(d.ports, self.ports.len(), "ports")
        })?;
        rows("nodes", self.nodes, |at, n| {
            at.row(n.set, self.sets.len(), "set")?;
            at.span(n.taints, self.taints.len(), "taints")?;
            at.row(n.available, self.amounts(), "available")?;
            at.row_or_none(n.allocatable, self.amounts(), "allocatable")?;
            at.row_or_none(n.daemon_requests, self.amounts(), "daemon_requests")?;
            at.span(n.ports, self.ports.len(), "ports")?;
            at.span(n.counts, self.node_counts.len(), "counts")?;
            at.span(n.volumes, self.node_volumes.len(), "volumes")?;
            at.span(n.claims, self.node_claims.len(), "claims")
        })?;
        rows("node_counts", self.node_counts, |at, c| at.row(c.group, self.groups.len(), "group"))
    }

    fn validate_classes(&self) -> Result<(), Error> {
        rows("classes", self.classes, |at, c| {
            at.row(c.requests, self.amounts(), "requests")?;
            at.row(c.selector, self.sets.len(), "selector")?;
            at.span(c.required, self.terms.len(), "required")?;
            at.span(c.preferred, self.terms.len(), "preferred")?;
            at.span(c.tolerations, self.tolerations.len(), "tolerations")?;
            at.span(c.links, self.links.len(), "links")?;
            at.span(c.matches, self.matches.len(), "matches")?;
            at.is(c.matches.of(self.matches).is_sorted_by(|a, b| a < b), "match order")?;
            at.span(c.ports, self.ports.len(), "ports")?;
            at.span(c.volume_alternatives, self.volume_alternatives.len(), "volume_alternatives")?;
            at.span(c.volume_uses, self.volume_uses.len(), "volume_uses")
        })?;
        rows("runs", self.runs, |at, r| at.row(r.class, self.classes.len(), "class"))?;
        let in_runs: u64 = self.runs.iter().map(|r| u64::from(r.count)).sum();
        let in_classes: u64 = self.classes.iter().map(|c| u64::from(c.count)).sum();
        At { table: "runs", row: 0 }.is(in_runs == in_classes, "count")?;
        rows("matches", self.matches, |at, g| at.row(g, self.groups.len(), "group"))?;
        rows("volume_alternatives", self.volume_alternatives, |at, s| {
            at.row(s, self.sets.len(), "set")
        })
    }

    fn validate_groups(&self) -> Result<(), Error> {
        rows("links", self.links, |at, l| {
            at.row(l.group, self.groups.len(), "group")?;
            at.row_or_none(l.inverse, self.groups.len(), "inverse")?;
            at.span(l.variants, self.link_variants.len(), "variants")?;
            let inverse = self.groups.get(l.inverse as usize);
            at.is(inverse.is_none_or(|g| g.kind == GroupKind::Inverse), "inverse")
        })?;
        rows("link_variants", self.link_variants, |at, g| at.row(g, self.groups.len(), "group"))?;
        rows("groups", self.groups, |at, g| {
            at.is(g.is_hostname || (g.key as usize) < self.keys.len(), "key")?;
            at.span(g.filter, self.terms.len(), "filter")?;
            at.span(g.tolerations, self.tolerations.len(), "tolerations")?;
            at.span(g.domains, self.domains.len(), "domains")?;
            let most = self.keys.get(g.key as usize).map_or(0, |k| k.values.len);
            let known = |d: &crate::problem::Domain| g.is_hostname || d.value < most;
            at.is(g.domains.of(self.domains).iter().all(known), "domains")
        })
    }
}
