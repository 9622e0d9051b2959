//! AWS: the worked tables for other settings, what a class's fields change, offerings.

use dunnage_planner::catalog::aws::{self, AwsNodeSettings, PlacementStrategy, Reservation};
use dunnage_planner::catalog::{self, NodeSettings, Region};
use dunnage_planner::instance_type::{InstanceType, Offering, PriceSource};
use serde_json::{Value, json};

use crate::{allocatable, amounts, default_types, label};

const MIB: i64 = 1 << 20;
const GIB: f64 = (1u64 << 30) as f64;

fn settings_of(spec: Value) -> AwsNodeSettings {
    let class = json!({"kind": "EC2NodeClass", "spec": spec});
    AwsNodeSettings::from_node_class(&class).expect("a valid class")
}

fn one(name: &str, settings: &AwsNodeSettings) -> InstanceType {
    let found = aws::instance_type(Region::UsEast1, name, settings).expect("valid settings");
    found.unwrap_or_else(|| panic!("{name} is in the table"))
}

fn with(name: &str, spec: Value) -> InstanceType {
    one(name, &settings_of(spec))
}

/// type, capacity MiB, pods, reserved CPU, allocatable MiB, capacity and allocatable disk GiB.
type Worked = (&'static str, i64, i64, i64, f64, f64, f64);

fn check(title: &str, settings: &AwsNodeSettings, rows: &[Worked]) {
    assert_eq!(rows.len(), 6);
    for (name, memory, pods, cpu, free_memory, disk, free_disk) in rows {
        let one = one(name, settings);
        let (capacity, overhead) = amounts(&one);
        assert_eq!(capacity["memory"], memory * MIB, "{title}: {name}");
        assert_eq!((capacity["pods"], overhead["cpu"]), (*pods, *cpu), "{title}: {name}");
        let free = allocatable(&one, "memory") as f64 / MIB as f64;
        // The tables show six digits.
        let slack = if *free_memory >= 1e5 { 0.5 } else { 0.05 };
        assert!((free - free_memory).abs() <= slack, "{title}: {name}: {free}");
        let rounded = |bytes: i64| (bytes as f64 / GIB * 100.0).round() / 100.0;
        assert_eq!(rounded(capacity["ephemeral-storage"]), *disk, "{title}: {name}");
        assert_eq!(rounded(allocatable(&one, "ephemeral-storage")), *free_disk, "{title}: {name}");
        let whole = capacity["cpu"];
        assert_eq!(allocatable(&one, "cpu"), whole - cpu, "{title}: {name}");
    }
}

#[test]
fn worked_table_with_all_defaults() {
    check(
        "defaults",
        &settings_of(json!({"amiFamily": "AL2023"})),
        &[
            ("t3.medium", 3788, 17, 70, 3246.0, 20.0, 17.0),
            ("m5.large", 7577, 29, 70, 6903.0, 20.0, 17.0),
            ("m7g.xlarge", 15096, 58, 80, 14103.0, 20.0, 17.0),
            ("c6id.4xlarge", 30310, 234, 110, 27381.0, 20.0, 17.0),
            ("g5.12xlarge", 181_862, 737, 190, 173_400.0, 20.0, 17.0),
            ("m7i.48xlarge", 727_449, 737, 550, 718_987.0, 20.0, 17.0),
        ],
    );
}

#[test]
fn worked_table_with_a_reserved_interface() {
    let settings = AwsNodeSettings { reserved_enis: 1, ..AwsNodeSettings::default() };
    check(
        "reserved-enis",
        &settings,
        &[
            ("t3.medium", 3788, 12, 70, 3246.0, 20.0, 17.0),
            ("m5.large", 7577, 20, 70, 6903.0, 20.0, 17.0),
            ("m7g.xlarge", 15096, 44, 80, 14103.0, 20.0, 17.0),
            ("c6id.4xlarge", 30310, 205, 110, 27381.0, 20.0, 17.0),
            ("g5.12xlarge", 181_862, 688, 190, 173_400.0, 20.0, 17.0),
            ("m7i.48xlarge", 727_449, 688, 550, 718_987.0, 20.0, 17.0),
        ],
    );
}

#[test]
fn worked_table_with_max_pods() {
    check(
        "maxPods",
        &settings_of(json!({"amiFamily": "AL2023", "kubelet": {"maxPods": 110}})),
        &[
            ("t3.medium", 3788, 110, 70, 3246.0, 20.0, 17.0),
            ("m5.large", 7577, 110, 70, 6903.0, 20.0, 17.0),
            ("m7g.xlarge", 15096, 110, 80, 14103.0, 20.0, 17.0),
            ("c6id.4xlarge", 30310, 110, 110, 27381.0, 20.0, 17.0),
            ("g5.12xlarge", 181_862, 110, 190, 173_400.0, 20.0, 17.0),
            ("m7i.48xlarge", 727_449, 110, 550, 718_987.0, 20.0, 17.0),
        ],
    );
}

#[test]
fn worked_table_of_bottlerocket_with_max_pods() {
    let class = json!({
        "amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
        "kubelet": {"maxPods": 110},
    });
    check(
        "Bottlerocket",
        &settings_of(class),
        &[
            ("t3.medium", 3788, 110, 70, 2223.0, 20.0, 17.0),
            ("m5.large", 7577, 110, 70, 6012.0, 20.0, 17.0),
            ("m7g.xlarge", 15096, 110, 80, 13531.0, 20.0, 17.0),
            ("c6id.4xlarge", 30310, 110, 110, 28745.0, 20.0, 17.0),
            ("g5.12xlarge", 181_862, 110, 190, 180_297.0, 20.0, 17.0),
            ("m7i.48xlarge", 727_449, 110, 550, 725_884.0, 20.0, 17.0),
        ],
    );
}

#[test]
fn worked_table_with_raid0_and_an_eviction_share() {
    let class = json!({
        "amiFamily": "AL2023",
        "instanceStorePolicy": "RAID0",
        "kubelet": {"evictionHard": {"memory.available": "5%"}},
    });
    check(
        "RAID0",
        &settings_of(class),
        &[
            ("t3.medium", 3788, 17, 70, 3156.6, 20.0, 17.0),
            ("m5.large", 7577, 29, 70, 6624.15, 20.0, 17.0),
            ("m7g.xlarge", 15096, 58, 80, 13448.2, 20.0, 17.0),
            ("c6id.4xlarge", 30310, 234, 110, 25965.5, 884.76, 795.28),
            ("g5.12xlarge", 181_862, 737, 190, 164_407.0, 3539.03, 3184.12),
            ("m7i.48xlarge", 727_449, 737, 550, 682_715.0, 20.0, 17.0),
        ],
    );
}

#[test]
fn kubelet_reservations_replace_or_add() {
    let class = |kubelet: Value| json!({"amiFamily": "AL2023", "kubelet": kubelet});
    let overhead = |kubelet: Value| {
        let one = with("m5.large", class(kubelet));
        let (_, overhead) = amounts(&one);
        (overhead["cpu"], overhead["memory"] / MIB, overhead["ephemeral-storage"] / MIB)
    };
    assert_eq!(overhead(json!({})), (70, 674, 3072));
    let kube =
        json!({"kubeReserved": {"cpu": "200m", "memory": "1Gi", "ephemeral-storage": "2Gi"}});
    assert_eq!(overhead(kube), (200, 1124, 4096));
    let system = json!({"systemReserved": {"cpu": 0.1, "memory": "100Mi", "pid": "1000"}});
    assert_eq!(overhead(system), (170, 774, 3072));
    let eviction = json!({"evictionHard": {"memory.available": "500Mi", "nodefs.available": "100%"},
        "evictionSoft": {"memory.available": "4Gi"}});
    assert_eq!(overhead(eviction), (70, 1074, 1024));
    let per_core = |family: &str| {
        let class = json!({"amiFamily": family, "kubelet": {"podsPerCore": 8}});
        amounts(&with("m5.large", class)).0["pods"]
    };
    assert_eq!((per_core("AL2"), per_core("Bottlerocket"), per_core("Windows2022")), (16, 29, 16));
}

#[test]
fn disks_follow_mappings_and_family() {
    let disk = |family: &str, mappings: Value| {
        let class = json!({"amiFamily": family, "blockDeviceMappings": mappings});
        amounts(&with("m5.large", class)).0["ephemeral-storage"]
    };
    let gib = |n: i64| n << 30;
    let two = json!([
        {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi"}},
        {"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "200G"}},
    ]);
    assert_eq!(disk("AL2023", two.clone()), gib(100));
    assert_eq!(disk("Bottlerocket", two.clone()), 200_000_000_000);
    assert_eq!(disk("Custom", two.clone()), 200_000_000_000);
    assert_eq!(disk("Windows2022", two.clone()), gib(50));
    assert_eq!(disk("Custom", json!([])), gib(20));
    assert_eq!(
        disk("Windows2019", json!([{"deviceName": "/dev/sda1", "ebs": {"volumeSize": "80Gi"}}])),
        gib(80)
    );
    let root = json!([
        {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi"}},
        {"deviceName": "/dev/xvdc", "ebs": {"volumeSize": "1Ti"}, "rootVolume": true},
    ]);
    assert_eq!(disk("AL2023", root), 1 << 40);
    assert_eq!(
        disk("AL2023", json!([{"deviceName": "/dev/xvda", "ebs": {"snapshotID": "s"}}])),
        gib(20)
    );
}

#[test]
fn windows_has_its_own_labels_pods_and_addresses() {
    let class = |family: &str| json!({"amiFamily": family});
    let one = with("m5.large", class("Windows2022"));
    assert_eq!(label(&one, "kubernetes.io/os"), Some(&["windows".to_owned()][..]));
    let build = label(&one, "node.kubernetes.io/windows-build");
    assert_eq!(build, Some(&["10.0.20348".to_owned()][..]));
    let (capacity, overhead) = amounts(&one);
    assert_eq!((capacity["pods"], capacity["vpc.amazonaws.com/PrivateIPv4Address"]), (110, 9));
    assert_eq!(overhead["memory"], (255 + 11 * 110 + 100) * MIB);
    assert_eq!(label(&with("m7g.large", class("Windows2022")), "kubernetes.io/os"), None);
    let linux = with("m5.large", class("Custom"));
    assert_eq!(label(&linux, "node.kubernetes.io/windows-build"), None);
    assert!(!linux.capacity.contains_key("vpc.amazonaws.com/PrivateIPv4Address"));
}

fn offering<'a>(one: &'a InstanceType, zone: &str, capacity_type: &str) -> &'a Offering {
    let found = one.offerings.iter().find(|o| o.zone == zone && o.capacity_type == capacity_type);
    found.unwrap_or_else(|| panic!("{} has no {capacity_type} in {zone}", one.name))
}

#[test]
fn prices_and_their_marks() {
    let types = default_types(Region::UsEast1);
    let m5 = types.iter().find(|t| t.name == "m5.large").expect("m5.large is sold");
    assert_eq!(m5.offerings.len(), 10, "five of six zones, twice");
    let list = offering(m5, "us-east-1a", "on-demand");
    assert_eq!((list.price, list.price_source, list.available), (0.096, PriceSource::List, true));
    assert_eq!(list.labels["topology.k8s.aws/zone-id"], "use1-az2");
    let advice = aws::spot_advice(Region::UsEast1, "m5.large").expect("there is advice");
    assert_eq!(advice.region, "us-east-1");
    let spot = offering(m5, "us-east-1f", "spot");
    let want = (96_000.0 * (100 - advice.saving_percent) as f64 / 100.0).round() / 1e6;
    assert_eq!((spot.price, spot.price_source), (want, PriceSource::EstimatedSpot));
    let frankfurt = default_types(Region::EuCentral1);
    let m5 = frankfurt.iter().find(|t| t.name == "m5.large").expect("m5.large is sold");
    let borrowed = offering(m5, "eu-central-1a", "on-demand");
    assert_eq!((borrowed.price, borrowed.price_source), (0.096, PriceSource::OtherRegion));
    let notes = catalog::notes(Region::EuCentral1, "m5.large");
    let subjects: Vec<_> = notes.iter().map(|n| n.subject).collect();
    assert_eq!(subjects, ["zone ids", "on-demand price", "spot price"]);
    assert!(notes[1].origin.contains("us-east-1"));
    assert_eq!(catalog::notes(Region::UsEast1, "m99.large"), []);
}

#[test]
fn what_nobody_prices_is_there_but_not_available() {
    let types = default_types(Region::UsEast1);
    let unpriced: Vec<_> = types
        .iter()
        .filter(|t| t.offerings.iter().any(|o| o.price_source == PriceSource::Missing))
        .collect();
    assert!(unpriced.iter().any(|t| t.offerings.iter().all(|o| !o.available)));
    let without_price: Vec<_> = unpriced
        .iter()
        .filter(|t| {
            t.offerings
                .iter()
                .any(|o| o.capacity_type == "on-demand" && o.price_source == PriceSource::Missing)
        })
        .collect();
    // 1,366 sold less 1,340 priced, all but mac*: see the table in data/README.md.
    assert_eq!(without_price.len(), 26 + default_types(Region::UsEast1).len() - 1366);
    let note = catalog::notes(Region::UsEast1, &without_price[0].name);
    assert!(note.iter().any(|n| n.subject == "on-demand price" && n.value == "unknown"));
}

#[test]
fn a1_never_runs_al2023() {
    for (family, available) in [("AL2023", false), ("AL2", true), ("Bottlerocket", true)] {
        let one = with("a1.large", json!({"amiFamily": family}));
        assert!(!one.offerings.is_empty());
        assert!(one.offerings.iter().all(|o| o.available == available), "{family}");
    }
}

#[test]
fn zones_come_from_the_class_when_it_has_subnets() {
    let class = json!({
        "kind": "EC2NodeClass",
        "spec": {"amiFamily": "AL2023"},
        "status": {"subnets": [
            {"id": "subnet-1", "zone": "us-east-1b", "zoneID": "use1-az9"},
            {"id": "subnet-2", "zone": "us-east-1a"},
            {"id": "subnet-3", "zone": "us-east-1b", "zoneID": "use1-az9"},
        ]},
    });
    let settings = NodeSettings::from_node_class(&class).expect("a valid class");
    let only = |name: &str| name == "m5.large";
    let types = catalog::instance_types_where(Region::UsEast1, &settings, only);
    let one = &types.expect("valid settings")[0];
    let zones = ["us-east-1a".to_owned(), "us-east-1b".to_owned()];
    assert_eq!(label(one, "topology.kubernetes.io/zone"), Some(&zones[..]));
    assert_eq!(label(one, "topology.k8s.aws/zone-id"), Some(&["use1-az9".to_owned()][..]));
    let usable: Vec<_> = one.offerings.iter().filter(|o| o.available).map(|o| &o.zone).collect();
    assert_eq!(usable, ["us-east-1a", "us-east-1a", "us-east-1b", "us-east-1b"]);
    assert!(offering(one, "us-east-1a", "spot").labels.is_empty());
    assert_eq!(offering(one, "us-east-1b", "spot").labels["topology.k8s.aws/zone-id"], "use1-az9");
    assert!(!offering(one, "us-east-1c", "spot").available);
}

#[test]
fn a_class_that_needs_hardware_leaves_the_rest_unavailable() {
    let is_usable =
        |name: &str, spec: Value| with(name, spec).offerings.iter().any(|o| o.available);
    let al2023 = |key: &str, value: Value| json!({"amiFamily": "AL2023", key: value});
    let tracking = al2023("connectionTracking", json!({"udpTimeout": 30}));
    assert!(is_usable("m5.large", tracking.clone()) && !is_usable("m4.large", tracking));
    let nested = al2023("cpuOptions", json!({"nestedVirtualization": "enabled"}));
    assert!(is_usable("m8i.large", nested.clone()) && !is_usable("m5.large", nested));
    let off = al2023("cpuOptions", json!({"nestedVirtualization": "disabled"}));
    assert!(is_usable("m5.large", off));
    let efa = al2023(
        "networkInterfaces",
        json!([
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
        ]),
    );
    assert!(is_usable("c6in.32xlarge", efa.clone()) && !is_usable("m5.large", efa.clone()));
    let one = with("c6in.32xlarge", efa);
    let plain = with("c6in.32xlarge", json!({"amiFamily": "AL2023"}));
    let (own, all) = (amounts(&one).0, amounts(&plain).0);
    assert_eq!((own["vpc.amazonaws.com/efa"], all["vpc.amazonaws.com/efa"]), (1, 2));
    assert_eq!(all["pods"] - own["pods"], 49, "the interface carries no addresses for pods");
    let two_cards = al2023(
        "networkInterfaces",
        json!([
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "interface"},
        ]),
    );
    assert!(is_usable("c6in.32xlarge", two_cards.clone()) && !is_usable("c6in.large", two_cards));
    let mut settings = AwsNodeSettings {
        placement_group_id: Some("pg-1".to_owned()),
        placement_strategy: Some(PlacementStrategy::Cluster),
        ..AwsNodeSettings::default()
    };
    assert!(one_usable("m5.large", &settings) && !one_usable("t3.large", &settings));
    settings.placement_strategy = Some(PlacementStrategy::Spread);
    assert!(one_usable("t3.large", &settings));
    let label = label(&self::one("t3.large", &settings), "karpenter.k8s.aws/placement-group-id")
        .map(<[String]>::to_vec);
    assert_eq!(label, Some(vec!["pg-1".to_owned()]));
}

fn one_usable(name: &str, settings: &AwsNodeSettings) -> bool {
    one(name, settings).offerings.iter().any(|o| o.available)
}

#[test]
fn reservations_are_offered_when_something_is_left() {
    let class = json!({
        "kind": "EC2NodeClass",
        "spec": {"amiFamily": "AL2023"},
        "status": {"capacityReservations": [{
            "id": "cr-1", "availabilityZone": "us-east-1a", "instanceType": "m5.large",
            "instanceMatchCriteria": "targeted", "ownerID": "123456789012",
            "reservationType": "default", "state": "active",
        }]},
    });
    let mut settings = AwsNodeSettings::from_node_class(&class).expect("a valid class");
    let reserved = |settings: &AwsNodeSettings| {
        let one = one("m5.large", settings);
        let found = one.offerings.iter().find(|o| o.capacity_type == "reserved");
        found.cloned().expect("a reserved offering")
    };
    assert!(!reserved(&settings).available, "the class does not say how many are left");
    settings.reservations[0].left = 3;
    let offering = reserved(&settings);
    assert!(offering.available);
    assert_eq!((offering.zone.as_str(), offering.reservation_capacity), ("us-east-1a", 3));
    assert_eq!(offering.reservation_id.as_deref(), Some("cr-1"));
    assert_eq!(offering.labels["karpenter.k8s.aws/capacity-reservation-type"], "default");
    assert!(offering.price > 0.0 && offering.price < 1e-7);
    let held = one("m5.large", &settings);
    let kinds = label(&held, "karpenter.sh/capacity-type").expect("capacity types");
    assert_eq!(kinds, ["on-demand", "spot", "reserved"]);
    let other = one("m5.xlarge", &settings);
    assert_eq!(label(&other, "karpenter.k8s.aws/capacity-reservation-id"), None);
    settings.reservations[0] =
        Reservation { is_expiring: true, ..settings.reservations[0].clone() };
    assert!(!reserved(&settings).available);
}

#[test]
fn wrong_fields_name_their_path_and_value() {
    for (spec, want) in [
        (json!({"amiFamily": "AL3"}), "`spec.amiFamily`: `AL3` must be one of: AL2, AL2023"),
        (json!({"amiFamily": "al2"}), "`spec.amiFamily`: `al2` must be one of"),
        (
            json!({"amiSelectorTerms": [{"id": "ami-1"}, {"alias": "suse@latest"}]}),
            "`spec.amiSelectorTerms[1].alias`: `suse@latest` must be family@version",
        ),
        (
            json!({"kubelet": {"maxPods": -1}}),
            "`spec.kubelet.maxPods`: `-1` must be a whole number",
        ),
        (
            json!({"kubelet": {"maxPods": "vcpus * 8"}}),
            "`spec.kubelet.maxPods`: `vcpus * 8` is an expression",
        ),
        (
            json!({"kubelet": {"kubeReserved": {"cpu": "1x"}}}),
            "`spec.kubelet.kubeReserved.cpu`: `1x` is not a quantity",
        ),
        (
            json!({"kubelet": {"evictionHard": {"memory.available": "120%"}}}),
            "`spec.kubelet.evictionHard.memory.available`: `120%` must be a percentage",
        ),
        (
            json!({"kubelet": {"systemReserved": {"memory": "-1Gi"}}}),
            "`spec.kubelet.systemReserved.memory`: `-1Gi` is negative",
        ),
        (
            json!({"instanceStorePolicy": "RAID1"}),
            "`spec.instanceStorePolicy`: `RAID1` must be one of: RAID0",
        ),
        (
            json!({"blockDeviceMappings": [{"ebs": {"volumeSize": [1]}}]}),
            "`spec.blockDeviceMappings[0].ebs.volumeSize`: `[1]` must be a quantity",
        ),
        (json!({"networkInterfaces": 3}), "`spec.networkInterfaces`: `3` must be a list"),
    ] {
        let class = json!({"kind": "EC2NodeClass", "spec": spec});
        let error = AwsNodeSettings::from_node_class(&class).expect_err(want);
        assert!(error.to_string().starts_with(want), "{error}");
    }
    for overhead in [-0.1, f64::NAN] {
        let settings =
            AwsNodeSettings { vm_memory_overhead_percent: overhead, ..AwsNodeSettings::default() };
        let error = aws::instance_type(Region::UsEast1, "m5.large", &settings);
        let text = error.expect_err("must be refused").to_string();
        assert!(text.starts_with("setting `vm-memory-overhead-percent`"), "{text}");
    }
}
