//! The kinds that are read, where they go, and what becomes of all others.

use std::borrow::Cow;

use dunnage_api::{AKSNodeClass, CapacityBuffer, EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{
    Container, LimitRange, Namespace, Node as K8sNode, PersistentVolume, PersistentVolumeClaim,
    Pod, PodSpec, PodTemplate, PodTemplateSpec,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;

use super::Reader;
use super::check::{Check, Issues};
use super::decode::decode;
use super::node::{Node, Value};
use super::unknown;
use crate::error::{ErrorCode, Origin, PlanError, quoted};
use crate::snapshot::{NodeClass, Snapshot, Sourced, full_name};

macro_rules! kinds {
    ($($kind:ident, $group:literal, $versions:expr, $scope:ident, $fields:expr;)+) => {
        /// A kind of object that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Kind { $($kind,)+ }

        const KINDS: &[Row] = &[
            $(Row {
                kind: Kind::$kind,
                name: stringify!($kind),
                group: $group,
                versions: &$versions,
                is_namespaced: Scope::$scope as u8 == Scope::Namespaced as u8,
                fields: &$fields,
            },)+
        ];
    };
}

enum Scope {
    Cluster,
    Namespaced,
}

struct Row {
    kind: Kind,
    name: &'static str,
    group: &'static str,
    versions: &'static [&'static str],
    is_namespaced: bool,
    /// Fields of a Snapshot that hold the kind.
    fields: &'static [&'static str],
}

kinds! {
    NodePool, "karpenter.sh", ["v1"], Cluster, ["nodePools"];
    NodeClaim, "karpenter.sh", ["v1"], Cluster, ["nodeClaims"];
    NodeOverlay, "karpenter.sh", ["v1alpha1"], Cluster, ["nodeOverlays"];
    CapacityBuffer, "autoscaling.x-k8s.io", ["v1beta1"], Namespaced, ["capacityBuffers"];
    EC2NodeClass, "karpenter.k8s.aws", ["v1"], Cluster, ["nodeClasses"];
    AKSNodeClass, "karpenter.azure.com", ["v1beta1", "v1alpha2"], Cluster, ["nodeClasses"];
    Node, "", ["v1"], Cluster, ["nodes"];
    Pod, "", ["v1"], Namespaced, ["pods"];
    DaemonSet, "apps", ["v1"], Namespaced, ["daemonSets"];
    Deployment, "apps", ["v1"], Namespaced, ["deployments"];
    StatefulSet, "apps", ["v1"], Namespaced, ["statefulSets"];
    ReplicaSet, "apps", ["v1"], Namespaced, ["replicaSets"];
    Job, "batch", ["v1"], Namespaced, ["jobs"];
    CronJob, "batch", ["v1"], Namespaced, ["cronJobs"];
    PodTemplate, "", ["v1"], Namespaced, ["podTemplates"];
    PersistentVolumeClaim, "", ["v1"], Namespaced, ["persistentVolumeClaims", "pvcs"];
    PersistentVolume, "", ["v1"], Cluster, ["persistentVolumes", "pvs"];
    StorageClass, "storage.k8s.io", ["v1"], Cluster, ["storageClasses"];
    CSINode, "storage.k8s.io", ["v1"], Cluster, ["csiNodes"];
    PodDisruptionBudget, "policy", ["v1"], Namespaced, ["podDisruptionBudgets", "pdbs"];
    PriorityClass, "scheduling.k8s.io", ["v1"], Cluster, ["priorityClasses"];
    Namespace, "", ["v1"], Cluster, ["namespaces"];
    LimitRange, "", ["v1"], Namespaced, ["limitRanges"];
}

/// Letters of an object's name as it is told. LIMIT: longer than any that is no nonsense.
const MAX_SHOWN_CHARS: usize = 600;

/// Kinds that a dump is full of and that may hold what nobody should keep.
const SILENT: [&str; 2] = ["Secret", "ConfigMap"];

/// Kinds of Karpenter before v1, and what took their place.
const REPLACED: [(&str, &str); 4] = [
    ("Provisioner", "NodePool (karpenter.sh/v1)"),
    ("Machine", "NodeClaim (karpenter.sh/v1)"),
    ("AWSNodeTemplate", "EC2NodeClass (karpenter.k8s.aws/v1)"),
    ("AKSNodeTemplate", "AKSNodeClass (karpenter.azure.com/v1beta1)"),
];

/// What the place of an object says about its kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// Kinds that may stand here; empty for any.
    kinds: Vec<&'static str>,
    /// What an object without `apiVersion` and `kind` of its own is.
    version_and_kind: Option<(String, String)>,
}

