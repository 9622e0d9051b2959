//! The front door: every kind of bad input is a clear error with code, file, line and path;
//! every form of good input is the same Snapshot.

use std::cell::RefCell;
use std::io;

use dunnage_planner::error::{ErrorCode, MAX_ERRORS, PlanError};
use dunnage_planner::read::{ReadOptions, Source, read, read_with};
use dunnage_planner::snapshot::Snapshot;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n";

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned() }
}

fn good(text: &str) -> Snapshot {
    match read(&[source("in.yaml", text)]) {
        Ok(snapshot) => snapshot,
        Err(errors) => panic!("{errors:#?}\n{text}"),
    }
}

fn bad(name: &str, text: &str) -> Vec<PlanError> {
    match read(&[source(name, text)]) {
        Ok(_) => panic!("accepted: {text:.200}"),
        Err(errors) => errors,
    }
}

fn codes(snapshot: &Snapshot) -> Vec<(&str, &str)> {
    snapshot.warnings.iter().map(|w| (w.code, w.object.as_str())).collect()
}

#[test]
fn every_kind_of_error_names_code_line_and_path() {
    use ErrorCode::{
        DuplicateKey, InvalidLabel, InvalidQuantity, InvalidValue, MissingField, MissingKind,
        MissingName, NegativeQuantity, NotAnObject, Syntax, TooDeep, TooManyAliases,
        UnknownOperator, UnknownSetting, Unreadable, UnsupportedVersion, WrongKind, WrongType,
    };
    let pod =
        |spec: &str| format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n{spec}");
    let containers = "  containers:\n  - name: c\n";
    let mut laughs = "a0: &a0 [x, x]\n".to_owned();
    for i in 1..40 {
        laughs.push_str(&format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    }
    let deep = format!("{}{}", "[".repeat(150), "]".repeat(150));
    let label = format!(
        "{POD}---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n  labels:\n    big: {}\nspec: {{containers: [{{name: c}}]}}\n",
        "x".repeat(10_000_000)
    );
    let rows: Vec<(String, ErrorCode, u32, &str)> = vec![
        ("a: [1\n".into(), Syntax, 1, ""),
        ("kind: Pod\nmetadata:\n\tname: a\n".into(), Syntax, 3, ""),
        ("{\"kind\": \"Pod\",\n \"apiVersion\" \"v1\"}".into(), Syntax, 2, ""),
        ("kind: Pod\nkind: Node\n".into(), DuplicateKey, 2, ""),
        ("{\"pods\": [],\n\"pods\": []}".into(), DuplicateKey, 2, ""),
        (deep, TooDeep, 1, ""),
        (laughs, TooManyAliases, 17, ""),
        ("just text\n".into(), NotAnObject, 1, ""),
        ("image: nginx\nreplicas: 3\n".into(), MissingKind, 1, ""),
        ("apiVersion: v1\nmetadata: {name: a}\n".into(), MissingKind, 1, ""),
        ("kind: Pod\nmetadata: {name: a}\n".into(), MissingKind, 1, "apiVersion"),
        ("- 1\n".into(), WrongType, 1, ""),
        ("pods: {}\n".into(), WrongType, 1, "pods"),
        ("nodes: []\npods:\n- kind: Node\n  apiVersion: v1\n".into(), WrongKind, 3, "pods[0].kind"),
        ("\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\n".into(), UnsupportedVersion, 2, "apiVersion"),
        ("apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\n".into(), UnsupportedVersion, 1, "kind"),
        ("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\n".into(), UnsupportedVersion, 1, "apiVersion"),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {}\n".into(), MissingName, 3, "metadata.name"),
        (pod("  containers: []\n"), MissingField, 6, "spec.containers"),
        (pod("  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: -1\n"), NegativeQuantity, 10, "spec.containers[0].resources.requests.cpu"),
        (pod("  containers:\n  - name: c\n    resources: {requests: {memory: 1e999}}\n"), InvalidQuantity, 8, "spec.containers[0].resources.requests.memory"),
        (pod(&format!("{containers}  tolerations:\n  - key: a\n    operator: Like\n")), UnknownOperator, 10, "spec.tolerations[0].operator"),
        (pod(&format!("{containers}  nodeSelector:\n    disk: true\n")), WrongType, 9, "spec.nodeSelector.disk"),
        (pod(&format!("{containers}  priority: high\n")), WrongType, 8, "spec.priority"),
        (label, InvalidLabel, 11, "metadata.labels.big"),
        ("now: soon\n".into(), InvalidValue, 1, "now"),
        ("settings:\n  preferencePolicy: Sometimes\n".into(), InvalidValue, 2, "settings.preferencePolicy"),
        ("settings: {color: blue}\n".into(), UnknownSetting, 1, "settings.color"),
        ("settings: []\n".into(), WrongType, 1, "settings"),
        ("instanceTypesFile: types.json\n".into(), Unreadable, 1, "instanceTypesFile"),
        ("instanceTypes:\n- name: a\n  offerings:\n  - {zone: z, capacityType: spot, price: -1}\n".into(), InvalidValue, 4, "instanceTypes[0].offerings[0].price"),
        ("instanceTypes:\n- name: a\n  offerings:\n  - {zone: z, capacityType: spot}\n".into(), MissingField, 4, "instanceTypes[0].offerings[0]"),
    ];
    let mut wrong = Vec::new();
    for (text, code, line, path) in rows {
        let errors = bad("in.yaml", &text);
        let first = &errors[0];
        let got = (first.code, first.origin.line, first.path.as_str(), errors.len());
        if got != (code, line, path, 1) {
            wrong.push(format!("{text:.200}\nwanted {code:?} {line} {path}\ngot {errors:#?}"));
        }
        let line_of_text = first.to_string();
        assert!(
            line_of_text.starts_with(&format!("in.yaml:{}", first.origin.line)),
            "{line_of_text}"
        );
        assert!(!line_of_text.contains('\n') && line_of_text.len() < 500, "{line_of_text}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn bytes_that_are_no_text() {
    let error = Source::from_bytes("x", b"a: 1\nb: \xff\n".to_vec()).unwrap_err();
    assert_eq!((error.code, error.origin.line), (ErrorCode::NotUtf8, 2));
    assert_eq!(Source::from_bytes("x", b"a".to_vec()).unwrap(), source("x", "a"));
}

#[test]
fn a_truncated_dump_names_the_last_line() {
    let errors = bad("dump.json", "{\"kind\": \"List\",\n\"items\": [\n{\"kind\": \"Pod\"");
    assert_eq!((errors[0].code, errors[0].origin.line), (ErrorCode::Syntax, 3));
}

#[test]
fn all_errors_are_collected_up_to_the_limit() {
    let errors = bad("in.yaml", "settings: {a: 1, b: 2}\nnow: x\npods: [{metadata: {}}]\n");
    let got: Vec<_> = errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(got, ["settings.a", "settings.b", "now", "pods[0].metadata.name", "pods[0].spec"]);
    let many: String = (0..300).map(|i| format!("- {{metadata: {{name: p{i}}}}}\n")).collect();
    let errors = bad("in.yaml", &format!("pods:\n{many}"));
    assert_eq!(errors.len(), MAX_ERRORS + 1);
    assert_eq!(errors[MAX_ERRORS].code, ErrorCode::TooManyErrors);
    assert!(errors[MAX_ERRORS].message.starts_with("200 more"));
}

#[test]
fn duplicates_name_both_places() {
    let sources = [source("a.yaml", POD), source("b.yaml", &format!("# again\n{POD}"))];
    let errors = read(&sources).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].to_string(),
        "b.yaml:4: metadata.name: Pod default/a was already given at a.yaml:1; remove one of them [DuplicateObject]"
    );
    let other = POD.replace("name: a}", "name: a, namespace: other}");
    assert_eq!(good(&format!("{POD}---\n{other}")).pods.len(), 2);
    let types = "instanceTypes: [{name: m}]\n---\ninstanceTypes: [{name: m}]\n";
    assert_eq!(bad("t.yaml", types)[0].code, ErrorCode::DuplicateObject);
}

#[test]
fn a_pool_without_group_and_kind_is_told_the_fix() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n  template:\n    spec:\n      requirements: []\n      nodeClassRef:\n        name: default\n";
    let errors = bad("pool.yaml", pool);
    let paths: Vec<_> = errors.iter().map(|e| (e.code, e.path.as_str(), e.origin.line)).collect();
    let at = "spec.template.spec.nodeClassRef";
    assert_eq!(
        paths,
        [
            (ErrorCode::MissingField, format!("{at}.group").as_str(), 9),
            (ErrorCode::MissingField, format!("{at}.kind").as_str(), 9)
        ]
    );
    assert!(errors[0].message.contains("kind: AKSNodeClass"));
}

