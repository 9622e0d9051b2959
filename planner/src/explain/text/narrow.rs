//! What the restrictions of a NodePool cost, for people.

use std::fmt::{Display, Formatter, Result};

use crate::explain::{Narrowness, PoolReport};

impl Display for PoolReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(
            f,
            "pool {}: {} of {} launch(es); the plan costs {} USD/h and leaves {} pod(s)",
            self.node_pool,
            self.launches,
            self.now.launches,
            self.now.launch_per_hour,
            self.now.unplaced
        )?;
        if self.restrictions.is_empty() {
            writeln!(f, "  it restricts nothing")?;
        } else {
            writeln!(f, "  what each of its restrictions costs, by a plan without it")?;
        }
        for row in self.restrictions.iter().chain(&self.together) {
            narrowness(f, row)?;
        }
        if !self.pods.is_empty() {
            writeln!(f, "  what pods ask of their nodes, by a plan in which none asks for it")?;
        }
        for row in &self.pods {
            narrowness(f, row)?;
        }
        match self.left_out {
            0 => Ok(()),
            more => writeln!(f, "  {more} further restriction(s) were not planned without"),
        }
    }
}

fn narrowness(f: &mut Formatter<'_>, row: &Narrowness) -> Result {
    let cost = match (row.costs_per_hour.0, row.costs_percent) {
        _ if row.places_more > 0 => format!("leaves {} pod(s) more", row.places_more),
        (Some(0), _) => "costs nothing".to_owned(),
        (Some(_), Some(percent)) => format!("costs {} USD/h ({percent} %)", row.costs_per_hour),
        _ => format!("costs {} USD/h", row.costs_per_hour),
    };
    writeln!(f, "    {}: {cost}", row.restriction)
}
