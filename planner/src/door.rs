//! The one call behind every door: texts in, an answer out, the same bytes for the command line,
//! Python, Node.js and the controller's debug endpoint.
//!
//! A [`World`] is read once and asked often. What changes an answer beside the world is
//! [`Asked`], which a door fills from flags, keyword arguments or JSON. Nothing is decided here.

mod asked;
mod refusal;
mod what_if;

use std::sync::Arc;

use serde::Serialize;

pub use asked::{Asked, Text, region};
pub use refusal::{Refusal, Why};
pub use what_if::Requests;

use crate::explain::{
    LaunchExplanation, NodeExplanation, PodExplanation, PoolReport, WasteReport, explain_launch,
    explain_node, explain_pod, explain_pool, explain_waste,
};
use crate::html::{html, plan_with_sizes};
use crate::lint::{Report, lint};
use crate::options::StopFlag;
use crate::plan::{Plan, plan};
use crate::read::{Open, ReadOptions, Reading, Source, read_raw, read_with_refused};
use crate::snapshot::Snapshot;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// What would be launched.
    Plan,
    /// The same as a page.
    Page,
    /// The chain behind a pod, by name.
    ExplainPod(String),
    /// What is on a node, by name.
    ExplainNode(String),
    /// Why a launch is its machine, by number from 1.
    ExplainLaunch(usize),
    /// What restrictions of a NodePool cost, by name.
    ExplainPool(String),
    /// Where money goes beyond the bound.
    ExplainWaste,
    /// What is wrong or careless.
    Lint,
}

