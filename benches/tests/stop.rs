//! A caller ends a solve from another thread; what was lent serves the next one.

use std::sync::atomic::{AtomicBool, Ordering};

use dunnage_benches::study::{self, Form};
use dunnage_engine_core::Error;
use dunnage_engine_core::limits::Limit;
use dunnage_engine_core::search::Settings;
use dunnage_engine_core::stop::Stop;
use dunnage_planner::lower::{Lowered, TypeLists, lower};
use dunnage_planner::options::{Effort, Options, StopFlag, Strategy};
use dunnage_planner::plan::{Failure, plan};
use dunnage_planner::read::{Source, read};
use dunnage_planner::snapshot::Snapshot;
use dunnage_planner::solve::{How, search, solve};

/// The input that searches longest.
fn hard() -> Snapshot {
    let inputs = study::inputs();
    let input = inputs.iter().find(|x| x.name() == "kdiverse-1000").expect("an input");
    let text = input.snapshot(Form::Workloads).to_string();
    read(&[Source { name: input.name(), text }]).expect("a good input")
}

fn lowered(snapshot: &Snapshot) -> Lowered {
    let types = snapshot.instance_types.clone().expect("types");
    let lists = TypeLists::shared(types, snapshot);
    lower(snapshot, &lists, &Options::default()).expect("tables")
}

fn is_stopped<T>(found: &Result<T, Error>) -> bool {
    matches!(found, Err(Error::Limit(hit)) if hit.limit == Limit::Stopped)
}

#[test]
fn a_raised_flag_ends_every_solve_before_it_starts() {
    let lowered = lowered(&hard());
    let problem = lowered.tables.problem();
    let flag = AtomicBool::new(true);
    let stop = Stop::when(&flag);
    assert!(is_stopped(&solve(&problem, stop)));
    assert!(is_stopped(&search(&problem, &How { stop, ..How::default() })));
    flag.store(false, Ordering::Relaxed);
    let found = search(&problem, &How { stop, ..How::default() }).expect("a decision");
    assert_eq!(Ok(found), search(&problem, &How::default()), "a flag that nobody raises");
}

/// A search whose steps last for minutes ends once the flag is raised, wherever it stands.
#[test]
fn a_search_ends_in_the_middle() {
    let lowered = lowered(&hard());
    let problem = lowered.tables.problem();
    let search_for = Settings { steps: u64::MAX / 2, gap: 0.0, ..Settings::DEFAULT };
    for started in 0..20 {
        let flag = AtomicBool::new(false);
        let stopped = std::thread::scope(|scope| {
            let how = How { search: search_for, stop: Stop::when(&flag), ..How::default() };
            let solving = scope.spawn(move || search(&problem, &how));
            std::thread::sleep(std::time::Duration::from_millis(5 * started));
            flag.store(true, Ordering::Relaxed);
            solving.join().expect("no panic")
        });
        assert!(is_stopped(&stopped), "{:?}", stopped.map(|found| found.rank()));
    }
}

#[test]
fn a_plan_that_is_stopped_is_no_plan() {
    let snapshot = hard();
    for (_, strategy) in Strategy::ALL {
        let stop = StopFlag::default();
        let options = Options { strategy, effort: Effort::High, stop, ..Options::default() };
        options.stop.raise();
        assert_eq!(plan(&snapshot, &options), Err(Failure::Stopped));
    }
}
