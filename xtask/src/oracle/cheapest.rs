//! Our default strategy against the best of the oracle's answers: by pods placed, then price.

use std::cmp::Ordering;
use std::path::Path;

use serde_json::Value;

use super::answer::Answer;
use super::programs::{self, Ours, Theirs};

/// Most inputs, in percent, on which one of the oracle's runs may be better by luck: it draws its
/// free choices at random.
const MAX_BEHIND_PERCENT: usize = 4;

/// How `cheapest` stands beside the oracle, over all inputs.
#[derive(Debug, Default)]
pub struct Standing {
    cheaper: usize,
    equal: usize,
    /// Inputs where the oracle is better and the verifier refuses its answer: the rule.
    excused: Vec<(String, String)>,
    behind: Vec<String>,
    /// Prices where both place equally many pods, in micro-dollars.
    ours_microusd: i64,
    theirs_microusd: i64,
}

impl Standing {
    /// Compares one input.
    pub fn add(&mut self, name: &str, input: &Path, theirs: &Theirs, dunnage: &Path, dir: &Path) {
        let best = theirs.answers.iter().map(rank).min();
        let Some(best) = best.filter(|_| theirs.error.is_none() && !theirs.is_cut) else { return };
        let ours = match programs::ask_ours(dunnage, input, ("cheapest", None), dir) {
            Ours::Plan(answer) => rank(&answer),
            Ours::Refused(why) => {
                self.behind.push(format!("{name}: {why}"));
                return;
            }
        };
        if ours.0 == best.0 {
            self.ours_microusd += ours.1;
            self.theirs_microusd += best.1;
        }
        match ours.cmp(&best) {
            Ordering::Less => self.cheaper += 1,
            Ordering::Equal => self.equal += 1,
            Ordering::Greater => match broken_rule(dunnage, input) {
                Some(rule) => self.excused.push((name.to_owned(), rule)),
                None => self.behind.push(format!("{name}: {} {}", show(ours), show(best))),
            },
        }
    }

    /// Prints the standing; an error when `cheapest` is too often behind an answer that holds.
    ///
    /// # Errors
    /// The inputs where it is behind.
    pub fn verdict(&self) -> Result<(), String> {
        for (name, rule) in &self.excused {
            println!("breaks      {name}: {rule}");
        }
        for line in &self.behind {
            println!("behind      {line}");
        }
        let (ours, theirs) = (self.ours_microusd as f64 / 1e6, self.theirs_microusd as f64 / 1e6);
        println!(
            "cheapest beside the best of the oracle's runs: better {}, equal {}, behind one that \
             breaks a rule {}, behind {}; where equally many pods are placed {ours:.2} USD/h \
             beside {theirs:.2}",
            self.cheaper,
            self.equal,
            self.excused.len(),
            self.behind.len()
        );
        let all = self.cheaper + self.equal + self.excused.len() + self.behind.len();
        if self.behind.len() * 100 <= all * MAX_BEHIND_PERCENT {
            return Ok(());
        }
        Err(format!("`cheapest` is behind the oracle on {} inputs", self.behind.len()))
    }
}

/// Pods that found a place (negated, so that less is better), then price.
fn rank(answer: &Answer) -> (i64, i64) {
    (-(answer.placed().len() as i64), answer.price_microusd())
}

fn show((placed, microusd): (i64, i64)) -> String {
    format!("{} placed at {:.6} USD/h", -placed, microusd as f64 / 1e6)
}

/// The rule that Karpenter's own answer breaks, as our plan of its strategy says.
fn broken_rule(dunnage: &Path, input: &Path) -> Option<String> {
    let plan = programs::plan_json(dunnage, input, "karpenter").ok()?;
    let warnings = plan["warnings"].as_array()?;
    let own = warnings.iter().find(|w| w["code"] == "KarpenterBreaksRule")?;
    Some(own.get("message").and_then(Value::as_str).unwrap_or_default().to_owned())
}
