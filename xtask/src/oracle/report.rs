//! The table that the comparison prints, and what makes it fail.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::compare::Verdict;
use super::kinds::Kind;
use super::known::Known;
use super::programs::Theirs;
use crate::random::features;

/// Largest share of inputs that may differ by a rule, in percent.
const MAX_RULE_PERCENT: usize = 5;
/// Lines that are shown of one unexplained difference.
const MAX_LINES: usize = 12;

/// What became of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Equal to one run.
    Exact,
    /// Equal but for a choice that is proven free; why.
    Tie(String),
    /// Different by a rule switch of the table.
    Rule(String),
    /// Different, and what differs.
    Unexplained(Vec<String>),
}

impl Outcome {
    /// Of the first runs.
    pub fn from(verdict: Verdict, is_cut: bool) -> Self {
        match verdict {
            Verdict::Exact => Self::Exact,
            Verdict::Tie(why) => Self::Tie(why.to_owned()),
            Verdict::Different(mut lines) => {
                if is_cut {
                    lines.insert(0, "the oracle ran into its time limit".to_owned());
                }
                Self::Unexplained(lines)
            }
        }
    }

    fn column(&self) -> usize {
        match self {
            Self::Exact => 0,
            Self::Tie(_) => 1,
            Self::Rule(_) => 2,
            Self::Unexplained(_) => 3,
        }
    }
}

/// One input's line.
pub struct Row {
    name: String,
    features: BTreeSet<&'static str>,
    /// What became of it.
    pub outcome: Outcome,
    is_stale: bool,
}

impl Row {
    /// A row of one input.
    pub fn new(name: &str, input: &Value, outcome: Outcome) -> Self {
        let features = features::of(input);
        Self { name: name.to_owned(), features, outcome, is_stale: false }
    }

    /// Turns an unexplained difference that the table names into a rule's.
    pub fn apply_known(&mut self, known: &BTreeMap<String, Known>) {
        let Some(row) = known.get(&self.name) else { return };
        if matches!(self.outcome, Outcome::Unexplained(_)) {
            self.outcome = Outcome::Rule(format!("{}: {}", row.rule, row.why));
        } else {
            self.is_stale = true;
        }
    }
}

fn counts<'r>(rows: impl Iterator<Item = &'r Row>) -> [usize; 4] {
    let mut out = [0; 4];
    for row in rows {
        if let Some(n) = out.get_mut(row.outcome.column()) {
            *n += 1;
        }
    }
    out
}

/// Prints the differences, the ties by reason, the counts by feature and the totals.
pub fn print(rows: &[Row]) {
    let mut ties: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        match &row.outcome {
            Outcome::Exact => {}
            Outcome::Tie(why) => {
                let plain = why.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
                *ties.entry(plain).or_insert(0) += 1;
            }
            Outcome::Rule(why) => println!("rule        {}: {why}", row.name),
            Outcome::Unexplained(lines) => {
                println!("unexplained {}", row.name);
                for line in lines.iter().take(MAX_LINES) {
                    println!("              {line}");
                }
                if let Some(more) = lines.len().checked_sub(MAX_LINES).filter(|n| *n > 0) {
                    println!("              and {more} more lines");
                }
            }
        }
        if row.is_stale {
            println!("stale       {} no longer differs; take it out of the table", row.name);
        }
    }
    for (why, n) in ties {
        println!("tie {n:4}    {why}");
    }
    println!("\n{:28} exact   tie  rule  unexplained", "");
    for feature in features::ALL {
        line(feature, counts(rows.iter().filter(|r| r.features.contains(feature))));
    }
    line("all inputs", counts(rows.iter()));
}

fn line(name: &str, [exact, tie, rule, unexplained]: [usize; 4]) {
    println!("{name:28} {exact:5} {tie:5} {rule:5} {unexplained:12}");
}

