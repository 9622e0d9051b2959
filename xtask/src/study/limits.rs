//! What is accepted: how far a plan may be from its bound, the bound from the study's, and how
//! much may be computed. And the exceptions that are known, with their reasons.

use super::Known;

/// Inputs of fewer pods have no limit: rounding decides there.
const LEAST_PODS: u32 = 1000;
/// Share by which our bound may be below the study's. Above is welcome: both are proven.
const BOUND_SHARE: f64 = 0.005;
/// Longest that high effort may compute.
const HIGH_CPU_SECONDS: f64 = 10.0;

/// One exception: input, effort, the word that its finding starts with, and why.
type Exception = (&'static str, &'static str, &'static str, &'static str);

/// The known exceptions.
const EXCEPTIONS: &[Exception] = &[];

/// What one plan came to.
#[derive(Clone, Debug)]
pub struct Found {
    /// `family-pods`.
    pub name: String,
    /// Effort it was asked with.
    pub effort: String,
    /// Launches.
    pub nodes: usize,
    /// Pods without a place.
    pub unplaced: usize,
    /// USD per hour.
    pub cost: f64,
    /// USD per hour that no plan can undercut.
    pub bound: f64,
    /// Steps of the search.
    pub steps: u64,
    /// CPU time of the process.
    pub cpu_seconds: f64,
    /// Peak memory of the process.
    pub peak_mib: f64,
}

impl Found {
    /// The name without the number of pods.
    pub fn family(&self) -> &str {
        self.name.split('-').next().unwrap_or_default()
    }

    fn pods(&self) -> u32 {
        self.name.split('-').next_back().and_then(|pods| pods.parse().ok()).unwrap_or_default()
    }

    /// Cost above the bound.
    pub fn gap_percent(&self) -> f64 {
        100.0 * (self.cost / self.bound - 1.0)
    }
}

/// The accepted gap of a family.
pub fn gap_percent(family: &str, effort: &str) -> Option<f64> {
    let (default, high) = match family {
        "kbench" | "enterprise" | "openball" | "pow2" => (1.0, 1.0),
        // No limit was set for it; it has a proven optimum.
        "dlrm" => (1.0, 1.0),
        "openbcpu" => (2.0, 1.0),
        "kzonal" | "kdiverse" => (4.0, 3.0),
        "openbgpu" => (9.0, 5.0),
        _ => return None,
    };
    Some(if effort == "high" { high } else { default })
}

/// What is over a limit.
#[derive(Debug, Default)]
pub struct Judged {
    /// Without excuse.
    pub over: Vec<String>,
    /// With the reason of a known exception.
    pub excepted: Vec<String>,
}

/// Holds a row against its limits.
pub fn judge(row: &Found, study: Option<&Known>) -> Judged {
    let mut out = Judged::default();
    for finding in findings(row, study) {
        let known = EXCEPTIONS.iter().find(|(name, effort, what, _)| {
            *name == row.name && *effort == row.effort && finding.starts_with(what)
        });
        match known {
            Some((.., why)) => out.excepted.push(format!("{finding}: {why}")),
            None => out.over.push(finding),
        }
    }
    out
}

fn findings(row: &Found, study: Option<&Known>) -> Vec<String> {
    let mut out = Vec::new();
    if row.unplaced > 0 {
        out.push(format!("pods: {} are left", row.unplaced));
    }
    if row.cost < row.bound {
        out.push(format!("cost: {} is below its bound {}", row.cost, row.bound));
    }
    let gap = row.gap_percent();
    let limit = gap_percent(row.family(), &row.effort).filter(|_| row.pods() >= LEAST_PODS);
    if let Some(limit) = limit.filter(|limit| gap > *limit) {
        out.push(format!("gap: {gap:.2} % is above {limit} %"));
    }
    if let Some(study) = study.filter(|s| row.bound < s.lower_bound * (1.0 - BOUND_SHARE)) {
        let below = 100.0 * (1.0 - row.bound / study.lower_bound);
        out.push(format!("bound: {below:.2} % below the study's {}", study.lower_bound));
    }
    if row.effort == "high" && row.cpu_seconds > HIGH_CPU_SECONDS {
        out.push(format!("cpu: {:.1} s is above {HIGH_CPU_SECONDS} s", row.cpu_seconds));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, effort: &str) -> Found {
        Found {
            name: name.to_owned(),
            effort: effort.to_owned(),
            nodes: 3,
            unplaced: 0,
            cost: 100.9,
            bound: 100.0,
            steps: 7,
            cpu_seconds: 2.0,
            peak_mib: 40.0,
        }
    }

    fn over(row: &Found, study: Option<&Known>) -> Vec<String> {
        judge(row, study).over
    }

    #[test]
    fn a_good_row_passes_and_each_limit_is_named() {
        let good = row("kbench-1000", "default");
        let study = Known { lower_bound: 100.4, best_ratio: 1.0 };
        assert!(over(&good, Some(&study)).is_empty());
        let wide = Found { cost: 101.1, ..good.clone() };
        assert_eq!(over(&wide, None), ["gap: 1.10 % is above 1 %"]);
        assert!(over(&Found { name: "openbcpu-1000".to_owned(), ..wide.clone() }, None).is_empty());
        assert!(over(&Found { name: "kbench-500".to_owned(), ..wide }, None).is_empty());
        let far = Known { lower_bound: 101.0, best_ratio: 1.0 };
        assert_eq!(over(&good, Some(&far)), ["bound: 0.99 % below the study's 101"]);
        let left = Found { unplaced: 2, cost: 99.0, ..good };
        let lines = ["pods: 2 are left", "cost: 99 is below its bound 100"];
        assert_eq!(over(&left, None), lines);
        let slow = Found { cpu_seconds: 11.0, ..row("kbench-1000", "high") };
        assert_eq!(over(&slow, None), ["cpu: 11.0 s is above 10 s"]);
    }

    #[test]
    fn high_effort_is_held_to_more() {
        let zonal = |effort| Found { cost: 103.5, ..row("kzonal-5000", effort) };
        assert!(over(&zonal("default"), None).is_empty());
        assert_eq!(over(&zonal("high"), None), ["gap: 3.50 % is above 3 %"]);
    }
}
