//! Volumes of pods: where they force a pod to be, whether they are usable at all, and which
//! driver attaches them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dunnage_api::labels::{BIND_COMPLETED, HOSTNAME};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};

use super::dialect::{Dialect, Refusal};
use super::needs::{Need, Needs};
use super::rules::namespace_of;
use crate::snapshot::Snapshot;

/// Most alternatives that a pod's volumes may multiply to. LIMIT: the engine tries each on
/// each node; ten volumes in three zones each would be 59,049.
pub const MAX_ALTERNATIVES: usize = 64;

/// In-tree drivers and the CSI drivers that serve their volumes now.
const MIGRATED: [(&str, &str); 6] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
];

/// A claim by namespace and name.
pub type ClaimName = (String, String);

/// What the volumes of a pod mean for its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodVolumes {
    /// Any of these must hold for the node; empty for no restriction.
    pub alternatives: Vec<Needs>,
    /// Claims that count against a driver's limit: driver, claim.
    pub attached: Vec<(String, ClaimName)>,
}

/// The storage objects of a Snapshot by name.
#[derive(Debug)]
pub struct Storage<'a> {
    dialect: &'a Dialect,
    claims: HashMap<(&'a str, &'a str), &'a PersistentVolumeClaim>,
    volumes: HashMap<&'a str, &'a PersistentVolume>,
    classes: HashMap<&'a str, &'a StorageClass>,
    csi_nodes: HashMap<&'a str, &'a CSINode>,
    /// Drivers with a limit on some node.
    limited: BTreeSet<&'a str>,
}

impl<'a> Storage<'a> {
    /// The storage objects of the Snapshot.
    pub fn of(snapshot: &'a Snapshot, dialect: &'a Dialect) -> Self {
        let name = |name: &'a Option<String>| name.as_deref().unwrap_or_default();
        let claims = snapshot.persistent_volume_claims.iter().map(|c| {
            let namespace = c.metadata.namespace.as_deref().unwrap_or("default");
            ((namespace, name(&c.metadata.name)), &c.object)
        });
        let volumes = &snapshot.persistent_volumes;
        let csi_nodes: HashMap<_, _> =
            snapshot.csi_nodes.iter().map(|n| (name(&n.metadata.name), &n.object)).collect();
        let limited = snapshot
            .csi_nodes
            .iter()
            .flat_map(|node| &node.spec.drivers)
            .filter(|driver| driver.allocatable.as_ref().is_some_and(|a| a.count.is_some()))
            .map(|driver| driver.name.as_str())
            .collect();
        Self {
            dialect,
            claims: claims.collect(),
            volumes: volumes.iter().map(|v| (name(&v.metadata.name), &v.object)).collect(),
            classes: snapshot
                .storage_classes
                .iter()
                .map(|c| (name(&c.metadata.name), &c.object))
                .collect(),
            csi_nodes,
            limited,
        }
    }

    /// Names of the claims that a pod uses; other volumes do not matter.
    pub fn claim_names(pod: &Pod) -> Vec<ClaimName> {
        let pod_name = pod.metadata.name.as_deref().unwrap_or_default();
        let volumes = pod.spec.as_ref().and_then(|s| s.volumes.as_ref());
        let names = volumes.into_iter().flatten().filter_map(|volume| {
            match (&volume.persistent_volume_claim, &volume.ephemeral) {
                (Some(claim), _) => Some(claim.claim_name.clone()),
                (None, Some(_)) => Some(format!("{pod_name}-{}", volume.name)),
                (None, None) => None,
            }
        });
        names.map(|name| (namespace_of(pod).to_owned(), name)).collect()
    }

