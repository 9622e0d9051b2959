//! Requests against kube-scheduler's numbers, and the predicates of a pod's life.

use serde_json::{Value, json};

use super::*;

fn pod(spec: Value, status: Value) -> Pod {
    serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec, "status": status}))
        .unwrap()
}

fn amounts(spec: Value, status: Value) -> Vec<(String, i64)> {
    requests(&pod(spec, status)).unwrap().into_iter().filter(|(name, _)| name != "pods").collect()
}

fn cpu(spec: Value) -> i64 {
    requests(&pod(spec, json!({}))).unwrap()["cpu"]
}

fn asks(cpu: &str) -> Value {
    json!({"requests": {"cpu": cpu}})
}

// CASE: 14.4.4
#[test]
fn init_containers_and_sidecars() {
    // A sidecar declared before an ordinary init container runs beside it: max(1 + 2, 1 + 1.5).
    let spec = json!({
        "initContainers": [
            {"name": "s", "restartPolicy": "Always", "resources": asks("1")},
            {"name": "i1", "resources": asks("2")},
        ],
        "containers": [{"name": "main", "resources": asks("1500m")}],
    });
    assert_eq!(cpu(spec), 3000);
    // Declared after it, it does not: max(2, 1 + 1.5).
    let spec = json!({
        "initContainers": [
            {"name": "i1", "resources": asks("2")},
            {"name": "s", "restartPolicy": "Always", "resources": asks("1")},
        ],
        "containers": [{"name": "main", "resources": asks("1500m")}],
    });
    assert_eq!(cpu(spec), 2500);
    // Two sidecars around two init containers: max(1 + 5, 1 + 2 + 1, 0.5 + 3).
    let spec = json!({
        "initContainers": [
            {"name": "s1", "restartPolicy": "Always", "resources": asks("1")},
            {"name": "i1", "resources": asks("5")},
            {"name": "s2", "restartPolicy": "Always", "resources": asks("2")},
            {"name": "i2", "resources": asks("1")},
        ],
        "containers": [{"name": "main", "resources": asks("500m")}],
    });
    assert_eq!(cpu(spec), 6000);
}

#[test]
fn resources_peak_independently() {
    let spec = json!({
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}],
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "1"}}},
            {"name": "b", "resources": {"requests": {"cpu": "1"}}},
        ],
    });
    assert_eq!(
        amounts(spec, json!({})),
        [
            ("cpu".to_owned(), 3000),
            ("memory".to_owned(), 2 << 30),
            ("nvidia.com/gpu".to_owned(), 1)
        ]
    );
}

