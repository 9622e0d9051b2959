//! Critical workloads in places that may be taken away.

use dunnage_planner::lint::Severity::{Info, Warning};
use serde_json::{Value, json};

use crate::world::*;

/// The input with pods of that priority class.
fn critical(input: Value) -> Value {
    let class = json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": { "name": "vital" }, "value": 1_000_000 });
    let input = with(input, "/priorityClasses", json!([class]));
    with(input, &format!("{PODS}/priorityClassName"), json!("vital"))
}

#[test]
fn critical_pods_on_spot_are_told() {
    let both =
        with(clean(), &format!("{SPEC}/requirements/0/values"), json!(["on-demand", "spot"]));
    let want = Want {
        code: "CriticalOnSpot",
        severity: Warning,
        object: "Deployment shop/web",
        says: "its priority 1000000 says that it is critical, and NodePool p may put it on spot",
        fix: "set `spec.template.spec.nodeSelector` to `{karpenter.sh/capacity-type: on-demand}`",
    };
    let bad = critical(both.clone());
    let selector = json!({ CAPACITY: "on-demand" });
    found_and_fixed(&want, &bad, &with(bad.clone(), &format!("{PODS}/nodeSelector"), selector));
    assert!(report(&both).findings.iter().all(|f| f.code != want.code), "plain pods may");
    let only = with(bad, &format!("{SPEC}/requirements/0/values"), json!(["spot"]));
    let found = report(&only).findings;
    let own = found.iter().find(|f| f.code == want.code).expect("a finding");
    assert!(own.fix.starts_with("first allow `on-demand`"), "{own:#?}");
}

#[test]
fn critical_pods_on_disks_that_go_with_the_machine_are_told() {
    let policy = "/nodeClasses/0/spec/instanceStorePolicy";
    let plain = with(clean(), policy, json!("RAID0"));
    let want = Want {
        code: "CriticalOnEphemeralDisk",
        severity: Warning,
        object: "Deployment shop/web",
        says: "`spec.instanceStorePolicy: RAID0` of EC2NodeClass default",
        fix: "remove `spec.instanceStorePolicy` of EC2NodeClass default",
    };
    let bad = critical(plain.clone());
    found_and_fixed(&want, &bad, &with(bad.clone(), policy, Value::Null));
    assert!(report(&plain).findings.iter().all(|f| f.code != want.code), "plain pods may");
    let taint = json!([{ "key": "tolerant", "effect": "NoSchedule" }]);
    found_and_fixed(&want, &bad, &with(bad.clone(), &format!("{SPEC}/taints"), taint));
}

#[test]
fn ephemeral_disks_of_azure_are_told_by_the_label_that_asks_for_them() {
    let key = "karpenter.azure.com/sku-storage-ephemeralos-maxsize";
    let mut input = critical(clean());
    input["nodeClasses"] = json!([{ "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass", "metadata": { "name": "default" }, "spec": {} }]);
    input["nodePools"][0]["spec"]["template"]["spec"]["nodeClassRef"] =
        json!({ "group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default" });
    for ty in input["instanceTypes"].as_array_mut().expect("types") {
        let size = json!({ "key": key, "operator": "In", "values": ["100"] });
        ty["requirements"].as_array_mut().expect("a list").push(size);
    }
    let asked = json!({ "key": key, "operator": "Gt", "values": ["50"] });
    let bad = with(input.clone(), &format!("{SPEC}/requirements/-"), asked);
    let want = Want {
        code: "CriticalOnEphemeralDisk",
        severity: Warning,
        object: "Deployment shop/web",
        says: "NodePool p may put it on nodes whose disk is lost with the machine",
        fix: "remove `spec.template.spec.requirements[1]` of NodePool p",
    };
    found_and_fixed(&want, &bad, &input);
}

#[test]
fn critical_services_on_a_hasty_pool_are_told() {
    let after = "/nodePools/0/spec/disruption/consolidateAfter";
    let bad = critical(with(clean(), after, json!("1m")));
    let want = Want {
        code: "CriticalConsolidatesSoon",
        severity: Warning,
        object: "NodePool p",
        says: "critical services may run there: Deployment shop/web",
        fix: "set `spec.disruption.consolidateAfter` to `15m` or more",
    };
    found_and_fixed(&want, &bad, &with(bad.clone(), after, json!("15m")));
    let quiet = json!([{ "nodes": "10%" }, { "nodes": "0", "reasons": ["Underutilized"],
        "schedule": "0 8 * * mon-fri", "duration": "10h" }]);
    let budgets = "/nodePools/0/spec/disruption/budgets";
    found_and_fixed(&want, &bad, &with(bad.clone(), budgets, quiet));
    let policy = "/nodePools/0/spec/disruption/consolidationPolicy";
    found_and_fixed(&want, &bad, &with(bad.clone(), policy, json!("WhenEmpty")));
}

#[test]
fn a_short_delay_alone_is_worth_a_word() {
    let after = "/nodePools/0/spec/disruption/consolidateAfter";
    let want = Want {
        code: "ShortConsolidateAfter",
        severity: Info,
        object: "NodePool p",
        says: "`consolidateAfter: 1m` moves pods soon after they came",
        fix: "set `spec.disruption.consolidateAfter` to `15m` or more",
    };
    let bad = with(clean(), after, json!("1m"));
    found_and_fixed(&want, &bad, &with(bad.clone(), after, json!("Never")));
    let told = report(&critical(bad)).findings;
    assert!(told.iter().all(|f| f.code != want.code), "told as CriticalConsolidatesSoon");
}
