//! Azure: worked sizes, which sizes are left out and why, labels of both domains, offerings.

use dunnage_planner::catalog::azure::{self, AzureNodeSettings, NetworkPlugin, OsDisk, Placement};
use dunnage_planner::catalog::{self, NodeSettings, Region};
use dunnage_planner::instance_type::{InstanceType, PriceSource};
use serde_json::{Value, json};

use crate::{amounts, default_types, label};

const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;

fn types_of(spec: Value) -> Vec<InstanceType> {
    let class = json!({"kind": "AKSNodeClass", "spec": spec});
    let settings = NodeSettings::from_node_class(&class).expect("a valid class");
    catalog::instance_types(Region::EastUs, &settings).expect("valid settings")
}

fn find<'a>(types: &'a [InstanceType], name: &str) -> Option<&'a InstanceType> {
    types.iter().find(|t| t.name == name)
}

fn one_label(one: &InstanceType, key: &str) -> String {
    label(one, key).map_or("-".to_owned(), |values| values.join(","))
}

#[test]
fn worked_sizes() {
    let types = default_types(Region::EastUs);
    // size, vCPUs, GiB, reserved CPU in thousandths, reserved memory in MiB.
    for (name, cpu, gib, kept_cpu, kept_memory) in [
        ("Standard_D2s_v5", 2, 8, 100, 1843),
        ("Standard_D4s_v5", 4, 16, 140, 2662),
        ("Standard_D8s_v5", 8, 32, 180, 3645),
        ("Standard_E16s_v5", 16, 128, 260, 9543),
        ("Standard_D64s_v5", 64, 256, 740, 12165),
    ] {
        let one = find(&types, name).unwrap_or_else(|| panic!("{name} is offered"));
        let (capacity, overhead) = amounts(one);
        assert_eq!(capacity["cpu"], cpu * 1000, "{name}");
        let whole = gib * GIB;
        let want = whole - (whole as f64 * 0.075).ceil() as i64;
        assert_eq!(capacity["memory"], want, "{name}");
        assert_eq!(capacity["ephemeral-storage"], 128_000_000_000, "{name}");
        assert_eq!(capacity["pods"], 250, "{name}");
        assert_eq!(overhead["cpu"], kept_cpu, "{name}");
        assert_eq!(overhead["memory"], (kept_memory + 750) * MIB, "{name}");
        assert!(!overhead.contains_key("ephemeral-storage"));
    }
}

#[test]
fn the_class_decides_disk_and_pods() {
    let types = types_of(json!({"osDiskSizeGB": 60, "maxPods": 30}));
    let (capacity, _) = amounts(find(&types, "Standard_D4s_v5").expect("offered"));
    assert_eq!((capacity["ephemeral-storage"], capacity["pods"]), (60_000_000_000, 30));
    for (plugin, pods) in [
        (NetworkPlugin::AzureOverlay, 250),
        (NetworkPlugin::AzureNodeSubnet, 30),
        (NetworkPlugin::None, 250),
        (NetworkPlugin::Other, 110),
    ] {
        let settings = AzureNodeSettings { network_plugin: plugin, ..Default::default() };
        let types = azure::instance_types(Region::EastUs, &settings, |n| n == "Standard_D4s_v5");
        assert_eq!(amounts(&types.expect("valid settings")[0]).0["pods"], pods);
    }
}

#[test]
fn sizes_that_aks_does_not_take_are_left_out() {
    for region in [Region::EastUs, Region::WestEurope] {
        let types = default_types(region);
        for name in [
            "Standard_B1ms",        // refused by name, one vCPU
            "Standard_E64i_v3",     // refused by name
            "Standard_D1_v2",       // one vCPU
            "Standard_B2ts_v2",     // 1 GiB
            "Standard_NV16as_v4",   // GPU without support
            "Standard_M8-2ms",      // constrained vCPUs
            "Standard_DC8s_v3",     // confidential
            "Standard_EC8as_v5",    // confidential
            "Standard_D2_v2_Promo", // name cannot be taken apart
            "Standard_M176ds_3_v3", // likewise
            "Standard_D2ds_v7",     // no source names its size
        ] {
            assert!(find(&types, name).is_none(), "{name} in {}", region.name());
        }
        assert!(find(&types, "Standard_D2s_v3").is_some());
    }
}

