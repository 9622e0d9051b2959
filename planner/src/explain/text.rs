//! Explanations for people: short lines, the answer first.

mod choice;
mod narrow;
mod waste;

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

use super::{NodeExplanation, PodExplanation, PodOutcome, PoolExplanation};

/// Nodes of one rule that are named before the rest is counted.
const NODES_SHOWN: usize = 3;

impl Display for PodExplanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "pod {}", self.pod)?;
        writeln!(f, "  requests {}", amounts(&self.requests))?;
        match (&self.outcome, &self.launch, &self.node) {
            (PodOutcome::Launched, Some(launch), _) => {
                let c = &launch.cheapest;
                writeln!(
                    f,
                    "  goes to a new node of pool {}: {} {} {} at {} USD/h, with {} other pod(s)",
                    launch.node_pool,
                    c.instance_type,
                    c.zone,
                    c.capacity_type,
                    c.price_per_hour,
                    launch.pods.len().saturating_sub(1)
                )?;
                for because in &launch.because {
                    writeln!(f, "    {}: {}", because.code, because.message)?;
                }
                if let Some(choice) = &self.choice {
                    choice::machines(f, choice)?;
                }
            }
            (PodOutcome::Bound, _, Some(node)) => writeln!(f, "  goes to existing node {node}")?,
            (PodOutcome::Running, ..) => {
                writeln!(f, "  is on a node already, or finished: nothing is decided about it")?;
            }
            _ => writeln!(f, "  fits nowhere")?,
        }
        for because in &self.because {
            writeln!(f, "    {}: {}", because.code, because.message)?;
        }
        if !self.pools.is_empty() {
            writeln!(f, "an empty node of each pool, in the order in which pools are tried")?;
        }
        for pool in &self.pools {
            pool_text(f, pool)?;
        }
        nodes_text(f, self)
    }
}

fn pool_text(f: &mut Formatter<'_>, pool: &PoolExplanation) -> Result {
    let verdict = if pool.fits { "fits" } else { "does not fit" };
    writeln!(f, "  pool {} (weight {}): {verdict}", pool.node_pool, pool.weight)?;
    match &pool.taint {
        Some(taint) => writeln!(f, "    taints    `{taint}` is not tolerated")?,
        None => writeln!(f, "    taints    tolerated")?,
    }
    match &pool.requirement {
        Some(why) => writeln!(f, "    labels    {why}")?,
        None => writeln!(f, "    labels    pod and pool agree")?,
    }
    let t = pool.types;
    writeln!(
        f,
        "    types     {} asked: {} by label, {} large enough, {} can be bought, {} pass all",
        t.asked, t.labels, t.large, t.offered, t.all
    )?;
    if let Some(nearest) = &pool.nearest {
        writeln!(f, "    nearest   {}: {}", nearest.instance_type, nearest.message)?;
    }
    Ok(())
}

fn nodes_text(f: &mut Formatter<'_>, said: &PodExplanation) -> Result {
    if said.nodes.is_empty() {
        return Ok(());
    }
    writeln!(f, "existing nodes, the first test that each fails")?;
    let mut by_rule: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for node in &said.nodes {
        let rule = node.rule.unwrap_or("none");
        by_rule.entry(rule).or_default().push((&node.node, &node.message));
    }
    for (rule, nodes) in by_rule {
        writeln!(f, "  {rule}: {} node(s)", nodes.len())?;
        for (name, message) in nodes.iter().take(NODES_SHOWN) {
            writeln!(f, "    {name}: {message}")?;
        }
        if nodes.len() > NODES_SHOWN {
            writeln!(f, "    and {} more", nodes.len() - NODES_SHOWN)?;
        }
    }
    Ok(())
}

impl Display for NodeExplanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "node {}", self.node)?;
        let state = if self.initialized { "initialized" } else { "not initialized yet" };
        writeln!(f, "  state            {state}")?;
        writeln!(f, "  free             {}", amounts(&self.free))?;
        writeln!(f, "  DaemonSets to be {}", amounts(&self.daemon_overhead))?;
        writeln!(f, "  left for pods    {}", amounts(&self.remaining))?;
        writeln!(f, "  pods on it       {}", self.pods.len())?;
        for pod in &self.pods {
            writeln!(f, "    {pod}")?;
        }
        if !self.takes.is_empty() {
            writeln!(f, "  pods of the plan {}", self.takes.len())?;
            for pod in &self.takes {
                writeln!(f, "    {pod}")?;
            }
        }
        Ok(())
    }
}

fn amounts(amounts: &BTreeMap<String, String>) -> String {
    if amounts.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> = amounts.iter().map(|(name, text)| format!("{name} {text}")).collect();
    parts.join(", ")
}
