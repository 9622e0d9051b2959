//! What an input exercises, told from the input itself, so that the counts hold for given
//! and generated inputs alike and no generator can claim what it did not write.

use std::collections::BTreeSet;

use serde_json::Value;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Every feature, in the order of the report.
pub const ALL: &[&str] = &[
    "weights",
    "limits",
    "limits on nodes",
    "taints",
    "soft taints",
    "spread over zones",
    "spread over hosts",
    "spread over capacity types",
    "spread minDomains",
    "spread policies",
    "spread ScheduleAnyway",
    "spread matchLabelKeys",
    "affinity required",
    "anti-affinity required",
    "affinity preferred",
    "anti-affinity preferred",
    "affinity on hosts",
    "affinity on zones",
    "affinity between apps",
    "affinity and namespaces",
    "node affinity, several terms",
    "node affinity preferred",
    "daemons",
    "volume in a zone",
    "volume allowedTopologies",
    "volume missing",
    "volume shared",
    "attach limits",
    "minValues Strict",
    "minValues BestEffort",
    "reservations",
    "nodes managed",
    "nodes unmanaged",
    "nodes tainted",
    "nodes deleting",
    "spot",
    "on-demand",
    "host ports",
    "init containers",
    "sidecars",
    "operator Gt",
    "operator Lt",
    "operator NotIn",
    "operator Exists",
    "operator DoesNotExist",
    "preferences ignored",
];

/// Features of one input.
pub fn of(input: &Value) -> BTreeSet<&'static str> {
    let mut out = BTreeSet::new();
    let mut set = |name: &'static str, holds: bool| {
        if holds {
            out.insert(name);
        }
    };
    set("preferences ignored", input["settings"]["preferencePolicy"] == "Ignore");
    set("daemons", !list(input, "daemonSets").is_empty());
    set("weights", list(input, "nodePools").iter().any(|p| p["spec"]["weight"].is_u64()));
    let types = list(input, "instanceTypes");
    let offers = |t: &Value| list(t, "offerings").iter().any(|o| o["capacityType"] == "reserved");
    set("reservations", types.iter().any(offers));
    for pool in list(input, "nodePools") {
        of_pool(pool, input, &mut set);
    }
    for pod in list(input, "pods") {
        of_pod(pod, &mut set);
    }
    for node in list(input, "nodes") {
        let is_managed = node["metadata"]["labels"]["karpenter.sh/nodepool"].is_string();
        set("nodes managed", is_managed);
        set("nodes unmanaged", !is_managed);
        set("nodes tainted", !list(&node["spec"], "taints").is_empty());
    }
    of_volumes(input, &mut set);
    let is_leaving = |o: &Value| o["metadata"]["deletionTimestamp"].is_string();
    set("nodes deleting", list(input, "nodeClaims").iter().any(is_leaving));
    out
}

/// The list under a key; empty when there is none.
fn list<'v>(v: &'v Value, key: &str) -> &'v [Value] {
    v[key].as_array().map_or(&[], Vec::as_slice)
}

