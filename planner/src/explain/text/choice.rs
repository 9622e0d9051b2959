//! Why a launch is counted as its machine, for people.

use std::fmt::{Display, Formatter, Result};

use super::amounts;
use crate::explain::{LaunchExplanation, NextBest};

impl Display for LaunchExplanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let c = &self.chosen;
        writeln!(
            f,
            "launch {} of pool {}: {} {} {} at {} USD/h, for {} pod(s)",
            self.launch,
            self.node_pool,
            c.instance_type,
            c.zone,
            c.capacity_type,
            c.price_per_hour,
            self.pods
        )?;
        writeln!(f, "  requests {}", amounts(&self.requests))?;
        machines(f, self)
    }
}

/// What else holds the pods, and what does not.
pub(super) fn machines(f: &mut Formatter<'_>, said: &LaunchExplanation) -> Result {
    let (types, offerings) = (said.holding.types, said.holding.offerings);
    writeln!(
        f,
        "  machines that hold these pods: {offerings} offering(s) of {types} type(s); the cheapest \
         is taken, of equal ones the first by type and zone"
    )?;
    for row in &said.next {
        next(f, row)?;
    }
    let shown: usize = said.next.iter().map(|row| row.zones.len()).sum();
    if offerings > shown + 1 {
        writeln!(f, "    and {} dearer offering(s)", offerings - shown - 1)?;
    }
    if said.cheaper.is_empty() {
        return writeln!(f, "  no machine of the pool's costs less");
    }
    writeln!(f, "  machines that cost less, by the first test that each fails")?;
    for refused in &said.cheaper {
        let subject = refused.subject.as_ref().map_or_else(String::new, |s| format!(" ({s})"));
        writeln!(f, "    {}{subject}: {} type(s)", refused.test, refused.types)?;
        for machine in &refused.nearest {
            let c = &machine.choice;
            writeln!(
                f,
                "      {} {} {} at {}: {}",
                c.instance_type, c.zone, c.capacity_type, c.price_per_hour, machine.message
            )?;
        }
        if refused.types > refused.nearest.len() {
            writeln!(f, "      and {} more", refused.types - refused.nearest.len())?;
        }
    }
    Ok(())
}

fn next(f: &mut Formatter<'_>, row: &NextBest) -> Result {
    let more = match (row.more_per_hour.0, row.more_percent) {
        (Some(0), _) => "the same price".to_owned(),
        (_, Some(percent)) => format!("{} more ({percent} %)", row.more_per_hour),
        _ => format!("{} more", row.more_per_hour),
    };
    writeln!(
        f,
        "    {} {} {} at {} USD/h: {more}",
        row.instance_type,
        row.zones.join(", "),
        row.capacity_type,
        row.price_per_hour
    )
}
