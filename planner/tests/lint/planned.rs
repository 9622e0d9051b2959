//! The warnings of a plan as findings, each with what to do about it.

use dunnage_planner::lint::Severity::{Error, Warning};
use dunnage_planner::lint::{Severity, lint};
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::read::{ReadOptions, Reading, Source, read_with_refused};
use serde_json::{Value, json};

use crate::world::*;

/// Two inputs under the same options: with the finding and without it.
fn told(code: &str, object: &str, says: &str, fix: &str, bad: &Value, good: &Value) {
    found_and_fixed(&Want { code, severity: Warning, object, says, fix }, bad, good);
}

fn refused(code: &str, says: &str, fix: &str, bad: &Value) {
    let want = Want { code, severity: Error, object: "NodePool p", says, fix };
    found_and_fixed(&want, bad, &clean());
}

fn reading(input: &Value) -> Reading {
    let source = Source { name: "a.json".to_owned(), text: input.to_string() };
    read_with_refused(&[source], &ReadOptions::default()).expect("readable")
}

/// Code, object and fix of each finding.
fn told_in(reading: &Reading) -> Vec<(&'static str, String, String)> {
    let found = lint(reading, &Options::default()).expect("findings").findings;
    found.into_iter().map(|f| (f.code, f.object, f.fix)).collect()
}

fn pending(priority_class: Option<&str>) -> Value {
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "one", "namespace": "shop" },
        "spec": clean()["deployments"][0]["spec"]["template"]["spec"] });
    if let Some(class) = priority_class {
        pod["spec"]["priorityClassName"] = json!(class);
    }
    pod
}

/// The clean input with the built-in catalog.
fn catalog() -> Value {
    let input = with(clean(), "/instanceTypes", Value::Null);
    with(input, "/settings", json!({ "region": "us-east-1" }))
}

#[test]
fn pools_that_open_no_nodes_or_lack_their_class() {
    let other = json!({ "key": CAPACITY, "operator": "In", "values": ["spot"] });
    told(
        "ContradictoryNodePool",
        "NodePool p",
        "excludes each other",
        "remove from `spec.template.spec.requirements`",
        &with(clean(), &format!("{SPEC}/requirements/-"), other),
        &clean(),
    );
    told(
        "DefaultNodeClassRef",
        "NodePool p",
        "has no nodeClassRef",
        "write `spec.template.spec.nodeClassRef` with `group`, `kind` and `name`",
        &with(clean(), &format!("{SPEC}/nodeClassRef"), Value::Null),
        &clean(),
    );
    told(
        "NodeClassNotFound",
        "NodePool p",
        "is not in the input",
        "add the node class to the input",
        &with(clean(), "/nodeClasses", Value::Null),
        &clean(),
    );
    let condition = json!({ "conditions": [{ "type": "Ready", "status": "False", "reason": "x",
        "message": "", "lastTransitionTime": NOON }] });
    told(
        "NodePoolNotReady",
        "NodePool p",
        "is not ready and opens no nodes",
        "`status.conditions`",
        &with(clean(), "/nodePools/0/status", condition),
        &clean(),
    );
    let reference = json!({ "group": "example.com", "kind": "OtherClass", "name": "default" });
    let other = with(catalog(), &format!("{SPEC}/nodeClassRef"), reference);
    let types = clean()["instanceTypes"].clone();
    told(
        "NoCatalog",
        "NodePool p",
        "are not in the catalog",
        "give `instanceTypes`",
        &other,
        &with(other.clone(), "/instanceTypes", types),
    );
}

#[test]
fn what_only_the_controller_refuses_is_an_error() {
    let schedule =
        json!([{ "nodes": "1", "schedule": "a b c d e", "duration": "1h" }, { "nodes": "1" }]);
    refused(
        "InvalidBudget",
        "`a b c d e`",
        "five cron fields such as `0 9 * * mon-fri`",
        &with(clean(), "/nodePools/0/spec/disruption/budgets", schedule),
    );
    let label = json!({ "karpenter.k8s.aws/own": "x" });
    refused(
        "InvalidNodePool",
        "spec.template.metadata.labels",
        "correct the field that the message names",
        &with(clean(), "/nodePools/0/spec/template/metadata", json!({ "labels": label })),
    );
}

