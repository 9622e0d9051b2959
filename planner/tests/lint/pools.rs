//! Pools: too few types, no type, zones, labels without a taint.

use dunnage_planner::lint::Severity::{Error, Warning};
use serde_json::json;

use crate::world::*;

fn asking(operator: &str, key: &str, values: &[&str]) -> serde_json::Value {
    let row = json!({ "key": key, "operator": operator, "values": values });
    with(clean(), &format!("{SPEC}/requirements/-"), row)
}

#[test]
fn a_narrow_pool_is_told_with_the_count_and_the_price() {
    let want = Want {
        code: "NarrowNodePool",
        severity: Warning,
        object: "NodePool p",
        says: "only 3 instance types can be used, fewer than 15: when they are sold out nothing \
               is launched; without the requirements that narrow it there were 20",
        fix: "widen `spec.template.spec.requirements[1]` (`node.kubernetes.io/instance-type` In \
              [m1, m2, m3])",
    };
    let many: Vec<String> = (1..=15).map(|n| format!("m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    found_and_fixed(&want, &asking("In", TYPE, &["m1", "m2", "m3"]), &asking("In", TYPE, &many));
}

#[test]
fn narrowness_has_a_price_when_what_is_left_is_dearer() {
    let input = asking("In", TYPE, &["m2"]);
    let dear = with(input, "/instanceTypes/1/offerings/0/price", json!(0.15));
    let dear = with(dear, "/instanceTypes/1/offerings/1/price", json!(0.15));
    let found = report(&dear).findings;
    let own = found.iter().find(|f| f.code == "NarrowNodePool").expect("a finding");
    let price = "the cheapest vCPU 0.075 USD/h instead of 0.05 (50 % more)";
    assert!(own.message.contains(price), "{own:#?}");
}

#[test]
fn a_small_catalog_makes_no_pool_narrow() {
    let few = json!((1..=3).map(machine).collect::<Vec<_>>());
    let input = with(clean(), "/instanceTypes", few);
    assert_eq!(report(&input).findings, []);
}

#[test]
fn a_pool_without_any_type_is_an_error() {
    let want = Want {
        code: "EmptyNodePool",
        severity: Error,
        object: "NodePool p",
        says: "no instance type meets all its requirements",
        fix: "change `spec.template.spec.requirements` so that one machine has all of \
              `karpenter.sh/capacity-type`, `node.kubernetes.io/instance-type`",
    };
    found_and_fixed(&want, &asking("In", TYPE, &["m99"]), &asking("NotIn", TYPE, &["m99"]));
}

#[test]
fn a_misspelt_zone_is_told_with_the_nearest() {
    let want =
        |object, path, fix| Want { code: "UnknownZone", severity: Error, object, says: path, fix };
    let fix = "write `zone-b` instead of `zone-bb` in `spec.template.spec.requirements[1].values`";
    found_and_fixed(
        &want("NodePool p", "requirements[1].values` names zone `zone-bb`", fix),
        &asking("In", ZONE, &["zone-a", "zone-bb"]),
        &asking("In", ZONE, &["zone-a", "zone-b"]),
    );
    let selecting =
        |zone: &str| with(clean(), &format!("{PODS}/nodeSelector"), json!({ ZONE: zone }));
    found_and_fixed(
        &want(
            "Deployment shop/web",
            "did you mean `zone-a`?",
            "write `zone-a` instead of `zone-aa`",
        ),
        &selecting("zone-aa"),
        &selecting("zone-a"),
    );
    let affine = |zone: &str| {
        let term = json!({ "matchExpressions": [
            { "key": ZONE, "operator": "In", "values": [zone] }] });
        let required = json!({ "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [term] } });
        with(clean(), &format!("{PODS}/affinity"), json!({ "nodeAffinity": required }))
    };
    found_and_fixed(
        &want(
            "Deployment shop/web",
            "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].\
             matchExpressions[0].values` names zone `Zoneb`",
            "write `zone-b`",
        ),
        &affine("Zoneb"),
        &affine("zone-b"),
    );
}

#[test]
fn a_zone_that_is_like_no_other_is_told_as_well() {
    let want = Want {
        code: "UnlistedZone",
        severity: Warning,
        object: "NodePool p",
        says: "names zone `moon-1`, in which the catalog sells nothing",
        fix: "such as `zone-a`, `zone-b`",
    };
    let input = asking("In", ZONE, &["zone-a", "moon-1"]);
    found_and_fixed(&want, &input, &asking("In", ZONE, &["zone-a"]));
    // Pods go elsewhere when a preference is for nowhere.
    let preferring = |zone: &str| {
        let preference = json!({ "matchExpressions": [
            { "key": ZONE, "operator": "In", "values": [zone] }] });
        let preferred = json!({ "preferredDuringSchedulingIgnoredDuringExecution": [
            { "weight": 1, "preference": preference }] });
        with(clean(), &format!("{PODS}/affinity"), json!({ "nodeAffinity": preferred }))
    };
    let preferred = Want {
        object: "Deployment shop/web",
        says: "[0].preference.matchExpressions[0].values` names zone `zone-bb`",
        fix: "write `zone-b` instead of `zone-bb`",
        ..want
    };
    found_and_fixed(&preferred, &preferring("zone-bb"), &preferring("zone-b"));
    // A subnet that was found there proves the zone.
    let subnet = json!({ "subnets": [{ "id": "subnet-1", "zone": "moon-1" }] });
    let known = with(input, "/nodeClasses/0/status", subnet);
    assert!(report(&known).findings.iter().all(|f| f.code != "UnlistedZone"));
}

/// The input with the built-in catalog of us-east-1, and a pool in these zones.
fn in_catalog(zones: &[&str]) -> serde_json::Value {
    let input = with(clean(), "/instanceTypes", serde_json::Value::Null);
    let input = with(input, "/deployments", json!([]));
    let asked = json!({ "key": ZONE, "operator": "In", "values": zones });
    with(input, &format!("{SPEC}/requirements/-"), asked)
}

#[test]
fn a_zone_of_a_region_that_the_catalog_lacks_is_no_typing_error() {
    let codes = |zones: &[&str]| {
        let found = report(&in_catalog(zones)).findings;
        let own = found.into_iter().filter(|f| f.code.ends_with("Zone"));
        own.map(|f| (f.code, f.fix)).collect::<Vec<_>>()
    };
    let misspelt = ["us-east-1aa", "us-east1a", "us-eats-1a"];
    let found = codes(&["us-east-1a", misspelt[0], misspelt[1], misspelt[2]]);
    assert_eq!(found.len(), 3, "{found:?}");
    for (zone, (code, fix)) in misspelt.into_iter().zip(&found) {
        assert_eq!(*code, "UnknownZone");
        assert!(fix.starts_with(&format!("write `us-east-1a` instead of `{zone}` in")), "{fix}");
    }
    let found = codes(&["us-east-1a", "us-east-2a", "us-west-1a", "ap-south-1b"]);
    let found: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(found, ["UnlistedZone"; 3]);
}

/// The disk drivers of both clouds have labels of their own for the zone.
#[test]
fn zones_under_other_names_are_looked_at() {
    let azure =
        json!({ "group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default" });
    let on_azure = with(clean(), &format!("{SPEC}/nodeClassRef"), azure);
    let on_azure = with(on_azure, "/nodeClasses", json!([]));
    for (input, key) in [
        (clean(), "topology.ebs.csi.aws.com/zone"),
        (clean(), "failure-domain.beta.kubernetes.io/zone"),
        (on_azure, "topology.disk.csi.azure.com/zone"),
    ] {
        let selecting =
            |zone: &str| with(input.clone(), &format!("{PODS}/nodeSelector"), json!({ key: zone }));
        let says = format!("`spec.template.spec.nodeSelector[{key}]` names zone `zone-aa`");
        let want = Want {
            code: "UnknownZone",
            severity: Error,
            object: "Deployment shop/web",
            says: &says,
            fix: "write `zone-a` instead of `zone-aa`",
        };
        found_and_fixed(&want, &selecting("zone-aa"), &selecting("zone-a"));
    }
}

#[test]
fn a_variable_that_nobody_filled_in_is_told() {
    let want = Want {
        code: "UnexpandedVariable",
        severity: Warning,
        object: "EC2NodeClass default",
        says: "`spec.role` holds `${CLUSTER_NAME}`",
        fix: "pass the file through `envsubst` with CLUSTER_NAME set",
    };
    let role = |role: &str| with(clean(), "/nodeClasses/0/spec/role", json!(role));
    found_and_fixed(&want, &role("KarpenterNodeRole-${CLUSTER_NAME}"), &role("node"));
    let script = with(clean(), "/nodeClasses/0/spec/userData", json!("echo ${HOME}"));
    assert_eq!(report(&script).findings, []);
    let both = with(
        role("${CLUSTER_NAME}"),
        "/nodeClasses/0/spec/tags",
        json!({ "team": "${TEAM}", "cluster": "${CLUSTER_NAME}" }),
    );
    let found = report(&both).findings;
    assert!(
        found[0].message.starts_with("`spec.role`, `spec.tags.cluster`, `spec.tags.team` hold")
    );
}

#[test]
fn exists_on_a_label_of_some_machines_wants_a_taint() {
    let want = Want {
        code: "ExistsWithoutTaint",
        severity: Warning,
        object: "NodePool p",
        says: "`spec.template.spec.requirements[1]` says `example.com/team Exists`",
        fix: "add to `spec.template.spec.taints`: `{key: example.com/team, effect: NoSchedule}`",
    };
    let bad = asking("Exists", "example.com/team", &[]);
    let taint = json!({ "key": "example.com/team", "effect": "NoSchedule" });
    found_and_fixed(&want, &bad, &with(bad.clone(), &format!("{SPEC}/taints"), json!([taint])));
    // A soft taint keeps nobody away.
    let soft = json!({ "key": "example.com/team", "effect": "PreferNoSchedule" });
    let soft = with(bad, &format!("{SPEC}/taints"), json!([soft]));
    assert!(report(&soft).findings.iter().any(|f| f.code == want.code));
    // What every machine has singles out nobody.
    for key in [ZONE, TYPE, "example.com/family"] {
        let found = report(&asking("Exists", key, &[])).findings;
        assert!(found.iter().all(|f| f.code != want.code), "{key} {found:#?}");
    }
}
