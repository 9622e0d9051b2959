//! The values that prove a lower bound: they add up to it, no planned node holds more value
//! than its price, and what an outside program needs to verify them is there.

use dunnage_planner::options::Options;
use dunnage_planner::plan::{DualPrices, Plan};
use serde_json::json;

use crate::world::*;

fn proven(world: &World) -> (Plan, DualPrices) {
    let options = Options { dual: true, ..Options::default() };
    let snapshot = crate::snapshot(&world.0.to_string()).expect("a good input");
    let plan = dunnage_planner::plan::plan(&snapshot, &options).expect("a plan");
    let dual = plan.dual.clone().expect("values");
    (plan, dual)
}

fn usd(money: dunnage_planner::plan::Money) -> f64 {
    money.0.expect("a price") as f64 / 1e6
}

/// Twenty pods of four sizes, a DaemonSet, and three that share no host.
fn mixed() -> World {
    let sizes = [("900m", "1Gi"), ("1500m", "9Gi"), ("3", "2Gi"), ("250m", "3Gi")];
    let mut pods: Vec<_> =
        (0..20).map(|i| pod(&format!("p{i}"), sizes[i % 4].0, sizes[i % 4].1)).collect();
    for i in 0..3 {
        let own = labelled(pod(&format!("a{i}"), "500m", "512Mi"), "app", "apart");
        pods.push(affine(own, "podAntiAffinity", HOST, "apart"));
    }
    world().pools([pool("p", vec![])]).pods(pods)
}

#[test]
fn values_add_up_to_the_bound_and_fit_every_planned_node() {
    let (plan, dual) = proven(&mixed());
    let total: f64 = dual.pods.iter().map(|p| p.value_per_hour * f64::from(p.count)).sum();
    let bound = usd(dual.lower_bound_per_hour);
    assert!((total - bound).abs() < 2e-6, "{total} {bound}");
    assert!(bound <= usd(plan.cost.lower_bound_per_hour) + 1e-9);
    assert!(usd(plan.cost.lower_bound_per_hour) <= usd(plan.cost.launch_per_hour));
    assert_eq!(dual.pods.iter().map(|p| p.count).sum::<u32>(), 23);
    assert!(bound > 0.9 * usd(plan.cost.launch_per_hour), "{bound}");
    // Pods of one row have names of one size.
    let value = |name: &str| {
        let kind = name.trim_start_matches("default/");
        let own = dual.pods.iter().find(|row| {
            let first = row.pod.trim_start_matches("default/");
            match (kind.strip_prefix('a'), first.strip_prefix('a')) {
                (Some(_), Some(_)) => true,
                (None, None) => {
                    let number = |text: &str| text[1..].parse::<usize>().expect("a number");
                    number(kind) % 4 == number(first) % 4
                }
                _ => false,
            }
        });
        own.expect("a row").value_per_hour
    };
    for launch in &plan.launch {
        let held: f64 = launch.pods.iter().map(|name| value(name)).sum();
        assert!(held <= usd(launch.cheapest.price_per_hour) * (1.0 + 1e-9), "{launch:?}");
    }
}

#[test]
fn machines_and_slots_are_told() {
    let (_, dual) = proven(&mixed());
    let slots: Vec<_> = dual.pods.iter().filter_map(|p| p.slot.as_ref()).collect();
    assert_eq!(slots.len(), 1, "{:?}", dual.pods);
    assert!(!dual.machines.is_empty());
    for machine in &dual.machines {
        assert_eq!(machine.node_pool, "p");
        assert_eq!(machine.takes.len(), dual.pods.len(), "every machine takes all: {machine:?}");
        assert!(machine.capacity["cpu"] > 0 && machine.capacity["memory"] > 0);
    }
    // One zone stands for three at the same price.
    assert_eq!(dual.machines.len(), 4, "{:?}", dual.machines);
}

#[test]
fn pods_that_need_a_zone_are_taken_there_alone() {
    let pinned = with(pod("z", "1", "1Gi"), "/spec/nodeSelector", json!({ ZONE: "b" }));
    let all = vec![pinned, pod("x", "1", "1Gi"), pod("y", "1", "1Gi")];
    let (_, dual) = proven(&world().pools([pool("p", vec![])]).pods(all));
    let row = dual.pods.iter().position(|p| p.pod == "default/z").expect("a row") as u32;
    assert!(dual.machines.iter().all(|m| m.takes.contains(&row) == (m.zone == "b")));
}