#[test]
fn the_class_filters_sizes() {
    let has = |spec: Value, name: &str| find(&types_of(spec), name).is_some();
    let (old, new) = ("Standard_D2_v3", "Standard_D2s_v5");
    assert!(has(json!({}), old) && has(json!({}), new));
    let host = json!({"security": {"encryptionAtHost": true}});
    assert!(!has(host.clone(), old) && has(host, new));
    for key in ["vtpm", "secureBoot"] {
        let trusted = json!({"security": {"trustedLaunch": {key: true}}});
        assert!(!has(trusted.clone(), old) && has(trusted.clone(), new));
        assert!(!has(trusted, "Standard_D16plds_v5"), "Azure says that it is off there");
    }
    let streaming = json!({"artifactStreaming": {"enabled": true}});
    assert!(!has(streaming.clone(), "Standard_D4pls_v6") && has(streaming, new));
    let dns = json!({"localDNS": {"mode": "Required"}});
    assert!(!has(dns.clone(), new) && has(dns, "Standard_D4s_v5"));
    assert!(has(json!({"localDNS": {"mode": "Preferred"}}), new));
    // A10 has drivers on Ubuntu only, T4 on both.
    let linux = json!({"imageFamily": "AzureLinux"});
    assert!(has(json!({}), "Standard_NV6ads_A10_v5"));
    assert!(!has(linux.clone(), "Standard_NV6ads_A10_v5"));
    assert!(has(linux, "Standard_NC4as_T4_v3"));
    assert!(!has(json!({}), "Standard_NV4ads_V710_v5"), "AKS installs no driver for AMD");
    assert!(has(json!({"gpu": {"mode": "None"}}), "Standard_NV4ads_V710_v5"));
}

#[test]
fn labels_of_both_domains() {
    let types = types_of(json!({"imageFamily": "AzureLinux", "fipsMode": "FIPS"}));
    let one = find(&types, "Standard_D4pls_v6").expect("offered");
    let own = "karpenter.azure.com/";
    let aks = "kubernetes.azure.com/";
    for (prefix, key, want) in [
        ("", "kubernetes.io/arch", "arm64"),
        ("", "kubernetes.io/os", "linux"),
        ("", "topology.kubernetes.io/zone", "eastus-1,eastus-2,eastus-3,0"),
        ("", "karpenter.sh/capacity-type", "on-demand,spot"),
        (own, "sku-name", "Standard_D4pls_v6"),
        (own, "sku-family", "D"),
        (own, "sku-series", "Dpls_v6"),
        (own, "sku-version", "6"),
        (own, "sku-cpu", "4"),
        (own, "sku-memory", "8192"),
        (own, "sku-networking-accelerated", "true"),
        (own, "sku-storage-premium-capable", "true"),
        (own, "sku-storage-ephemeralos-maxsize", "-"),
        (own, "sku-storage-ultra-ssd", "true,false"),
        (own, "sku-gpu-name", "-"),
        (own, "sku-gpu-manufacturer", "-"),
        (own, "sku-gpu-count", "0"),
        (own, "placement-scope", "zonal,regional"),
        (own, "sku-hyperv-generation", "2"),
        (aks, "mode", "system,user"),
        (aks, "scalesetpriority", "regular,spot"),
        (aks, "priority", "regular,spot"),
        (aks, "os-sku", "AzureLinux"),
        (aks, "fips_enabled", "true"),
        (aks, "sku-cpu", "4"),
        (aks, "sku-memory", "8192"),
    ] {
        assert_eq!(one_label(one, &format!("{prefix}{key}")), want, "{key}");
    }
    let types = default_types(Region::EastUs);
    let gpu = find(&types, "Standard_NC24ads_A100_v4").expect("offered");
    let shown: Vec<_> = ["sku-gpu-name", "sku-gpu-manufacturer", "sku-gpu-count", "sku-series"]
        .iter()
        .map(|key| one_label(gpu, &format!("{own}{key}")))
        .collect();
    assert_eq!(shown, ["A100", "nvidia", "1", "NCads_v4"]);
    assert_eq!(amounts(gpu).0["nvidia.com/gpu"], 1);
    assert_eq!(one_label(gpu, "kubernetes.azure.com/fips_enabled"), "-");
    let cluster = AzureNodeSettings { cluster: Some("mc_rg".to_owned()), ..Default::default() };
    let types = azure::instance_types(Region::EastUs, &cluster, |n| n == "Standard_D2s_v5");
    let one = &types.expect("valid settings")[0];
    assert_eq!(one_label(one, "kubernetes.azure.com/cluster"), "mc_rg");
}

