//! Worlds with one thing changed, without reading the rest again.
//!
//! A change edits the objects as they were written and fills in anew what files may leave out, so
//! that the answer is the one of manifests edited by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::World;
use super::asked::{Asked, Text};
use super::refusal::Refusal;
use crate::quantity::{Rounding, parse_resource};
use crate::read::{ReadOptions, Source, completed, merge, read_raw, remove};
use crate::snapshot::Snapshot;
use crate::workload::{Named, is_of, named, template_of};

/// Requests of a container by resource: `{"cpu": "500m", "memory": "1Gi"}`.
pub type Requests = BTreeMap<String, String>;

impl World {
    /// With objects added, or in the place of those of the same kind and name: pools, classes,
    /// overlays, pods, anything that is read.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn with_objects(&self, source: &Source) -> Result<Self, Refusal> {
        let (more, _) = read_raw(std::slice::from_ref(source), &ReadOptions::default())?;
        let mut raw = Snapshot::clone(&self.raw);
        merge(&mut raw, more);
        self.completed(raw)
    }

    /// Without the NodePool of that name.
    ///
    /// # Errors
    /// A name that no NodePool has.
    pub fn without_pool(&self, name: &str) -> Result<Self, Refusal> {
        let names = self.raw.node_pools.iter().filter_map(|pool| pool.metadata.name.as_deref());
        known("pool", name, names)?;
        let mut raw = Snapshot::clone(&self.raw);
        remove(&mut raw, &format!("NodePool {name}"));
        self.completed(raw)
    }

    /// With a workload added, or in the place of the one of the same kind and name and of its
    /// pods; `replicas` counts instead of its own number.
    ///
    /// # Errors
    /// Everything that is wrong with the text; a text that holds no workload.
    pub fn with_workload(&self, source: &Source, replicas: Option<u32>) -> Result<Self, Refusal> {
        let (mut more, _) = read_raw(std::slice::from_ref(source), &ReadOptions::default())?;
        let found = named(&more);
        if found.is_empty() {
            let why = "the text holds no Deployment, StatefulSet, ReplicaSet, Job or CronJob";
            return Err(Refusal::usage("workload", &source.name, why));
        }
        if let Some(replicas) = replicas {
            crate::workload::set_replicas(&mut more, replicas);
        }
        let mut raw = Snapshot::clone(&self.raw);
        for workload in &found {
            forget_pods(&mut raw, workload);
        }
        merge(&mut raw, more);
        self.completed(raw)
    }

    /// Without a workload and its pods: `Deployment/shop/web`, `shop/web`, or `web` where one
    /// workload has that name.
    ///
    /// # Errors
    /// A name that means no workload, or several.
    pub fn without_workload(&self, name: &str) -> Result<Self, Refusal> {
        let workload = self.workload(name)?;
        let mut raw = Snapshot::clone(&self.raw);
        forget_pods(&mut raw, &workload);
        remove(&mut raw, &workload.object());
        self.completed(raw)
    }

    /// With other requests of a workload's pods that run nowhere yet, and of those made later.
    /// Without `container` a pod must have one only.
    ///
    /// # Errors
    /// A name that means no workload or container; a text that is no quantity.
    pub fn with_requests(
        &self,
        name: &str,
        requests: &Requests,
        container: Option<&str>,
    ) -> Result<Self, Refusal> {
        for (resource, text) in requests {
            if parse_resource(resource, text, Rounding::Up).is_err() {
                let why = format!("`{text}` is no quantity of {resource}");
                return Err(Refusal::usage(&format!("requests.{resource}"), text, why));
            }
        }
        let workload = self.workload(name)?;
        let mut raw = Snapshot::clone(&self.raw);
        if let Some(spec) = template_of(&mut raw, &workload) {
            set_requests(spec, requests, container)?;
        }
        let mut pods = std::mem::take(&mut raw.pods);
        let own = pods.iter_mut().filter(|pod| {
            crate::pod::node_name(pod).is_none() && is_of(&raw, &pod.object, &workload)
        });
        for pod in own {
            set_requests(pod.object.spec.get_or_insert_default(), requests, container)?;
        }
        raw.pods = pods;
        self.completed(raw)
    }

    /// With nothing to buy in a zone.
    pub fn without_zone(&self, zone: &str) -> Self {
        self.with_base(Asked { without_zones: vec![zone.to_owned()], ..Asked::default() })
    }

    /// With a price file.
    pub fn with_prices(&self, prices: Text) -> Self {
        self.with_base(Asked { prices: Some(prices), ..Asked::default() })
    }

    /// With options that hold for every question; those of a call come first.
    pub fn with_options(&self, asked: Asked) -> Self {
        self.with_base(asked)
    }

    fn with_base(&self, asked: Asked) -> Self {
        Self { base: self.base.with(&asked), ..self.clone() }
    }

    fn completed(&self, raw: Snapshot) -> Result<Self, Refusal> {
        let snapshot = completed(raw.clone(), Some(self.snapshot.now))?;
        Ok(Self { raw: Arc::new(raw), snapshot: Arc::new(snapshot), base: self.base.clone() })
    }

    fn workload(&self, name: &str) -> Result<Named, Refusal> {
        let mut all = named(&self.raw);
        let hits: Vec<usize> = (0..all.len()).filter(|&at| all[at].is_called(name)).collect();
        match hits[..] {
            [one] => Ok(all.swap_remove(one)),
            [] => {
                let names: Vec<String> = all.iter().map(Named::short).collect();
                known("workload", name, names.iter().map(String::as_str))?;
                // INVARIANT: a name that is known is a hit.
                unreachable!("`{name}` is known and means nothing")
            }
            _ => {
                let names: Vec<String> = hits.iter().map(|&at| all[at].full()).collect();
                let why = format!("`{name}` names several workloads: {}", names.join(", "));
                Err(Refusal::unknown("workload", name, why))
            }
        }
    }
}

fn known<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let all: BTreeSet<&str> = names.collect();
    if all.contains(name) {
        return Ok(());
    }
    let near = crate::nearest::hint(name, all);
    Err(Refusal::unknown(kind, name, format!("no {kind} is named `{name}`{near}")))
}

fn forget_pods(raw: &mut Snapshot, workload: &Named) {
    let mut pods = std::mem::take(&mut raw.pods);
    pods.retain(|pod: &crate::snapshot::Sourced<Pod>| !is_of(raw, &pod.object, workload));
    raw.pods = pods;
}

fn set_requests(
    spec: &mut PodSpec,
    requests: &Requests,
    container: Option<&str>,
) -> Result<(), Refusal> {
    let names: Vec<String> = spec.containers.iter().map(|own| own.name.clone()).collect();
    let own: &mut Container = match (container, &mut spec.containers[..]) {
        (None, [one]) => one,
        (None, _) => {
            let why = format!("the pods have several containers; name one of {}", names.join(", "));
            return Err(Refusal::usage("container", "", why));
        }
        (Some(name), all) => match all.iter_mut().find(|own| own.name == name) {
            Some(own) => own,
            None => {
                let why =
                    format!("no container is named `{name}`: use one of {}", names.join(", "));
                return Err(Refusal::unknown("container", name, why));
            }
        },
    };
    let all = own.resources.get_or_insert_default().requests.get_or_insert_default();
    for (resource, text) in requests {
        all.insert(resource.clone(), Quantity(text.clone()));
    }
    Ok(())
}
