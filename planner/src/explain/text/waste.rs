//! Where money goes beyond the lower bound, for people.

use std::fmt::{Display, Formatter, Result};

use super::amounts;
use crate::explain::WasteReport;

impl Display for WasteReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(
            f,
            "the plan costs {} USD/h, {} more than the {} that no plan can undercut",
            self.launch_per_hour, self.waste_per_hour, self.lower_bound_per_hour
        )?;
        if self.bound_above_values.0.is_some_and(|more| more != 0) {
            writeln!(
                f,
                "  the bound is {} above the values of the pods: launches waste so much more \
                 together",
                self.bound_above_values
            )?;
        }
        if self.pods_without_value > 0 {
            writeln!(
                f,
                "  the bound does not cover {} pod(s): they count as worth nothing",
                self.pods_without_value
            )?;
        }
        if self.resources.is_empty() {
            return writeln!(f, "  nothing is launched");
        }
        writeln!(f, "what is bought")?;
        for row in &self.resources {
            writeln!(
                f,
                "  {}: {} for pods: {} requested, {} by DaemonSets, {} unused",
                row.resource, row.allocatable, row.pods, row.daemons, row.unused
            )?;
        }
        writeln!(f, "launches that waste most: price less what their pods are worth")?;
        for row in &self.launches {
            let c = &row.machine;
            writeln!(
                f,
                "  launch {} {} {} {} at {}: {} wasted, {} pod(s), unused {}",
                row.launch,
                c.instance_type,
                c.zone,
                c.capacity_type,
                c.price_per_hour,
                row.waste_per_hour,
                row.pods,
                amounts(&row.unused)
            )?;
        }
        if self.further_launches.count > 0 {
            let further = &self.further_launches;
            writeln!(f, "  {} more waste {}", further.count, further.waste_per_hour)?;
        }
        writeln!(f, "pods with most of it, by how much of their machines they take")?;
        for row in &self.shapes {
            writeln!(
                f,
                "  {} pod(s) like {} ({}): {}",
                row.count,
                row.pod,
                amounts(&row.requests),
                row.waste_per_hour
            )?;
            if let Some(smaller) = &row.smaller {
                let saves = match (smaller.saves_per_hour.0, smaller.saves_percent) {
                    (Some(0), _) => "costs the same".to_owned(),
                    (_, Some(percent)) => {
                        format!("costs {} less ({percent} %)", smaller.saves_per_hour)
                    }
                    _ => format!("costs {} less", smaller.saves_per_hour),
                };
                writeln!(
                    f,
                    "    with {} {} instead of {}, {} of them fit {} rather than {}: the plan \
                     {saves}",
                    smaller.resource,
                    smaller.to,
                    smaller.from,
                    smaller.fitting + 1,
                    smaller.instance_type,
                    smaller.fitting
                )?;
            }
        }
        Ok(())
    }
}