/// What the items of a typed list such as `PodList` are.
pub(super) fn of_list(list_kind: &str, version: Option<&str>) -> Expected {
    match (list_kind.strip_suffix("List"), version) {
        (Some(kind), Some(version)) if !kind.is_empty() => Expected {
            kinds: Vec::new(),
            version_and_kind: Some((version.to_owned(), kind.to_owned())),
        },
        _ => Expected::default(),
    }
}

/// The list that a field of a Snapshot is, by its name.
pub(super) fn of_field(field: &str) -> Option<(&'static str, Expected)> {
    let rows: Vec<&Row> = KINDS.iter().filter(|row| row.fields.contains(&field)).collect();
    let first = rows.first()?;
    let name = first.fields.iter().find(|name| **name == field)?;
    let kinds = rows.iter().map(|row| row.name).collect();
    let version_and_kind = match rows.as_slice() {
        [row] => Some((version_of(row), row.name.to_owned())),
        _ => None,
    };
    Some((name, Expected { kinds, version_and_kind }))
}

/// Fields of a Snapshot that hold objects.
pub(super) fn fields() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|row| row.fields.iter().copied())
}

impl Row {
    /// Kinds whose conditions are of the one common type, which insists on a time.
    fn has_strict_conditions(&self) -> bool {
        self.group.contains('.') && self.group != "storage.k8s.io" || self.group == "policy"
    }
}

fn version_of(row: &Row) -> String {
    match row.group {
        "" => row.versions[0].to_owned(),
        group => format!("{group}/{}", row.versions[0]),
    }
}