#[test]
fn sampled_disks_are_azures_own() {
    for (name, want) in [
        ("Standard_D64s_v3", Some((Placement::CacheDisk, 1717))),
        ("Standard_E4d_v5", Some((Placement::ResourceDisk, 161))),
        ("Standard_D128ds_v6", Some((Placement::NvmeDisk, 7559))),
        ("Standard_NC24ads_A100_v4", Some((Placement::CacheDisk, 274))),
        ("Standard_D2_v3", None),
    ] {
        let want = want.map_or(OsDisk::Managed, |(place, gb)| OsDisk::Ephemeral(place, gb));
        assert_eq!(azure::os_disk(name, 30), Some(want), "{name}");
        let subjects: Vec<_> =
            catalog::notes(Region::EastUs, name).iter().map(|n| n.subject).collect();
        assert_eq!(subjects, ["zones", "spot price"], "{name}: nothing else is made by rule");
    }
    assert_eq!(azure::os_disk("Standard_E4d_v5", 161), azure::os_disk("Standard_E4d_v5", 30));
    assert_eq!(azure::os_disk("Standard_E4d_v5", 162), Some(OsDisk::Managed));
    assert_eq!(azure::os_disk("Standard_X1", 30), None);
}

#[test]
fn the_rules_give_the_sampled_sizes_what_azure_says() {
    // Neighbours of sampled sizes get by rule what the sample has per vCPU.
    for (name, like, factor) in [
        ("Standard_D8s_v3", "Standard_D4s_v3", 2),
        ("Standard_F32s_v2", "Standard_F16s_v2", 2),
        ("Standard_E8d_v5", "Standard_E4d_v5", 2),
        ("Standard_D32plds_v5", "Standard_D16plds_v5", 2),
    ] {
        let gb = |name: &str| match azure::os_disk(name, 30) {
            Some(OsDisk::Ephemeral(_, gb)) => gb,
            other => panic!("{name}: {other:?}"),
        };
        assert!((gb(name) - factor * gb(like)).abs() <= 1, "{name}");
    }
    let notes = catalog::notes(Region::EastUs, "Standard_D8s_v3");
    assert_eq!(notes.len(), 10);
    assert!(notes[..8].iter().all(|n| n.origin.starts_with("by rule: ")));
    assert!(notes.iter().any(|n| n.subject == "HyperVGenerations" && n.value == "V1,V2"));
}