#[test]
fn every_form_is_the_same_snapshot() {
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":1}}}]}}"#;
    let bare = json.replace(r#""apiVersion":"v1","kind":"Pod","#, "");
    let want = serde_json::to_string(&good(POD)).unwrap();
    for text in [
        json.to_owned(),
        format!("\u{feff}{json}"),
        format!(r#"{{"kind":"List","apiVersion":"v1","items":[{json}]}}"#),
        format!(r#"{{"items":[{bare}],"kind":"PodList","apiVersion":"v1"}}"#),
        format!("[{json}]"),
        format!(r#"{{"pods":[{bare}]}}"#),
        format!("pods:\n- {json}\n"),
        format!("apiVersion: v1\nkind: List\nitems:\n- {json}\n"),
        format!("---\n---\n{POD}---\n"),
        format!("{json}\n---\n# nothing more\n"),
        format!(
            r#"{{"kind":"List","apiVersion":"v1","items":[{{"kind":"List","apiVersion":"v1","items":[{json}]}}]}}"#
        ),
    ] {
        assert_eq!(serde_json::to_string(&good(&text)).unwrap(), want, "{text}");
    }
    assert_eq!(good("").pods.len(), 0);
    assert_eq!(good("{}").pods.len(), 0);
}

#[test]
fn a_snapshot_reads_back_from_its_json() {
    let text = format!(
        "{POD}---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec: {{template: {{spec: {{requirements: []}}}}}}\n---\nnow: 2026-11-30T12:00:00Z\nsettings: {{featureGates: NodeOverlay=true}}\ninstanceTypes:\n- name: m\n  capacity: {{cpu: 4}}\n  offerings: [{{zone: z, capacityType: spot, price: 0.25}}]\n---\napiVersion: v1\nkind: Node\nmetadata: {{name: n, labels: {{karpenter.sh/nodepool: p}}}}\nstatus: {{capacity: {{cpu: 4}}}}\n"
    );
    let first = good(&text);
    let json = serde_json::to_string(&first).unwrap();
    let again = good(&json);
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    assert_eq!(again.now.to_string(), "2026-11-30T12:00:00Z");
    assert!(again.settings.feature_gates.node_overlay);
    assert_eq!(again.node_claims.len(), 1);
}

#[test]
fn short_names_and_unread_kinds() {
    let snapshot = good(
        "pdbs: [{metadata: {name: b}, spec: {}}]\npvcs: [{metadata: {name: c}, spec: {}}]\npvs: [{metadata: {name: v}, spec: {}}]\nnodeClasses: [{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: d}, spec: {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}]\ncomment: hello\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\n---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: r}\n---\nsettings: {LOG_LEVEL: debug}\n",
    );
    assert_eq!(snapshot.pod_disruption_budgets.len(), 1);
    assert_eq!(snapshot.persistent_volume_claims.len(), 1);
    assert_eq!(snapshot.persistent_volumes.len(), 1);
    assert_eq!(snapshot.node_classes.len(), 1);
    assert_eq!(
        codes(&snapshot),
        [
            ("IgnoredField", "in.yaml:5"),
            ("IgnoredKind", "Job (batch.volcano.sh/v1alpha1)"),
            ("IgnoredKind", "ResourceQuota (v1)"),
            ("IgnoredSetting", "LOG_LEVEL"),
        ]
    );
    assert!(snapshot.warnings[2].message.starts_with("2 of this kind"));
}

#[test]
fn the_types_file_is_opened_beside_its_source() {
    let asked = RefCell::new(Vec::new());
    let open = |base: &str, path: &str| -> io::Result<String> {
        asked.borrow_mut().push((base.to_owned(), path.to_owned()));
        match path {
            "types.json" => Ok("[{\"name\": \"m\"}]".to_owned()),
            "bad.json" => Ok("[\n{\"name\": 1}]".to_owned()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        }
    };
    let options = ReadOptions { now: None, open: Some(&open) };
    let with = |file: &str| {
        read_with(
            &[source("dir/in.json", &format!("{{\"instanceTypesFile\": \"{file}\"}}"))],
            &options,
        )
    };
    assert_eq!(with("types.json").unwrap().instance_types.unwrap()[0].name, "m");
    assert_eq!(asked.borrow()[0], ("dir/in.json".to_owned(), "types.json".to_owned()));
    let error = &with("bad.json").unwrap_err()[0];
    assert_eq!(
        (error.code, error.origin.place().as_str()),
        (ErrorCode::WrongType, "dir/bad.json:2")
    );
    let error = &with("none.json").unwrap_err()[0];
    assert_eq!((error.code, error.path.as_str()), (ErrorCode::Unreadable, "instanceTypesFile"));
    assert!(error.message.contains("`dir/none.json` cannot be read: no such file"), "{error}");
}

#[test]
fn now_is_the_callers_then_the_inputs_then_the_newest_time() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n, creationTimestamp: 2026-02-01T00:00:00Z}\nstatus: {conditions: [{type: Ready, status: 'True', lastHeartbeatTime: 2026-03-01T00:00:00Z}]}\n";
    assert_eq!(good(node).now.to_string(), "2026-03-01T00:00:00Z");
    assert_eq!(good(POD).now.to_string(), "1970-01-01T00:00:00Z");
    let with = format!("{node}---\nnow: 2026-01-05T00:00:00Z\n");
    assert_eq!(good(&with).now.to_string(), "2026-01-05T00:00:00Z");
    let now = "2030-01-01T00:00:00Z".parse().unwrap();
    let options = ReadOptions { now: Some(now), open: None };
    assert_eq!(read_with(&[source("a", &with)], &options).unwrap().now, now);
}

#[test]
fn order_of_rows_and_sources_changes_nothing() {
    let b = POD.replace("name: a}", "name: b}");
    let c = POD.replace("name: a}", "name: c, namespace: x}");
    let set = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, selector: {}, template: {spec: {containers: [{name: c}]}}}\n";
    let orders = [[POD, &b, &c, set], [set, &c, &b, POD], [&c, POD, set, &b]];
    let texts: Vec<String> = orders
        .iter()
        .map(|order| {
            let sources: Vec<Source> = order.iter().map(|text| source("s", text)).collect();
            serde_json::to_string(&read(&sources).unwrap()).unwrap()
        })
        .collect();
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

#[test]
fn sixty_thousand_pods_are_read() {
    let one = r#"{"metadata":{"name":"p-NAME","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","env":[{"name":"SECRET","value":"hush"}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]}}"#;
    let pods: Vec<String> = (0..60_000).map(|i| one.replace("NAME", &i.to_string())).collect();
    let text =
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{}]}}", pods.join(",\n"));
    let snapshot = good(&text);
    assert_eq!(snapshot.pods.len(), 60_000);
    assert!(snapshot.pods.iter().all(|p| p.spec.as_ref().unwrap().containers[0].env.is_none()));
    let last =
        snapshot.pods.iter().find(|p| p.metadata.name.as_deref() == Some("p-59999")).unwrap();
    assert_eq!((last.origin.line, last.origin.path().as_str()), (60_000, "items[59999]"));
}

