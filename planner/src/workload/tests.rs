//! Which workloads are expanded, to how many pods, and of what form.

use crate::read::{Source, read};
use crate::snapshot::{Snapshot, full_name};

fn world(text: &str) -> Snapshot {
    let source = Source { name: "w.yaml".to_owned(), text: text.to_owned() };
    read(&[source]).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

fn pods(text: &str) -> Vec<String> {
    world(text).pods.iter().map(|pod| full_name(&pod.metadata)).collect()
}

const TEMPLATE: &str = "{metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}";

fn workload(kind: &str, spec: &str) -> String {
    let version = if matches!(kind, "Job" | "CronJob") { "batch/v1" } else { "apps/v1" };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: web, uid: u-1}}\nspec: {{{spec} selector: {{matchLabels: {{app: web}}}}, template: {TEMPLATE}}}\n---\n"
    )
}

fn pod(name: &str, owner: Option<(&str, &str)>) -> String {
    let owner = owner.map_or(String::new(), |(kind, name)| {
        format!(", ownerReferences: [{{apiVersion: x/v1, kind: {kind}, name: {name}, uid: o, controller: true}}]")
    });
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: web}}{owner}}}\nspec: {{containers: [{{name: c}}]}}\n---\n"
    )
}

#[test]
fn replicas_default_to_one_and_zero_is_none() {
    for kind in ["Deployment", "ReplicaSet", "StatefulSet"] {
        assert_eq!(pods(&workload(kind, "")), ["default/web-0"], "{kind}");
        assert_eq!(pods(&workload(kind, "replicas: 0,")), [""; 0], "{kind}");
        assert_eq!(
            pods(&workload(kind, "replicas: 3,")),
            ["default/web-0", "default/web-1", "default/web-2"],
            "{kind}"
        );
    }
}

#[test]
fn jobs_run_what_is_left_at_once() {
    for (spec, status, want) in [
        ("", "", 1),
        ("parallelism: 3,", "", 3),
        ("parallelism: 3, completions: 2,", "", 2),
        ("parallelism: 3, completions: 5,", "status: {succeeded: 4}", 1),
        ("parallelism: 3,", "status: {conditions: [{type: Complete, status: 'True'}]}", 0),
        ("parallelism: 3, suspend: true,", "", 0),
        ("parallelism: 0,", "", 0),
    ] {
        let text = workload("Job", spec).replace("---\n", &format!("{status}\n"));
        assert_eq!(pods(&text).len(), want, "{spec} {status}");
    }
}

#[test]
fn a_cron_job_is_one_run() {
    let cron = |extra: &str| {
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: night}}\nspec: {{schedule: '@daily', {extra} jobTemplate: {{spec: {{parallelism: 2, template: {TEMPLATE}}}}}}}\n---\n"
        )
    };
    assert_eq!(pods(&cron("")), ["default/night-0", "default/night-1"]);
    assert_eq!(pods(&cron("suspend: true,")), [""; 0]);
    assert_eq!(
        pods(&(cron("") + &pod("x", Some(("Job", "night-28"))))),
        ["default/x"],
        "its pods are known by their job's name"
    );
}

#[test]
fn workloads_with_pods_of_theirs_are_left_alone() {
    for (kind, pod, is_expanded, why) in [
        ("Deployment", pod("x", Some(("ReplicaSet", "web-7d4b9c"))), false, "by the set's name"),
        ("Deployment", pod("x", Some(("ReplicaSet", "web-api-7d4b9c"))), true, "another's set"),
        ("Deployment", pod("x", Some(("Deployment", "web"))), false, "owned directly"),
        ("Deployment", pod("x", None), false, "an orphan that matches is adopted"),
        ("Deployment", pod("x", Some(("StatefulSet", "web"))), true, "another kind's"),
        ("StatefulSet", pod("x", Some(("StatefulSet", "web"))), false, "its own"),
        ("ReplicaSet", pod("x", Some(("ReplicaSet", "web"))), false, "its own"),
        ("Job", pod("x", Some(("Job", "web"))), false, "its own"),
    ] {
        let got = pods(&(workload(kind, "") + &pod));
        assert_eq!(got.len(), if is_expanded { 2 } else { 1 }, "{kind}: {why}: {got:?}");
    }
    let elsewhere = pod("x", None).replace("name: x,", "name: x, namespace: other,");
    assert_eq!(pods(&(workload("Deployment", "") + &elsewhere)).len(), 2, "another namespace");
    // An empty selector adopts nothing.
    let all = workload("Deployment", "").replace("matchLabels: {app: web}", "");
    assert_eq!(pods(&(all + &pod("x", None))).len(), 2);
}

#[test]
fn a_deployment_and_its_set_are_expanded_once() {
    let set = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-7d4b9c, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u-1, controller: true}]}\nspec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {spec: {containers: [{name: c}]}}}\n---\n";
    let text = workload("Deployment", "replicas: 2,") + set;
    assert_eq!(pods(&text), ["default/web-7d4b9c-0", "default/web-7d4b9c-1"]);
}

#[test]
fn stateful_sets_bring_their_claims() {
    let text = workload(
        "StatefulSet",
        "replicas: 2, ordinals: {start: 5}, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}],",
    ) + "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-web-5}\nspec: {volumeName: v}\n";
    let world = world(&text);
    let names: Vec<_> =
        world.persistent_volume_claims.iter().map(|c| full_name(&c.metadata)).collect();
    assert_eq!(names, ["default/data-web-5", "default/data-web-6"]);
    let bound = world.persistent_volume_claims[0].spec.as_ref().unwrap();
    assert_eq!(bound.volume_name.as_deref(), Some("v"), "the claim that is there is kept");
    let pod = &world.pods[1];
    assert_eq!(pod.metadata.name.as_deref(), Some("web-6"));
    assert_eq!(pod.metadata.labels.as_ref().unwrap()["apps.kubernetes.io/pod-index"], "6");
    let volume = &pod.spec.as_ref().unwrap().volumes.as_ref().unwrap()[0];
    assert_eq!(volume.persistent_volume_claim.as_ref().unwrap().claim_name, "data-web-6");
    assert_eq!(pod.origin.line, 1);
}

#[test]
fn expanded_pods_are_pending_owned_and_have_names_of_their_own() {
    let text = workload("Deployment", "") + &workload("Job", "");
    let world = world(&text);
    let names: Vec<_> = world.pods.iter().filter_map(|p| p.metadata.name.as_deref()).collect();
    assert_eq!(names, ["web-0", "web-job-0"]);
    let pod = &world.pods[0];
    assert!(crate::pod::is_provisionable(pod));
    let owner = &pod.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.uid.as_str()), ("Deployment", "u-1"));
    assert_eq!(pod.metadata.labels.as_ref().unwrap()["app"], "web");
    let again = serde_json::to_string(&world).unwrap();
    assert_eq!(self::world(&again).pods.len(), 2, "what was expanded is not expanded again");
}
