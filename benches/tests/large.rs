//! A large input of the oracle, ten times over: 10,000 pods and 800 machine types, without an
//! allocator, on a small stack, within the announced memory.

use std::path::PathBuf;

use dunnage_benches::allocations::{Counting, allocations};
use dunnage_benches::room::{CheckRoom, Room, SearchRoom};
use dunnage_benches::study::{self, Form};
use dunnage_engine_core::Error;
use dunnage_engine_core::limits::Limit;
use dunnage_engine_core::problem::Problem;
use dunnage_engine_core::search::{Method, SearchCaps, Settings};
use dunnage_engine_core::stop::Stop;
use dunnage_planner::lower::{Lowered, TypeLists, lower};
use dunnage_planner::options::Options;
use dunnage_planner::read::{Source, read};
use dunnage_planner::solve::{How, search, solve};
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
    lowered(&input.to_string())
}

fn lowered(text: &str) -> Lowered {
    let source = Source { name: "large".to_owned(), text: text.to_owned() };
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
    let caps = solve(&problem, Stop::NEVER).expect("a decision").caps;
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

/// The search of a problem in exactly the announced memory, on a small stack.
struct Searched {
    allocations: u64,
    /// Bytes written and lent, by name.
    rows: Vec<(&'static str, usize, usize)>,
}

impl Searched {
    /// Lends more where a cap says so, as the planner does.
    fn on_small_stack(problem: &Problem) -> Self {
        let caps = search(problem, &How::default()).expect("a decision").caps;
        let work = || {
            let mut more = SearchCaps { new_nodes: caps.new_nodes, bundles: 64, entries: 512 };
            loop {
                let mut room = Room::new(problem, caps);
                let mut own = SearchRoom::new(problem, more);
                let before = allocations();
                let how = (&Settings::DEFAULT, Method::Packed);
                match room.search(problem, how, &mut own, Stop::NEVER) {
                    Ok(found) => {
                        let made = allocations() - before;
                        let used = found.decision.effort.memory_bytes as usize;
                        let mut rows = vec![("solve", used, room.announced_bytes() as usize)];
                        rows.extend(own.written_bytes());
                        return Self { allocations: made, rows };
                    }
                    Err(Error::Limit(hit)) if hit.limit == Limit::Bundles => more.bundles *= 2,
                    Err(Error::Limit(hit)) if hit.limit == Limit::Entries => more.entries *= 2,
                    Err(why) => panic!("{why}"),
                }
            }
        };
        std::thread::scope(|scope| {
            let small = std::thread::Builder::new().stack_size(256 * 1024);
            small.spawn_scoped(scope, work).expect("a thread").join().expect("no overflow")
        })
    }

    fn written(&self) -> usize {
        self.rows.iter().map(|(_, written, _)| written).sum()
    }

    fn lent(&self) -> usize {
        self.rows.iter().map(|(_, _, lent)| lent).sum()
    }
}

#[test]
fn a_search_needs_no_allocator_little_stack_and_the_announced_memory() {
    let mut inputs = vec![("large-10k-800".to_owned(), ten_thousand())];
    for input in study::inputs().into_iter().filter(|input| input.pods <= 1000) {
        inputs.push((input.name(), lowered(&input.snapshot(Form::Workloads).to_string())));
    }
    for (name, lowered) in &inputs {
        let found = Searched::on_small_stack(&lowered.tables.problem());
        let (written, lent) = (found.written(), found.lent());
        println!("{name}: {written} of {lent} announced bytes, {:?}", found.rows);
        assert_eq!(found.allocations, 0, "{name}: allocations while searching");
    }
}