#[test]
fn too_many_replicas_are_a_named_limit() {
    let set = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2147483647, selector: {}, template: {spec: {containers: [{name: c}]}}}\n";
    let errors = bad("in.yaml", set);
    assert_eq!((errors[0].code, errors[0].origin.line), (ErrorCode::TooManyObjects, 1));
    assert!(errors[0].message.contains("Deployment web") && errors[0].message.contains("250000"));
}

#[test]
fn broken_references_and_nil_selectors_are_accepted() {
    // A missing volume claim, a cycle of affinities and selectors that are not there are
    // matters of single pods, not of the input.
    let pod = |name: &str, other: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n  containers: [{{name: c}}]\n  volumes: [{{name: v, persistentVolumeClaim: {{claimName: none}}}}]\n  topologySpreadConstraints: [{{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}}]\n  affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: z, labelSelector: {{matchLabels: {{app: {other}}}}}}}]}}}}\n---\n"
        )
    };
    assert_eq!(good(&(pod("a", "b") + &pod("b", "a"))).pods.len(), 2);
}

#[test]
fn the_oracles_inputs_are_read_without_a_complaint() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbed/oracle/inputs");
    let open = |base: &str, path: &str| {
        std::fs::read_to_string(std::path::Path::new(base).with_file_name(path))
    };
    let options = ReadOptions { now: None, open: Some(&open) };
    let mut count = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".json") || name.starts_with("types-") {
            continue;
        }
        count += 1;
        let bytes = std::fs::read(&path).unwrap();
        let source = Source::from_bytes(&path.to_string_lossy(), bytes).unwrap();
        let snapshot = read_with(&[source], &options).unwrap_or_else(|e| panic!("{e:#?}"));
        assert!(!snapshot.pods.is_empty() && snapshot.instance_types.is_some(), "{name}");
        let unwanted = snapshot.warnings.iter().find(|w| w.code != "NodeClassNotFound");
        assert_eq!(unwanted, None, "{name}");
        let managed = snapshot.nodes.iter().filter(|n| {
            n.metadata.labels.iter().flatten().any(|(k, _)| k == "karpenter.sh/nodepool")
        });
        assert_eq!(managed.count(), snapshot.node_claims.len(), "{name}");
    }
    assert!(count >= 20, "{count} inputs found");
}

