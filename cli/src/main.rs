//! `dunnage`: reads files, asks the planner, prints the answer. Decides nothing.
//!
//! Exit codes: 0 for an answer (pods that stay unplaced are part of it), 2 for bad input or
//! usage, 1 for a broken promise (a limit that was hit, or a plan that its check refused) and
//! for findings that are errors.

mod args;
mod catalog;
mod findings;
mod input;
mod output;
mod plan_table;
mod progress;
mod table;
mod yaml;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use dunnage_planner::catalog::prices::Discount;
use dunnage_planner::error::PlanError;
use dunnage_planner::explain::{
    ExplainError, explain_launch, explain_node, explain_pod, explain_pool, explain_waste,
};
use dunnage_planner::html::{html, plan_with_sizes};
use dunnage_planner::lint::lint;
use dunnage_planner::options::{Effort, Options, Strategy};
use dunnage_planner::plan::{Failure, plan};
use dunnage_planner::read::{ReadOptions, Source, read_with, read_with_refused};
use dunnage_planner::replay::Scoring;
use dunnage_planner::snapshot::Snapshot;
use serde::Serialize;

use args::{Catalog, Cli, Command, Explained, Form, Input, Output, PlanForm};
use progress::Progress;

/// Why there is no answer.
pub enum Failed {
    /// Bad input or usage: one line for each error.
    Input(Vec<PlanError>),
    /// A name that means nothing.
    Name(String),
    /// A broken promise.
    Broken(String),
    /// An answer that says that something is wrong; it is printed.
    Found,
}

impl From<Vec<PlanError>> for Failed {
    fn from(errors: Vec<PlanError>) -> Self {
        Self::Input(errors)
    }
}

impl From<String> for Failed {
    fn from(broken: String) -> Self {
        Self::Broken(broken)
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(errors) => Self::Input(errors),
            Failure::Broken(why) => Self::Broken(why),
            Failure::Stopped => Self::Broken(failure.to_string()),
        }
    }
}

impl From<ExplainError> for Failed {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Plan(failure) => failure.into(),
            ExplainError::Name(error) => Self::Name(error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Input(errors)) => {
            for error in errors {
                eprintln!("error: {error}");
            }
            ExitCode::from(2)
        }
        Err(Failed::Name(why)) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
        Err(Failed::Broken(why)) => {
            eprintln!("broken promise: {why}");
            ExitCode::from(1)
        }
        Err(Failed::Found) => ExitCode::from(1),
    }
}