    /// What the pod's volumes mean, or why it has to wait for them.
    pub fn read(&self, names: &[ClaimName]) -> Result<PodVolumes, Refusal> {
        let mut alternatives: Vec<Needs> = Vec::new();
        let mut attached = BTreeSet::new();
        for name in names {
            let claim = self.usable(name)?;
            if let Some(driver) = self.driver(claim)
                && self.limited.contains(driver.as_str())
            {
                attached.insert((driver, name.clone()));
            }
            let own = self.alternatives(claim);
            alternatives = cross(alternatives, own);
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(Refusal {
                code: "tooManyVolumePlaces",
                message: format!(
                    "the pod's volumes allow {} combinations of places and {MAX_ALTERNATIVES} \
                     are considered: bind the claims, or use fewer topologies",
                    alternatives.len()
                ),
            });
        }
        Ok(PodVolumes { alternatives, attached: attached.into_iter().collect() })
    }

    /// The claim, when a pod that uses it can be scheduled.
    fn usable(&self, name: &ClaimName) -> Result<&'a PersistentVolumeClaim, Refusal> {
        let refuse = |code, message: String| Err(Refusal { code, message });
        let title = format!("volume claim `{}/{}`", name.0, name.1);
        let Some(claim) = self.claims.get(&(name.0.as_str(), name.1.as_str())) else {
            return refuse("claimNotFound", format!("{title} does not exist: create it"));
        };
        if claim.metadata.deletion_timestamp.is_some() {
            return refuse(
                "claimBeingDeleted",
                format!("{title} is being deleted: let the pod use another claim"),
            );
        }
        let phase = claim.status.as_ref().and_then(|s| s.phase.as_deref());
        if phase == Some("Lost") {
            return refuse(
                "claimLost",
                format!("{title} is bound to a volume that is gone: create the claim anew"),
            );
        }
        match volume_name(claim) {
            Some(volume) => self.check_bound(claim, volume, &title)?,
            None => self.check_unbound(claim, &title)?,
        }
        Ok(claim)
    }

    fn check_bound(
        &self,
        claim: &PersistentVolumeClaim,
        volume: &str,
        title: &str,
    ) -> Result<(), Refusal> {
        let refuse = |code, message: String| Err(Refusal { code, message });
        match self.volumes.get(volume) {
            None => refuse(
                "volumeNotFound",
                format!(
                    "{title} names volume `{volume}`, which does not exist: restore it, or \
                         create the claim anew"
                ),
            ),
            Some(pv) if pv.metadata.deletion_timestamp.is_some() => refuse(
                "volumeBeingDeleted",
                format!("volume `{volume}` of {title} is being deleted: create the claim anew"),
            ),
            Some(_) => {
                let annotations = claim.metadata.annotations.as_ref();
                if annotations.is_some_and(|a| a.contains_key(BIND_COMPLETED)) {
                    return Ok(());
                }
                refuse(
                    "claimNotBoundYet",
                    format!(
                        "{title} names volume `{volume}` but is not bound to it yet \
                             (annotation `{BIND_COMPLETED}`): wait for the volume controller"
                    ),
                )
            }
        }
    }

    fn check_unbound(&self, claim: &PersistentVolumeClaim, title: &str) -> Result<(), Refusal> {
        let refuse = |code, message: String| Err(Refusal { code, message });
        let Some(name) = class_name(claim) else {
            return refuse(
                "noStorageClass",
                format!("{title} is not bound and names no storage class: name one"),
            );
        };
        let Some(class) = self.classes.get(name) else {
            return refuse(
                "storageClassNotFound",
                format!(
                    "storage class `{name}` of {title} does not exist: create it, or name \
                         another"
                ),
            );
        };
        // The API server's default mode is Immediate.
        if class.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer") {
            return refuse(
                "claimNotBoundYet",
                format!(
                    "{title} is not bound, and storage class `{name}` binds at once: wait \
                         for the volume, or use volumeBindingMode WaitForFirstConsumer"
                ),
            );
        }
        Ok(())
    }

    fn alternatives(&self, claim: &PersistentVolumeClaim) -> Vec<Needs> {
        if let Some(name) = volume_name(claim) {
            return self.volumes.get(name).map_or_else(Vec::new, |pv| self.places(pv));
        }
        let class = class_name(claim).and_then(|name| self.classes.get(name));
        let topologies = class.and_then(|c| c.allowed_topologies.as_ref());
        let term = |term: &k8s_openapi::api::core::v1::TopologySelectorTerm| {
            let mut needs = Needs::default();
            for e in term.match_label_expressions.iter().flatten() {
                needs.add(self.dialect.normalized(&e.key), Need::one_of(&e.values));
            }
            needs
        };
        topologies.into_iter().flatten().map(term).collect()
    }

    fn places(&self, pv: &PersistentVolume) -> Vec<Needs> {
        let Some(spec) = &pv.spec else { return Vec::new() };
        let is_local = spec.local.is_some() || spec.host_path.is_some();
        let required = spec.node_affinity.as_ref().and_then(|a| a.required.as_ref());
        let terms = required.map_or(&[][..], |r| &r.node_selector_terms);
        terms
            .iter()
            .map(|term| {
                let mut needs = self.dialect.needs(term.match_expressions.as_ref());
                // A local volume's node is gone with it: the pod may start anew elsewhere.
                if is_local {
                    needs.0.remove(HOSTNAME);
                }
                needs
            })
            .collect()
    }

    /// Driver that attaches the claim's volume, when that is known.
    fn driver(&self, claim: &PersistentVolumeClaim) -> Option<String> {
        if let Some(name) = volume_name(claim) {
            let spec = self.volumes.get(name)?.spec.as_ref()?;
            return match (&spec.csi, &spec.aws_elastic_block_store) {
                (Some(csi), _) => Some(csi.driver.clone()),
                (None, Some(_)) => Some("ebs.csi.aws.com".to_owned()),
                (None, None) => None,
            };
        }
        let provisioner = &self.classes.get(class_name(claim)?)?.provisioner;
        let migrated = MIGRATED.iter().find(|(old, _)| old == provisioner);
        Some(migrated.map_or(provisioner.as_str(), |(_, new)| new).to_owned())
    }

    /// Claims of a bound pod that count against limits: driver, claim. Claims that do not
    /// exist do not count.
    pub fn attached(&self, names: &[ClaimName]) -> BTreeSet<(String, ClaimName)> {
        let of = |name: &ClaimName| {
            let claim = self.claims.get(&(name.0.as_str(), name.1.as_str()))?;
            let driver = self.driver(claim)?;
            self.limited.contains(driver.as_str()).then(|| (driver, name.clone()))
        };
        names.iter().filter_map(of).collect()
    }

    /// Limits of a node by driver.
    pub fn limits(&self, node: &str) -> BTreeMap<&'a str, u32> {
        let drivers = self.csi_nodes.get(node).map_or(&[][..], |n| &n.spec.drivers);
        drivers
            .iter()
            .filter_map(|driver| {
                let count = driver.allocatable.as_ref()?.count?;
                Some((driver.name.as_str(), u32::try_from(count).unwrap_or(0)))
            })
            .collect()
    }

    /// Drivers with a limit somewhere, ascending.
    pub fn drivers(&self) -> Vec<&'a str> {
        self.limited.iter().copied().collect()
    }
}

fn volume_name(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.as_ref()?.volume_name.as_deref().filter(|name| !name.is_empty())
}

fn class_name(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.as_ref()?.storage_class_name.as_deref().filter(|name| !name.is_empty())
}

/// Every combination of one alternative of each volume. Contradictory ones are dropped, unless
/// all are: then they stay, so that the pod fails with an ordinary reason.
fn cross(left: Vec<Needs>, right: Vec<Needs>) -> Vec<Needs> {
    if left.is_empty() || right.is_empty() {
        return if left.is_empty() { right } else { left };
    }
    let mut all = Vec::new();
    let mut agreeing = Vec::new();
    for a in &left {
        for b in &right {
            let mut merged = a.clone();
            merged.add_all(b);
            if a.agrees_with(b) && !agreeing.contains(&merged) {
                agreeing.push(merged.clone());
            }
            all.push(merged);
            if all.len() > MAX_ALTERNATIVES * MAX_ALTERNATIVES {
                return all;
            }
        }
    }
    if agreeing.is_empty() { all } else { agreeing }
}