#[test]
fn static_pools() {
    let fixed = with(clean(), "/nodePools/0/spec/replicas", json!(2));
    let on =
        |input: Value| with(input, "/settings", json!({ "featureGates": "StaticCapacity=true" }));
    told(
        "StaticCapacityOff",
        "NodePool p",
        "the feature gate StaticCapacity is off",
        "set `settings.featureGates.StaticCapacity` to `true`",
        &fixed,
        &on(fixed.clone()),
    );
    told(
        "StaticPoolLacksNodes",
        "NodePool p",
        "it launches 2 node(s) to reach its replicas",
        "nothing when the pool is new",
        &on(fixed.clone()),
        &on(with(fixed, "/nodePools/0/spec/replicas", json!(0))),
    );
}

#[test]
fn fields_kinds_settings_and_gates() {
    told(
        "IgnoredField",
        "NodePool p",
        "NodePool has no field `spec.weigth` (did you mean `weight`?)",
        "correct the name of the field",
        &with(clean(), "/nodePools/0/spec/weigth", json!(1)),
        &with(clean(), "/nodePools/0/spec/weight", json!(1)),
    );
    let setting = |name: &str, value: Value| with(clean(), "/settings", json!({ name: value }));
    told(
        "IgnoredSetting",
        "LOG_LEVEL",
        "concerns a running controller",
        "remove the setting",
        &setting("LOG_LEVEL", json!("debug")),
        &clean(),
    );
    told(
        "UnknownFeatureGate",
        "settings.featureGates.StaticCapcity",
        "did you mean `StaticCapacity`?",
        "correct the name to the nearest one",
        &setting("featureGates", json!("StaticCapcity=true")),
        &setting("featureGates", json!("StaticCapacity=true")),
    );
    let list = |items: Value| {
        told_in(&reading(&json!({ "apiVersion": "v1", "kind": "List", "items": items })))
    };
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "s" } });
    let fix = "nothing: leave the objects out of the input when the message disturbs";
    let told = ("IgnoredKind", "Service (v1)".to_owned(), fix.to_owned());
    assert_eq!(list(json!([service])), [told]);
    assert_eq!(list(json!([])), []);
}

#[test]
fn pods() {
    told(
        "PriorityClassNotFound",
        "PriorityClass vital",
        "pods name this class",
        "add the PriorityClass to the input",
        &with(clean(), "/pods", json!([pending(Some("vital"))])),
        &with(clean(), "/pods", json!([pending(None)])),
    );
    told(
        "UnknownNode",
        "input",
        "pods run on nodes that are not in the input",
        "add the nodes to the input",
        &with(clean(), "/pods", json!([with(pending(None), "/spec/nodeName", json!("n"))])),
        &with(clean(), "/pods", json!([pending(None)])),
    );
}

#[test]
fn overlays() {
    let overlay = |name: &str, spec: Value| {
        json!({ "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay", "metadata": { "name": name }, "spec": spec })
    };
    let cheap = |name: &str, weight: u32| {
        let of_m1 = json!([{ "key": TYPE, "operator": "In", "values": ["m1"] }]);
        overlay(
            name,
            json!({ "requirements": of_m1, "price": if name == "a" { "0.01" } else { "0.02" },
            "weight": weight }),
        )
    };
    let on = |list: Value| {
        let input = with(clean(), "/nodeOverlays", list);
        with(input, "/settings", json!({ "featureGates": "NodeOverlay=true" }))
    };
    told(
        "OverlaysOff",
        "1 NodeOverlays",
        "is off",
        "set `settings.featureGates.NodeOverlay` to `true`",
        &with(clean(), "/nodeOverlays", json!([cheap("a", 1)])),
        &on(json!([cheap("a", 1)])),
    );
    told(
        "OverlayConflict",
        "NodeOverlay a",
        "",
        "give the overlays different values of `spec.weight`",
        &on(json!([cheap("a", 1), cheap("b", 1)])),
        &on(json!([cheap("a", 1), cheap("b", 2)])),
    );
    // The reader refuses such an overlay; a Snapshot that was made otherwise may hold it.
    let of_price = |price: &str| {
        let mut reading = reading(&on(json!([cheap("a", 1)])));
        reading.snapshot.node_overlays[0].object.spec.price = Some(price.to_owned());
        told_in(&reading)
    };
    let told = (
        "InvalidOverlay",
        "NodeOverlay a".to_owned(),
        "correct the field that the message names".to_owned(),
    );
    assert_eq!((of_price("x"), of_price("0.01")), (vec![told], vec![]));
}

