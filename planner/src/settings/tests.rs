//! Names, forms and refusals of settings.

use serde_json::json;

use super::*;

#[test]
fn both_forms_of_a_name_are_known() {
    for (a, b) in [
        ("preferencePolicy", "PREFERENCE_POLICY"),
        ("ignoreDRARequests", "IGNORE_DRA_REQUESTS"),
        ("reservedENIs", "RESERVED_ENIS"),
        ("nodeSurcharge", "NODE_SURCHARGE"),
        ("vmMemoryOverheadPercent", "VM_MEMORY_OVERHEAD_PERCENT"),
        ("featureGates", "feature-gates"),
    ] {
        assert_eq!(upper_snake(a), upper_snake(b));
        assert_eq!(canonical(a), Some(a));
        assert_eq!(canonical(b), Some(a));
    }
}

#[test]
fn settings_take_values_and_text() {
    let mut settings = Settings::default();
    for (name, value) in [
        ("PREFERENCE_POLICY", json!("Ignore")),
        ("minValuesPolicy", json!("BestEffort")),
        ("featureGates", json!("NodeOverlay=true, ReservedCapacity=false,Unknown=true")),
        ("VM_MEMORY_OVERHEAD_PERCENT", json!("0.1")),
        ("reservedENIs", json!(1)),
        ("nodeSurcharge", json!("0.05")),
        ("goal", json!("fewestNodes")),
        ("spotPenalty", json!("0.1")),
        ("SPOT_SHARE", json!(0.7)),
        ("spotNodesPerOffering", json!("5")),
        ("maxNodeCpu", json!(64)),
        ("maxNodeMemory", json!("256Gi")),
        ("maxNodePrice", json!(4.5)),
        ("clusterLimits", json!({"cpu": "1k", "nodes": 9, "pricePerHour": 12.5})),
        ("quotas", json!([{"name": "standard", "families": ["m"], "vcpu": 64}])),
        ("clusterName", json!("blue")),
        ("region", json!("eu-west-1")),
        (
            "defaultSpreadConstraints",
            json!([{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}]),
        ),
    ] {
        assert_eq!(settings.set(name, &value), Ok(Taken::Used), "{name}");
    }
    assert_eq!(settings.preference_policy, PreferencePolicy::Ignore);
    assert_eq!(settings.min_values_policy, MinValuesPolicy::BestEffort);
    assert!(settings.feature_gates.node_overlay && !settings.feature_gates.reserved_capacity);
    assert_eq!(settings.vm_memory_overhead_percent, ShareMillionths(100_000));
    assert_eq!(settings.reserved_enis, 1);
    assert_eq!(settings.node_surcharge_microusd, 50_000);
    assert_eq!(settings.default_spread_constraints.len(), 1);
    assert_eq!(settings.unknown_gates, BTreeSet::from(["Unknown".to_owned()]));
    assert!(FeatureGates::NAMES.iter().all(|name| settings.feature_gates.gate(name).is_some()));
    settings.set("featureGates", &json!({"StaticCapacity": true})).unwrap();
    assert!(settings.feature_gates.static_capacity && settings.feature_gates.node_overlay);
    assert_eq!(settings.set("BATCH_IDLE_DURATION", &json!("1s")), Ok(Taken::NotOurs));
    assert_eq!(settings.set("logLevel", &json!("debug")), Ok(Taken::NotOurs));
}

#[test]
fn bad_values_are_refused() {
    let mut settings = Settings::default();
    for (name, value) in [
        ("preferencePolicy", json!("respect")),
        ("minValuesPolicy", json!(1)),
        ("ignoreDRARequests", json!(false)),
        ("featureGates", json!("NodeOverlay")),
        ("featureGates", json!({"NodeOverlay": "maybe"})),
        ("vmMemoryOverheadPercent", json!(-0.1)),
        ("vmMemoryOverheadPercent", json!(7.5)),
        ("reservedENIs", json!(-1)),
        ("nodeSurcharge", json!(-0.01)),
        ("nodeSurcharge", json!("1001")),
        ("goal", json!("fewest")),
        ("spotPenalty", json!(2)),
        ("spotShare", json!(-1)),
        ("spotNodesPerOffering", json!(-1)),
        ("maxNodeCpu", json!("many")),
        ("maxNodeMemory", json!("-1Gi")),
        ("maxNodePrice", json!("free")),
        ("clusterLimits", json!({"pods": 5})),
        ("quotas", json!({"m": 5})),
        ("region", json!("")),
        ("defaultSpreadConstraints", json!("zone")),
    ] {
        let refused = settings.set(name, &value);
        assert!(matches!(refused, Err(SettingError::Invalid(_))), "{name}: {refused:?}");
    }
    assert_eq!(settings.set("prefPolicy", &json!("Ignore")), Err(SettingError::Unknown));
    assert_eq!(settings, Settings::default(), "a refused value changes nothing");
}

#[test]
fn settings_read_back_from_their_json() {
    let mut settings = Settings::default();
    settings.set("featureGates", &json!("NodeRepair=true")).unwrap();
    settings.set("region", &json!("eastus")).unwrap();
    settings.set("maxNodePrice", &json!(2.5)).unwrap();
    settings.set("spotShare", &json!(0.25)).unwrap();
    settings.set("clusterLimits", &json!({"memory": "2Ti"})).unwrap();
    settings.set("quotas", &json!([{"name": "standard", "vcpu": 64, "used": 1}])).unwrap();
    let mut again = Settings::default();
    for (name, value) in serde_json::to_value(&settings).unwrap().as_object().unwrap() {
        assert_eq!(again.set(name, value), Ok(Taken::Used), "{name}");
    }
    assert_eq!(again, settings);
}
