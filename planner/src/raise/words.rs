//! The user's words for rows of the tables: names in backticks, amounts as people write them.

use dunnage_engine_core::problem::{Group, GroupKind, NONE, PodClass, Problem};
use dunnage_engine_core::requirements::Layout;

use super::requirements;
use crate::lower::{GroupName, Names};
use crate::quantity::format_resource;

/// The tables and what their numbers mean.
pub(crate) struct Words<'a> {
    pub p: Problem<'a>,
    pub names: &'a Names,
    pub layout: Layout<'a>,
}

impl Words<'_> {
    /// Name of a template's NodePool; empty for no template.
    pub fn pool(&self, template: u32) -> &str {
        self.names.templates.get(template as usize).map_or("", |t| t.node_pool.as_str())
    }

    /// Name of a label key.
    pub fn key(&self, key: u32) -> &str {
        self.names.keys.get(key as usize).map_or("", String::as_str)
    }

    /// Name of a resource.
    pub fn resource(&self, resource: u32) -> &str {
        self.names.resources.get(resource as usize).map_or("", String::as_str)
    }

    /// A taint as `key=value:Effect`.
    pub fn taint(&self, taint: u32) -> &str {
        self.names.taints.get(taint as usize).map_or("", String::as_str)
    }

    /// An amount in canonical form.
    pub fn quantity(&self, resource: u32, amount: i64) -> String {
        format_resource(self.resource(resource), amount)
    }

    /// An amount as people say it: `191.45 cpu`, `7.5Gi memory`, `2 nvidia.com/gpu`.
    pub fn amount(&self, resource: u32, amount: i64) -> String {
        let name = self.resource(resource);
        format!("{} {name}", readable(name, amount))
    }

    /// One cell of a row of `quantities`; 0 for no row.
    pub fn cell(&self, row: u32, resource: u32) -> i64 {
        let width = self.p.resources.len();
        if row == NONE {
            return 0;
        }
        self.p.quantities.get(row as usize * width + resource as usize).copied().unwrap_or(0)
    }

    /// One row of `quantities`; empty for no row.
    pub fn row(&self, row: u32) -> &[i64] {
        let width = self.p.resources.len();
        let start = row as usize * width;
        self.p.quantities.get(start..start + width).unwrap_or(&[])
    }

    /// A requirement set in dense form.
    pub fn dense(&self, set: u32) -> Vec<u64> {
        let mut words = vec![0; self.layout.len()];
        if let Some(span) = self.p.sets.get(set as usize) {
            self.layout.write(&mut words, &self.p, span.of(self.p.requirements));
        }
        words
    }

    /// What a set says about a key, when it says something: `In [amd64]`.
    pub fn said(&self, set: u32, key: u32) -> Option<String> {
        let words = self.dense(set);
        let key = key as usize;
        (key < self.layout.keys() && self.layout.has(&words, key))
            .then(|| requirements::words(&self.p, self.names, key, self.layout.get(&words, key)))
    }

    /// What a class asks of a key: its selector, else its first required term that names the
    /// key, else its heaviest preference that does.
    pub fn asked(&self, class: &PodClass, key: u32) -> Option<String> {
        let terms = class.required.of(self.p.terms).iter().chain(class.preferred.of(self.p.terms));
        let sets = std::iter::once(class.selector).chain(terms.map(|term| term.set));
        sets.into_iter().find_map(|set| self.said(set, key))
    }

    /// A topology rule: "topology spread over `zone` of pods `app=web`".
    pub fn group(&self, group: u32) -> String {
        let unnamed = GroupName::default();
        let name = self.names.groups.get(group as usize).unwrap_or(&unnamed);
        let kind = match self.p.groups.get(group as usize).map(|g: &Group| g.kind) {
            Some(GroupKind::Affinity) => "pod affinity",
            Some(GroupKind::AntiAffinity) => "pod anti-affinity",
            Some(GroupKind::Inverse) => "pod anti-affinity of other pods",
            _ => "topology spread",
        };
        let selector = if name.selector.is_empty() { "every pod" } else { &name.selector };
        format!("{kind} over `{}` (pods `{selector}`)", name.key)
    }

    /// The domain word of a topology rule: `node` for hostnames, else the key's last part.
    pub fn domain(&self, group: u32) -> &str {
        let key = self.names.groups.get(group as usize).map_or("", |name| name.key.as_str());
        match key.rsplit('/').next() {
            Some("hostname") => "node",
            Some(last) if !last.is_empty() => last,
            _ => "domain",
        }
    }

    /// The type of a template that leaves the most of a resource, with that amount.
    pub fn largest(&self, template: u32, resource: u32) -> Option<(&str, i64)> {
        let rows = self.p.templates.get(template as usize)?.types.of(self.p.template_types);
        let mut best: Option<(usize, i64)> = None;
        for &row in rows {
            let variants = self.p.types.get(row as usize)?.variants.of(self.p.variants);
            let most = variants.iter().map(|v| self.cell(v.allocatable, resource)).max();
            if let Some(most) = most
                && best.is_none_or(|(_, amount)| most > amount)
            {
                best = Some((row as usize, most));
            }
        }
        let (row, amount) = best?;
        Some((self.names.types.get(row)?, amount))
    }
}

/// An amount with at most two decimals in its largest fitting unit; cpu in cores.
pub(crate) fn readable(resource: &str, amount: i64) -> String {
    if resource == "cpu" {
        return decimal(amount, 1000, 3);
    }
    let is_bytes = matches!(resource, "memory" | "ephemeral-storage" | "storage")
        || resource.starts_with("hugepages-");
    if !is_bytes {
        return amount.to_string();
    }
    let units = [("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];
    match units.iter().find(|(_, shift)| amount.unsigned_abs() >> shift > 0) {
        Some((unit, shift)) => format!("{}{unit}", decimal(amount, 1 << shift, 2)),
        None => amount.to_string(),
    }
}

/// `amount / unit` cut to `places` decimals, without trailing zeros.
fn decimal(amount: i64, unit: i64, places: u32) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let (size, unit) = (u128::from(amount.unsigned_abs()), unit as u128);
    let scale = 10u128.pow(places);
    let part = size % unit * scale / unit;
    if part == 0 {
        return format!("{sign}{}", size / unit);
    }
    let decimals = format!("{part:0width$}", width = places as usize);
    format!("{sign}{}.{}", size / unit, decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        for (resource, amount, text) in [
            ("cpu", 191_450, "191.45"),
            ("cpu", 500_000, "500"),
            ("cpu", 5, "0.005"),
            ("cpu", -1500, "-1.5"),
            ("memory", 8_053_063_680, "7.5Gi"),
            ("memory", 1023, "1023"),
            ("ephemeral-storage", 21_474_836_480, "20Gi"),
            ("nvidia.com/gpu", 8, "8"),
            ("pods", 110_000, "110000"),
        ] {
            assert_eq!(readable(resource, amount), text);
        }
    }
}
