//! Whatever brings pods: workloads, and pods that none of the input's workloads brought.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{
    Affinity, Container, Pod, PodCondition, PodSpec, PodStatus, PodTemplateSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::world::is_twin;
use crate::defaults::Priorities;
use crate::defaults::requests::ContainerDefaults;
use crate::explain::sold_as;
use crate::pod::is_owned_by_node;
use crate::raise::Words;
use crate::snapshot::{Snapshot, Sourced};
use crate::workload::controller;

/// Namespace of the pods that stand for workloads.
const PROBE: &str = "lint";

/// Pods of one template.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Labels of its pods.
    pub labels: BTreeMap<String, String>,
    /// What its pods are, as they come from admission.
    pub spec: PodSpec,
    /// Path of that spec below the object.
    pub at: &'static str,
    /// How many pods there are at once.
    pub replicas: i64,
    /// Their priority.
    pub priority: i32,
    /// NodePools that take them, and whether they may be on spot there, and on anything else.
    pub takers: BTreeMap<String, (bool, bool)>,
}

impl Workload {
    /// `Kind namespace/name`.
    pub fn object(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }

    /// Every container that runs as long as the pod, with its path.
    pub fn containers(&self) -> impl Iterator<Item = (String, &Container)> {
        let row = |list: &str, i: usize| format!("{}.{list}[{i}]", self.at);
        let main = self.spec.containers.iter().enumerate();
        let init = self.spec.init_containers.iter().flatten().enumerate();
        let sidecars = init.filter(|(_, container)| crate::pod::is_sidecar(container));
        main.map(move |(i, container)| (row("containers", i), container))
            .chain(sidecars.map(move |(i, container)| (row("initContainers", i), container)))
    }
}

const TEMPLATE: &str = "spec.template.spec";

struct Reader<'a> {
    defaults: ContainerDefaults,
    priorities: Priorities,
    /// Kind, namespace and name of the workloads of the input.
    known: BTreeSet<(&'a str, &'a str, &'a str)>,
    list: Vec<Workload>,
}

fn name(metadata: &ObjectMeta) -> (&str, &str) {
    (
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}

/// Workloads of the input, by kind and name.
pub(super) fn workloads(snapshot: &Snapshot) -> Vec<Workload> {
    let mut reader = Reader {
        defaults: ContainerDefaults::of(snapshot),
        priorities: Priorities::of(snapshot),
        known: known(snapshot),
        list: Vec::new(),
    };
    for set in &snapshot.deployments {
        let Some(spec) = &set.spec else { continue };
        let count = spec.replicas.unwrap_or(1);
        reader.add("Deployment", &set.metadata, &spec.template, TEMPLATE, i64::from(count));
    }
    for set in &snapshot.stateful_sets {
        let Some(spec) = &set.spec else { continue };
        let count = spec.replicas.unwrap_or(1);
        reader.add("StatefulSet", &set.metadata, &spec.template, TEMPLATE, i64::from(count));
    }
    for set in &snapshot.replica_sets {
        let Some(spec) = &set.spec else { continue };
        let Some(template) = &spec.template else { continue };
        let count = spec.replicas.unwrap_or(1);
        reader.add("ReplicaSet", &set.metadata, template, TEMPLATE, i64::from(count));
    }
    for set in &snapshot.daemon_sets {
        let Some(spec) = &set.spec else { continue };
        reader.add("DaemonSet", &set.metadata, &spec.template, TEMPLATE, 1);
    }
    for job in &snapshot.jobs {
        let Some(spec) = &job.spec else { continue };
        let count = spec.parallelism.unwrap_or(1);
        reader.add("Job", &job.metadata, &spec.template, TEMPLATE, i64::from(count));
    }
    for cron in &snapshot.cron_jobs {
        let Some(spec) = &cron.spec.job_template.spec else { continue };
        let at = "spec.jobTemplate.spec.template.spec";
        let count = spec.parallelism.unwrap_or(1);
        reader.add("CronJob", &cron.metadata, &spec.template, at, i64::from(count));
    }
    reader.pods(snapshot);
    reader
        .list
        .sort_by(|a, b| (&a.kind, &a.namespace, &a.name).cmp(&(&b.kind, &b.namespace, &b.name)));
    reader.list
}

fn known(snapshot: &Snapshot) -> BTreeSet<(&str, &str, &str)> {
    let mut all = BTreeSet::new();
    macro_rules! note {
        ($($kind:literal $list:ident)+) => {
            $(all.extend(snapshot.$list.iter().map(|o| {
                let (namespace, name) = name(&o.object.metadata);
                ($kind, namespace, name)
            }));)+
        };
    }
    note!("Deployment" deployments "StatefulSet" stateful_sets "ReplicaSet" replica_sets
        "DaemonSet" daemon_sets "Job" jobs "CronJob" cron_jobs);
    all
}

impl Reader<'_> {
    /// True when the object's owner is a workload of the input, itself or by a child of it that
    /// the input does not have.
    fn is_owned(&self, metadata: &ObjectMeta) -> bool {
        let Some(owner) = controller(metadata) else { return false };
        let namespace = name(metadata).0;
        // `web-7d4b9c` is of Deployment `web`, whether or not the ReplicaSet is in the input.
        let made_from = owner.name.rsplit_once('-').map_or("", |(name, _)| name);
        let parent = match owner.kind.as_str() {
            "ReplicaSet" => "Deployment",
            "Job" => "CronJob",
            _ => "",
        };
        self.known.contains(&(owner.kind.as_str(), namespace, owner.name.as_str()))
            || self.known.contains(&(parent, namespace, made_from))
    }

    fn add(
        &mut self,
        kind: &'static str,
        metadata: &ObjectMeta,
        template: &PodTemplateSpec,
        at: &'static str,
        replicas: i64,
    ) {
        if self.is_owned(metadata) {
            return;
        }
        let (namespace, name) = name(metadata);
        let mut spec = template.spec.clone().unwrap_or_default();
        self.defaults.admit(namespace, &mut spec);
        let labels = template.metadata.as_ref().and_then(|m| m.labels.clone()).unwrap_or_default();
        let priority = self.priority(&spec);
        self.list.push(Workload {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            labels,
            spec,
            at,
            replicas,
            priority,
            takers: BTreeMap::new(),
        });
    }

    fn priority(&self, spec: &PodSpec) -> i32 {
        let class = spec.priority_class_name.as_deref().unwrap_or_default();
        spec.priority.or_else(|| self.priorities.of_class(class)).unwrap_or(0)
    }

    /// Pods that no workload of the input brought: those of one owner together.
    fn pods(&mut self, snapshot: &Snapshot) {
        let mut groups: BTreeMap<(String, String, String), (&Pod, i64)> = BTreeMap::new();
        for pod in &snapshot.pods {
            let pod = &pod.object;
            if crate::pod::is_terminal(pod) || is_owned_by_node(pod) || self.is_owned(&pod.metadata)
            {
                continue;
            }
            let (namespace, own) = name(&pod.metadata);
            let (kind, name) = match controller(&pod.metadata) {
                Some(owner) => (owner.kind.clone(), owner.name.clone()),
                None => ("Pod".to_owned(), own.to_owned()),
            };
            groups.entry((kind, namespace.to_owned(), name)).or_insert((pod, 0)).1 += 1;
        }
        for ((kind, namespace, name), (pod, replicas)) in groups {
            let spec = pod.spec.clone().unwrap_or_default();
            let at = if kind == "Pod" { "spec" } else { TEMPLATE };
            let labels = pod.metadata.labels.clone().unwrap_or_default();
            let (priority, takers) = (self.priority(&spec), BTreeMap::new());
            self.list.push(Workload {
                kind,
                namespace,
                name,
                labels,
                spec,
                at,
                replicas,
                priority,
                takers,
            });
        }
    }
}