#[test]
fn what_the_cluster_would_refuse_is_refused_with_line_path_and_value() {
    let pool = |spec: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name}\nspec:\n{spec}",
            name = "{name: p}"
        )
    };
    let class_ref = "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n";
    let operator = format!(
        "  template:\n    spec:\n{class_ref}      requirements:\n      - key: a\n        operator: Inn\n        values: [b]\n"
    );
    let no_group =
        "  template:\n    spec:\n      requirements: []\n      nodeClassRef: {name: d}\n";
    let cron = format!(
        "  template:\n    spec:\n{class_ref}      requirements: []\n  disruption:\n    consolidateAfter: 0s\n    budgets:\n    - nodes: 10%\n      schedule: every day\n      duration: 1h\n"
    );
    let overlay = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec:\n  requirements: []\n  price: '1'\n  priceAdjustment: '+1'\n";
    let buffer = "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: b}\nspec:\n  replicas: -1\n  podTemplateRef: {name: t}\n";
    let class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: d}\nspec:\n  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n  subnetSelectorTerms: [{id: net-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n";
    let aks = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: d}\nspec:\n  osDiskSizeGB: 5\n";
    for (text, line, path, value) in [
        (pool(&operator), 10, "spec.template.spec.requirements[0].operator", Some("Inn")),
        (pool(no_group), 8, "spec.template.spec.nodeClassRef.group", None),
        (pool(&cron), 13, "spec.disruption.budgets[0].schedule", Some("every day")),
        (overlay.to_owned(), 7, "spec.priceAdjustment", None),
        (buffer.to_owned(), 5, "spec.replicas", Some("-1")),
        (class.to_owned(), 7, "spec.subnetSelectorTerms[0].id", Some("net-1")),
        (aks.to_owned(), 5, "spec.osDiskSizeGB", Some("5")),
    ] {
        let errors = bad("in.yaml", &text);
        let found =
            errors.iter().find(|e| e.path == path).unwrap_or_else(|| panic!("{path}: {errors:#?}"));
        assert_eq!((found.origin.line, &*found.origin.file), (line, "in.yaml"), "{path}: {found}");
        assert_eq!(found.value.as_deref(), value, "{path}");
    }
}

