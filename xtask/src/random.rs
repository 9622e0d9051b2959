//! Random inputs for the oracle: small clusters that mix every feature it covers, the same
//! bytes for the same seed. Whether an input has a feature is told by `features`, which
//! reads the finished input.

mod apps;
mod catalogue;
pub mod features;
mod nodes;
mod pools;
pub mod rng;
mod volumes;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::rng::Rng;

/// Chance in percent that an input is asked for a feature; every input is asked for one
/// more by its number, so that none is left to luck.
const FEATURE_PERCENT: u64 = 17;
/// Each feature must stand in one input of this many.
const ONE_IN: u64 = 10;

/// Zones of the catalogue.
const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Features that an input is asked for.
type Wanted = BTreeSet<&'static str>;

/// Writes `count` inputs of `seed` as `random-NNNN.json` into `dir` and prints how many
/// have each feature.
///
/// # Errors
/// The catalogue is unreadable, the directory is not writable, or a feature is too rare.
pub fn write_all(
    count: u64,
    seed: u64,
    catalogue: &Path,
    dir: &Path,
) -> Result<Vec<PathBuf>, String> {
    let fail = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    fs::create_dir_all(dir).map_err(|why| fail(dir, &why))?;
    let text = fs::read_to_string(catalogue).map_err(|why| fail(catalogue, &why))?;
    let types: Vec<Value> = serde_json::from_str(&text).map_err(|why| fail(catalogue, &why))?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut out = Vec::new();
    for number in 0..count {
        let input = one(seed, number, &types);
        for feature in features::of(&input) {
            *counts.entry(feature).or_insert(0) += 1;
        }
        let path = dir.join(format!("random-{number:04}.json"));
        fs::write(&path, format!("{input}\n")).map_err(|why| fail(&path, &why))?;
        out.push(path);
    }
    if count > 0 {
        println!("random inputs: {count} of seed {seed}; inputs with each feature:");
        for feature in features::ALL {
            println!("  {:5} {feature}", counts.get(feature).copied().unwrap_or(0));
        }
    }
    let rare = too_rare(&counts, count);
    if rare.is_empty() { Ok(out) } else { Err(format!("too few inputs with {rare:?}")) }
}

/// Features that too few of `count` inputs have.
fn too_rare(counts: &BTreeMap<&str, u64>, count: u64) -> Vec<&'static str> {
    let has_enough = |f: &&str| counts.get(*f).copied().unwrap_or(0) >= count / ONE_IN;
    // a handful of inputs cannot hold everything
    let all: &[&'static str] = if count < 200 { &[] } else { features::ALL };
    all.iter().filter(|f| !has_enough(f)).copied().collect()
}

/// One input.
fn one(seed: u64, number: u64, types: &[Value]) -> Value {
    let mut rng = Rng::new(seed, number);
    let mut wanted: Wanted =
        features::ALL.iter().copied().filter(|_| rng.chance(FEATURE_PERCENT)).collect();
    let turn = usize::try_from(number).unwrap_or(0) % features::ALL.len();
    wanted.insert(features::ALL[turn]);
    // one input has one minValues policy
    if wanted.contains("minValues Strict") && wanted.contains("minValues BestEffort") {
        let drop = if turn.is_multiple_of(2) { "minValues Strict" } else { "minValues BestEffort" };
        wanted.remove(drop);
    }
    world::build(&mut rng, &wanted, types)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    fn types() -> Vec<Value> {
        let path = run::root().join("testbed/oracle/inputs/types-all.json");
        serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON")
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let types = types();
        for number in 0..20 {
            let text = one(1, number, &types).to_string();
            assert_eq!(text, one(1, number, &types).to_string());
            assert_ne!(text, one(2, number, &types).to_string());
        }
    }

    #[test]
    fn inputs_keep_the_promised_sizes() {
        let types = types();
        for number in 0..200 {
            let input = one(3, number, &types);
            let len = |key: &str| input[key].as_array().map_or(0, Vec::len);
            let pending = |p: &&Value| p["spec"]["nodeName"].is_null();
            let pods = input["pods"].as_array().map_or(0, |p| p.iter().filter(pending).count());
            assert!((3..=60).contains(&pods), "{number}: {pods} pods");
            assert!((5..=60).contains(&len("instanceTypes")), "{number}");
            assert!((1..=4).contains(&len("nodePools")), "{number}");
        }
    }

    #[test]
    fn names_are_unique_and_references_hold() {
        let types = types();
        for number in 0..200 {
            let input = one(5, number, &types);
            let mut seen = BTreeSet::new();
            for kind in ["pods", "nodes", "nodePools", "pvcs", "pvs", "daemonSets", "nodeClaims"] {
                for object in input[kind].as_array().into_iter().flatten() {
                    let meta = &object["metadata"];
                    let key = format!("{kind} {} {}", meta["namespace"], meta["name"]);
                    assert!(seen.insert(key.clone()), "{number}: {key} twice");
                }
            }
            for pod in input["pods"].as_array().into_iter().flatten() {
                let Some(node) = pod["spec"]["nodeName"].as_str() else { continue };
                assert!(seen.contains(&format!("nodes null \"{node}\"")), "{number}: {node}");
            }
        }
    }

    #[test]
    fn a_rare_feature_is_reported() {
        let counts = features::ALL.iter().map(|f| (*f, 50)).collect();
        assert!(too_rare(&counts, 500).is_empty());
        let mut counts = counts;
        counts.insert("spot", 49);
        assert_eq!(too_rare(&counts, 500), ["spot"]);
    }
}