#[test]
fn buffers() {
    let buffer = json!({ "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
        "metadata": { "name": "b", "namespace": "shop" },
        "spec": { "podTemplateRef": { "name": "unit" }, "replicas": 1 } });
    let template = json!({ "apiVersion": "v1", "kind": "PodTemplate",
        "metadata": { "name": "unit", "namespace": "shop" },
        "template": clean()["deployments"][0]["spec"]["template"] });
    let off = with(clean(), "/capacityBuffers", json!([buffer]));
    let lacking = with(off.clone(), "/settings", json!({ "featureGates": "CapacityBuffer=true" }));
    let good = with(lacking.clone(), "/podTemplates", json!([template]));
    let fix = "set `settings.featureGates.CapacityBuffer` to `true`";
    told("BuffersOff", "1 CapacityBuffers", "is off", fix, &off, &good);
    let fix = "mend what the message names in the buffer's `spec`";
    told("BufferNotReady", "CapacityBuffer shop/b", "unit", fix, &lacking, &good);
}

#[test]
fn regions() {
    // Regions are told with pods or without, and without them much sooner.
    let catalog = || with(catalog(), "/deployments", json!([]));
    let plain = with(catalog(), "/settings", Value::Null);
    told("DefaultRegion", "input", "us-east-1", "`--catalog REGION`", &plain, &catalog());
    let set = |region: &str| with(catalog(), "/settings", json!({ "region": region }));
    let fix = "use a region that the message lists";
    told("RegionUnused", "settings.region", "`us-east-9`", fix, &set("us-east-9"), &catalog());
    let in_zones = |zones: Value| {
        let asked = json!({ "key": ZONE, "operator": "In", "values": zones });
        with(plain.clone(), &format!("{SPEC}/requirements/-"), asked)
    };
    let good = in_zones(json!(["us-east-1a"]));
    let both = in_zones(json!(["us-east-1a", "us-west-2a"]));
    told("SeveralRegions", "input", "us-west-2", "choose one: `--catalog REGION`", &both, &good);
    let far = in_zones(json!(["us-east-1a", "ap-south-1b"]));
    told("UnknownRegion", "input", "`ap-south-1b`", "give `instanceTypes`", &far, &good);
}

/// As [`told`], under options of their own.
fn told_with(
    code: &str,
    object: &str,
    fix: &str,
    bad: (&Value, &Options),
    good: (&Value, &Options),
) {
    let severity: Severity = Warning;
    found_and_fixed_with(&Want { code, severity, object, says: "", fix }, bad, good);
}

