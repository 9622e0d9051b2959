//! What a fuzzing run came to, read off what libFuzzer and the target print.

use std::fmt;

/// Share of runs, in percent, that must reach what is under test.
const LEAST_SHARE: u64 = 50;

/// Numbers of one fuzzing run; 0 where nothing was printed yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Inputs that were run, those of the corpus included.
    runs: u64,
    /// Runs that came as far as what is under test.
    reached: u64,
    /// Edges of the program's flow that were taken, and all that there are.
    edges: u64,
    all_edges: u64,
    /// Edges told apart by how often they were taken, and comparisons by their operands.
    features: u64,
    /// Inputs that are kept because they take an edge that no other does.
    corpus: u64,
}

impl Summary {
    /// Takes what a line of the output tells, if anything.
    pub fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("reached: ") {
            self.reached = first_number(counts);
            self.runs = counts.split_once(" of ").map_or(0, |(_, rest)| first_number(rest));
        }
        if let Some((_, counters)) = line.split_once("modules   (") {
            self.all_edges = first_number(counters);
        }
        for (name, field) in [
            (" cov: ", &mut self.edges),
            (" ft: ", &mut self.features),
            (" corp: ", &mut self.corpus),
        ] {
            if line.starts_with('#')
                && let Some((_, rest)) = line.split_once(name)
            {
                *field = first_number(rest);
            }
        }
    }

    /// # Errors
    /// Too few runs reach what is under test.
    pub fn insist(&self, target: &str) -> Result<(), String> {
        if self.runs > 0 && self.reached * 100 >= self.runs * LEAST_SHARE {
            return Ok(());
        }
        Err(format!("{target}: fewer than {LEAST_SHARE} % of the runs reach what is under test"))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, reached, edges, all_edges, features, corpus } = self;
        let share = reached * 100 / (*runs).max(1);
        write!(
            f,
            "{runs} runs, {edges} of {all_edges} edges, {features} features, {corpus} inputs kept, \
             {reached} runs ({share} %) reach what is under test"
        )
    }
}

/// The number that a text starts with; 0 when it starts with none.
fn first_number(text: &str) -> u64 {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_last_of_every_number() {
        let mut summary = Summary::default();
        for line in [
            "INFO: Loaded 1 modules   (4096 inline 8-bit counters): 4096 [0x1, 0x2), ",
            "reached: 1 of 1 runs (100 %)",
            "#2\tINITED cov: 7 ft: 8 corp: 1/4b exec/s: 0 rss: 30Mb",
            "#9\tNEW    cov: 900 ft: 1200 corp: 31/4Kb lim: 4 exec/s: 2 rss: 30Mb L: 9/9",
            "reached: 30 of 41 runs (73 %)",
            "stat::number_of_executed_units: 41",
        ] {
            summary.read(line);
        }
        assert_eq!(
            summary.to_string(),
            "41 runs, 900 of 4096 edges, 1200 features, 31 inputs kept, 30 runs (73 %) reach what \
             is under test"
        );
        assert_eq!(summary.insist("cron"), Ok(()));
    }

    #[test]
    fn insists_on_half_of_the_runs() {
        let mut summary = Summary::default();
        assert!(summary.insist("cron").is_err(), "nothing was run");
        summary.read("reached: 49 of 100 runs (49 %)");
        assert!(summary.insist("cron").is_err());
        summary.read("reached: 50 of 100 runs (50 %)");
        assert!(summary.insist("cron").is_ok());
    }
}
