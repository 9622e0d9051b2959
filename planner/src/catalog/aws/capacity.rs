//! Sizes of AWS nodes: capacity, and what is kept from pods, by the provider's formulas.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::facts::TypeFacts;
use super::settings::{AwsNodeSettings, Eviction};
use crate::quantity::{format_bytes, format_milli, format_units};

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// Pods on a family without a rule of its own.
const DEFAULT_PODS: i64 = 110;
/// Memory that Arm machines keep before EC2's figure is usable.
const ARM_RESERVE_MIB: i64 = 64;
/// Memory reserved per node and per pod.
const KUBE_MEMORY_BASE_MIB: i64 = 255;
const KUBE_MEMORY_PER_POD_MIB: i64 = 11;
const DEFAULT_EVICTION_MEMORY_MIB: i64 = 100;
/// Bands of CPU reserved: thousandths of a CPU up to which a share (in 1/10,000) holds.
const CPU_BANDS: [(i64, i64); 4] = [(1000, 600), (2000, 100), (4000, 50), (i64::MAX, 25)];

/// The sizes of one type as a node of the class.
pub(super) struct Sizes {
    memory_bytes: i64,
    disk_bytes: i64,
    pods: i64,
    kube_pods: i64,
}

impl Sizes {
    pub(super) fn of(facts: &TypeFacts, settings: &AwsNodeSettings) -> Self {
        let pods = pods(facts, settings);
        let by_eni = settings.ami_family.reserves_by_eni();
        Self {
            memory_bytes: memory_bytes(facts, settings.vm_memory_overhead_percent),
            disk_bytes: match facts.local_storage_gb.filter(|_| settings.has_raid0) {
                Some(gb) => gb * 1_000_000_000,
                None => settings.disk_bytes,
            },
            pods,
            kube_pods: if by_eni { eni_pods(facts, settings, 0) } else { pods },
        }
    }

    /// Capacity by resource name. What a type has none of is left out.
    pub(super) fn capacity(
        &self,
        facts: &TypeFacts,
        settings: &AwsNodeSettings,
    ) -> BTreeMap<String, Quantity> {
        let gpus = |maker: &str| {
            facts.gpu.as_ref().filter(|g| g.maker == maker).map_or(0, |g| g.count as i64)
        };
        let is_windows = settings.ami_family.windows_build().is_some() && facts.arch == "amd64";
        let addresses = if is_windows { facts.ipv4_per_eni - 1 } else { 0 };
        let mut all = BTreeMap::new();
        for (name, amount) in [
            ("pods", self.pods),
            ("nvidia.com/gpu", gpus("nvidia")),
            ("amd.com/gpu", gpus("amd")),
            ("habana.ai/gaudi", gpus("habana")),
            ("aws.amazon.com/neuron", facts.neuron_devices),
            ("aws.amazon.com/neuroncore", facts.neuron_cores),
            ("vpc.amazonaws.com/efa", efas(facts, settings)),
            ("vpc.amazonaws.com/pod-eni", facts.pod_eni),
            ("vpc.amazonaws.com/PrivateIPv4Address", addresses),
        ] {
            // Pods stay even at zero: a node without room for any is a fact worth seeing.
            if amount != 0 || name == "pods" {
                all.insert(name.to_owned(), Quantity(format_units(amount)));
            }
        }
        all.insert("cpu".to_owned(), Quantity(format_units(facts.vcpu)));
        all.insert("memory".to_owned(), Quantity(format_bytes(self.memory_bytes)));
        all.insert("ephemeral-storage".to_owned(), Quantity(format_bytes(self.disk_bytes)));
        all
    }