/// One pending pod for each workload: what it asks of a node, and nothing that depends on other
/// pods or on volumes.
pub(super) fn probes(workloads: &[Workload]) -> Vec<Sourced<Pod>> {
    let of = |(i, workload): (usize, &Workload)| {
        let own = &workload.spec;
        // What asks for more than can be counted fits nowhere.
        crate::pod::requests_of(own, None).ok()?;
        let affinity = own.affinity.as_ref().and_then(|a| a.node_affinity.clone());
        let spec = PodSpec {
            containers: own.containers.clone(),
            init_containers: own.init_containers.clone(),
            resources: own.resources.clone(),
            overhead: own.overhead.clone(),
            node_selector: own.node_selector.clone(),
            tolerations: own.tolerations.clone(),
            affinity: affinity.map(|node_affinity| Affinity {
                node_affinity: Some(node_affinity),
                ..Affinity::default()
            }),
            ..PodSpec::default()
        };
        let pending = PodCondition {
            type_: "PodScheduled".to_owned(),
            status: "False".to_owned(),
            reason: Some("Unschedulable".to_owned()),
            ..PodCondition::default()
        };
        let pod = Pod {
            metadata: ObjectMeta {
                name: Some(i.to_string()),
                namespace: Some(PROBE.to_owned()),
                uid: Some(format!("{i:08}")),
                ..ObjectMeta::default()
            },
            spec: Some(spec),
            status: Some(PodStatus { conditions: Some(vec![pending]), ..PodStatus::default() }),
        };
        Some(Sourced::from(pod))
    };
    workloads.iter().enumerate().filter_map(of).collect()
}

/// Finds out which pools take each workload. `pods` are the pods of each class.
pub(super) fn takers(w: &Words<'_>, pods: &[Vec<String>], workloads: &mut [Workload]) {
    for (class, pods) in w.p.classes.iter().zip(pods) {
        let mut takers = BTreeMap::new();
        for (row, template) in w.p.templates.iter().enumerate() {
            let pool = w.pool(row as u32);
            if is_twin(pool) {
                continue;
            }
            let sold = sold_as(w, class, template);
            if sold != (false, false) {
                takers.insert(pool.to_owned(), sold);
            }
        }
        let rows = pods.iter().filter_map(|pod| pod.strip_prefix(PROBE)?.strip_prefix('/'));
        for row in rows.filter_map(|row| row.parse::<usize>().ok()) {
            if let Some(workload) = workloads.get_mut(row) {
                workload.takers = takers.clone();
            }
        }
    }
}
