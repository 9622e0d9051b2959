//! The call behind every door: the same bytes for a world that was changed and for manifests that
//! were edited by hand; refusals in one shape.

use dunnage_planner::door::{Asked, Refusal, Requests, Text, Verb, Why, World};
use dunnage_planner::options::StopFlag;
use dunnage_planner::read::Source;
use serde_json::{Value, json};

const POOL: &str = r#"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, c5]}
"#;

fn deployment(name: &str, replicas: u32, cpu: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\n\
         spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    \
         metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n        \
         - {{name: c, image: x, resources: {{requests: {{cpu: {cpu}, memory: 1Gi}}}}}}\n"
    )
}

fn world(texts: &[&str]) -> World {
    World::open(&[source(&texts.join("---\n"))], &Asked::default(), None).expect("a good input")
}

fn source(text: &str) -> Source {
    Source { name: "all.yaml".to_owned(), text: text.to_owned() }
}

fn plan(world: &World) -> String {
    world.answer(&Verb::Plan, &Asked::default(), &StopFlag::default()).expect("a plan")
}

fn usual() -> World {
    world(&[POOL, &deployment("web", 7, "900m"), &deployment("api", 3, "1500m")])
}

#[test]
fn a_changed_pool_is_as_if_edited_by_hand() {
    let wide = POOL.replace("[m5, c5]", "[m5, c5, c6a, m6a]");
    let edited = world(&[&wide, &deployment("web", 7, "900m"), &deployment("api", 3, "1500m")]);
    let changed = usual().with_objects(&source(&wide)).expect("a good pool");
    assert_eq!(plan(&changed), plan(&edited));
    assert_ne!(plan(&changed), plan(&usual()));
    let second = POOL.replace("name: default}", "name: second}").replace("[m5, c5]", "[c6a]");
    let added = usual().with_objects(&source(&second)).expect("a good pool");
    assert!(plan(&added).contains("\"nodePool\": \"second\""));
    assert_eq!(plan(&added.without_pool("second").expect("known")), plan(&usual()));
}

#[test]
fn a_changed_workload_is_as_if_edited_by_hand() {
    let edited = world(&[POOL, &deployment("web", 20, "2"), &deployment("api", 3, "1500m")]);
    let changed = usual().with_workload(&source(&deployment("web", 5, "2")), Some(20));
    assert_eq!(plan(&changed.expect("a workload")), plan(&edited));
    let without = usual().without_workload("shop/web").expect("known");
    assert_eq!(plan(&without), plan(&world(&[POOL, &deployment("api", 3, "1500m")])));
    let again = without.with_workload(&source(&deployment("web", 7, "900m")), None);
    assert_eq!(plan(&again.expect("a workload")), plan(&usual()));
}

#[test]
fn changed_requests_are_as_if_edited_by_hand() {
    let edited = world(&[POOL, &deployment("web", 7, "300m"), &deployment("api", 3, "1500m")]);
    let requests: Requests = [("cpu".to_owned(), "300m".to_owned())].into();
    for name in ["web", "shop/web", "Deployment/shop/web"] {
        let changed = usual().with_requests(name, &requests, None).expect("known");
        assert_eq!(plan(&changed), plan(&edited), "{name}");
    }
    let named = usual().with_requests("web", &requests, Some("c")).expect("known");
    assert_eq!(plan(&named), plan(&edited));
}

#[test]
fn pods_of_a_workload_change_with_it() {
    let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4f", "uid": "1", "controller": true });
    let pod = |cpu: &str| {
        json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "web-5d4f-x", "namespace": "shop", "ownerReferences": [owner] },
            "spec": { "containers": [{ "name": "c", "image": "x",
                "resources": { "requests": { "cpu": cpu, "memory": "1Gi" } } }] } })
        .to_string()
    };
    let of = |cpu: &str, own: &str| world(&[POOL, &deployment("web", 7, own), &(pod(cpu) + "\n")]);
    let requests: Requests = [("cpu".to_owned(), "3".to_owned())].into();
    let changed = of("900m", "900m").with_requests("web", &requests, None).expect("known");
    assert_eq!(plan(&changed), plan(&of("3", "3")));
    let without = of("900m", "900m").without_workload("web").expect("known");
    assert_eq!(plan(&without), plan(&world(&[POOL])));
}

