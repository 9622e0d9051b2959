//! `cargo xtask VERB`: every chore of this repository behind one command.
//!
//! It imports nothing of ours and only runs programs, so that what it measures is what a
//! user would get.

mod args;
mod arrows;
mod bench;
mod cases;
mod check;
mod columns;
mod fuzz;
mod measure;
mod node;
mod oracle;
mod python;
mod random;
mod run;
mod same;
mod scan;
mod study;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask VERB [options]

  check     formatting, clippy, the arrows between crates, forbidden text
  test      every test of the workspace
  node      build the addon; its package, tests and types
  python    build the wheel; its tests, types and notebook
  nostd     build and run the proof that engine-core needs no std
  fuzz TARGET  fuzz requirements, place_check, quantity, cron or front_door
            [--seconds 60] [--planted skew|overhead|port]
  cases     print which test covers which handed case
  oracle    hold `dunnage plan --strategy karpenter` against Karpenter's own scheduler
            [--inputs DIR] [--random 500] [--seed 1] [--runs 8] [--only NAME] [--keep DIR]
            [--dunnage FILE]  [--generate-only]  [--skip-large]
  same      shuffled inputs and both builds give the same bytes
            [--inputs DIR] [--largest BYTES]
  study     plan the inputs of the packing study; cost, bound and effort against limits
            [NAME...] [--effort default|high|both] [--surcharge USD]
            [--out DIR] [--write-only]
  bench karpenter     beside Karpenter's own scheduler, on the same inputs, in one run
            [--only NAME] [--heavy]
  bench scaling       CPU time against pods, classes and types, with exponents
            [--strategy NAME] [--largest PODS]
  bench instructions  what each stage costs, against committed numbers  [--only NAME] [--update]
  ci        check, nostd, cases, same, oracle without the large inputs, test, python, node
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let verb = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let done = match verb.as_str() {
        "check" => args::none(&rest).and_then(|()| check::check()),
        "test" => args::none(&rest).and_then(|()| check::test()).map(check::say),
        "nostd" => args::none(&rest).and_then(|()| check::nostd()),
        "cases" => args::none(&rest).and_then(|()| cases::cases()),
        "ci" => args::none(&rest).and_then(|()| check::ci()),
        "fuzz" => fuzz::Options::parse(&rest).and_then(|o| fuzz::fuzz(&o)),
        "oracle" => oracle::Options::parse(&rest).and_then(|o| oracle::oracle(&o)),
        "same" => same::Options::parse(&rest).and_then(|o| same::same(&o)),
        "node" => args::none(&rest).and_then(|()| node::node()).map(check::say),
        "python" => args::none(&rest).and_then(|()| python::python()).map(check::say),
        "bench" => bench::bench(&rest),
        "study" => study::Options::parse(&rest).and_then(|o| study::study(&o)),
        measure::VERB => return measure::in_between(&rest),
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::from(if verb.is_empty() { 2 } else { 0 });
        }
        other => {
            eprintln!("xtask: no verb `{other}`\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask {verb}: {why}");
            ExitCode::FAILURE
        }
    }
}
