//! Sizes of Azure nodes: capacity, and what is kept from pods, by the provider's formulas.
//!
//! The shares are floats as in the provider, because its results are cut, not rounded: an
//! exact fraction would differ by a thousandth of a CPU here and there.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::facts::SizeFacts;
use super::settings::AzureNodeSettings;
use crate::quantity::{format_bytes, format_milli, format_units};

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;
const EVICTION_MEMORY_MIB: i64 = 750;

/// Share of each further vCPU, up to the given number of them.
const CPU_BANDS: [(f64, f64); 4] = [(1.0, 0.06), (2.0, 0.04), (4.0, 0.02), (f64::MAX, 0.01)];
/// Share of each further GiB, up to the given number of them.
const MEMORY_BANDS: [(f64, f64); 5] =
    [(4.0, 0.25), (8.0, 0.20), (16.0, 0.10), (128.0, 0.06), (f64::MAX, 0.02)];

fn banded(amount: f64, bands: &[(f64, f64)]) -> f64 {
    let (mut from, mut sum) = (0.0, 0.0);
    for &(to, share) in bands {
        if from > amount {
            break;
        }
        let upper = if to > amount { amount } else { to };
        sum += (upper - from) * share;
        from = to;
    }
    sum
}

/// Whole GiB less what the hypervisor takes, to the byte.
fn memory_bytes(memory_mib: i64, overhead_percent: f64) -> i64 {
    let whole = memory_mib / 1024 * GIB;
    whole.saturating_sub((whole as f64 * overhead_percent).ceil() as i64).max(0)
}

/// Capacity by resource name. What a size has none of is left out.
pub(super) fn capacity(
    facts: &SizeFacts,
    settings: &AzureNodeSettings,
) -> BTreeMap<String, Quantity> {
    let pods = settings.max_pods.map_or(settings.network_plugin.pods(), i64::from);
    let memory = memory_bytes(facts.memory_mib, settings.vm_memory_overhead_percent);
    let disk = i64::from(settings.os_disk_gb) * 1_000_000_000;
    let mut all = BTreeMap::from([
        ("cpu".to_owned(), Quantity(format_units(facts.vcpus))),
        ("memory".to_owned(), Quantity(format_bytes(memory))),
        ("ephemeral-storage".to_owned(), Quantity(format_bytes(disk))),
        ("pods".to_owned(), Quantity(format_units(pods))),
    ]);
    if let Some(gpu) = facts.gpu.filter(|_| facts.gpus > 0) {
        all.insert(format!("{}.com/gpu", gpu.maker), Quantity(format_units(facts.gpus)));
    }
    all
}

/// Kube-reserved + eviction threshold; AKS reserves nothing for the system.
pub(super) fn overhead(facts: &SizeFacts) -> BTreeMap<String, Quantity> {
    let cpu = (1000.0 * banded(facts.vcpus as f64, &CPU_BANDS)) as i64;
    let memory = (1024.0 * banded(facts.memory_mib as f64 / 1024.0, &MEMORY_BANDS)) as i64;
    let memory = (memory + EVICTION_MEMORY_MIB) * MIB;
    BTreeMap::from([
        ("cpu".to_owned(), Quantity(format_milli(cpu))),
        ("memory".to_owned(), Quantity(format_bytes(memory))),
    ])
}