fn run(command: Command) -> Result<(), Failed> {
    match command {
        Command::Plan { input, form } => {
            let (snapshot, options) = read(&input)?;
            let progress = Progress::start("dunnage: planning …");
            let form = match form {
                PlanForm::Html => {
                    let (plan, sizes) = plan_with_sizes(&snapshot, &options)?;
                    drop(progress);
                    return Ok(output::write(&html(&plan, &sizes))?);
                }
                PlanForm::Table => Form::Table,
                PlanForm::Json => Form::Json,
                PlanForm::Yaml => Form::Yaml,
            };
            let plan = plan(&snapshot, &options)?;
            drop(progress);
            output::print(form, &plan, |width| plan_table::text(&plan, width))?;
        }
        Command::Explain { object } => explain(object)?,
        Command::Lint { input, output } => {
            let (sources, read_options, options) = asked(&input)?;
            let progress = Progress::start("dunnage: looking …");
            let mut reading = read_with_refused(&sources, &read_options)?;
            set_all(&mut reading.snapshot, &input)?;
            let report = lint(&reading, &options)?;
            drop(progress);
            output::print(output.form, &report, |width| findings::text(&report, width))?;
            if report.has_errors() {
                return Err(Failed::Found);
            }
        }
        Command::Catalog { what: Catalog::List { region, arch, name, output } } => {
            catalog::list(&region, arch.as_deref(), name.as_deref(), output.form)?;
        }
        Command::Catalog { what: Catalog::Show { name, region, output } } => {
            catalog::show(&name, region.as_deref(), output.form)?;
        }
        Command::Crds => output::write(&dunnage_planner::crds_yaml())?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dunnage", &mut script);
            output::write(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(())
}

/// Explains one object.
fn explain(object: Explained) -> Result<(), Failed> {
    match object {
        Explained::Pod { name, input, output } => {
            explained(&input, &output, |snapshot, options| explain_pod(snapshot, options, &name))
        }
        Explained::Launch { number, input, output } => {
            explained(&input, &output, |snapshot, o| explain_launch(snapshot, o, number))
        }
        Explained::Pool { name, input, output } => {
            explained(&input, &output, |snapshot, options| explain_pool(snapshot, options, &name))
        }
        Explained::Waste { input, output } => explained(&input, &output, explain_waste),
        Explained::Node { name, input, output } => {
            explained(&input, &output, |snapshot, options| explain_node(snapshot, options, &name))
        }
    }
}

/// Prints what `explain` says of the input.
fn explained<T: Serialize + Display>(
    input: &Input,
    output: &Output,
    explain: impl FnOnce(&Snapshot, &Options) -> Result<T, ExplainError>,
) -> Result<(), Failed> {
    let (snapshot, options) = read(input)?;
    let progress = Progress::start("dunnage: explaining …");
    let said = explain(&snapshot, &options)?;
    drop(progress);
    output::print(output.form, &said, |width| wrapped(&said.to_string(), width))?;
    Ok(())
}

/// Reads the input and the options that change the decision.
fn read(input: &Input) -> Result<(Snapshot, Options), Failed> {
    let (sources, read_options, options) = asked(input)?;
    let progress = Progress::start("dunnage: reading …");
    let mut snapshot = read_with(&sources, &read_options)?;
    drop(progress);
    set_all(&mut snapshot, input)?;
    Ok((snapshot, options))
}

/// The texts to read, and the options.
fn asked(input: &Input) -> Result<(Vec<Source>, ReadOptions<'static>, Options), Failed> {
    let mut options = Options {
        strategy: input
            .strategy
            .parse::<Strategy>()
            .map_err(|why| input::usage("--strategy", &input.strategy, why))?,
        effort: input
            .effort
            .parse::<Effort>()
            .map_err(|why| input::usage("--effort", &input.effort, why))?,
        tie_seed: input.tie_seed,
        dual: input.dual,
        replay: input.replay.map(|scoring| match scoring {
            args::Scoring::LeastAllocated => Scoring::LeastAllocated,
            args::Scoring::MostAllocated => Scoring::MostAllocated,
        }),
        ..Options::default()
    };
    if let Some(name) = &input.catalog {
        options.region = Some(catalog::region(name, "--catalog")?);
    }
    for text in &input.discount {
        options.discounts.push(discount(text)?);
    }
    let now = match &input.now {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            let why = format!("`{text}` is not a time: write one such as 2026-11-30T12:00:00Z");
            input::usage("--now", text, why)
        })?),
    };
    let sources = input::sources(&input.files)?;
    if let Some(path) = &input.prices {
        options.prices = Some(input::file(path)?);
    }
    Ok((sources, ReadOptions { now, open: Some(&input::beside) }, options))
}

/// Sets what the command line sets.
fn set_all(snapshot: &mut Snapshot, input: &Input) -> Result<(), Failed> {
    input.settings.iter().try_for_each(|text| set(snapshot, text))?;
    if let Some(path) = &input.quotas {
        snapshot.settings.read_quotas(&input::file(path)?).map_err(|e| vec![*e])?;
    }
    Ok(())
}

/// `NAME=VALUE` of a setting; the value is JSON, or else text.
fn set(snapshot: &mut Snapshot, text: &str) -> Result<(), Failed> {
    let Some((name, value)) = text.split_once('=') else {
        let why = format!("`{text}` is not a setting: write NAME=VALUE");
        return Err(input::usage("--settings", text, why).into());
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    match snapshot.settings.set(name, &value) {
        Ok(_) => Ok(()),
        Err(why) => Err(input::usage("--settings", text, format!("`{text}`: {why}")).into()),
    }
}

/// `0.9`, `spot=0.8`, `m5=0.7` or `m5/on-demand=0.6`.
fn discount(text: &str) -> Result<Discount, Failed> {
    let refuse = || {
        let why =
            format!("`{text}` is not a discount: write FACTOR or NAME=FACTOR, such as spot=0.8");
        Failed::from(input::usage("--discount", text, why))
    };
    let (name, factor) = text.rsplit_once('=').unwrap_or(("", text));
    let factor = factor.parse().map_err(|_| refuse())?;
    let is_capacity_type = |word: &str| ["on-demand", "spot", "reserved"].contains(&word);
    let (family, capacity_type) = match name.split_once('/') {
        Some((family, kind)) if is_capacity_type(kind) => (family, kind),
        Some(_) => return Err(refuse()),
        None if is_capacity_type(name) => ("", name),
        None => (name, ""),
    };
    let given = |word: &str| (!word.is_empty()).then(|| word.to_owned());
    Ok(Discount { capacity_type: given(capacity_type), family: given(family), factor })
}

/// Text with its long lines wrapped, continuation lines indented as the line they continue.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.chars().count() <= width {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let hang = indent + 4;
        for (at, part) in table::wrap(line, width.saturating_sub(hang).max(20)).iter().enumerate() {
            let blanks = if at == 0 { indent } else { hang };
            out.push_str(&" ".repeat(blanks));
            out.push_str(part);
            out.push('\n');
        }
    }
    out
}