#[test]
fn misspelt_fields_and_settings_of_a_snapshot_name_the_nearest() {
    let snapshot = good("nodePool: []\npods: []\nzzzzzzzz: 1\n");
    let told: Vec<_> = snapshot.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "a Snapshot has no field `nodePool` (did you mean `nodePools`?); it is ignored",
            "a Snapshot has no field `zzzzzzzz`; it is ignored",
        ]
    );
    let error = &bad("in.yaml", "settings: {preferencePolicies: Ignore}\n")[0];
    assert!(error.message.ends_with("(did you mean `preferencePolicy`?)"), "{error}");
}

#[test]
fn no_snapshot_holds_the_environment_of_a_workload() {
    let template = r#"{"spec":{"initContainers":[{"name":"i","args":["hush"]}],"containers":[{"name":"c","env":[{"name":"SECRET","value":"hush"}],"command":["hush"]}]}}"#;
    let kinds = [
        ("daemonSets", "{TEMPLATE,\"selector\":{}}"),
        ("deployments", "{TEMPLATE,\"selector\":{}}"),
        ("statefulSets", "{TEMPLATE,\"selector\":{},\"serviceName\":\"x\"}"),
        ("replicaSets", "{TEMPLATE,\"selector\":{}}"),
        ("jobs", "{TEMPLATE}"),
        ("cronJobs", "{\"schedule\":\"@daily\",\"jobTemplate\":{\"spec\":{TEMPLATE}}}"),
    ];
    for (field, spec) in kinds {
        let spec = spec.replace("TEMPLATE", &format!("\"template\":{template}"));
        let text = format!(r#"{{"{field}":[{{"metadata":{{"name":"a"}},"spec":{spec}}}]}}"#);
        let written = serde_json::to_string(&good(&text)).unwrap();
        assert!(!written.contains("hush"), "{field}: {written}");
        assert_eq!(serde_json::to_string(&good(&written)).unwrap(), written, "{field}");
    }
    let text =
        format!(r#"{{"podTemplates":[{{"metadata":{{"name":"a"}},"template":{template}}}]}}"#);
    assert!(!serde_json::to_string(&good(&text)).unwrap().contains("hush"));
}
