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

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use dunnage_planner::door::{Asked, Refusal, Said, Text, Verb, Why, lint_texts, say};
use dunnage_planner::error::PlanError;
use dunnage_planner::options::StopFlag;
use dunnage_planner::read::{ReadOptions, Source, read_with};

use args::{Catalog, Cli, Command, Explained, Form, Input, PlanForm};
use progress::Progress;

/// Why there is no answer.
pub enum Failed {
    /// Bad input or usage, or a broken promise: one line for each error.
    Refused(Refusal),
    /// Output that cannot be written.
    Output(String),
    /// An answer that says that something is wrong; it is printed.
    Found,
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Vec<PlanError>> for Failed {
    fn from(errors: Vec<PlanError>) -> Self {
        Self::Refused(errors.into())
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self::Output(why)
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Refused(refusal)) => {
            let (word, code) = match refusal.why {
                Why::Input => ("error", 2),
                Why::Broken | Why::Stopped => ("broken promise", 1),
            };
            for error in &refusal.errors {
                eprintln!("{word}: {error}");
            }
            ExitCode::from(code)
        }
        Err(Failed::Output(why)) => {
            eprintln!("error: {why}");
            ExitCode::from(1)
        }
        Err(Failed::Found) => ExitCode::from(1),
    }
}

fn run(command: Command) -> Result<(), Failed> {
    match command {
        Command::Plan { input, form: PlanForm::Html } => asked(&input, &Verb::Page, Form::Json)?,
        Command::Plan { input, form } => {
            let form = match form {
                PlanForm::Table => Form::Table,
                PlanForm::Json | PlanForm::Html => Form::Json,
                PlanForm::Yaml => Form::Yaml,
            };
            asked(&input, &Verb::Plan, form)?;
        }
        Command::Explain { object } => match object {
            Explained::Pod { name, input, output } => {
                asked(&input, &Verb::ExplainPod(name), output.form)?;
            }
            Explained::Launch { number, input, output } => {
                asked(&input, &Verb::ExplainLaunch(number), output.form)?;
            }
            Explained::Pool { name, input, output } => {
                asked(&input, &Verb::ExplainPool(name), output.form)?;
            }
            Explained::Waste { input, output } => {
                asked(&input, &Verb::ExplainWaste, output.form)?;
            }
            Explained::Node { name, input, output } => {
                asked(&input, &Verb::ExplainNode(name), output.form)?;
            }
        },
        Command::Lint { input, output } => asked(&input, &Verb::Lint, output.form)?,
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

/// Asks and prints the answer.
fn asked(input: &Input, verb: &Verb, form: Form) -> Result<(), Failed> {
    let question = question(input)?;
    let stop = StopFlag::default();
    let options = question.options("--", &stop)?;
    let now = question.moment("--")?;
    let sources = input::sources(&input.files)?;
    let said = match verb {
        Verb::Lint => {
            let _progress = Progress::start("dunnage: looking …");
            lint_texts("--", &sources, &question, Some(&input::beside), &stop)?
        }
        _ => {
            let progress = Progress::start("dunnage: reading …");
            let read = ReadOptions { now, open: Some(&input::beside) };
            let mut snapshot = read_with(&sources, &read)?;
            drop(progress);
            if let Some(changed) = question.applied("--", &snapshot)? {
                snapshot = changed;
            }
            let _progress = Progress::start(match verb {
                Verb::Plan | Verb::Page => "dunnage: planning …",
                _ => "dunnage: explaining …",
            });
            say(verb, &snapshot, &options)?
        }
    };
    print(&said, form)?;
    match said {
        Said::Lint(report) if report.has_errors() => Err(Failed::Found),
        _ => Ok(()),
    }
}

fn print(said: &Said, form: Form) -> Result<(), String> {
    match (said, form) {
        (Said::Page(_), _) | (_, Form::Json) => output::write(&said.text()),
        (_, Form::Yaml) => output::write(&output::yaml(&said.text())?),
        (said, Form::Table) => {
            let width = output::width();
            output::write(&match said {
                Said::Plan(plan) => plan_table::text(plan, width),
                Said::Lint(report) => findings::text(report, width),
                Said::Pod(said) => wrapped(&said.to_string(), width),
                Said::Node(said) => wrapped(&said.to_string(), width),
                Said::Launch(said) => wrapped(&said.to_string(), width),
                Said::Pool(said) => wrapped(&said.to_string(), width),
                Said::Waste(said) => wrapped(&said.to_string(), width),
                Said::Page(page) => page.clone(),
            })
        }
    }
}

/// The question that flags ask.
fn question(input: &Input) -> Result<Asked, Failed> {
    let text = |path: &std::path::PathBuf| -> Result<Text, Failed> {
        let Source { name, text } = input::file(path)?;
        Ok(Text { name, text })
    };
    let mut question = Asked {
        strategy: Some(input.strategy.clone()),
        effort: Some(input.effort.clone()),
        catalog: input.catalog.clone(),
        discounts: input.discount.clone(),
        without_zones: input.without_zone.clone(),
        now: input.now.clone(),
        dual: input.dual,
        tie_seed: input.tie_seed,
        replay: input.replay.map(|scoring| {
            let name = match scoring {
                args::Scoring::LeastAllocated => "leastAllocated",
                args::Scoring::MostAllocated => "mostAllocated",
            };
            name.to_owned()
        }),
        ..Asked::default()
    };
    for setting in &input.settings {
        let Some((name, value)) = setting.split_once('=') else {
            let why = format!("`{setting}` is not a setting: write NAME=VALUE");
            return Err(Refusal::usage("--settings", setting, why).into());
        };
        // The value is JSON, or else text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        question.settings.insert(name.to_owned(), value);
    }
    question.prices = input.prices.as_ref().map(text).transpose()?;
    question.quotas = input.quotas.as_ref().map(text).transpose()?;
    Ok(question)
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