// CASE: 14.4.4
#[test]
fn pod_level_requests_replace_and_overhead_adds() {
    let spec = json!({
        "resources": {"requests": {"cpu": "4", "hugepages-2Mi": "8Mi", "ephemeral-storage": "9Gi"}},
        "overhead": {"cpu": "250m", "memory": "128Mi"},
        "containers": [{"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}}}],
    });
    assert_eq!(
        amounts(spec, json!({})),
        [
            ("cpu".to_owned(), 4250),
            ("ephemeral-storage".to_owned(), 1 << 30),
            ("hugepages-2Mi".to_owned(), 8 << 20),
            ("memory".to_owned(), (1 << 30) + (128 << 20)),
        ]
    );
}

// CASE: 14.4.4
#[test]
fn resize_under_way_counts_the_larger_side() {
    let spec = json!({"containers": [{"name": "a", "resources": asks("2")}]});
    let status = |conditions: Value| {
        json!({
            "conditions": conditions,
            "containerStatuses": [{
                "name": "a", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "resources": {"requests": {"cpu": "1"}},
                "allocatedResources": {"cpu": "1500m"},
            }],
        })
    };
    let infeasible =
        json!([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]);
    let deferred = json!([{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]);
    for (conditions, want) in [(json!([]), 2000), (deferred, 2000), (infeasible, 1500)] {
        assert_eq!(requests(&pod(spec.clone(), status(conditions))).unwrap()["cpu"], want);
    }
    // Shrunk in the spec, not yet on the node.
    let small = json!({"containers": [{"name": "a", "resources": asks("200m")}]});
    assert_eq!(requests(&pod(small, status(json!([])))).unwrap()["cpu"], 1500);
}

#[test]
fn sums_are_exact_and_rounded_up_once() {
    // Three times 333.4 bytes are 1000.2, rounded up once: 1001, not 3 x 334 = 1002.
    let third = json!({"requests": {"memory": "333400m"}});
    let spec = json!({"containers": [
        {"name": "a", "resources": third}, {"name": "b", "resources": third}, {"name": "c", "resources": third},
    ]});
    assert_eq!(amounts(spec, json!({})), [("memory".to_owned(), 1001)]);
    assert_eq!(requests(&Pod::default()).unwrap(), Amounts::from([("pods".to_owned(), 1)]));
}

#[test]
fn bad_requests_name_their_place() {
    for (value, error) in [
        ("-1", QuantityError::Negative),
        ("1e999", QuantityError::TooLarge),
        ("lots", QuantityError::Malformed),
    ] {
        let spec = json!({"containers": [{"name": "a"}, {"name": "b", "resources": asks(value)}]});
        let got = requests(&pod(spec, json!({}))).unwrap_err();
        assert_eq!(got.path, "spec.containers[1].resources.requests.cpu");
        assert_eq!((got.value.as_str(), got.error), (value, error));
    }
    let huge = json!({"requests": {"memory": "9223372036854775807"}});
    let spec =
        json!({"containers": [{"name": "a", "resources": huge}, {"name": "b", "resources": huge}]});
    assert_eq!(requests(&pod(spec, json!({}))).unwrap_err().error, QuantityError::TooLarge);
}

#[test]
fn host_ports_clash_by_address_port_and_protocol() {
    let port = |ip: &str, port, protocol: &str| HostPort {
        ip: ip.to_owned(),
        port,
        protocol: protocol.to_owned(),
    };
    for (a, b, want) in [
        (port("0.0.0.0", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
        (port("::", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
        (port("10.0.0.1", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
        (port("10.0.0.2", 80, "TCP"), port("10.0.0.1", 80, "TCP"), false),
        (port("0.0.0.0", 80, "UDP"), port("0.0.0.0", 80, "TCP"), false),
        (port("0.0.0.0", 81, "TCP"), port("0.0.0.0", 80, "TCP"), false),
    ] {
        assert_eq!(a.clashes_with(&b), want, "{a:?} {b:?}");
        assert_eq!(b.clashes_with(&a), want);
    }
    let spec: PodSpec = serde_json::from_value(json!({
        "hostNetwork": true,
        "initContainers": [
            {"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 1, "hostPort": 9000}]},
            {"name": "i", "ports": [{"containerPort": 1, "hostPort": 9001}]},
        ],
        "containers": [{"name": "c", "ports": [
            {"containerPort": 8080, "hostPort": 8080, "hostIP": "127.0.0.1", "protocol": "UDP"},
            {"containerPort": 8081},
        ]}],
    }))
    .unwrap();
    assert_eq!(host_ports(&spec, false), [port("127.0.0.1", 8080, "UDP")]);
    assert_eq!(
        host_ports(&spec, true),
        [
            port("0.0.0.0", 8081, "TCP"),
            port("0.0.0.0", 9000, "TCP"),
            port("127.0.0.1", 8080, "UDP")
        ]
    );
}

fn life(text: Value) -> Pod {
    serde_json::from_value(text).unwrap()
}

fn unschedulable() -> Value {
    json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}])
}

fn owner(api_version: &str, kind: &str) -> Value {
    json!([{"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u"}])
}

#[test]
fn provisionable_pods() {
    let base = json!({"metadata": {}, "spec": {}, "status": {"conditions": unschedulable()}});
    let with = |path: &str, value: Value| {
        let mut pod = base.clone();
        *pod.pointer_mut(path.rsplit_once('/').unwrap().0)
            .and_then(|parent| parent.as_object_mut())
            .map(|parent| parent.entry(path.rsplit_once('/').unwrap().1).or_insert(Value::Null))
            .unwrap() = value;
        life(pod)
    };
    let gated = json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
    for (pod, want, why) in [
        (life(base.clone()), true, "plain"),
        (with("/spec/nodeName", json!("n")), false, "bound"),
        (with("/spec/nodeName", json!("")), true, "an empty node name is none"),
        (with("/spec/schedulerName", json!("other")), true, "scheduler is not looked at"),
        (with("/status/nominatedNodeName", json!("n")), false, "nominated"),
        (with("/status/conditions", gated), false, "gated"),
        (with("/metadata/ownerReferences", owner("apps/v1", "DaemonSet")), false, "daemon"),
        (with("/metadata/ownerReferences", owner("x.io/v1", "DaemonSet")), true, "other daemon"),
        (with("/metadata/ownerReferences", owner("v1", "Node")), false, "mirror"),
        (with("/metadata/ownerReferences", owner("batch/v1", "Job")), true, "job"),
    ] {
        assert_eq!(is_provisionable(&pod), want, "{why}");
    }
}

#[test]
fn phases_and_deletion() {
    let now: Timestamp = "2026-01-01T00:02:00Z".parse().unwrap();
    let make = |phase: &str, deleted: Option<&str>, owners: Value| {
        life(json!({
            "metadata": {"deletionTimestamp": deleted, "ownerReferences": owners},
            "spec": {"nodeName": "n"},
            "status": {"phase": phase},
        }))
    };
    let none = json!([]);
    let set = owner("apps/v1", "StatefulSet");
    let at = Some("2026-01-01T00:01:00Z");
    let long_ago = Some("2026-01-01T00:00:59Z");
    // terminal, active, reschedulable, drainable, waiting, ignored for topology
    for (pod, want) in [
        (make("Running", None, none.clone()), [false, true, true, true, true, false]),
        (make("Succeeded", None, none.clone()), [true, false, false, true, false, true]),
        (make("Failed", None, none.clone()), [true, false, false, true, false, true]),
        (make("Running", at, none.clone()), [false, false, false, true, true, true]),
        (make("Running", at, set), [false, false, true, true, true, true]),
        (make("Running", long_ago, none), [false, false, false, false, false, true]),
        (make("Running", None, owner("v1", "Node")), [false, true, false, false, false, false]),
    ] {
        let got = [
            is_terminal(&pod),
            is_active(&pod),
            is_reschedulable(&pod),
            is_drainable(&pod, now),
            is_waiting_eviction(&pod, now),
            is_ignored_for_topology(&pod),
        ];
        assert_eq!(got, want, "{pod:?}");
    }
    assert!(!is_stuck_terminating(&make("Running", at, json!([])), now));
    assert!(is_stuck_terminating(&make("Running", long_ago, json!([])), now));
}

#[test]
fn do_not_disrupt_values() {
    let now: Timestamp = "2026-01-01T01:00:00Z".parse().unwrap();
    let make = |value: Option<&str>, start: Option<&str>| {
        life(json!({
            "metadata": {"annotations": value.map(|v| json!({DO_NOT_DISRUPT: v}))},
            "spec": {},
            "status": {"startTime": start, "phase": "Running"},
        }))
    };
    let start = Some("2026-01-01T00:00:00Z");
    for (value, start, want) in [
        (None, start, DoNotDisrupt::Absent),
        (Some("true"), start, DoNotDisrupt::Always),
        (Some("True"), start, DoNotDisrupt::Invalid),
        (Some("false"), start, DoNotDisrupt::Invalid),
        (Some("0s"), start, DoNotDisrupt::Invalid),
        (Some("-1h"), start, DoNotDisrupt::Invalid),
        (Some("1d"), start, DoNotDisrupt::Invalid),
        (Some("1h"), start, DoNotDisrupt::Elapsed),
        (Some("1.5h"), start, DoNotDisrupt::Until(Some(1800))),
        (Some("1h0.5s"), start, DoNotDisrupt::Until(Some(1))),
        (Some("1m"), None, DoNotDisrupt::Until(None)),
    ] {
        let pod = make(value, start);
        assert_eq!(do_not_disrupt(&pod, now), want, "{value:?}");
        assert_eq!(is_disruptable(&pod, now), !want.is_active());
        assert_eq!(is_evictable(&pod, now), !want.is_active());
    }
}

#[test]
fn tolerating_the_disruption_taint() {
    let now = Timestamp::UNIX_EPOCH;
    for (toleration, want) in [
        (json!({"operator": "Exists"}), true),
        (json!({"key": "karpenter.sh/disrupted", "operator": "Exists"}), true),
        (
            json!({"key": "karpenter.sh/disrupted", "operator": "Exists", "effect": "NoExecute"}),
            false,
        ),
        (json!({"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}), true),
        (json!({"key": "karpenter.sh/disrupted", "value": "x"}), false),
        (json!({"key": "other", "operator": "Exists"}), false),
    ] {
        let pod =
            life(json!({"spec": {"tolerations": [toleration]}, "status": {"phase": "Running"}}));
        assert_eq!(!is_drainable(&pod, now), want, "{toleration}");
        assert_eq!(!is_evictable(&pod, now), want, "{toleration}");
    }
}

#[test]
fn tolerations_that_compare_ask_for_integers() {
    let taint = |value: &str| Taint {
        key: "level".to_owned(),
        value: Some(value.to_owned()),
        effect: "NoSchedule".to_owned(),
        ..Taint::default()
    };
    let toleration = |operator: &str, value: &str| Toleration {
        key: Some("level".to_owned()),
        operator: Some(operator.to_owned()),
        value: Some(value.to_owned()),
        ..Toleration::default()
    };
    for (operator, asked, value, want) in [
        ("Lt", "10", "9", true),
        ("Lt", "10", "10", false),
        ("Gt", "10", "11", true),
        ("Gt", "10", "9", false),
        ("Gt", "-1", "0", true),
        ("Gt", "ten", "11", false),
        ("Lt", "10", "low", false),
        ("Le", "10", "9", false),
    ] {
        assert_eq!(
            tolerates(&toleration(operator, asked), &taint(value)),
            want,
            "{operator} {asked} {value}"
        );
    }
}
