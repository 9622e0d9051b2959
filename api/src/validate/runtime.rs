//! Rules that the controller checks at run time, because the API server cannot.
//!
//! Runs on objects that passed the schema and the CEL rules, so every field has its type.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Kind, Violation, cron, kubelet, shortened, tree};
use crate::labels::{self, Provider};

/// Collects violations under paths.
pub(super) struct Findings<'o> {
    object: &'o Value,
    list: Vec<Violation>,
}

impl<'o> Findings<'o> {
    pub(super) fn push(&mut self, path: &str, message: impl Into<String>) {
        let value = tree::at(self.object, path).cloned().unwrap_or_default();
        self.list.push(Violation { path: path.into(), message: message.into(), value });
    }

    /// As [`Findings::push`], for a key of a map.
    pub(super) fn push_key(&mut self, map: &str, key: &str, message: impl Into<String>) {
        let path = format!("{map}.{}", shortened(key));
        self.list.push(Violation { path, message: message.into(), value: key.into() });
    }

    pub(super) fn at(&self, path: &str) -> Option<&'o Value> {
        tree::at(self.object, path)
    }

    pub(super) fn text(&self, path: &str) -> Option<&'o str> {
        self.at(path)?.as_str()
    }

    fn list(&self, path: &str) -> &'o [Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn keys(&self, path: &str) -> impl Iterator<Item = &'o str> + use<'o> {
        self.at(path).and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key.as_str())
    }
}

/// Rules of the controller that `object` breaks.
pub(super) fn violations(kind: Kind, object: &Value) -> Vec<Violation> {
    let mut found = Findings { object, list: Vec::new() };
    match kind {
        Kind::NodePool => node_pool(&mut found),
        Kind::NodeClaim => template(&mut found, "spec"),
        Kind::NodeOverlay => node_overlay(&mut found),
        Kind::CapacityBuffer => capacity_buffer(&mut found),
        Kind::EC2NodeClass => ec2_node_class(&mut found),
        Kind::AKSNodeClass => {}
    }
    found.list
}

fn node_pool(found: &mut Findings<'_>) {
    template(found, "spec.template.spec");
    let provider = provider_of(found, "spec.template.spec");
    let labels_path = "spec.template.metadata.labels";
    for key in found.keys(labels_path) {
        if let Some(problem) = key_problem(provider, key) {
            found.push_key(labels_path, key, problem);
        }
    }
    duration(found, "spec.disruption.consolidateAfter");
    for index in 0..found.list("spec.disruption.budgets").len() {
        let path = format!("spec.disruption.budgets[{index}]");
        let schedule = format!("{path}.schedule");
        if let Some(problem) = found.text(&schedule).and_then(cron::problem) {
            found.push(&schedule, problem);
        }
        duration(found, &format!("{path}.duration"));
    }
}

/// What NodePool templates and NodeClaims share.
fn template(found: &mut Findings<'_>, at: &str) {
    let provider = provider_of(found, at);
    requirements(found, &format!("{at}.requirements"), &[provider]);
    let mut seen = BTreeSet::new();
    for list in ["taints", "startupTaints"] {
        for (index, taint) in found.list(&format!("{at}.{list}")).iter().enumerate() {
            let field = |name| taint.get(name).and_then(Value::as_str).unwrap_or("");
            let (key, effect) = (field("key"), field("effect"));
            let path = format!("{at}.{list}[{index}].key");
            if let Some(problem) = name_problem(key) {
                found.push(&path, problem);
            }
            if !seen.insert((key, effect)) {
                found.push(
                    &path,
                    format!("the taint `{key}:{effect}` stands twice in taints and startupTaints"),
                );
            }
        }
    }
    duration(found, &format!("{at}.terminationGracePeriod"));
    duration(found, &format!("{at}.expireAfter"));
}

fn node_overlay(found: &mut Findings<'_>) {
    // An overlay names no class: the labels of every provider count.
    requirements(found, "spec.requirements", &[Provider::Aws, Provider::Azure]);
    for key in found.keys("spec.capacity") {
        if labels::PROVIDER_RESOURCES.contains(&key) {
            let message = format!("`{key}` is given by the instance type and cannot be overlaid");
            found.push_key("spec.capacity", key, message);
        }
    }
}

fn capacity_buffer(found: &mut Findings<'_>) {
    let has = |path| found.at(path).is_some();
    if !has("spec.podTemplateRef") && !has("spec.scalableRef") {
        return found.push("spec", "give `podTemplateRef` or `scalableRef`");
    }
    if !has("spec.scalableRef") {
        return;
    }
    let kind = found.text("spec.scalableRef.kind").unwrap_or("");
    if !["Deployment", "ReplicaSet", "StatefulSet"].contains(&kind) {
        let message = "must be `Deployment`, `ReplicaSet` or `StatefulSet`";
        found.push("spec.scalableRef.kind", message);
    }
    if !["", "apps"].contains(&found.text("spec.scalableRef.apiGroup").unwrap_or("")) {
        found.push("spec.scalableRef.apiGroup", "must be `apps` or empty");
    }
}

