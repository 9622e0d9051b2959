//! What in an input is wrong, risky or careless, and what to write instead.
//!
//! One small function for each code, each looking at the same [`World`]: the input read and
//! lowered once. Nothing is planned for its own sake here; the warnings of a plan are repeated,
//! since whoever asks for findings wants all of them.

mod arches;
mod budgets;
mod critical;
mod images;
mod labels;
mod planned;
mod refusals;
mod regions;
mod replicas;
mod requests;
mod stuck;
mod types;
mod variables;
mod windows;
mod workloads;
mod world;
mod zones;

use serde::Serialize;

use crate::options::Options;
use crate::plan::Failure;
use crate::read::Reading;
use world::World;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A cluster refuses it, or it cannot work.
    Error,
    /// It works, and not as its author may think, or not for long.
    Warning,
    /// Worth a thought.
    Info,
}

impl Severity {
    /// The word that answers have.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Stable code: one of [`codes`].
    pub code: &'static str,
    /// How bad it is; the same for all findings of one code.
    pub severity: Severity,
    /// The object meant: `Kind namespace/name`, or what else of the input.
    pub object: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead: field and value.
    pub fix: String,
}

/// Everything found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// By severity, then code, then object.
    pub findings: Vec<Finding>,
}

impl Report {
    /// True when something cannot stay as it is.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// A code, how bad it is, and the function that finds it.
struct Rule {
    code: &'static str,
    severity: Severity,
    find: fn(&World<'_>, &mut Findings),
}

impl Rule {
    const fn error(code: &'static str, find: fn(&World<'_>, &mut Findings)) -> Self {
        Self { code, severity: Severity::Error, find }
    }

    const fn warning(code: &'static str, find: fn(&World<'_>, &mut Findings)) -> Self {
        Self { code, severity: Severity::Warning, find }
    }

    const fn info(code: &'static str, find: fn(&World<'_>, &mut Findings)) -> Self {
        Self { code, severity: Severity::Info, find }
    }
}

/// Every rule but the warnings of a plan.
const RULES: &[Rule] = &[
    Rule::error("DuplicateObject", refusals::duplicate_object),
    Rule::error("EmptyNodePool", types::empty_node_pool),
    Rule::error("ImageFamilyMismatch", images::image_family_mismatch),
    Rule::error("ImageUnsupported", images::image_unsupported),
    Rule::error("IncompleteNodeClassRef", refusals::incomplete_node_class_ref),
    Rule::error("InvalidField", refusals::invalid_field),
    Rule::error("UnknownZone", zones::unknown_zone),
    Rule::error("UnsupportedVersion", refusals::unsupported_version),
    Rule::warning("BudgetGap", budgets::budget_gap),
    Rule::warning("BudgetNeverAllows", budgets::budget_never_allows),
    Rule::warning("CriticalConsolidatesSoon", critical::critical_consolidates_soon),
    Rule::warning("CriticalOnEphemeralDisk", critical::critical_on_ephemeral_disk),
    Rule::warning("CriticalOnSpot", critical::critical_on_spot),
    Rule::warning("ExistsWithoutTaint", labels::exists_without_taint),
    Rule::warning("ImageEndsSoon", images::image_ends_soon),
    Rule::warning("MissingCpuRequest", requests::missing_cpu_request),
    Rule::warning("MissingMemoryLimit", requests::missing_memory_limit),
    Rule::warning("MissingMemoryRequest", requests::missing_memory_request),
    Rule::warning("NarrowNodePool", types::narrow_node_pool),
    Rule::warning("ReplicasWithoutPdb", replicas::replicas_without_pdb),
    Rule::warning("StuckPodHoldsNode", stuck::stuck_pod_holds_node),
    Rule::warning("UnexpandedVariable", variables::unexpanded_variable),
    Rule::warning("UnlistedZone", zones::unlisted_zone),
    Rule::warning("UnpinnedImage", images::unpinned_image),
    Rule::info("BudgetIsNoRate", budgets::budget_is_no_rate),
    Rule::info("ImageWithoutPool", arches::image_without_pool),
    Rule::info("MissingCpuLimit", requests::missing_cpu_limit),
    Rule::info("OldImage", images::old_image),
    Rule::info("ReplicasWithoutSpread", replicas::replicas_without_spread),
    Rule::info("ShortConsolidateAfter", critical::short_consolidate_after),
];

/// Every code with its severity, ascending by code.
pub fn codes() -> Vec<(&'static str, Severity)> {
    let own = RULES.iter().map(|rule| (rule.code, rule.severity));
    let mut all: Vec<_> = own.chain(planned::codes()).collect();
    all.sort_unstable();
    all
}

/// What the rules add to.
#[derive(Default)]
struct Findings(Vec<(String, String, String)>);

impl Findings {
    /// Object, what is wrong, what to write instead.
    fn add(
        &mut self,
        object: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.0.push((object.into(), message.into(), fix.into()));
    }
}

/// Everything that is to be said about an input. What a plan would refuse is a finding, and the
/// rest is looked at without it. The order of the input changes nothing.
///
/// # Errors
/// What belongs to no object of the input (a price file, an option), or a broken promise of
/// the plan whose warnings are repeated.
pub fn lint(reading: &Reading, options: &Options) -> Result<Report, Failure> {
    let (reading, plan) = planned::plan_without_refused(reading, options)?;
    let world = World::of(&reading, &plan, options)?;
    let mut findings: Vec<Finding> = Vec::new();
    for rule in RULES {
        let mut found = Findings::default();
        (rule.find)(&world, &mut found);
        let Rule { code, severity, .. } = *rule;
        findings.extend(found.0.into_iter().map(|(object, message, fix)| Finding {
            code,
            severity,
            object,
            message,
            fix,
        }));
    }
    findings.extend(planned::findings(&world));
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.severity, f.code);
        key(a)
            .cmp(&key(b))
            .then_with(|| (&a.object, &a.message, &a.fix).cmp(&(&b.object, &b.message, &b.fix)))
    });
    findings.dedup();
    Ok(Report { findings })
}

/// The first few of a list, and how many more there are: `a, b and 3 more`.
fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    /// Names that one message repeats.
    const MAX_NAMED: usize = 3;
    let names: Vec<S> = names.into_iter().collect();
    let shown: Vec<&str> = names.iter().take(MAX_NAMED).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `1 node`, `2 nodes`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