impl Reader<'_> {
    /// Reads one object, or one list inside a list.
    pub(super) fn object(&mut self, node: &Node<'_>, expected: &Expected, origin: &Origin) {
        if node.value == Value::Null {
            return;
        }
        if !matches!(node.value, Value::Map(_)) {
            let message = format!("must be an object, not {}", node.kind());
            return self.error(PlanError::new(ErrorCode::WrongType, origin.clone(), message));
        }
        let text = |name: &str| node.get(name).and_then(Node::text).filter(|t| !t.is_empty());
        let (version, kind) = (text("apiVersion"), text("kind"));
        let implied = expected.version_and_kind.as_ref();
        let Some(kind) = kind.or(implied.map(|(_, kind)| kind.as_str())) else {
            let message = "an object needs `apiVersion` and `kind`";
            return self.error(PlanError::new(ErrorCode::MissingKind, origin.clone(), message));
        };
        if !expected.kinds.is_empty() && !expected.kinds.contains(&kind) {
            let message = format!(
                "`{}` does not belong here; this list holds {}",
                quoted(kind),
                expected.kinds.join(", ")
            );
            let line = node.line_at("kind");
            let error = PlanError::at(
                ErrorCode::WrongKind,
                Origin { line, ..origin.clone() },
                "kind",
                message,
            );
            return self.error(error.with_value(kind));
        }
        if kind.ends_with("List")
            && let Some(Node { value: Value::List(items), .. }) = node.get("items")
        {
            let inner = of_list(kind, version);
            for item in items {
                let origin = Origin { line: item.line, ..origin.clone() };
                self.object(item, &inner, &origin);
            }
            return;
        }
        let is_implied = implied.is_some_and(|(_, k)| k == kind);
        let version = version.or(implied.filter(|_| is_implied).map(|(v, _)| v.as_str()));
        self.object = self.is_strict.then(|| shown_name(node, kind));
        self.object_of(node, version, kind, origin);
        self.object = None;
    }

    fn object_of(&mut self, node: &Node<'_>, version: Option<&str>, kind: &str, origin: &Origin) {
        let at_version = || Origin { line: node.line_at("apiVersion"), ..origin.clone() };
        let row = KINDS.iter().find(|row| row.name == kind);
        let Some(version) = version else {
            if row.is_none() {
                return self.ignore(kind, kind);
            }
            let message = format!(
                "`{kind}` needs an apiVersion, such as `{}`",
                row.map(version_of).unwrap_or_default()
            );
            return self.error(PlanError::at(
                ErrorCode::MissingKind,
                origin.clone(),
                "apiVersion",
                message,
            ));
        };
        let (group, short) = version.rsplit_once('/').unwrap_or(("", version));
        if let Some((_, new)) =
            REPLACED.iter().find(|(old, _)| *old == kind && group.starts_with("karpenter"))
        {
            let message = format!("`{kind}` is of Karpenter before v1; convert it to {new}");
            let error = PlanError::at(ErrorCode::UnsupportedVersion, at_version(), "kind", message);
            return self.error(error.with_value(kind));
        }
        let Some(row) = row.filter(|row| row.group == group) else {
            return self.ignore(kind, &format!("{kind} ({})", quoted(version)));
        };
        if !row.versions.contains(&short) {
            let message = format!(
                "`{}` of {kind} is not read; convert the object to `{}`",
                quoted(version),
                version_of(row)
            );
            let error =
                PlanError::at(ErrorCode::UnsupportedVersion, at_version(), "apiVersion", message);
            return self.error(error.with_value(version));
        }
        self.keep_kind(row, node, origin);
    }

    fn ignore(&mut self, kind: &str, shown: &str) {
        if !SILENT.contains(&kind) {
            *self.ignored.entry(shown.to_owned()).or_default() += 1;
        }
    }

    fn keep_kind(&mut self, row: &Row, node: &Node<'_>, origin: &Origin) {
        macro_rules! keep {
            ($type:ty, $list:ident) => {
                self.keep::<$type>(row, node, origin, |o| &mut o.metadata, |s, o| s.$list.push(o))
            };
            ($type:ty, $list:ident, $trim:expr) => {
                self.keep::<$type>(
                    row,
                    node,
                    origin,
                    |o| &mut o.metadata,
                    |s, mut o| {
                        $trim(&mut o);
                        s.$list.push(o);
                    },
                )
            };
        }
        match row.kind {
            Kind::NodePool => keep!(NodePool, node_pools),
            Kind::NodeClaim => keep!(NodeClaim, node_claims),
            Kind::NodeOverlay => keep!(NodeOverlay, node_overlays),
            Kind::CapacityBuffer => keep!(CapacityBuffer, capacity_buffers),
            Kind::EC2NodeClass => self.keep::<EC2NodeClass>(
                row,
                node,
                origin,
                |o| &mut o.metadata,
                |s, o| {
                    let object = NodeClass::Ec2(Box::new(o.object));
                    s.node_classes.push(Sourced { object, origin: o.origin });
                },
            ),
            Kind::AKSNodeClass => self.keep::<AKSNodeClass>(
                row,
                node,
                origin,
                |o| &mut o.metadata,
                |s, o| {
                    let object = NodeClass::Aks(Box::new(o.object));
                    s.node_classes.push(Sourced { object, origin: o.origin });
                },
            ),
            Kind::Node => keep!(K8sNode, nodes),
            Kind::Pod => keep!(Pod, pods, trim_pod),
            Kind::DaemonSet => {
                keep!(DaemonSet, daemon_sets, |o: &mut Sourced<DaemonSet>| trim_template(
                    o.spec.as_mut().map(|s| &mut s.template)
                ))
            }
            Kind::Deployment => {
                keep!(Deployment, deployments, |o: &mut Sourced<Deployment>| trim_template(
                    o.spec.as_mut().map(|s| &mut s.template)
                ))
            }
            Kind::StatefulSet => {
                keep!(StatefulSet, stateful_sets, |o: &mut Sourced<StatefulSet>| trim_template(
                    o.spec.as_mut().map(|s| &mut s.template)
                ))
            }
            Kind::ReplicaSet => {
                keep!(ReplicaSet, replica_sets, |o: &mut Sourced<ReplicaSet>| trim_template(
                    o.spec.as_mut().and_then(|s| s.template.as_mut())
                ))
            }
            Kind::Job => keep!(Job, jobs, |o: &mut Sourced<Job>| trim_template(
                o.spec.as_mut().map(|s| &mut s.template)
            )),
            Kind::CronJob => keep!(CronJob, cron_jobs, |o: &mut Sourced<CronJob>| trim_template(
                o.spec.job_template.spec.as_mut().map(|s| &mut s.template)
            )),
            Kind::PodTemplate => {
                keep!(PodTemplate, pod_templates, |o: &mut Sourced<PodTemplate>| trim_template(
                    o.template.as_mut()
                ))
            }
            Kind::PersistentVolumeClaim => keep!(PersistentVolumeClaim, persistent_volume_claims),
            Kind::PersistentVolume => keep!(PersistentVolume, persistent_volumes),
            Kind::StorageClass => keep!(StorageClass, storage_classes),
            Kind::CSINode => keep!(CSINode, csi_nodes),
            Kind::PodDisruptionBudget => keep!(PodDisruptionBudget, pod_disruption_budgets),
            Kind::PriorityClass => keep!(PriorityClass, priority_classes),
            Kind::Namespace => keep!(Namespace, namespaces),
            Kind::LimitRange => keep!(LimitRange, limit_ranges),
        }
    }

    fn keep<T: DeserializeOwned + Check>(
        &mut self,
        row: &Row,
        node: &Node<'_>,
        origin: &Origin,
        metadata: fn(&mut T) -> &mut ObjectMeta,
        push: fn(&mut Snapshot, Sourced<T>),
    ) {
        let completed =
            if row.has_strict_conditions() { complete(node) } else { Cow::Borrowed(node) };
        let mut object: T = match decode(&completed) {
            Ok(object) => object,
            Err(error) => return self.decode_error(error, origin, ""),
        };
        let mut issues = Issues::default();
        object.check(&mut issues);
        if !self.issues(issues, node, origin) || !self.verdict(row.kind, node, origin) {
            return;
        }
        let meta = metadata(&mut object);
        trim_metadata(meta);
        if !row.is_namespaced {
            meta.namespace = None;
        } else if meta.namespace.as_deref().unwrap_or_default().is_empty() {
            meta.namespace = Some("default".to_owned());
        }
        let name = full_name(meta);
        if let Some(first) = self.seen.get(&(row.kind, name.clone())) {
            let message = format!(
                "{} {name} was already given at {}; remove one of them",
                row.name,
                first.place()
            );
            let here = Origin { line: node.line_at("metadata.name"), ..origin.clone() };
            let error = PlanError::at(ErrorCode::DuplicateObject, here, "metadata.name", message);
            return self.error(error.with_value(&name));
        }
        unknown::note(&mut self.unknown, row.name, node, &name);
        self.seen.insert((row.kind, name), origin.clone());
        push(&mut self.snapshot, Sourced { object, origin: origin.clone() });
    }
}