#[test]
fn prices_and_discounts() {
    // The reader refuses such a price; a Snapshot that was made otherwise may hold it.
    let of_price = |price: f64| {
        let mut reading = reading(&clean());
        let types = reading.snapshot.instance_types.as_mut().expect("types");
        types[0].offerings[0].price = price;
        told_in(&reading)
    };
    let fix = "set the price of the offering to 0 or more";
    let told = ("NegativePrice", "InstanceType m1".to_owned(), fix.to_owned());
    assert_eq!((of_price(-1.0), of_price(0.0)), (vec![told], vec![]));
    let plain = Options::default();
    let priced = |row: &str| {
        let text = format!("region,instanceType,zone,capacityType,price\n{row}\n");
        let prices = Some(Source { name: "p.csv".to_owned(), text });
        Options { prices, ..Options::default() }
    };
    let input = catalog();
    told_with(
        "PriceFileUnused",
        "p.csv",
        "correct region, type, zone or capacity type",
        (&input, &priced("us-east-1,m99.huge,us-east-1a,on-demand,0.1")),
        (&input, &priced("us-east-1,m5.large,us-east-1a,on-demand,0.1")),
    );
    let discounted = |family: &str| {
        let discount = dunnage_planner::catalog::prices::Discount {
            capacity_type: None,
            family: Some(family.to_owned()),
            factor: 0.5,
        };
        Options { discounts: vec![discount], ..Options::default() }
    };
    told_with(
        "DiscountUnused",
        "discount m99=0.5",
        "mend the family or the capacity type",
        (&input, &discounted("m99")),
        (&input, &discounted("m5")),
    );
    // Spot prices are estimates, until somebody says what one costs.
    let spot = with(input, &format!("{SPEC}/requirements/0/values"), json!(["spot"]));
    let spot = with(
        spot,
        &format!("{SPEC}/requirements/-"),
        json!({ "key": TYPE, "operator": "In", "values": ["m5.large"] }),
    );
    let zone = json!({ "key": ZONE, "operator": "In", "values": ["us-east-1a"] });
    let spot = with(spot, &format!("{SPEC}/requirements/-"), zone);
    told_with(
        "BorrowedPrices",
        "plan",
        "`--prices FILE`",
        (&spot, &plain),
        (&spot, &priced("us-east-1,m5.large,us-east-1a,spot,0.03")),
    );
}

#[test]
fn karpenters_own_rules() {
    let apart = json!({ "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "app": "web" } } }] } });
    let input = with(clean(), &format!("{PODS}/affinity"), apart);
    let limited = with(input, "/nodePools/0/spec/limits", json!({ "nodes": "2" }));
    let of = |strategy| Options { strategy, ..Options::default() };
    told_with(
        "KarpenterBreaksRule",
        "plan",
        "plan with `--strategy greedy` or `cheapest`",
        (&limited, &of(Strategy::Karpenter)),
        (&limited, &of(Strategy::Greedy)),
    );
}

#[test]
fn quotas_and_machines_that_settings_leave_out() {
    let with_setting =
        |name: &str, value: Value| with(clean(), "/settings", json!({ name: value }));
    let quota = |vcpu: u32| with_setting("quotas", json!([{ "name": "all", "vcpu": vcpu }]));
    told(
        "QuotaTooSmall",
        "quota all",
        "needs +",
        "ask the cloud for a larger quota",
        &quota(0),
        &quota(100_000),
    );
    told(
        "TypesLeftOut",
        "NodePool p",
        "settings.maxNodePrice leave(s) ",
        "nothing when that is what you want",
        &with_setting("maxNodePrice", json!(0.000001)),
        &with_setting("maxNodePrice", json!(1000)),
    );
}

/// Whoever lints sees what whoever plans is warned of.
#[test]
fn the_warnings_of_the_plan_are_all_there() {
    let mut input = catalog();
    input["pods"] = json!([
        pending(Some("vital")),
        with(with(pending(None), "/metadata/name", json!("two")), "/spec/nodeName", json!("gone"))
    ]);
    input["settings"] = json!({ "LOG_LEVEL": "debug", "featureGates": "StaticCapcity=true" });
    input["nodePools"][0]["spec"]["colour"] = json!("red");
    input["nodeClasses"] = json!([]);
    let source = Source { name: "a.json".to_owned(), text: input.to_string() };
    let snapshot = dunnage_planner::read::read(&[source]).expect("readable");
    let plan = dunnage_planner::plan::plan(&snapshot, &Options::default()).expect("a plan");
    let found = report(&input).findings;
    assert!(plan.warnings.len() > 5, "{:#?}", plan.warnings);
    for warning in &plan.warnings {
        let is_same = |f: &&dunnage_planner::lint::Finding| {
            (f.code, &f.object, &f.message) == (&*warning.code, &warning.object, &warning.message)
        };
        assert_eq!(found.iter().filter(is_same).count(), 1, "{warning:?} {found:#?}");
    }
}