/// Fails on an unexplained or stale row and on too many rules.
///
/// # Errors
/// As said.
pub fn verdict(rows: &[Row]) -> Result<(), String> {
    let [_, _, rule, unexplained] = counts(rows.iter());
    let stale = rows.iter().filter(|r| r.is_stale).count();
    if unexplained > 0 {
        return Err(format!("{unexplained} of {} inputs differ unexplained", rows.len()));
    }
    if rule * 100 > rows.len() * MAX_RULE_PERCENT {
        return Err(format!(
            "{rule} of {} inputs differ by a rule, more than {MAX_RULE_PERCENT} %",
            rows.len()
        ));
    }
    if stale > 0 {
        return Err(format!("{stale} rows of known-differences.txt are stale"));
    }
    Ok(())
}

/// Prints what the oracle did with the inputs: pods placed and not, kinds of reason, how
/// many inputs it answers in more than one way, failures.
pub fn print_health(theirs: &BTreeMap<String, Theirs>) {
    let (mut placed, mut unplaced, mut several, mut machines, mut bound) = (0, 0, 0, 0, 0);
    let (mut none, mut all) = (0, 0);
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for (name, found) in theirs {
        if let Some(why) = &found.error {
            println!("the oracle fails on {name}: {why}");
        }
        if found.is_cut {
            println!("the oracle runs into its time limit on {name}");
        }
        several += usize::from(found.answers.len() > 1);
        let Some(answer) = found.answers.first() else { continue };
        let here = answer.placed().len();
        placed += here;
        unplaced += answer.unplaced.len();
        none += usize::from(here == 0);
        all += usize::from(answer.unplaced.is_empty());
        machines += answer.launches.len();
        bound += answer.bind.values().map(Vec::len).sum::<usize>();
        for kind in answer.unplaced.values().flatten() {
            *kinds.entry(kind.clone()).or_insert(0) += 1;
        }
    }
    let percent = |n: usize| n * 100 / (placed + unplaced).max(1);
    println!("oracle: {} inputs, {several} answered in more than one way", theirs.len());
    println!("  pods placed {placed} ({} %), of them {bound} on existing nodes", percent(placed));
    println!("  pods unplaced {unplaced} ({} %), machines launched {machines}", percent(unplaced));
    println!("  inputs with every pod placed {all}, with none placed {none}");
    for (kind, n) in kinds {
        println!("  {n:6} unplaced because of: {}", kind.name());
    }
    println!();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(name: &str, outcome: Outcome) -> Row {
        Row::new(name, &json!({}), outcome)
    }

    fn table() -> BTreeMap<String, Known> {
        let known = Known { rule: "13.4".to_owned(), why: "domains".to_owned() };
        BTreeMap::from([("x".to_owned(), known)])
    }

    #[test]
    fn a_named_difference_is_a_rule_and_a_stale_row_fails() {
        let mut differs = row("x", Outcome::Unexplained(vec![]));
        differs.apply_known(&table());
        assert_eq!(differs.outcome, Outcome::Rule("13.4: domains".to_owned()));
        let mut equal = row("x", Outcome::Exact);
        equal.apply_known(&table());
        assert!(verdict(&[equal]).is_err_and(|why| why.contains("stale")));
    }

    #[test]
    fn unexplained_fails_and_so_do_too_many_rules() {
        let exact = || row("e", Outcome::Exact);
        assert_eq!(verdict(&[exact(), row("t", Outcome::Tie("x".to_owned()))]), Ok(()));
        assert!(verdict(&[exact(), row("u", Outcome::Unexplained(vec![]))]).is_err());
        let rule = || row("r", Outcome::Rule("13.4: x".to_owned()));
        let mut rows: Vec<Row> = (0..19).map(|_| exact()).collect();
        rows.push(rule());
        assert_eq!(verdict(&rows), Ok(()));
        rows.push(rule());
        assert!(verdict(&rows).is_err_and(|why| why.contains("more than 5 %")));
    }
}