    /// Kube-reserved + system-reserved + eviction threshold.
    pub(super) fn overhead(
        &self,
        facts: &TypeFacts,
        settings: &AwsNodeSettings,
    ) -> BTreeMap<String, Quantity> {
        let kubelet = &settings.kubelet;
        let (kube, system) = (&kubelet.kube_reserved, &kubelet.system_reserved);
        let kube_memory = KUBE_MEMORY_PER_POD_MIB * self.kube_pods + KUBE_MEMORY_BASE_MIB;
        let sum = |parts: [i64; 3]| parts.into_iter().fold(0, i64::saturating_add);
        let cpu = sum([
            kube.cpu_milli.unwrap_or_else(|| kube_cpu_milli(facts.vcpu)),
            system.cpu_milli.unwrap_or(0),
            0,
        ]);
        let memory = sum([
            kube.memory_bytes.unwrap_or(kube_memory * MIB),
            system.memory_bytes.unwrap_or(0),
            match kubelet.eviction_memory {
                None => DEFAULT_EVICTION_MEMORY_MIB * MIB,
                Some(limit) => eviction_bytes(limit, self.memory_bytes),
            },
        ]);
        let disk = sum([
            kube.disk_bytes.unwrap_or(GIB),
            system.disk_bytes.unwrap_or(0),
            match kubelet.eviction_disk {
                None => eviction_bytes(Eviction::Percent(10.0), self.disk_bytes),
                Some(limit) => eviction_bytes(limit, self.disk_bytes),
            },
        ]);
        BTreeMap::from([
            ("cpu".to_owned(), Quantity(format_milli(cpu))),
            ("memory".to_owned(), Quantity(format_bytes(memory))),
            ("ephemeral-storage".to_owned(), Quantity(format_bytes(disk))),
        ])
    }
}

/// EC2's figure less what the hypervisor takes, in whole MiB. The share is a float because it
/// is one in the provider: the product must round as it does there.
fn memory_bytes(facts: &TypeFacts, overhead_percent: f64) -> i64 {
    let arm = if facts.arch == "arm64" { ARM_RESERVE_MIB } else { 0 };
    let usable = (facts.memory_mib - arm).max(0) * MIB;
    let overhead = (usable as f64 * overhead_percent / 1024.0 / 1024.0).ceil() as i64;
    usable.saturating_sub(overhead.saturating_mul(MIB)).max(0)
}

/// Pods that the VPC network can give addresses: those of the default card's interfaces,
/// less the interfaces kept for other use.
fn eni_pods(facts: &TypeFacts, settings: &AwsNodeSettings, reserved_enis: u32) -> i64 {
    let interfaces = settings.network_interfaces.as_deref().unwrap_or_default();
    let efa_only = interfaces.iter().filter(|i| i.is_efa_only && i.card == 0).count() as i64;
    match (facts.enis - i64::from(reserved_enis) - efa_only).max(0) {
        0 => 0,
        usable => usable * (facts.ipv4_per_eni - 1) + 2,
    }
}

fn pods(facts: &TypeFacts, settings: &AwsNodeSettings) -> i64 {
    let family = settings.ami_family;
    let count = match settings.kubelet.max_pods {
        Some(max) => i64::from(max),
        None if family.windows_build().is_some() => DEFAULT_PODS,
        None => eni_pods(facts, settings, settings.reserved_enis),
    };
    match settings.kubelet.pods_per_core {
        Some(each) if family != super::settings::AmiFamily::Bottlerocket => {
            count.min(i64::from(each) * facts.vcpu)
        }
        _ => count,
    }
}

/// What the class attaches if it lists interfaces, else all that the type has.
fn efas(facts: &TypeFacts, settings: &AwsNodeSettings) -> i64 {
    match &settings.network_interfaces {
        Some(interfaces) => interfaces.iter().filter(|i| i.is_efa_only).count() as i64,
        None => facts.efa_max,
    }
}

fn kube_cpu_milli(vcpu: i64) -> i64 {
    let (cpu, mut from, mut sum) = (vcpu * 1000, 0, 0);
    for (to, share) in CPU_BANDS {
        sum += (cpu.min(to) - from).max(0) * share / 10_000;
        from = to;
    }
    sum
}

fn eviction_bytes(limit: Eviction, capacity_bytes: i64) -> i64 {
    match limit {
        Eviction::Bytes(bytes) => bytes,
        Eviction::Percent(100.0) => 0,
        Eviction::Percent(percent) => (capacity_bytes as f64 / 100.0 * percent).ceil() as i64,
    }
}
