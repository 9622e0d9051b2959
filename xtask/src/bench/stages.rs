//! The line that `measure stages` prints: what each stage of one plan cost.

use std::path::Path;

use serde_json::Value;

use crate::measure;

/// What one run of `measure stages` said.
pub struct Stages {
    line: Value,
}

/// How to plan, and up to which stage.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// `cheapest`, `greedy` or `karpenter`.
    pub strategy: &'a str,
    /// `low`, `default` or `high`.
    pub effort: &'a str,
    /// The last stage.
    pub until: &'a str,
}

impl How<'_> {
    /// The words after `measure`.
    pub fn words<'w>(&'w self, file: &'w str) -> [&'w str; 5] {
        ["stages", file, self.strategy, self.effort, self.until]
    }
}

impl Stages {
    /// Runs the stages of one input.
    ///
    /// # Errors
    /// The program fails or prints no JSON.
    pub fn of(measure: &Path, file: &Path, how: How) -> Result<Self, String> {
        let run = measure::run(measure, &how.words(&file.to_string_lossy()))?;
        Self::read(&run.stdout)
    }

    /// Reads the line.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn read(line: &str) -> Result<Self, String> {
        let line = serde_json::from_str(line).map_err(|why| format!("measure: {why}"))?;
        Ok(Self { line })
    }

    /// CPU time of the named stages together.
    pub fn cpu_seconds(&self, stages: &[&str]) -> f64 {
        stages.iter().filter_map(|&stage| self.line["cpuSeconds"][stage].as_f64()).sum()
    }

    /// Allocations of one stage.
    pub fn allocations(&self, stage: &str) -> u64 {
        self.line["allocations"][stage].as_u64().unwrap_or_default()
    }

    /// A number of the answer, such as `pods`.
    pub fn number(&self, what: &str) -> u64 {
        self.line[what].as_u64().unwrap_or_default()
    }

    /// USD per hour of the launches.
    pub fn usd(&self) -> f64 {
        self.line["cost"]["launchPerHour"].as_f64().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read() {
        let line = r#"{"pods":9,"cpuSeconds":{"lower":0.25,"solve":0.5},"allocations":{"solve":3},
            "cost":{"launchPerHour":1.5}}"#;
        let stages = Stages::read(line).expect("JSON");
        assert_eq!(stages.cpu_seconds(&["lower", "solve", "check"]), 0.75);
        assert_eq!((stages.allocations("solve"), stages.number("pods")), (3, 9));
        assert_eq!(stages.usd(), 1.5);
        assert!(Stages::read("no").is_err());
    }
}