/// `Kind namespace/name` of an object as written, whatever else is wrong with it.
fn shown_name(node: &Node<'_>, kind: &str) -> String {
    let field = |name: &str| node.get("metadata").and_then(|m| m.get(name)).and_then(Node::text);
    let name = field("name").filter(|name| !name.is_empty()).unwrap_or("without a name");
    let is_namespaced = KINDS.iter().any(|row| row.name == kind && row.is_namespaced);
    let namespace = field("namespace").filter(|name| !name.is_empty()).unwrap_or("default");
    let shown = match is_namespaced {
        true => format!("{kind} {namespace}/{name}"),
        false => format!("{kind} {name}"),
    };
    let letters = shown.chars().take(MAX_SHOWN_CHARS);
    letters.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Conditions as files write them may lack the time that their type insists on; it is then
/// long ago.
fn complete<'n, 'a>(node: &'n Node<'a>) -> Cow<'n, Node<'a>> {
    let lacks_time = |condition: &Node<'a>| {
        matches!(condition.value, Value::Map(_))
            && condition.get("lastTransitionTime").is_none_or(|t| t.value == Value::Null)
    };
    let conditions = node.get("status").and_then(|status| status.get("conditions"));
    let is_complete = match conditions.map(|c| &c.value) {
        Some(Value::List(items)) => !items.iter().any(lacks_time),
        _ => true,
    };
    if is_complete {
        return Cow::Borrowed(node);
    }
    let mut node = node.clone();
    let status = field_mut(&mut node, "status").and_then(|s| field_mut(s, "conditions"));
    if let Some(Node { value: Value::List(items), .. }) = status {
        for condition in items.iter_mut().filter(|c| lacks_time(c)) {
            let line = condition.line;
            if let Value::Map(fields) = &mut condition.value {
                fields.retain(|(key, _)| key != "lastTransitionTime");
                let value = Value::Text("1970-01-01T00:00:00Z".into());
                fields.push(("lastTransitionTime".into(), Node { line, value }));
            }
        }
    }
    Cow::Owned(node)
}

fn field_mut<'n, 'a>(node: &'n mut Node<'a>, name: &str) -> Option<&'n mut Node<'a>> {
    match &mut node.value {
        Value::Map(fields) => fields.iter_mut().find(|(key, _)| key == name).map(|(_, v)| v),
        _ => None,
    }
}

/// Drops what no decision reads and every dump is full of.
fn trim_metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    if let Some(annotations) = &mut metadata.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Drops what may hold secrets and what no decision reads, so that a Snapshot can be passed on.
fn trim_pod(pod: &mut Pod) {
    trim_spec(pod.spec.as_mut());
}

/// The same in the template of a workload, whose pods stand in the Snapshot too.
fn trim_template(template: Option<&mut PodTemplateSpec>) {
    trim_spec(template.and_then(|t| t.spec.as_mut()));
}

fn trim_spec(spec: Option<&mut PodSpec>) {
    let Some(spec) = spec else { return };
    let trim = |container: &mut Container| {
        container.env = None;
        container.env_from = None;
        container.command = None;
        container.args = None;
        container.lifecycle = None;
        container.liveness_probe = None;
        container.readiness_probe = None;
        container.startup_probe = None;
    };
    spec.containers.iter_mut().for_each(trim);
    spec.init_containers.iter_mut().flatten().for_each(trim);
    spec.ephemeral_containers = None;
}
