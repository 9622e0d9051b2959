//! What the caller of a plan may choose: nothing here comes from the world that is planned.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dunnage_engine_core::place::Scoring;
use dunnage_engine_core::problem::Rules;
use dunnage_engine_core::search::Settings as Search;
use dunnage_engine_core::stop::Stop;

use crate::catalog::Region;
use crate::catalog::prices::Discount;
use crate::read::Source;
use crate::settings::{Goal, Settings};
use crate::solve::How;

/// Which rules decide, and how hard is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// Karpenter's procedure under the mended rules.
    Greedy,
    /// Karpenter 1.14 with its defects, ties made deterministic.
    Karpenter,
    /// The search for the lowest price under the mended rules, and never behind the others.
    #[default]
    Cheapest,
}

impl Strategy {
    /// Every strategy by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("cheapest", Self::Cheapest), ("greedy", Self::Greedy), ("karpenter", Self::Karpenter)];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cheapest => "cheapest",
            Self::Greedy => "greedy",
            Self::Karpenter => "karpenter",
        }
    }

    /// The rule switches of the strategy.
    pub fn rules(self) -> Rules {
        match self {
            Self::Greedy | Self::Cheapest => Rules::MENDED,
            Self::Karpenter => Rules::KARPENTER,
        }
    }

    /// Excluded values of a bounded requirement are told to the cloud as well. Karpenter
    /// loses them.
    pub(crate) fn emits_bounded_exclusions(self) -> bool {
        self != Self::Karpenter
    }
}

impl FromStr for Strategy {
    type Err = String;

    /// Reads a name.
    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, strategy)| *strategy).ok_or_else(|| {
            format!("`{name}` is not a strategy: use `cheapest`, `greedy` or `karpenter`")
        })
    }
}

/// How hard to search, as numbers of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// The first packing and little more.
    Low,
    /// Some tens of milliseconds for ten thousand pods.
    #[default]
    Default,
    /// Up to ten seconds.
    High,
}

impl Effort {
    /// Every effort by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("low", Self::Low), ("default", Self::Default), ("high", Self::High)];

    /// Cells that the search may look at.
    pub fn steps(self) -> u64 {
        match self {
            Self::Low => 500_000,
            Self::Default => Search::DEFAULT.steps,
            Self::High => 600_000_000,
        }
    }
}

impl FromStr for Effort {
    type Err = String;

    /// Reads a name.
    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, effort)| *effort)
            .ok_or_else(|| format!("`{name}` is not an effort: use `low`, `default` or `high`"))
    }
}

/// What a node counts as where the fewest are wanted: more than the dearest machine.
const FEWEST_SURCHARGE_MICROUSD: u32 = 1_000_000_000;

/// Ends planning from another thread: clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Ends what is being planned, and whatever is planned with it later.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once it was raised.
    pub fn is_raised(&self) -> bool {
        self.engine().is_raised()
    }

    /// The flag as the engine takes it.
    pub fn engine(&self) -> Stop<'_> {
        Stop::when(&self.0)
    }
}

impl PartialEq for StopFlag {
    /// No plan differs by its flag.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// How to plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Which rules decide.
    pub strategy: Strategy,
    /// How hard `cheapest` searches.
    pub effort: Effort,
    /// Region of the built-in catalog, instead of the one that the input shows.
    pub region: Option<Region>,
    /// A price file; see [`crate::catalog::prices::apply_price_file`].
    pub prices: Option<Source>,
    /// Factors on prices, after the price file.
    pub discounts: Vec<Discount>,
    /// Zones in which nothing can be bought.
    pub without_zones: Vec<String>,
    /// Also tells the values of pods that prove the lower bound.
    pub dual: bool,
    /// Also runs the plan through a model of kube-scheduler that scores so.
    pub replay: Option<Scoring>,
    /// Ends planning without a plan once it is raised.
    pub stop: StopFlag,
    /// Other than 0: permutes choices that are free, to show that two answers differ by a tie
    /// alone.
    pub tie_seed: u32,
}

impl Options {
    /// How to search under the settings of the input.
    pub fn how(&self, settings: &Settings) -> How<'_> {
        let counts_nodes = settings.goal == Goal::FewestNodes;
        let surcharge_microusd =
            if counts_nodes { FEWEST_SURCHARGE_MICROUSD } else { settings.node_surcharge_microusd };
        let search = Search { steps: self.effort.steps(), surcharge_microusd, ..Search::DEFAULT };
        How { search, counts_nodes, stop: self.stop.engine() }
    }

    /// The rule switches, tie seed included.
    pub fn rules(&self) -> Rules {
        Rules { tie_seed: self.tie_seed, ..self.strategy.rules() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_back_from_its_name() {
        for (name, strategy) in Strategy::ALL {
            assert_eq!(name.parse(), Ok(strategy));
            assert_eq!(strategy.name(), name);
        }
    }

    #[test]
    fn an_unknown_strategy_is_named() {
        assert!("Greedy".parse::<Strategy>().unwrap_err().contains("`Greedy`"));
    }

    #[test]
    fn the_tie_seed_changes_no_rule() {
        let options = Options { strategy: Strategy::Karpenter, tie_seed: 7, ..Options::default() };
        assert_eq!(options.rules(), Rules { tie_seed: 7, ..Rules::KARPENTER });
    }
}
