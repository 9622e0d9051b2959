//! Wall time of each stage of a plan on three inputs of the study: lowering, placing one by
//! one, the same with the proof of a bound, the search for the cheapest, and the check.

use criterion::{Criterion, criterion_group, criterion_main};
use dunnage_benches::study::{self, Form};
use dunnage_engine_core::search::Method;
use dunnage_engine_core::stop::Stop;
use dunnage_planner::lower::{TypeLists, lower};
use dunnage_planner::options::Options;
use dunnage_planner::read::{Source, read};
use dunnage_planner::snapshot::Snapshot;
use dunnage_planner::solve::{How, search, search_by, solve, verify};

const INPUTS: [&str; 3] = ["kbench-1000", "enterprise-1000", "kdiverse-500"];

fn snapshot(name: &str) -> (Snapshot, TypeLists) {
    let input = study::find(name).expect("an input of the study");
    let text = input.snapshot(Form::Workloads).to_string();
    let mut snapshot = read(&[Source { name: name.to_owned(), text }]).expect("a good input");
    let types = snapshot.instance_types.take().expect("types");
    let lists = TypeLists::shared(types, &snapshot);
    (snapshot, lists)
}

fn stages(criterion: &mut Criterion) {
    let options = Options::default();
    for name in INPUTS {
        let (snapshot, lists) = snapshot(name);
        let lowered = lower(&snapshot, &lists, &options).expect("tables");
        let problem = lowered.tables.problem();
        let found = search(&problem, &How::default()).expect("a decision");
        let mut bench = |stage: &str, work: &dyn Fn()| {
            criterion.bench_function(&format!("{stage}, {name}"), |b| b.iter(work));
        };
        bench("lower", &|| drop(lower(&snapshot, &lists, &options)));
        bench("greedy", &|| drop(solve(&problem, Stop::NEVER)));
        bench("greedy and bound", &|| drop(search_by(&problem, &How::default(), Method::OneByOne)));
        bench("cheapest", &|| drop(search(&problem, &How::default())));
        bench("check", &|| verify(&problem, &found.decision()).expect("a plan that holds"));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = stages
}
criterion_main!(benches);