#[test]
fn offerings_are_zonal_and_regional() {
    let types = default_types(Region::WestUs2);
    let one = find(&types, "Standard_D8ds_v5").expect("offered");
    let places: Vec<_> =
        one.offerings.iter().map(|o| (o.zone.as_str(), o.capacity_type.as_str())).collect();
    assert_eq!(
        places,
        [
            ("westus2-1", "on-demand"),
            ("westus2-1", "spot"),
            ("westus2-2", "on-demand"),
            ("westus2-2", "spot"),
            ("westus2-3", "on-demand"),
            ("westus2-3", "spot"),
            ("0", "on-demand"),
            ("0", "spot"),
        ]
    );
    for offering in &one.offerings {
        let is_spot = offering.capacity_type == "spot";
        let (price, source) = if is_spot {
            (0.05876, PriceSource::EstimatedSpot)
        } else {
            (0.452, PriceSource::List)
        };
        assert_eq!((offering.price, offering.price_source), (price, source));
        assert!(offering.available);
        let scope = if offering.zone == "0" { "regional" } else { "zonal" };
        assert_eq!(offering.labels["karpenter.azure.com/placement-scope"], scope);
        let priority = if is_spot { "spot" } else { "regular" };
        assert_eq!(offering.labels["kubernetes.azure.com/scalesetpriority"], priority);
        assert_eq!(offering.labels["kubernetes.azure.com/priority"], priority);
        let ultra = offering.labels.get("karpenter.azure.com/sku-storage-ultra-ssd");
        assert_eq!(ultra.map(String::as_str), (offering.zone == "0").then_some("false"));
    }
    assert_eq!(one_label(one, "karpenter.azure.com/sku-storage-ultra-ssd"), "true,false");
}

#[test]
fn spot_prices_equal_the_sampled_ones() {
    let spot = |region: Region, name: &str| {
        let types = default_types(region);
        let one = find(&types, name).unwrap_or_else(|| panic!("{name} is offered"));
        let spot = one.offerings.iter().find(|o| o.capacity_type == "spot");
        let spot = spot.expect("spot");
        (spot.price, spot.price_source, spot.available)
    };
    let sampled = PriceSource::EstimatedSpot;
    for (region, name, price) in [
        (Region::EastUs, "Standard_D8as_v5", 0.03784),
        (Region::WestUs2, "Standard_D8ds_v5", 0.05876),
        (Region::WestUs3, "Standard_D64s_v5", 0.33792),
        (Region::WestUs2, "Standard_D8pds_v5", 0.03982),
        (Region::EastUs, "Standard_B2as_v2", 0.02068),
        (Region::WestUs2, "Standard_A2_v2", 0.009_828),
    ] {
        assert_eq!(spot(region, name), (price, sampled, true), "{name}");
    }
    let made = PriceSource::Synthetic;
    assert_eq!(spot(Region::WestEurope, "Standard_D8as_v5").1, made);
    assert_eq!(spot(Region::EastUs, "Standard_E8s_v5").1, made);
    assert!(!spot(Region::EastUs, "Standard_B20ms").2, "first-generation B is not sold as spot");
}

#[test]
fn wrong_fields_name_their_path_and_value() {
    for (spec, want) in [
        (json!({"osDiskSizeGB": 29}), "`spec.osDiskSizeGB`: `29` must be from 30 to 2048"),
        (json!({"maxPods": 251}), "`spec.maxPods`: `251` must be from 10 to 250"),
        (
            json!({"imageFamily": "Windows"}),
            "`spec.imageFamily`: `Windows` must be one of: Ubuntu,",
        ),
        (json!({"fipsMode": "On"}), "`spec.fipsMode`: `On` must be one of: FIPS, Disabled"),
        (json!({"gpu": {"mode": 1}}), "`spec.gpu.mode`: `1` must be a string"),
        (
            json!({"security": {"encryptionAtHost": "yes"}}),
            "`spec.security.encryptionAtHost`: `yes` must be true or false",
        ),
        (json!({"localDNS": {"mode": "On"}}), "`spec.localDNS.mode`: `On` must be one of"),
    ] {
        let class = json!({"kind": "AKSNodeClass", "spec": spec});
        let error = NodeSettings::from_node_class(&class).expect_err(want);
        assert!(error.to_string().starts_with(want), "{error}");
    }
    let settings = AzureNodeSettings { vm_memory_overhead_percent: -1.0, ..Default::default() };
    assert!(azure::instance_types(Region::EastUs, &settings, |_| true).is_err());
}
