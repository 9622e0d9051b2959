//! Pending pods of one input: a few workloads of equal replicas, each with some of the
//! wanted features.

use serde_json::{Map, Value, json};

use super::pools::{CATEGORY, CORES, FAMILY, RACK, need, push};
use super::{CAPACITY_TYPE, HOST, Rng, Wanted, ZONE, ZONES};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const CORES_ASKED: [&str; 10] =
    ["50m", "100m", "250m", "500m", "500m", "750m", "1", "1500m", "2", "4"];
const MEMORY_ASKED: [&str; 8] = ["64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "9Gi"];
/// The second namespace; its label is `team=blue`.
pub const BLUE: &str = "blue";

/// One workload.
pub struct App {
    /// Name; also the value of the label `app`.
    pub name: String,
    pub namespace: &'static str,
    pub replicas: usize,
    /// Pod spec that all replicas share.
    pub spec: Value,
    /// Every other replica says `version: v2`.
    has_versions: bool,
    /// Minute of creation; none = the input does not say.
    minute: Option<usize>,
}

impl App {
    /// Labels of replica `i`.
    pub fn labels(&self, i: usize) -> Value {
        let mut out = Map::new();
        out.insert("app".to_owned(), json!(self.name));
        if self.has_versions {
            out.insert("version".to_owned(), json!(if i.is_multiple_of(2) { "v1" } else { "v2" }));
        }
        Value::Object(out)
    }

    /// Replica `i` as a pod.
    pub fn pod(&self, i: usize) -> Value {
        let mut meta = json!({"name": format!("{}-{i}", self.name), "namespace": self.namespace,
            "labels": self.labels(i)});
        if let Some(minute) = self.minute {
            meta["creationTimestamp"] = json!(format!("2026-01-01T00:{minute:02}:00Z"));
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": self.spec})
    }
}

/// Two to six workloads, 3 to 60 pods in all.
pub fn apps(rng: &mut Rng, wanted: &Wanted) -> Vec<App> {
    let n = rng.range(2, 6);
    let mut out: Vec<App> = (0..n).map(|i| plain(rng, i)).collect();
    if wanted.contains("affinity and namespaces") || rng.chance(10) {
        out[0].namespace = BLUE;
    }
    let names: Vec<(String, &'static str)> =
        out.iter().map(|a| (a.name.clone(), a.namespace)).collect();
    for feature in demands(rng, wanted) {
        for _ in 0..if rng.chance(25) { 2 } else { 1 } {
            let at = rng.range(0, out.len() - 1);
            change(rng, wanted, feature, &mut out[at], &names);
        }
    }
    for app in &mut out {
        if wanted.contains("taints") && rng.chance(45) {
            push(
                &mut app.spec["tolerations"],
                json!({"key": "dedicated", "operator": "Equal",
                "value": "batch"}),
            );
        }
        if rng.chance(8) {
            app.spec["nodeSelector"][ZONE] = json!(rng.word(&ZONES));
        }
        if rng.chance(6) {
            app.spec["nodeSelector"]["team"] = json!(rng.word(&["alder", "birch"]));
        }
    }
    out
}

fn plain(rng: &mut Rng, i: usize) -> App {
    let replicas = if rng.chance(60) { rng.range(2, 5) } else { rng.range(6, 10) };
    let mut requests = json!({"cpu": rng.word(&CORES_ASKED)});
    if rng.chance(85) {
        requests["memory"] = json!(rng.word(&MEMORY_ASKED));
    }
    if rng.chance(6) {
        // larger than most machines, or than any
        requests["cpu"] = json!(rng.word(&["12", "30", "60"]));
        requests["memory"] = json!(rng.word(&["8Gi", "60Gi", "300Gi"]));
    }
    let minute = rng.chance(20).then(|| rng.range(0, 59));
    let container = json!({"name": "main", "image": "pause", "resources": {"requests": requests}});
    App {
        name: format!("app-{i}"),
        namespace: "default",
        replicas,
        spec: json!({"containers": [container]}),
        has_versions: false,
        minute,
    }
}

/// The wanted features of pods; what only shapes an affinity term brings one along.
fn demands(rng: &mut Rng, wanted: &Wanted) -> Vec<&'static str> {
    let mut out: Vec<&'static str> = wanted.iter().copied().collect();
    let shapes = [
        "affinity on hosts",
        "affinity on zones",
        "affinity between apps",
        "affinity and namespaces",
    ];
    let terms = [
        "affinity required",
        "anti-affinity required",
        "affinity preferred",
        "anti-affinity preferred",
    ];
    for shape in shapes {
        if wanted.contains(shape) {
            out.retain(|f| *f != shape);
            out.push(shape);
        }
    }
    if shapes.iter().any(|s| wanted.contains(s)) && !terms.iter().any(|t| wanted.contains(t)) {
        out.push(rng.word(&terms));
    }
    out
}

fn change(
    rng: &mut Rng,
    wanted: &Wanted,
    feature: &str,
    app: &mut App,
    names: &[(String, &'static str)],
) {
    match feature {
        f if f.starts_with("spread ") => spread(rng, f, app),
        "affinity required" => term(rng, wanted, app, names, "podAffinity", REQUIRED),
        "anti-affinity required" => term(rng, wanted, app, names, "podAntiAffinity", REQUIRED),
        "affinity preferred" => term(rng, wanted, app, names, "podAffinity", PREFERRED),
        "anti-affinity preferred" => term(rng, wanted, app, names, "podAntiAffinity", PREFERRED),
        "affinity on hosts"
        | "affinity on zones"
        | "affinity between apps"
        | "affinity and namespaces" => shaped_term(rng, feature, app, names),
        "node affinity, several terms" => node_terms(rng, app),
        "node affinity preferred" => node_preferences(rng, app),
        "host ports" => {
            app.spec["containers"][0]["ports"] = json!([{"containerPort": 80,
                "hostPort": *rng.pick(&[8080, 9090])}]);
        }
        "init containers" => {
            push(
                &mut app.spec["initContainers"],
                json!({"name": "init", "image": "pause",
                "resources": {"requests": {"cpu": rng.word(&["2", "3", "200m"]), "memory": "300Mi"}}}),
            );
        }
        "sidecars" => {
            push(
                &mut app.spec["initContainers"],
                json!({"name": "side", "image": "pause",
                "restartPolicy": "Always",
                "resources": {"requests": {"cpu": rng.word(&["100m", "1"]), "memory": "200Mi"}}}),
            );
        }
        "operator Gt" => expression(app, need(CORES, "Gt", &[rng.word(&["1", "3", "7"])])),
        "operator Lt" => expression(app, need(CORES, "Lt", &[rng.word(&["9", "17", "33"])])),
        "operator NotIn" => {
            let (key, value) = *rng.pick(&[
                (ZONE, ZONES[1]),
                (FAMILY, "m5"),
                (RACK, "7"),
                (CAPACITY_TYPE, "spot"),
            ]);
            expression(app, need(key, "NotIn", &[value]));
        }
        "operator Exists" => {
            expression(app, need(rng.word(&[CATEGORY, RACK, "team", CORES]), "Exists", &[]));
        }
        "operator DoesNotExist" => {
            expression(app, need(rng.word(&[RACK, "team", RACK]), "DoesNotExist", &[]));
        }
        _ => {}
    }
}

/// Every one of a node's required terms gets the expression.
fn expression(app: &mut App, requirement: Value) {
    let terms = &mut app.spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"];
    if terms.is_null() {
        *terms = json!([{"matchExpressions": []}]);
    }
    for term in terms.as_array_mut().into_iter().flatten() {
        push(&mut term["matchExpressions"], requirement.clone());
    }
}

fn spread(rng: &mut Rng, feature: &str, app: &mut App) {
    let key = match feature {
        "spread over zones" | "spread minDomains" => ZONE,
        "spread over hosts" => HOST,
        "spread over capacity types" => CAPACITY_TYPE,
        _ => rng.word(&[ZONE, ZONE, HOST]),
    };
    let mut row = json!({"maxSkew": if rng.chance(65) { 1 } else { rng.range(2, 3) },
        "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app.name}}});
    match feature {
        "spread minDomains" => row["minDomains"] = json!(rng.range(2, 4)),
        "spread ScheduleAnyway" => row["whenUnsatisfiable"] = json!("ScheduleAnyway"),
        "spread matchLabelKeys" => {
            app.has_versions = true;
            row["matchLabelKeys"] = json!(["version"]);
        }
        "spread policies" => {
            if rng.chance(60) {
                row["nodeAffinityPolicy"] = json!(rng.word(&["Ignore", "Honor"]));
            }
            row["nodeTaintsPolicy"] = json!(rng.word(&["Honor", "Honor", "Ignore"]));
        }
        _ => {}
    }
    let list = &mut app.spec["topologySpreadConstraints"];
    // (key, whenUnsatisfiable) must be unique in a pod
    let is_taken = |r: &Value| {
        r["topologyKey"] == row["topologyKey"] && r["whenUnsatisfiable"] == row["whenUnsatisfiable"]
    };
    if let Some(rows) = list.as_array_mut() {
        rows.retain(|r| !is_taken(r));
    }
    push(list, row);
}

fn term(
    rng: &mut Rng,
    wanted: &Wanted,
    app: &mut App,
    names: &[(String, &'static str)],
    field: &str,
    when: &str,
) {
    let key = if wanted.contains("affinity on hosts") && rng.chance(60) {
        HOST
    } else {
        rng.word(&[ZONE, ZONE, HOST, CAPACITY_TYPE])
    };
    // an app beside itself, apart from itself, or the same with another app
    let other =
        if rng.chance(35) { rng.pick(names).clone() } else { (app.name.clone(), app.namespace) };
    let mut row = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": other.0}}});
    if other.1 != app.namespace && rng.chance(70) {
        row["namespaces"] = json!([other.1]);
    }
    add_term(rng, app, field, when, row);
}

fn shaped_term(rng: &mut Rng, shape: &str, app: &mut App, names: &[(String, &'static str)]) {
    let others: Vec<_> = names.iter().filter(|n| n.0 != app.name).collect();
    let field = rng.word(&["podAffinity", "podAntiAffinity"]);
    let when = if rng.chance(70) { REQUIRED } else { PREFERRED };
    let target = if shape == "affinity between apps" { &rng.pick(&others).0 } else { &app.name };
    let key = match shape {
        "affinity on hosts" => HOST,
        "affinity on zones" => ZONE,
        _ => rng.word(&[ZONE, HOST]),
    };
    let mut row = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": target}}});
    if shape == "affinity and namespaces" {
        row["labelSelector"]["matchLabels"]["app"] = json!(names[0].0);
        match rng.range(0, 2) {
            0 => row["namespaces"] = json!([BLUE]),
            1 => row["namespaceSelector"] = json!({"matchLabels": {"team": "blue"}}),
            _ => row["namespaceSelector"] = json!({}),
        }
    }
    add_term(rng, app, field, when, row);
}

fn add_term(rng: &mut Rng, app: &mut App, field: &str, when: &str, term: Value) {
    let list = &mut app.spec["affinity"][field][when];
    if when == REQUIRED {
        push(list, term);
    } else {
        let weight = free_weight(rng, list);
        push(list, json!({"weight": weight, "podAffinityTerm": term}));
    }
}

/// A weight that no term of the list has: what equal weights mean is not defined upstream.
fn free_weight(rng: &mut Rng, list: &Value) -> usize {
    loop {
        let weight = rng.range(1, 100);
        let is_taken = |t: &Value| t["weight"] == json!(weight);
        if !list.as_array().is_some_and(|l| l.iter().any(is_taken)) {
            return weight;
        }
    }
}

/// A place that a node term or preference may name; one in six does not exist.
fn place(rng: &mut Rng) -> Value {
    match rng.range(0, 5) {
        0 => need(ZONE, "In", &["us-east-1z"]),
        1 => need(CATEGORY, "In", &[rng.word(&["c", "m", "r", "t"])]),
        2 => need(CAPACITY_TYPE, "In", &[rng.word(&["spot", "on-demand"])]),
        3 => need(CORES, "In", &["4", "8"]),
        _ => need(ZONE, "In", &[rng.word(&ZONES)]),
    }
}

fn node_terms(rng: &mut Rng, app: &mut App) {
    let terms: Vec<Value> = (0..rng.range(2, 3))
        .map(|_| {
            let n = rng.range(1, 2);
            json!({"matchExpressions": (0..n).map(|_| place(rng)).collect::<Vec<_>>()})
        })
        .collect();
    app.spec["affinity"]["nodeAffinity"][REQUIRED] = json!({"nodeSelectorTerms": terms});
}

fn node_preferences(rng: &mut Rng, app: &mut App) {
    for _ in 0..rng.range(1, 3) {
        let preference = json!({"matchExpressions": [place(rng)]});
        let list = &mut app.spec["affinity"]["nodeAffinity"][PREFERRED];
        let weight = free_weight(rng, list);
        push(list, json!({"weight": weight, "preference": preference}));
    }
}