#[test]
fn a_closed_zone_and_prices_are_options_of_every_question() {
    let only_b = POOL.replace("[us-east-1a, us-east-1b]", "[us-east-1b]");
    let edited = world(&[&only_b, &deployment("web", 7, "900m"), &deployment("api", 3, "1500m")]);
    let zone = |text: &str| {
        let plan: Value = serde_json::from_str(text).expect("JSON");
        let launches = plan["launch"].as_array().expect("launches").clone();
        let zones = launches.iter().map(|l| l["cheapest"]["zone"].as_str().map(str::to_owned));
        (zones.collect::<Vec<_>>(), plan["cost"]["launchPerHour"].clone())
    };
    assert_eq!(zone(&plan(&usual().without_zone("us-east-1a"))), zone(&plan(&edited)));
    let asked = Asked { discounts: vec!["0.5".to_owned()], ..Asked::default() };
    let half = usual().with_options(asked.clone());
    let direct = usual().answer(&Verb::Plan, &asked, &StopFlag::default()).expect("a plan");
    assert_eq!(plan(&half), direct);
    let text = "region,instanceType,zone,capacityType,price\nus-east-1,c5.large,,on-demand,0.001\n";
    let prices = Text { name: "prices.csv".to_owned(), text: text.to_owned() };
    assert!(plan(&usual().with_prices(prices)).contains("c5.large"));
}

fn refusal<T: std::fmt::Debug>(said: Result<T, Refusal>) -> (Why, Value) {
    let refusal = said.expect_err("a refusal");
    (refusal.why, serde_json::from_str(&refusal.text()).expect("JSON"))
}

#[test]
fn refusals_have_a_code_and_say_what_is_near() {
    let requests: Requests = [("cpu".to_owned(), "1".to_owned())].into();
    let rows = [
        (refusal(usual().without_pool("defualt")), "UnknownName", "`default`"),
        (refusal(usual().without_workload("shop/wep")), "UnknownName", "`shop/web`"),
        (refusal(usual().with_requests("web", &requests, Some("d"))), "UnknownName", "one of c"),
        (refusal(usual().with_workload(&source(POOL), None)), "InvalidValue", "no Deployment"),
        (refusal(Asked::of_json("{\"stratgy\": 1}")), "InvalidValue", "stratgy"),
        (refusal(Asked::of_json("{\"discounts\": [1]}")), "InvalidValue", "string"),
    ];
    for ((why, said), code, words) in rows {
        assert_eq!(why, Why::Input);
        let error = &said["errors"][0];
        assert_eq!(error["code"], code, "{said}");
        assert!(error["message"].as_str().unwrap_or_default().contains(words), "{said}");
    }
    let bad: Requests = [("cpu".to_owned(), "much".to_owned())].into();
    let (_, said) = refusal(usual().with_requests("web", &bad, None));
    assert_eq!(said["errors"][0]["value"], "much");
    let zone = usual().without_zone("us-east-1z");
    let (_, said) = refusal(zone.answer(&Verb::Plan, &Asked::default(), &StopFlag::default()));
    assert_eq!(said["errors"][0]["code"], "UnknownName");
}

#[test]
fn a_raised_flag_is_a_refusal_of_its_own() {
    let stop = StopFlag::default();
    stop.raise();
    let (why, said) = refusal(usual().answer(&Verb::Plan, &Asked::default(), &stop));
    assert_eq!((why, &said["errors"][0]["code"]), (Why::Stopped, &json!("Stopped")));
}

#[test]
fn verbs_are_read_from_words() {
    for words in
        [&["plan"][..], &["page"], &["lint"], &["explain", "waste"], &["explain", "launch", "1"]]
    {
        assert!(Verb::of(words).is_ok(), "{words:?}");
    }
    for words in [&["plam"][..], &[], &["explain"], &["explain", "launch", "x"]] {
        assert!(Verb::of(words).is_err(), "{words:?}");
    }
}