// LIMIT: bytes of boot data that EC2 takes.
const USER_DATA_BYTES: usize = 16_384;

fn ec2_node_class(found: &mut Findings<'_>) {
    for index in 0..found.list("spec.amiSelectorTerms").len() {
        let path = format!("spec.amiSelectorTerms[{index}].alias");
        if found.text(&path).is_some_and(|alias| alias.matches('@').count() != 1) {
            found.push(&path, "an alias has exactly one `@`: write `family@version`");
        }
    }
    let bytes = found.text("spec.userData").map_or(0, str::len);
    if bytes > USER_DATA_BYTES {
        let message = format!("has {bytes} bytes, EC2 takes {USER_DATA_BYTES}");
        found.push("spec.userData", message);
    }
    kubelet::check(found);
}

fn provider_of(found: &Findings<'_>, at: &str) -> Provider {
    let group = found.text(&format!("{at}.nodeClassRef.group"));
    Provider::of_group(group.unwrap_or(""))
}

fn duration(found: &mut Findings<'_>, path: &str) {
    let Some(text) = found.text(path) else { return };
    if let Err(error) = crate::duration::parse_or_never(text) {
        found.push(path, error.to_string());
    }
}

fn requirements(found: &mut Findings<'_>, path: &str, providers: &[Provider]) {
    for (index, requirement) in found.list(path).iter().enumerate() {
        let at = format!("{path}[{index}]");
        let key = requirement.get("key").and_then(Value::as_str).unwrap_or("");
        let problem = providers.iter().find_map(|&provider| key_problem(provider, key));
        if let Some(problem) = problem {
            found.push(&format!("{at}.key"), problem);
            continue;
        }
        requirement_values(found, &at, requirement, key, providers);
    }
}

fn requirement_values(
    found: &mut Findings<'_>,
    at: &str,
    requirement: &Value,
    key: &str,
    providers: &[Provider],
) {
    let operator = requirement.get("operator").and_then(Value::as_str).unwrap_or("");
    let values: Vec<&str> = requirement
        .get("values")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (index, value) in values.iter().enumerate() {
        let path = format!("{at}.values[{index}]");
        if !is_label_value(value) {
            found.push(
                &path,
                "is not a label value: at most 63 letters, digits, `-`, `_`, `.`, \
                 starting and ending with a letter or digit",
            );
        } else if ["Gt", "Lt", "Gte", "Lte"].contains(&operator) && value.parse::<i64>().is_err() {
            found.push(&path, format!("is greater than {}", i64::MAX));
        }
    }
    if operator != "In" {
        return;
    }
    let normal = |provider| labels::normalized(provider, key);
    let known = providers.iter().find_map(|&p| labels::known_values(p, normal(p)));
    let Some(known) = known else { return };
    let list = || known.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    let right = values.iter().filter(|value| known.contains(value)).count() as u64;
    let least = requirement.get("minValues").and_then(Value::as_u64).unwrap_or(0);
    if right == 0 {
        found.push(&format!("{at}.values"), format!("`{key}` knows only {}", list()));
    } else if right < least {
        let message = format!("is {least}, but only {right} of the values exist: {}", list());
        found.push(&format!("{at}.minValues"), message);
    }
}

/// Why a key cannot be asked for: not a qualified name, or restricted.
fn key_problem(provider: Provider, key: &str) -> Option<String> {
    let key = labels::normalized(provider, key);
    name_problem(key).map(Into::into).or_else(|| labels::restriction(provider, key))
}

// LIMIT: characters of the two parts of a label key.
const DOMAIN_CHARS: usize = 253;
const NAME_CHARS: usize = 63;

fn name_problem(key: &str) -> Option<&'static str> {
    let (domain, name) = key.rsplit_once('/').map_or((None, key), |(d, n)| (Some(d), n));
    let is_name = !name.is_empty() && name.len() <= NAME_CHARS && is_label_value(name);
    if !is_name {
        return Some(
            "is not a label key: the part after `/` is 1 to 63 letters, digits, `-`, `_`, `.`, \
             starting and ending with a letter or digit",
        );
    }
    let is_part = |part: &str| {
        let inside = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        !part.is_empty()
            && part.bytes().all(inside)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let is_domain = domain.is_none_or(|d| d.len() <= DOMAIN_CHARS && d.split('.').all(is_part));
    (!is_domain).then_some("is not a label key: the part before `/` is a lower-case DNS name")
}

fn is_label_value(value: &str) -> bool {
    let is_end = |c: Option<u8>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    value.len() <= NAME_CHARS
        && value.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
        && is_end(value.bytes().next())
        && is_end(value.bytes().last())
}