fn of_pool(pool: &Value, input: &Value, set: &mut impl FnMut(&'static str, bool)) {
    let spec = &pool["spec"];
    let template = &spec["template"]["spec"];
    let limits = spec["limits"].as_object();
    set("limits", limits.is_some_and(|l| l.keys().any(|k| k != "nodes")));
    set("limits on nodes", limits.is_some_and(|l| l.contains_key("nodes")));
    for taint in list(template, "taints") {
        let is_soft = taint["effect"] == "PreferNoSchedule";
        set("soft taints", is_soft);
        set("taints", !is_soft);
    }
    let has_min = list(template, "requirements").iter().any(|r| r["minValues"].is_u64());
    let is_best_effort = input["settings"]["minValuesPolicy"] == "BestEffort";
    set("minValues BestEffort", has_min && is_best_effort);
    set("minValues Strict", has_min && !is_best_effort);
    let capacity = list(template, "requirements").iter().find(|r| r["key"] == CAPACITY_TYPE);
    let names = |what: &str| match capacity {
        None => true,
        Some(r) => list(r, "values").iter().any(|v| v == what),
    };
    set("spot", names("spot"));
    set("on-demand", names("on-demand"));
    operators(list(template, "requirements"), set);
}

fn operators(requirements: &[Value], set: &mut impl FnMut(&'static str, bool)) {
    for requirement in requirements {
        let op = requirement["operator"].as_str().unwrap_or_default();
        set("operator Gt", op == "Gt");
        set("operator Lt", op == "Lt");
        set("operator NotIn", op == "NotIn");
        set("operator Exists", op == "Exists");
        set("operator DoesNotExist", op == "DoesNotExist");
    }
}

fn of_pod(pod: &Value, set: &mut impl FnMut(&'static str, bool)) {
    let spec = &pod["spec"];
    if spec["nodeName"].is_string() {
        return;
    }
    for container in list(spec, "containers") {
        set("host ports", list(container, "ports").iter().any(|p| p["hostPort"].is_u64()));
    }
    for init in list(spec, "initContainers") {
        let is_sidecar = init["restartPolicy"] == "Always";
        set("sidecars", is_sidecar);
        set("init containers", !is_sidecar);
    }
    for spread in list(spec, "topologySpreadConstraints") {
        set("spread over zones", spread["topologyKey"] == ZONE);
        set("spread over hosts", spread["topologyKey"] == HOST);
        set("spread over capacity types", spread["topologyKey"] == CAPACITY_TYPE);
        set("spread minDomains", spread["minDomains"].is_u64());
        let has_policy = |k: &str| spread[k].is_string();
        set("spread policies", has_policy("nodeAffinityPolicy") || has_policy("nodeTaintsPolicy"));
        set("spread ScheduleAnyway", spread["whenUnsatisfiable"] == "ScheduleAnyway");
        set("spread matchLabelKeys", !list(spread, "matchLabelKeys").is_empty());
    }
    of_affinity(pod, set);
}

fn of_affinity(pod: &Value, set: &mut impl FnMut(&'static str, bool)) {
    let affinity = &pod["spec"]["affinity"];
    let node = &affinity["nodeAffinity"];
    let required =
        list(&node["requiredDuringSchedulingIgnoredDuringExecution"], "nodeSelectorTerms");
    set("node affinity, several terms", required.len() > 1);
    for term in required {
        operators(list(term, "matchExpressions"), set);
    }
    let preferred = list(node, "preferredDuringSchedulingIgnoredDuringExecution");
    set("node affinity preferred", !preferred.is_empty());
    for term in preferred {
        operators(list(&term["preference"], "matchExpressions"), set);
    }
    for (field, hard, soft) in [
        ("podAffinity", "affinity required", "affinity preferred"),
        ("podAntiAffinity", "anti-affinity required", "anti-affinity preferred"),
    ] {
        let required = list(&affinity[field], "requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = list(&affinity[field], "preferredDuringSchedulingIgnoredDuringExecution");
        set(hard, !required.is_empty());
        set(soft, !preferred.is_empty());
        for term in required.iter().chain(preferred.iter().map(|p| &p["podAffinityTerm"])) {
            set("affinity on hosts", term["topologyKey"] == HOST);
            set("affinity on zones", term["topologyKey"] == ZONE);
            let names = &term["labelSelector"]["matchLabels"]["app"];
            let own = &pod["metadata"]["labels"]["app"];
            set("affinity between apps", names.is_string() && names != own);
            let elsewhere =
                !list(term, "namespaces").is_empty() || term["namespaceSelector"].is_object();
            set("affinity and namespaces", elsewhere);
        }
    }
}

fn of_volumes(input: &Value, set: &mut impl FnMut(&'static str, bool)) {
    let name = |o: &Value| o["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let claims = list(input, "pvcs");
    let named = |from: &[Value], pick: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        from.iter().filter(|o| pick(o)).map(name).collect()
    };
    let zonal = named(list(input, "pvs"), &|v| v["spec"]["nodeAffinity"].is_object());
    let limited =
        named(list(input, "storageClasses"), &|c| !list(c, "allowedTopologies").is_empty());
    let mut seen = BTreeSet::new();
    for pod in list(input, "pods").iter().filter(|p| !p["spec"]["nodeName"].is_string()) {
        for volume in list(&pod["spec"], "volumes") {
            let claim = volume["persistentVolumeClaim"]["claimName"].as_str().unwrap_or_default();
            let found = claims.iter().find(|c| name(c) == claim);
            set("volume missing", found.is_none());
            set("volume shared", found.is_some() && !seen.insert(claim.to_owned()));
            let Some(spec) = found.map(|c| &c["spec"]) else { continue };
            let volume = spec["volumeName"].as_str().unwrap_or_default();
            set("volume in a zone", zonal.contains(volume));
            let class = spec["storageClassName"].as_str().unwrap_or_default();
            set("volume allowedTopologies", volume.is_empty() && limited.contains(class));
        }
    }
    let drivers = list(input, "csiNodes").iter().flat_map(|n| list(&n["spec"], "drivers"));
    set("attach limits", drivers.into_iter().any(|d| d["allocatable"]["count"].is_u64()));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_input_has_no_feature() {
        assert!(of(&json!({})).is_empty());
    }

    #[test]
    fn every_feature_that_is_found_is_a_row_of_the_report() {
        let names: BTreeSet<&str> = ALL.iter().copied().collect();
        assert_eq!(names.len(), ALL.len());
        let pod = json!({"metadata": {"labels": {"app": "a"}}, "spec": {
            "initContainers": [{"restartPolicy": "Always"}, {}],
            "topologySpreadConstraints": [{"topologyKey": ZONE, "minDomains": 2}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "b"}}}]}}}});
        let found = of(&json!({"pods": [pod]}));
        assert!(found.is_subset(&names));
        let want = [
            "sidecars",
            "init containers",
            "spread over zones",
            "spread minDomains",
            "anti-affinity required",
            "affinity on hosts",
            "affinity between apps",
        ];
        assert_eq!(found, BTreeSet::from(want));
    }

    #[test]
    fn bound_pods_count_for_nothing() {
        let pod = json!({"spec": {"nodeName": "n", "initContainers": [{}]}});
        assert!(of(&json!({"pods": [pod]})).is_empty());
    }

    #[test]
    fn the_second_pod_of_a_claim_shares_it() {
        let pod = json!({"spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "c"}}]}});
        let claim = json!({"metadata": {"name": "c"}, "spec": {"storageClassName": "s"}});
        let class = json!({"metadata": {"name": "s"}, "allowedTopologies": [{}]});
        let found = of(&json!({"pods": [pod, pod], "pvcs": [claim], "storageClasses": [class]}));
        assert_eq!(found, BTreeSet::from(["volume shared", "volume allowedTopologies"]));
    }
}
