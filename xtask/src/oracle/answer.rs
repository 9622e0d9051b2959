//! One answer to one input in a form that both sides are brought into: names sorted, money
//! in micro-dollars, reasons as kinds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kinds::{self, Kind};

const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// One machine that would be launched.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// NodePool that opens it.
    pub pool: String,
    /// Names of the pods, or of their groups once renamed; sorted, equal names repeat.
    pub pods: Vec<String>,
    /// Instance types that it may become.
    pub types: BTreeSet<String>,
    /// Requirement on the zone as `operator [values]`; empty when there is none.
    pub zone: String,
    /// The same on the capacity type.
    pub capacity_type: String,
    /// Price of the cheapest offering.
    pub price_microusd: i64,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// Machines to launch, sorted.
    pub launches: Vec<Launch>,
    /// Pods (or groups) on each existing node that takes any; sorted.
    pub bind: BTreeMap<String, Vec<String>>,
    /// Kinds of reason for each pod that fits nowhere.
    pub unplaced: BTreeMap<String, BTreeSet<Kind>>,
}

impl Answer {
    /// Pods that found a place.
    pub fn placed(&self) -> BTreeSet<&str> {
        let launched = self.launches.iter().flat_map(|l| &l.pods);
        launched.chain(self.bind.values().flatten()).map(String::as_str).collect()
    }

    /// Price of all launches.
    pub fn price_microusd(&self) -> i64 {
        self.launches.iter().map(|l| l.price_microusd).sum()
    }

    /// The same answer with other names for pods; `unplaced` keeps its own.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let rename = |pods: &[String]| {
            let mut out: Vec<String> = pods.iter().map(|p| name(p)).collect();
            out.sort();
            out
        };
        let mut out = self.clone();
        for launch in &mut out.launches {
            launch.pods = rename(&launch.pods);
        }
        out.launches.sort();
        for pods in out.bind.values_mut() {
            *pods = rename(pods);
        }
        out
    }

    /// Reads the JSON of `dunnage plan -o json`.
    ///
    /// # Errors
    /// A field of the contract is missing or of the wrong kind.
    pub fn ours(plan: &Value) -> Result<Self, String> {
        let mut out = Self::default();
        for launch in rows(plan, "launch")? {
            let price = number(&launch["cheapest"], "pricePerHour")?;
            out.launches.push(read_launch(launch, price)?);
        }
        for bind in rows(plan, "bind")? {
            let pods = names(bind, "pods")?;
            if !pods.is_empty() {
                out.bind.entry(text(bind, "node")?).or_default().extend(pods);
            }
        }
        for unplaced in rows(plan, "unplaced")? {
            let mut found = BTreeSet::new();
            for because in rows(unplaced, "because")? {
                found.insert(kinds::of_code(&text(because, "code")?));
            }
            out.unplaced.insert(text(unplaced, "pod")?, found);
        }
        Ok(out.sorted())
    }

    /// Reads one answer of the oracle's batch line.
    ///
    /// # Errors
    /// A field is missing or of the wrong kind.
    pub fn theirs(answer: &Value) -> Result<Self, String> {
        let mut out = Self::default();
        for claim in rows(answer, "newNodeClaims")? {
            let price = match &claim["cheapest"] {
                Value::Null => 0,
                cheapest => number(cheapest, "price")?,
            };
            out.launches.push(read_launch(claim, price)?);
        }
        for node in rows(answer, "existingNodes")? {
            out.bind.insert(text(node, "name")?, names(node, "pods")?);
        }
        let errors = answer["errors"].as_object().ok_or("`errors` is no object")?;
        for (pod, error) in errors {
            let found = kinds::of_text(error.as_str().unwrap_or_default());
            out.unplaced.insert(full_name(pod), found.into_iter().collect());
        }
        Ok(out.sorted())
    }

    fn sorted(mut self) -> Self {
        self.launches.sort();
        self.bind.values_mut().for_each(|pods| pods.sort());
        self
    }
}

fn read_launch(row: &Value, price_microusd: i64) -> Result<Launch, String> {
    let mut out = Launch { pool: text(row, "nodePool")?, price_microusd, ..Launch::default() };
    out.pods = names(row, "pods")?;
    out.pods.sort();
    for name in rows(row, "instanceTypes")? {
        out.types.insert(name.as_str().ok_or("an instance type without a name")?.to_owned());
    }
    for requirement in rows(row, "requirements")? {
        let key = text(requirement, "key")?;
        let shown = || -> Result<String, String> {
            let list = match &requirement["values"] {
                Value::Null => Vec::new(),
                _ => rows(requirement, "values")?.iter().filter_map(Value::as_str).collect(),
            };
            let values: BTreeSet<&str> = list.into_iter().collect();
            Ok(format!("{} {values:?}", text(requirement, "operator")?))
        };
        match key.as_str() {
            ZONE => out.zone = shown()?,
            CAPACITY_TYPE => out.capacity_type = shown()?,
            _ => {}
        }
    }
    Ok(out)
}

/// Pods as `namespace/name`; the oracle leaves out `default/`.
fn full_name(pod: &str) -> String {
    if pod.contains('/') { pod.to_owned() } else { format!("default/{pod}") }
}

fn rows<'v>(v: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    v[key].as_array().ok_or_else(|| format!("`{key}` is no list"))
}

fn text(v: &Value, key: &str) -> Result<String, String> {
    v[key].as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is no text"))
}

fn names(v: &Value, key: &str) -> Result<Vec<String>, String> {
    let one = |p: &Value| p.as_str().map(full_name).ok_or_else(|| format!("`{key}` has no names"));
    rows(v, key)?.iter().map(one).collect()
}

/// USD to the nearest micro-dollar.
fn number(v: &Value, key: &str) -> Result<i64, String> {
    let usd = v[key].as_f64().ok_or_else(|| format!("`{key}` is no number"))?;
    Ok((usd * 1e6).round() as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_one_answer_are_equal() {
        let ours = json!({
            "launch": [{"nodePool": "p", "instanceTypes": ["m5.large", "c5.large"],
                "cheapest": {"instanceType": "c5.large", "pricePerHour": 0.085},
                "requirements": [{"key": ZONE, "operator": "In", "values": ["b", "a"]}],
                "pods": ["default/y", "default/x"], "requests": {}, "because": []}],
            "bind": [{"node": "n", "pods": ["blue/z"]}, {"node": "idle", "pods": []}],
            "unplaced": [{"pod": "default/w", "because": [{"code": "taint", "message": ""}]}],
        });
        let theirs = json!({
            "newNodeClaims": [{"nodePool": "p", "instanceTypes": ["c5.large", "m5.large"],
                "cheapest": {"price": 0.085}, "pods": ["x", "y"],
                "requirements": [{"key": ZONE, "operator": "In", "values": ["a", "b"]}]}],
            "existingNodes": [{"name": "n", "pods": ["blue/z"]}],
            "errors": {"w": "did not tolerate taint (taint=a:NoSchedule)"},
        });
        let (ours, theirs) = (Answer::ours(&ours), Answer::theirs(&theirs));
        assert_eq!(ours, theirs);
        let answer = ours.expect("valid");
        assert_eq!(answer.price_microusd(), 85_000);
        assert_eq!(answer.placed().len(), 3);
    }

    #[test]
    fn a_missing_field_is_named() {
        assert_eq!(Answer::ours(&json!({})), Err("`launch` is no list".to_owned()));
    }
}