impl Verb {
    /// A verb by its words: `plan`, `explain pod web-0`, `explain launch 1`, `explain waste`,
    /// `lint`, `page`.
    ///
    /// # Errors
    /// Words that are no verb.
    pub fn of(words: &[&str]) -> Result<Self, Refusal> {
        match words {
            ["plan"] => Ok(Self::Plan),
            ["page"] => Ok(Self::Page),
            ["lint"] => Ok(Self::Lint),
            ["explain", "waste"] => Ok(Self::ExplainWaste),
            ["explain", "pod", name] => Ok(Self::ExplainPod((*name).to_owned())),
            ["explain", "node", name] => Ok(Self::ExplainNode((*name).to_owned())),
            ["explain", "pool", name] => Ok(Self::ExplainPool((*name).to_owned())),
            ["explain", "launch", number] => match number.parse() {
                Ok(number) => Ok(Self::ExplainLaunch(number)),
                Err(_) => Err(Refusal::usage("launch", number, "a launch has a number, from 1")),
            },
            _ => Err(Refusal::usage(
                "verb",
                &words.join(" "),
                "use `plan`, `page`, `lint`, `explain waste`, or `explain` with `pod`, `node`, \
                 `pool` or `launch` and its name",
            )),
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Said {
    /// To [`Verb::Plan`].
    Plan(Box<Plan>),
    /// To [`Verb::Page`].
    Page(String),
    /// To [`Verb::ExplainPod`].
    Pod(Box<PodExplanation>),
    /// To [`Verb::ExplainNode`].
    Node(Box<NodeExplanation>),
    /// To [`Verb::ExplainLaunch`].
    Launch(Box<LaunchExplanation>),
    /// To [`Verb::ExplainPool`].
    Pool(Box<PoolReport>),
    /// To [`Verb::ExplainWaste`].
    Waste(Box<WasteReport>),
    /// To [`Verb::Lint`].
    Lint(Report),
}

impl Said {
    /// The answer as text: JSON with two blanks of indentation and a line break at its end, or
    /// the page.
    pub fn text(&self) -> String {
        match self {
            Self::Plan(said) => json(said),
            Self::Page(page) => page.clone(),
            Self::Pod(said) => json(said),
            Self::Node(said) => json(said),
            Self::Launch(said) => json(said),
            Self::Pool(said) => json(said),
            Self::Waste(said) => json(said),
            Self::Lint(said) => json(said),
        }
    }
}

fn json<T: Serialize>(said: &T) -> String {
    // INVARIANT: answers have text keys and finite numbers only, so they are JSON.
    let text = serde_json::to_string_pretty(said).expect("an answer is JSON");
    text + "\n"
}

/// An input that was read, to be asked and changed without being read again.
#[derive(Clone, Debug)]
pub struct World {
    /// Objects as they were written, before the pods of workloads and defaults.
    raw: Arc<Snapshot>,
    /// What is planned.
    snapshot: Arc<Snapshot>,
    /// What changes its answers beside what each call asks.
    base: Asked,
}

impl World {
    /// Reads texts for the moment asked for; what else is asked is up to each question. `open`
    /// opens the file that a Snapshot names as its `instanceTypesFile`.
    ///
    /// # Errors
    /// Everything that is wrong with the texts.
    pub fn open(
        sources: &[Source],
        asked: &Asked,
        open: Option<Open<'_>>,
    ) -> Result<Self, Refusal> {
        let now = asked.moment("")?;
        let (raw, snapshot) = read_raw(sources, &ReadOptions { now, open })?;
        let base = Asked::default();
        Ok(Self { raw: Arc::new(raw), snapshot: Arc::new(snapshot), base })
    }

    /// The objects with everything filled in that a file may leave out.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Answers. `stop` ends it early.
    ///
    /// # Errors
    /// Bad options, a name that means nothing, a broken promise, or the flag.
    pub fn say(&self, verb: &Verb, asked: &Asked, stop: &StopFlag) -> Result<Said, Refusal> {
        let asked = self.base.with(asked);
        let options = asked.options("", stop)?;
        let changed = asked.applied("", &self.snapshot)?;
        let snapshot = changed.as_ref().unwrap_or(&self.snapshot);
        say(verb, snapshot, &options)
    }

    /// [`World::say`] as text.
    ///
    /// # Errors
    /// As [`World::say`].
    pub fn answer(&self, verb: &Verb, asked: &Asked, stop: &StopFlag) -> Result<String, Refusal> {
        self.say(verb, asked, stop).map(|said| said.text())
    }
}

/// Answers about a Snapshot under options.
///
/// # Errors
/// As [`World::say`].
pub fn say(
    verb: &Verb,
    snapshot: &Snapshot,
    options: &crate::options::Options,
) -> Result<Said, Refusal> {
    Ok(match verb {
        Verb::Plan => Said::Plan(Box::new(plan(snapshot, options)?)),
        Verb::Page => {
            let (plan, sizes) = plan_with_sizes(snapshot, options)?;
            Said::Page(html(&plan, &sizes))
        }
        Verb::ExplainPod(name) => Said::Pod(Box::new(explain_pod(snapshot, options, name)?)),
        Verb::ExplainNode(name) => Said::Node(Box::new(explain_node(snapshot, options, name)?)),
        Verb::ExplainPool(name) => Said::Pool(Box::new(explain_pool(snapshot, options, name)?)),
        Verb::ExplainWaste => Said::Waste(Box::new(explain_waste(snapshot, options)?)),
        Verb::ExplainLaunch(number) => {
            Said::Launch(Box::new(explain_launch(snapshot, options, *number)?))
        }
        Verb::Lint => {
            let reading = Reading { snapshot: snapshot.clone(), refused: Vec::new() };
            Said::Lint(lint(&reading, options)?)
        }
    })
}

/// Looks at texts of which some objects may be refused: lint for an input that is no [`World`].
/// Errors name options with `dashes` before them.
///
/// # Errors
/// Texts that cannot be read at all, bad options, or a broken promise.
pub fn lint_texts(
    dashes: &str,
    sources: &[Source],
    asked: &Asked,
    open: Option<Open<'_>>,
    stop: &StopFlag,
) -> Result<Said, Refusal> {
    let options = asked.options(dashes, stop)?;
    let now = asked.moment(dashes)?;
    let mut reading = read_with_refused(sources, &ReadOptions { now, open })?;
    if let Some(changed) = asked.applied(dashes, &reading.snapshot)? {
        reading.snapshot = changed;
    }
    Ok(Said::Lint(lint(&reading, &options)?))
}
