//! The real binary from outside: exit codes, streams, forms and every kind of bad input.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn run_in(args: &[&str], stdin: &str, columns: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dunnage"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("COLUMNS", columns)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe was asked for");
    let text = stdin.to_owned();
    let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    let done = child.wait_with_output().expect("the binary ends");
    // A program that refuses its arguments does not read its input.
    let _ = writer.join();
    Ran {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8(done.stdout).expect("UTF-8"),
        err: String::from_utf8(done.stderr).expect("UTF-8"),
    }
}

fn run(args: &[&str]) -> Ran {
    run_in(args, "", "100")
}

/// Plans what is written on standard input, as JSON.
fn plan_of(input: &str) -> (Ran, Value) {
    let ran = run_in(&["plan", "-f", "-", "-o", "json"], input, "100");
    let plan = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
    (ran, plan)
}

/// A folder of one test's own, empty.
fn folder(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dunnage-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// A Snapshot of one pool with two types, and the pods given.
fn world(pods: Vec<Value>) -> Value {
    let ty = |name: &str, cpu: &str, price: f64| {
        json!({"name": name,
               "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
               "capacity": {"cpu": cpu, "memory": "16Gi", "pods": "20"},
               "offerings": [{"zone": "z-1", "capacityType": "on-demand", "price": price}]})
    };
    json!({
        "now": "2026-11-30T12:00:00Z",
        "nodePools": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {"template": {"spec": {"requirements": [],
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}}],
        "instanceTypes": [ty("small", "2", 0.1), ty("big", "8", 0.4)],
        "pods": pods,
    })
}

fn pod(name: &str, cpu: &str) -> Value {
    json!({"metadata": {"name": name},
           "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

#[test]
fn a_plan_exits_0_and_writes_nothing_to_standard_error() {
    let (ran, plan) = plan_of(&world(vec![pod("a", "1"), pod("b", "500")]).to_string());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(plan["launch"][0]["cheapest"]["instanceType"], "small");
    assert_eq!(plan["launch"][0]["instanceTypes"], json!(["small", "big"]));
    assert_eq!(plan["launch"][0]["pods"], json!(["default/a"]));
    assert_eq!(plan["cost"]["launchPerHour"], 0.1);
    assert_eq!(plan["cost"]["lowerBoundPerHour"], 0.1);
    assert_eq!(plan["cost"]["gap"], 0.0);
    let why = &plan["unplaced"][0];
    assert_eq!(why["pod"], "default/b");
    assert_eq!(why["because"][0]["code"], "size");
    let message = why["because"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("500 cpu") && message.contains("`big`"), "{message}");
}

#[test]
fn restrictions_and_waste_have_a_price() {
    let input = world(vec![pod("a", "1"), pod("b", "1")]).to_string();
    let ran = run_in(&["explain", "pool", "default", "-f", "-"], &input, "100");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("pool default: "), "{}", ran.out);
    let ran = run_in(&["explain", "pool", "defualt", "-f", "-"], &input, "100");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("no pool is named `defualt`"), "{}", ran.err);
    let ran = run_in(&["explain", "waste", "-f", "-", "-o", "json"], &input, "100");
    let said: Value = serde_json::from_str(&ran.out).expect("JSON");
    let of = |field: &str| said[field].as_f64().expect("money");
    let beyond = of("launchPerHour") - of("lowerBoundPerHour");
    assert!((of("wastePerHour") - beyond).abs() < 1e-9, "{said}");
}

#[test]
fn the_fix_of_the_message_places_the_pod() {
    let (_, plan) = plan_of(&world(vec![pod("b", "8")]).to_string());
    assert_eq!(plan["unplaced"], json!([]));
    assert_eq!(plan["launch"][0]["cheapest"]["instanceType"], "big");
}

#[test]
fn the_same_input_gives_the_same_bytes_in_any_order() {
    let pods = vec![pod("a", "1"), pod("b", "1500m"), pod("c", "300m"), pod("d", "7")];
    let (first, _) = plan_of(&world(pods.clone()).to_string());
    let (second, _) = plan_of(&world(pods.clone()).to_string());
    let (turned, _) = plan_of(&world(pods.into_iter().rev().collect()).to_string());
    assert_eq!(first.code, 0, "{}", first.err);
    assert_eq!(first.out, second.out);
    assert_eq!(first.out, turned.out);
}

#[test]
fn yaml_and_json_say_the_same() {
    let input = world(vec![pod("a", "1"), pod("b", "500")]).to_string();
    let (_, json) = plan_of(&input);
    let yaml = run_in(&["plan", "-f", "-", "-o", "yaml"], &input, "100");
    assert_eq!(yaml.code, 0);
    assert!(yaml.out.starts_with("launch:\n- nodePool: default\n"), "{}", yaml.out);
    // The reader of manifests takes JSON and YAML; here a plan is no manifest, so compare words.
    for word in ["launchPerHour: 0.1", "code: size", "pod: default/b", "gap: 0.0"] {
        assert!(yaml.out.contains(word), "{word} in {}", yaml.out);
    }
    assert!(json.is_object());
}

#[test]
fn tables_fit_the_terminal() {
    let pods: Vec<Value> =
        (0..4).map(|i| pod(&format!("a-workload-with-a-long-name-{i}"), "500")).collect();
    let input = world(pods.into_iter().chain([pod("a", "1")]).collect()).to_string();
    for columns in ["40", "80", "140"] {
        let ran = run_in(&["plan", "-f", "-"], &input, columns);
        assert_eq!(ran.code, 0);
        let width: usize = columns.parse().unwrap_or(0);
        let long = ran.out.lines().find(|line| line.chars().count() > width);
        assert!(long.is_none(), "{columns}: {long:?}\n{}", ran.out);
        assert!(!ran.out.contains('\u{1b}'), "no escape codes in a pipe");
    }
}

#[test]
fn a_directory_is_read_in_sorted_order_and_other_files_are_left_alone() {
    let folder = folder("directory");
    let world = world(vec![pod("a", "1")]);
    fs::write(folder.join("b.json"), world.to_string()).expect("written");
    fs::write(folder.join("a.yaml"), "apiVersion: v1\nkind: Pod\nmetadata: {name: z}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n").expect("written");
    fs::write(folder.join("notes.txt"), "{ not yaml").expect("written");
    let path = folder.display().to_string();
    let ran = run(&["plan", "-f", &path, "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("default/a") && ran.out.contains("default/z"), "{}", ran.out);
    let _ = fs::remove_dir_all(folder);
}

/// Bad input exits 2, says one line per error, and prints nothing on standard output.
fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 2, "{}{}", ran.err, ran.out);
    assert_eq!(ran.out, "");
    assert!(ran.err.lines().all(|line| line.starts_with("error: ")), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` in {}", ran.err);
    }
    assert!(ran.err.len() < 20_000, "a short message");
}

#[test]
fn what_cannot_be_read_is_named() {
    refused(&run(&["plan", "-f", "no-such-file.yaml"]), &["no-such-file.yaml", "no such file"]);
    let folder = folder("unreadable");
    let path = folder.display().to_string();
    refused(&run(&["plan", "-f", &path]), &[&path, ".yaml"]);
    fs::write(folder.join("a.yaml"), b"kind: Pod\nmetadata: {name: \xff\xfe}\n").expect("written");
    refused(&run(&["plan", "-f", &path]), &["a.yaml:2", "UTF-8"]);
    fs::write(folder.join("a.yaml"), "kind: Pod\nmetadata: {name: [}\n").expect("written");
    refused(&run(&["plan", "-f", &path]), &["a.yaml", "Syntax"]);
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut world = world(vec![pod("a", "1")]);
        change(&mut world);
        plan_of(&world.to_string()).0
    };
    let requests = "/pods/0/spec/containers/0/resources/requests/cpu";
    let set = |at: &'static str, value: Value| {
        move |world: &mut Value| *world.pointer_mut(at).expect("a place") = value.clone()
    };
    refused(&with(&set(requests, json!("-1"))), &["pods[0]", "requests.cpu", "`-1`"]);
    refused(&with(&set(requests, json!("1e999"))), &["pods[0]", "requests.cpu", "1e999"]);
    let term = |operator: &str| json!([{"key": "kubernetes.io/arch", "operator": operator, "values": ["amd64"]}]);
    let at = "/nodePools/0/spec/template/spec/requirements";
    refused(&with(&set(at, term("Near"))), &["nodePools[0]", "operator", "Near"]);
    let label = json!({"name": "a", "labels": {"x": "y".repeat(10_000_000)}});
    refused(&with(&set("/pods/0/metadata", label)), &["pods[0]", "labels"]);
    let twice = |world: &mut Value| {
        let pod = world["pods"][0].clone();
        world["pods"].as_array_mut().expect("a list").push(pod);
    };
    refused(&with(&twice), &["default/a"]);
}

#[test]
fn a_spread_without_a_selector_counts_nobody() {
    let mut spread = pod("a", "1");
    spread["spec"]["topologySpreadConstraints"] = json!([{"maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]);
    let (ran, plan) = plan_of(&world(vec![spread]).to_string());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(plan["unplaced"], json!([]));
}

#[test]
fn a_cycle_of_affinities_is_an_answer() {
    let near = |name: &str, other: &str| {
        let mut pod = pod(name, "1");
        pod["metadata"]["labels"] = json!({"app": name});
        pod["spec"]["affinity"] = json!({"podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "labelSelector": {"matchLabels": {"app": other}},
                "topologyKey": "topology.kubernetes.io/zone"}]}});
        pod
    };
    let (ran, plan) = plan_of(&world(vec![near("a", "b"), near("b", "a")]).to_string());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(plan["unplaced"][0]["because"][0]["code"], "affinity");
    assert_eq!(plan["unplaced"].as_array().map(Vec::len), Some(2));
}

#[test]
fn sixty_thousand_pods_are_an_answer() {
    let pods = (0..60_000).map(|i| pod(&format!("p-{i}"), "100m")).collect();
    let (ran, plan) = plan_of(&world(pods).to_string());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let placed: usize = plan["launch"]
        .as_array()
        .expect("launches")
        .iter()
        .map(|launch| launch["pods"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(placed, 60_000);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let with = |option: &[&str]| {
        let args = [&["plan", "-f", "examples/eks-inflate"], option].concat();
        run(&args)
    };
    refused(&with(&["--strategy", "best"]), &["`best`"]);
    refused(&with(&["--catalog", "mars-1"]), &["mars-1", "us-east-1"]);
    refused(&with(&["--now", "soon"]), &["--now", "soon"]);
    refused(&with(&["--settings", "preferencePolicy"]), &["NAME=VALUE"]);
    refused(&with(&["--settings", "preferencePolicy=Maybe"]), &["Respect"]);
    refused(&with(&["--discount", "spot=cheap"]), &["spot=cheap"]);
    refused(&with(&["--discount=-1"]), &["--discount"]);
    refused(&with(&["--prices", "no-such.csv"]), &["no-such.csv"]);
    assert_eq!(run(&["plan"]).code, 2);
    assert_eq!(run(&["plan", "-f", "examples/eks-inflate", "-o", "xml"]).code, 2);
    let explain = ["explain", "pod", "inflate-0", "-f", "examples/eks-inflate", "-o"];
    assert_eq!(run(&[&explain[..], &["json"]].concat()).code, 0);
    assert_eq!(run(&[&explain[..], &["html"]].concat()).code, 2, "only a plan is a page");
    assert_eq!(run(&["--help"]).code, 0);
}

#[test]
fn options_change_the_answer() {
    let plan = |args: &[&str]| {
        let all = [&["plan", "-f", "examples/eks-inflate", "-o", "json"], args].concat();
        let ran = run(&all);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        serde_json::from_str::<Value>(&ran.out).expect("JSON")
    };
    let price = |args: &[&str]| plan(args)["cost"]["launchPerHour"].as_f64().expect("a price");
    let base = price(&[]);
    let there = plan(&["--catalog", "eu-central-1"]);
    assert_eq!(there["launch"][0]["cheapest"]["zone"], "eu-central-1a");
    let codes: Vec<&str> = there["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|w| w["code"].as_str())
        .collect();
    assert_eq!(codes, ["BorrowedPrices"], "the region was chosen, not assumed");
    let halved = price(&["--discount", "0.5"]);
    assert!((halved - base / 2.0).abs() < 1e-6, "{halved} of {base}");
    let folder = folder("prices");
    let file = folder.join("prices.csv");
    fs::write(&file, "instanceType,capacityType,price\nm5.2xlarge,on-demand,0.01\n")
        .expect("written");
    let path = file.display().to_string();
    assert!((price(&["--prices", &path]) - 0.01).abs() < 1e-9);
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn explain_tells_the_whole_chain() {
    let input = world(vec![pod("a", "1"), pod("b", "500")]).to_string();
    let said = run_in(&["explain", "pod", "b", "-f", "-"], &input, "120");
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["fits nowhere", "pool default", "2 asked", "0 large enough", "nearest", "big"] {
        assert!(said.out.contains(words), "`{words}` in {}", said.out);
    }
    let said = run_in(&["explain", "pod", "default/a", "-f", "-", "-o", "json"], &input, "120");
    let said: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(said["outcome"], "launched");
    assert_eq!(said["pools"][0]["types"]["all"], 2);
    let unknown = run_in(&["explain", "pod", "c", "-f", "-"], &input, "120");
    refused(&unknown, &["no pod is named `c`"]);
    let unknown = run_in(&["explain", "node", "n", "-f", "-"], &input, "120");
    refused(&unknown, &["no node is named `n`"]);
}

#[test]
fn explain_launch_says_why_it_is_this_machine() {
    let input = world(vec![pod("a", "3")]).to_string();
    let said = run_in(&["explain", "launch", "1", "-f", "-", "-o", "json"], &input, "120");
    let json: Value = serde_json::from_str(&said.out).unwrap_or_default();
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(json["chosen"]["instanceType"], "big");
    assert_eq!(json["next"], json!([]));
    assert_eq!(json["cheaper"][0]["nearest"][0]["message"], "needs 3 cpu, has 2: short by 1");
    let table = run_in(&["explain", "launch", "1", "-f", "-"], &input, "120");
    assert!(table.out.starts_with("launch 1 of pool default: big z-1 on-demand at 0.4 USD/h"));
    let pod = run_in(&["explain", "pod", "a", "-f", "-"], &input, "120");
    let shared = table.out.lines().last().unwrap_or_default();
    assert!(pod.out.contains(shared), "{}\n{}", pod.out, table.out);
    let wrong = run_in(&["explain", "launch", "2", "-f", "-"], &input, "120");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("one launch, number 1"), "{}", wrong.err);
}

#[test]
fn explain_node_says_what_is_left() {
    let mut input = world(vec![pod("new", "1")]);
    input["nodes"] = json!([{"metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                   "capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}]);
    let mut old = pod("old", "1500m");
    old["spec"]["nodeName"] = json!("n1");
    input["pods"].as_array_mut().expect("a list").push(old);
    let said =
        run_in(&["explain", "node", "n1", "-f", "-", "-o", "json"], &input.to_string(), "80");
    assert_eq!(said.code, 0, "{}", said.err);
    let said: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(said["pods"], json!(["default/old"]));
    assert_eq!(said["takes"], json!(["default/new"]));
    assert_eq!(said["free"]["cpu"], "2500m");
    assert_eq!(said["remaining"]["pods"], "9");
}

/// Findings in what is written on standard input, as JSON.
fn lint_of(input: &str) -> (Ran, Value) {
    let ran = run_in(&["lint", "-f", "-", "-o", "json"], input, "100");
    let report = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
    (ran, report)
}

#[test]
fn findings_exit_1_only_when_one_is_an_error() {
    let (ran, report) = lint_of("{}");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(report, json!({ "findings": [] }));
    let (ran, report) = lint_of(&world(vec![pod("a", "1")]).to_string());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let found = report["findings"].as_array().cloned().unwrap_or_default();
    let told = found.iter().find(|f| f["code"] == "MissingMemoryRequest").cloned();
    assert_eq!(
        told,
        Some(json!({
            "code": "MissingMemoryRequest", "severity": "warning", "object": "Pod default/a",
            "message": "missing memory request: container `c`",
            "fix": "set `spec.containers[0].resources.requests.memory` to what it uses in normal \
                    operation, such as `256Mi`: a node is chosen by requests, and nothing is kept \
                    for this container",
        }))
    );
    let (ran, report) = lint_of(&world(vec![pod("a", "-1")]).to_string());
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let first = &report["findings"][0];
    assert_eq!((&first["code"], &first["severity"]), (&json!("InvalidField"), &json!("error")));
    assert_eq!(first["object"], "Pod default/a");
}

#[test]
fn what_lint_cannot_read_is_bad_input() {
    let ran = run_in(&["lint", "-f", "-"], "a: [", "100");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.starts_with("error: -:1"), "{}", ran.err);
    let ran = run(&["lint", "-f", "no-such-file.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no-such-file.yaml: no such file"), "{}", ran.err);
    let ran = run(&["lint", "-f", "examples/eks-inflate", "--settings", "nonsense=1"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn findings_fit_the_terminal_and_are_counted() {
    let input = world(vec![pod("a", "-1"), pod("b", "1")]).to_string();
    for columns in ["40", "100"] {
        let ran = run_in(&["lint", "-f", "-"], &input, columns);
        let width: usize = columns.parse().expect("a number");
        assert!(ran.out.lines().all(|line| line.chars().count() <= width), "{}", ran.out);
        let words: Vec<&str> = ran.out.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.starts_with("error InvalidField Pod default/a"), "{text}");
        assert!(text.contains(" fix: set `spec.containers[0].resources.requests"), "{text}");
        assert!(text.contains(" 1 error, 3 warnings, 2 findings for information"), "{text}");
    }
    let yaml = run_in(&["lint", "-f", "-", "-o", "yaml"], &input, "100");
    assert!(
        yaml.out.starts_with("findings:\n- code: InvalidField\n  severity: error\n"),
        "{}",
        yaml.out
    );
}

#[test]
fn the_catalog_can_be_looked_into() {
    let list = run(&["catalog", "list", "--region", "us-east-1", "--name", "m5.", "-o", "json"]);
    assert_eq!(list.code, 0, "{}", list.err);
    let types: Value = serde_json::from_str(&list.out).expect("JSON");
    assert!(types.as_array().is_some_and(|types| types.len() > 5));
    let arm = run(&["catalog", "list", "--arch", "arm64", "--name", "m"]);
    assert!(arm.out.contains("m7g.large") && !arm.out.contains("m7i.large"), "{}", arm.out);
    let show = run(&["catalog", "show", "m5.large"]);
    for words in ["m5.large in us-east-1", "0.096", "ALLOCATABLE", "spot price"] {
        assert!(show.out.contains(words), "`{words}` in {}", show.out);
    }
    let show = run(&["catalog", "show", "Standard_D4s_v5", "-o", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&show.out).expect("JSON")["region"], "eastus");
    for (name, region, words) in [
        ("m5.larg", None, &["not in the catalog", "did you mean `m5.large`"][..]),
        ("g4ad.xlarge", None, &["left out", "size and network interfaces", "instanceTypes"]),
        ("g4ad.xlarge", Some("us-west-2"), &["left out", "instanceTypes"]),
        ("mac2.metal", None, &["left out", "macOS"]),
        ("Standard_NV4ads_V710_v5", None, &["left out", "AMD GPU", "gpu.mode: None"]),
        ("Standard_DC8s_v3", None, &["left out", "confidential"]),
        ("Standard_B1s", Some("eastus"), &["left out", "AKS takes no nodes"]),
        ("m5.large", Some("eastus"), &["not sold in `eastus`", "us-east-1"]),
    ] {
        let mut args = vec!["catalog", "show", name];
        args.extend(region.into_iter().flat_map(|r| ["--region", r]));
        refused(&run(&args), &[&[name], words].concat());
    }
    refused(&run(&["catalog", "list", "--region", "mars"]), &["mars"]);
    refused(&run(&["catalog", "list", "--arch", "vax"]), &["vax"]);
}

#[test]
fn definitions_and_completions_are_printed() {
    let crds = run(&["crds"]);
    assert_eq!(crds.code, 0);
    for kind in ["NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass", "AKSNodeClass"] {
        assert!(crds.out.contains(&format!("kind: {kind}\n")), "{kind}");
    }
    assert!(run(&["completions", "bash"]).out.contains("dunnage"));
}

/// What the first README command must say: exact machines for the examples.
#[test]
fn the_examples_launch_exactly_these_machines() {
    for (example, golden) in [
        ("eks-inflate", include_str!("golden/eks-inflate.json")),
        ("aks-general", include_str!("golden/aks-general.json")),
    ] {
        let path = format!("examples/{example}");
        let ran = run(&["plan", "-f", &path, "-o", "json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let plan: Value = serde_json::from_str(&ran.out).expect("JSON");
        let golden: Value = serde_json::from_str(golden).expect("JSON");
        assert_eq!(plan["unplaced"], json!([]), "{example}");
        let launches: Vec<Value> = plan["launch"]
            .as_array()
            .expect("launches")
            .iter()
            .map(|l| {
                json!({"nodePool": l["nodePool"], "cheapest": l["cheapest"], "pods": l["pods"],
                       "requests": l["requests"],
                       "instanceTypes": l["instanceTypes"].as_array().map(Vec::len)})
            })
            .collect();
        assert_eq!(json!({"launch": launches, "cost": plan["cost"]}), golden, "{example}");
    }
}

#[test]
fn a_region_that_does_not_count_is_told() {
    for (option, value, object) in
        [("--catalog", "eastus", "--catalog"), ("--settings", "region=mars-1", "settings.region")]
    {
        let ran = run(&["plan", "-f", "examples/eks-inflate", "-o", "json", option, value]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let plan: Value = serde_json::from_str(&ran.out).expect("a plan");
        let told = plan["warnings"].as_array().expect("warnings");
        let told = told.iter().find(|w| w["code"] == "RegionUnused");
        let told = told.unwrap_or_else(|| panic!("{option} {value}: {}", plan["warnings"]));
        assert_eq!(told["object"], object);
        assert!(told["message"].as_str().unwrap_or_default().contains("us-east-1"), "{told}");
    }
}

#[test]
fn a_types_file_is_named_with_its_folder() {
    let folder = folder("types");
    fs::write(folder.join("in.json"), "{\"pods\": [], \"instanceTypesFile\": \"own/types.json\"}")
        .expect("written");
    let input = folder.join("in.json").display().to_string();
    let named = folder.join("own/types.json").display().to_string();
    refused(&run(&["plan", "-f", &input]), &[&named, "no such file", "instanceTypesFile"]);
    fs::create_dir(folder.join("own")).expect("a folder");
    fs::write(&named, "[\n{\"name\": 1}]").expect("written");
    refused(&run(&["plan", "-f", &input]), &[&format!("{named}:2: "), "[0].name"]);
}

#[test]
fn what_counts_for_nothing_is_told() {
    let ran = run(&[
        "plan",
        "-f",
        "examples/eks-inflate",
        "-o",
        "json",
        "--settings",
        "featureGates=NodeOverlays=true",
        "--discount",
        "m5x=0.5",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let plan: Value = serde_json::from_str(&ran.out).expect("a plan");
    for (code, words) in
        [("UnknownFeatureGate", "did you mean `NodeOverlay`?"), ("DiscountUnused", "no offering")]
    {
        let told = plan["warnings"].as_array().expect("warnings");
        let told = told.iter().find(|w| w["code"] == code);
        let told = told.unwrap_or_else(|| panic!("{code}: {}", plan["warnings"]));
        assert!(told["message"].as_str().unwrap_or_default().contains(words), "{told}");
    }
}

#[test]
fn pools_with_replicas_have_a_table_of_their_own() {
    let mut input = world(vec![pod("a", "1")]);
    input["nodePools"][0]["spec"]["replicas"] = json!(2);
    input["settings"] = json!({"featureGates": "StaticCapacity=true"});
    let table = run_in(&["plan", "-f", "-"], &input.to_string(), "140");
    assert_eq!(table.code, 0, "{}", table.err);
    assert!(table.out.contains("POOLS WITH REPLICAS, 0.2 USD/H MORE"), "{}", table.out);
    let (_, plan) = plan_of(&input.to_string());
    assert_eq!(plan["staticLaunch"].as_array().map(Vec::len), Some(2));
    assert_eq!(plan["cost"]["staticPerHour"], 0.2);
    assert_eq!(plan["cost"]["launchPerHour"], 0.0);
}

#[test]
fn a_plan_is_a_page_that_needs_nothing_else() {
    let ran = run(&["plan", "-f", "examples/eks-inflate", "-o", "html"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"), "{}", ran.out);
    assert!(ran.out.ends_with("</main></body></html>\n"));
    for words in [
        "<h1>1 node to launch, 5 pods placed, 0 unplaced, 0.306 USD per hour</h1>",
        "<h3>1 × c6a.2xlarge</h3>",
        "default/inflate-4",
        "<dt>USD per month</dt><dd>223.38",
    ] {
        assert!(ran.out.contains(words), "{words}");
    }
    assert!(!ran.out.contains("://"));
    assert_eq!(ran.out, run(&["plan", "-f", "examples/eks-inflate", "-o", "html"]).out);
}

/// The pods of the public GPU cluster on the machines of the other cloud.
#[test]
fn the_gpu_cluster_is_planned_on_aks() {
    let folder = folder("openb-aks");
    let pods = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/openb/pods.json"),
    )
    .expect("the pods");
    let few: Vec<&str> = pods.lines().take(41).collect();
    let few = format!("{}\n]}}\n", few.join("\n").trim_end_matches(','));
    fs::write(folder.join("pods.json"), few).expect("written");
    let pods = folder.join("pods.json").display().to_string();
    let ran = run(&["plan", "-f", &pods, "-f", "examples/openb-aks", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let plan: Value = serde_json::from_str(&ran.out).expect("a plan");
    assert_eq!(plan["unplaced"], json!([]));
    let launches = plan["launch"].as_array().expect("launches");
    let placed: usize = launches.iter().filter_map(|l| l["pods"].as_array()).map(Vec::len).sum();
    assert_eq!(placed, 40);
    for launch in launches {
        let of_type = launch["cheapest"]["instanceType"].as_str().unwrap_or_default();
        assert!(of_type.starts_with("Standard_"), "{of_type}");
        let wants_gpu = launch["requests"]["nvidia.com/gpu"].is_string();
        assert_eq!(launch["nodePool"] == "gpu", wants_gpu, "{launch}");
    }
}
