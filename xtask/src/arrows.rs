//! Who may import whom. Decides nothing: it holds `cargo metadata` against the table of the
//! house, and a test runs it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::run;

/// What one package may depend on.
struct Rule {
    package: &'static str,
    /// Packages of this workspace that it may name.
    ours: &'static [&'static str],
    /// The same for its tests alone.
    ours_in_tests: &'static [&'static str],
    /// Outside packages it may name; none = any that `never` does not forbid.
    only: Option<&'static [&'static str]>,
    /// Outside packages it must not name; a trailing `*` matches a prefix.
    never: &'static [&'static str],
    /// The same, for everything below it as well.
    never_below: &'static [&'static str],
}

const SDKS: &[&str] = &["tokio", "aws-sdk-*", "aws-config", "azure_*"];
const DECIDERS_NEVER: &[&str] =
    &["tokio", "kube", "kube-client", "kube-runtime", "aws-*", "azure_*", "rand", "chrono", "time"];

const RULES: &[Rule] = &[
    Rule {
        package: "dunnage-engine-core",
        ours: &[],
        // where the random problems are drawn
        ours_in_tests: &["dunnage-benches"],
        only: Some(&["heapless", "serde"]),
        never: &[],
        never_below: &["tokio", "rand", "kube"],
    },
    Rule {
        package: "dunnage-api",
        ours: &[],
        ours_in_tests: &[],
        only: Some(&[
            "k8s-openapi",
            "kube",
            "kube-cel",
            "regex",
            "schemars",
            "serde",
            "serde-saphyr",
            "serde_json",
        ]),
        never: &[],
        never_below: &["tokio", "kube-client"],
    },
    Rule {
        package: "dunnage-planner",
        ours: &["dunnage-engine-core", "dunnage-api"],
        ours_in_tests: &[],
        only: None,
        never: DECIDERS_NEVER,
        never_below: SDKS,
    },
    Rule {
        package: "dunnage-controller",
        ours: &["dunnage-planner", "dunnage-api"],
        ours_in_tests: &[],
        only: None,
        never: &["rand"],
        never_below: &[],
    },
    Rule {
        package: "dunnage",
        ours: &["dunnage-planner"],
        ours_in_tests: &[],
        only: None,
        never: &["rand"],
        never_below: SDKS,
    },
    Rule {
        package: "dunnage-bindings-python",
        ours: &["dunnage-planner"],
        ours_in_tests: &[],
        only: None,
        never: &[],
        never_below: SDKS,
    },
    Rule {
        package: "dunnage-bindings-node",
        ours: &["dunnage-planner"],
        ours_in_tests: &[],
        only: None,
        never: &[],
        never_below: &["aws-sdk-*", "aws-config", "azure_*"],
    },
    Rule {
        package: "dunnage-benches",
        ours: &["dunnage-engine-core", "dunnage-planner"],
        ours_in_tests: &[],
        only: None,
        never: &[],
        never_below: SDKS,
    },
    Rule {
        package: "xtask",
        ours: &[],
        ours_in_tests: &[],
        only: None,
        never: &["rand"],
        never_below: SDKS,
    },
];

/// Reads the workspace's own metadata and fails with every wrong arrow, a line each.
///
/// # Errors
/// A wrong arrow, or cargo failed.
pub fn check() -> Result<(), String> {
    let mut cmd = run::cargo();
    cmd.args(["metadata", "--format-version", "1", "--no-deps"]);
    let text = run::output(&mut cmd)?;
    let meta: Value = serde_json::from_str(&text).map_err(|why| format!("metadata: {why}"))?;
    let mut wrong = direct(&meta);
    for rule in RULES.iter().filter(|r| !r.never_below.is_empty()) {
        let mut tree = run::cargo();
        tree.args(["tree", "--package", rule.package, "--edges", "normal,build"]);
        tree.args(["--prefix", "none", "--format", "{p}"]);
        wrong.extend(below(rule, &run::output(&mut tree)?));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Wrong arrows among the dependencies that the manifests name. Dev-dependencies are free,
/// but for our own crates.
fn direct(meta: &Value) -> Vec<String> {
    let list = |v: &Value, key: &str| v[key].as_array().cloned().unwrap_or_default();
    let packages = list(meta, "packages");
    let name_of = |v: &Value| v["name"].as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name_of).collect();
    let rules: BTreeMap<&str, &Rule> = RULES.iter().map(|r| (r.package, r)).collect();
    let mut wrong = Vec::new();
    for package in &packages {
        let from = name_of(package);
        let Some(rule) = rules.get(from.as_str()) else {
            wrong.push(format!("{from}: no rule says what it may depend on"));
            continue;
        };
        for dep in list(package, "dependencies") {
            let to = name_of(&dep);
            let is_dev = dep["kind"].as_str() == Some("dev");
            let allowed = if ours.contains(&to) {
                rule.ours.contains(&to.as_str())
                    || (is_dev && rule.ours_in_tests.contains(&to.as_str()))
            } else {
                is_dev
                    || (rule.only.is_none_or(|only| only.contains(&to.as_str()))
                        && !matches(rule.never, &to))
            };
            if !allowed {
                wrong.push(format!("{from} must not depend on {to}"));
            }
        }
    }
    wrong
}

/// Wrong arrows anywhere below one package, from the lines of `cargo tree`.
fn below(rule: &Rule, tree: &str) -> Vec<String> {
    let names: BTreeSet<&str> = tree.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let found = names.into_iter().filter(|n| matches(rule.never_below, n));
    found.map(|n| format!("{} must not have {n} anywhere below it", rule.package)).collect()
}

fn matches(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|p| match p.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => *p == name,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn this_workspace_has_no_wrong_arrow() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_wrong_arrow_is_found() {
        let package = |name: &str, deps: Value| json!({"name": name, "dependencies": deps});
        let meta = json!({"packages": [
            package("dunnage-engine-core", json!([{"name": "rand", "kind": null},
                {"name": "dunnage-benches", "kind": "dev"}, {"name": "dunnage-benches", "kind": null}])),
            package("dunnage-benches", json!([])),
            package("dunnage-planner", json!([{"name": "dunnage-controller", "kind": null}, {"name": "tokio", "kind": null}])),
            package("dunnage-controller", json!([{"name": "dunnage-engine-core", "kind": "dev"}])),
            package("dunnage-new", json!([])),
        ]});
        let wrong = direct(&meta);
        assert_eq!(
            wrong,
            [
                "dunnage-engine-core must not depend on rand",
                "dunnage-engine-core must not depend on dunnage-benches",
                "dunnage-planner must not depend on dunnage-controller",
                "dunnage-planner must not depend on tokio",
                "dunnage-controller must not depend on dunnage-engine-core",
                "dunnage-new: no rule says what it may depend on",
            ]
        );
    }

    #[test]
    fn an_sdk_deep_below_is_found() {
        let rule = RULES.iter().find(|r| r.package == "dunnage").expect("the CLI has a rule");
        assert!(below(rule, "dunnage v0.1.0\nserde v1.0.0\n").is_empty());
        let wrong = below(rule, "dunnage v0.1.0\nx v1.0.0\naws-sdk-ec2 v1.2.3\n");
        assert_eq!(wrong, ["dunnage must not have aws-sdk-ec2 anywhere below it"]);
    }
}
