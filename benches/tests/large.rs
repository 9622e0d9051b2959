//! A large input of the oracle, ten times over: 10,000 pods and 800 machine types, without an
//! allocator, on a small stack, within the announced memory.

use std::path::PathBuf;

use dunnage_benches::allocations::{Counting, allocations};
use dunnage_benches::room::{CheckRoom, Room};
use dunnage_planner::lower::{Lowered, TypeLists, lower};
use dunnage_planner::options::Options;
use dunnage_planner::read::{Source, read};
use dunnage_planner::solve::solve;
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn json(name: &str) -> Value {
    let inputs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testbed/oracle/inputs");
    let text = std::fs::read_to_string(inputs.join(name)).expect("an input");
    serde_json::from_str(&text).expect("JSON")
}

/// large-1k-800 with every pod ten times.
fn ten_thousand() -> Lowered {
    let mut input = json("large-1k-800.json");
    input["instanceTypes"] = json("types-all.json");
    input.as_object_mut().expect("an object").remove("instanceTypesFile");
    let pods = input["pods"].as_array().expect("pods").clone();
    let copies = (0..10).flat_map(|i| {
        pods.iter().cloned().map(move |mut pod| {
            let name = format!("{}-{i}", pod["metadata"]["name"].as_str().unwrap_or_default());
            pod["metadata"]["name"] = Value::String(name);
            pod
        })
    });
    input["pods"] = copies.collect();
    let source = Source { name: "large".to_owned(), text: input.to_string() };
    let mut snapshot = read(&[source]).expect("a good input");
    let types = snapshot.instance_types.take().expect("types");
    let lists = TypeLists::shared(types, &snapshot);
    lower(&snapshot, &lists, &Options::default()).expect("tables")
}

#[test]
fn ten_thousand_pods_need_no_allocator_little_stack_and_the_announced_memory() {
    let lowered = ten_thousand();
    let problem = lowered.tables.problem();
    assert_eq!(problem.runs.iter().map(|r| r.count).sum::<u32>(), 10_000);
    // The caps that the planner grows to, found by solving once.
    let caps = solve(&problem).expect("a decision").caps;
    let work = || {
        let mut room = Room::new(&problem, caps);
        let announced = room.announced_bytes();
        let before = allocations();
        let decision = room.place(&problem).expect("the caps suffice");
        let placing = allocations() - before;
        let mut check = CheckRoom::new(&problem, &decision);
        let before = allocations();
        check.check(&problem, &decision).expect("a plan that holds");
        let checking = allocations() - before;
        (placing, checking, decision.effort.memory_bytes, announced)
    };
    let (placing, checking, used, announced) = std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(256 * 1024);
        small.spawn_scoped(scope, work).expect("a thread").join().expect("no overflow")
    });
    println!("10,000 pods: {used} of {announced} announced bytes, 0 allocations, 256 KiB stack");
    assert_eq!((placing, checking), (0, 0), "allocations while placing and checking");
    assert!(used <= announced);
    assert!(used * 2 >= announced, "{used} of {announced}: more was lent than is of use");
}
