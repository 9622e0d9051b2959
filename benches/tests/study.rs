//! The bound of the search beside what the packing study proved on the same inputs.

use dunnage_benches::study::{self, Form};
use dunnage_planner::lower::{TypeLists, lower};
use dunnage_planner::options::Options;
use dunnage_planner::read::{Source, read};
use dunnage_planner::solve::{How, search};

/// Share by which the bound of an input may be below the study's, which is proven, too, by a
/// linear program over many more columns. Above is welcome.
fn slack(family: &str) -> f64 {
    match family {
        "kdiverse" | "kzonal" => 0.01,
        "openbgpu" => 0.03,
        _ => 0.005,
    }
}

#[test]
fn bounds_are_as_high_as_those_of_the_study() {
    let mut seen = 0;
    for input in study::inputs().into_iter().filter(|input| input.pods == 500) {
        let name = input.name();
        let text = input.snapshot(Form::Workloads).to_string();
        let mut snapshot = read(&[Source { name: name.clone(), text }]).expect("a good input");
        let types = snapshot.instance_types.take().expect("types");
        let lists = TypeLists::shared(types, &snapshot);
        let lowered = lower(&snapshot, &lists, &Options::default()).expect("tables");
        let problem = lowered.tables.problem();
        let found = search(&problem, &How::default()).expect("a decision");
        let (left, price) = found.rank();
        let bound = found.bound.expect("a bound").price_microusd;
        assert_eq!(left, 0, "{name}: pods are left");
        assert!(i128::from(bound) <= price, "{name}: bound {bound} above {price}");
        let share = bound as f64 / 1e6 / input.proven_usd();
        println!("{name}: bound / study's {share:.4}");
        assert!(share >= 1.0 - slack(input.family.name), "{name}: {share:.4} of the study's");
        seen += 1;
    }
    assert_eq!(seen, 9);
}
