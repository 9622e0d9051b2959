//! Which spelling of a label counts, which labels are well known, which may not be asked for.
//!
//! Put together once from the clouds that the pools name and, when the input brings its own
//! instance types, from their keys.

use std::collections::BTreeSet;

use dunnage_api::labels::{self, Provider};
use k8s_openapi::api::core::v1::NodeSelectorRequirement;

use super::needs::{Need, Needs, integer};
use crate::snapshot::Snapshot;

/// The zone label of Azure's disk driver, which means the zone.
const AZURE_DISK_ZONE: &str = "topology.disk.csi.azure.com/zone";
/// What Azure writes in the place of the zone of a machine without one.
pub const AZURE_NO_ZONE: &str = "0";
/// Longest key of a requirement.
const MAX_KEY_CHARS: usize = 316;
/// Longest label value.
const MAX_VALUE_CHARS: usize = 63;

/// The rules of labels that hold for one Snapshot.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    providers: Vec<Provider>,
    own_keys: BTreeSet<String>,
    has_no_zone_zero: bool,
}

/// Why a requirement is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Stable code.
    pub code: &'static str,
    /// What is wrong and what to do, without the pod's name.
    pub message: String,
}

impl Dialect {
    /// The rules for this Snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let groups = snapshot.node_pools.iter().map(|p| &p.spec.template.spec.node_class_ref.group);
        let mut providers: Vec<Provider> =
            groups.map(|g| Provider::of_group(g)).filter(|p| *p != Provider::Core).collect();
        providers.sort();
        providers.dedup();
        if providers.is_empty() {
            providers.push(Provider::Core);
        }
        // A pool that names it wants machines without a zone, by the name that they have.
        let is_named = snapshot.node_pools.iter().any(|pool| {
            let mut asked = pool.spec.template.spec.requirements.iter();
            asked.any(|r| {
                r.key == labels::azure::PLACEMENT_SCOPE
                    || (r.key == labels::ZONE && r.values.iter().any(|zone| zone == AZURE_NO_ZONE))
            })
        }) || snapshot.pods.iter().any(|pod| {
            let mut asked = pod.spec.iter().filter_map(|spec| spec.node_selector.as_ref());
            asked.any(|labels| labels.contains_key(labels::azure::PLACEMENT_SCOPE))
        });
        let has_no_zone_zero = providers.contains(&Provider::Azure) && !is_named;
        let mut dialect = Self { providers, own_keys: BTreeSet::new(), has_no_zone_zero };
        for own in snapshot.instance_types.iter().flatten() {
            for requirement in &own.requirements {
                let key = dialect.normalized(&requirement.key).to_owned();
                dialect.own_keys.insert(key);
            }
        }
        dialect
    }

    /// The label that `key` means.
    pub fn normalized<'a>(&self, key: &'a str) -> &'a str {
        self.providers.iter().fold(key, |key, provider| {
            if *provider == Provider::Azure && key == AZURE_DISK_ZONE {
                return labels::ZONE;
            }
            labels::normalized(*provider, key)
        })
    }

    /// The value that labels give to a normalized key, under whichever spelling.
    pub fn label<'l>(
        &self,
        labels: &'l std::collections::BTreeMap<String, String>,
        key: &str,
    ) -> Option<&'l String> {
        const WITH_OLD_SPELLINGS: [&str; 5] =
            [labels::ZONE, labels::REGION, labels::ARCH, labels::OS, labels::INSTANCE_TYPE];
        labels.get(key).or_else(|| {
            if !WITH_OLD_SPELLINGS.contains(&key) {
                return None;
            }
            labels.iter().find(|(own, _)| self.normalized(own) == key).map(|(_, value)| value)
        })
    }

    /// Zone `0` stands for no zone.
    pub fn has_no_zone_zero(&self) -> bool {
        self.has_no_zone_zero
    }

    /// A new node may lack the label: the launch will set it.
    pub fn is_well_known(&self, key: &str) -> bool {
        self.own_keys.contains(key)
            || self.providers.iter().any(|p| labels::well_known_labels(*p).contains(&key))
    }

    /// Keys whose values say which reservation an offering draws on.
    pub fn reservation_key(&self) -> &'static str {
        labels::aws::CAPACITY_RESERVATION_ID
    }

    /// What one expression says; unknown operators allow nothing.
    pub fn need(&self, of: &NodeSelectorRequirement) -> Need {
        Need::of(&of.operator, of.values.as_deref().unwrap_or(&[]), 0).unwrap_or_default()
    }

    /// What a list of expressions says, all of them together.
    pub fn needs(&self, expressions: Option<&Vec<NodeSelectorRequirement>>) -> Needs {
        let mut needs = Needs::default();
        for expression in expressions.into_iter().flatten() {
            needs.add(self.normalized(&expression.key), self.need(expression));
        }
        needs
    }

    /// What labels say: each key has its one value.
    pub fn labels<'a>(&self, labels: impl IntoIterator<Item = (&'a String, &'a String)>) -> Needs {
        let mut needs = Needs::default();
        for (key, value) in labels {
            needs.add(self.normalized(key), Need::one_of([value.as_str()]));
        }
        needs
    }

    /// Why a pod may not ask for this, if so.
    pub fn refusal(&self, key: &str, operator: &str, values: &[String]) -> Option<Refusal> {
        let key = self.normalized(key);
        let invalid = |message: String| Some(Refusal { code: "invalidRequirement", message });
        const KNOWN: [&str; 8] =
            ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"];
        if !KNOWN.contains(&operator) {
            return invalid(format!(
                "operator `{operator}` of label `{key}` is not one of {}",
                KNOWN.join(", ")
            ));
        }
        if let Some(message) = self.restriction(key) {
            return Some(Refusal { code: "restrictedLabel", message });
        }
        if !is_qualified(key) {
            return invalid(format!("`{}` is not a label key", crate::error::quoted(key)));
        }
        if let Some(value) = values.iter().find(|v| !is_label_value(v)) {
            let value = crate::error::quoted(value);
            return invalid(format!("`{value}` cannot be a value of label `{key}`"));
        }
        match operator {
            "In" if values.is_empty() => {
                invalid(format!("`In` on label `{key}` needs at least one value"))
            }
            "Gt" | "Lt" | "Gte" | "Lte"
                if !(values.len() == 1 && integer(&values[0]).is_some_and(|n| n >= 0)) =>
            {
                invalid(format!("`{operator}` on label `{key}` needs one integer of 0 or more"))
            }
            "In" => self.unknown_values(key, values),
            _ => None,
        }
    }

    fn restriction(&self, key: &str) -> Option<String> {
        if self.is_well_known(key) {
            return None;
        }
        self.providers.iter().find_map(|p| labels::restriction(*p, key))
    }

    fn unknown_values(&self, key: &str, values: &[String]) -> Option<Refusal> {
        let known = self.providers.iter().find_map(|p| labels::known_values(*p, key))?;
        if values.iter().any(|v| known.contains(&v.as_str())) {
            return None;
        }
        Some(Refusal {
            code: "invalidRequirement",
            message: format!(
                "no value of `{key}` is known: use {}",
                known.iter().map(|v| format!("`{v}`")).collect::<Vec<_>>().join(", ")
            ),
        })
    }
}

fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

fn is_label_value(text: &str) -> bool {
    text.is_empty() || (text.len() <= MAX_VALUE_CHARS && is_word(text))
}

fn is_qualified(key: &str) -> bool {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, key),
    };
    let is_domain = domain.is_none_or(|d| {
        d.split('.').all(|part| {
            is_word(part)
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        })
    });
    key.len() <= MAX_KEY_CHARS && is_domain && name.len() <= MAX_VALUE_CHARS && is_word(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aws() -> Dialect {
        Dialect {
            providers: vec![Provider::Aws],
            own_keys: BTreeSet::from(["own/key".into()]),
            ..Dialect::default()
        }
    }

    // CASE: C22
    #[test]
    fn old_and_driver_spellings_mean_the_same_label() {
        let azure = Dialect { providers: vec![Provider::Azure], ..Dialect::default() };
        assert_eq!(aws().normalized("topology.ebs.csi.aws.com/zone"), labels::ZONE);
        assert_eq!(azure.normalized(AZURE_DISK_ZONE), labels::ZONE);
        assert_eq!(aws().normalized(AZURE_DISK_ZONE), AZURE_DISK_ZONE);
        assert_eq!(aws().normalized("beta.kubernetes.io/arch"), labels::ARCH);
        assert_eq!(aws().normalized("team"), "team");
    }

    #[test]
    fn requirements_are_refused_with_a_reason() {
        let v = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let code = |key: &str, op: &str, values: &[&str]| {
            aws().refusal(key, op, &v(values)).map(|r| r.code)
        };
        for (key, op, values, want) in [
            ("team", "In", &["a"][..], None),
            ("team", "In", &[], Some("invalidRequirement")),
            ("team", "Has", &["a"], Some("invalidRequirement")),
            ("team", "Gt", &["-1"], Some("invalidRequirement")),
            ("team", "Gt", &["1", "2"], Some("invalidRequirement")),
            ("team", "Lte", &["7"], None),
            ("team", "In", &["a b"], Some("invalidRequirement")),
            ("-team", "Exists", &[], Some("invalidRequirement")),
            ("Upper.io/x", "Exists", &[], Some("invalidRequirement")),
            ("own/key", "In", &["1"], None),
            ("kubernetes.io/hostname", "In", &["n"], Some("restrictedLabel")),
            ("karpenter.sh/registered", "In", &["true"], Some("restrictedLabel")),
            ("x.karpenter.k8s.aws/y", "Exists", &[], Some("restrictedLabel")),
            ("karpenter.k8s.aws/instance-family", "In", &["m5"], None),
            ("karpenter.sh/capacity-type", "In", &["spot", "x"], None),
            ("karpenter.sh/capacity-type", "In", &["x"], Some("invalidRequirement")),
        ] {
            assert_eq!(code(key, op, values), want, "{key} {op} {values:?}");
        }
    }
}
