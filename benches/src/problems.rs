//! Random problems with every feature of the engine, as the planner would lower them: every
//! table hangs together, counts agree with domains, and orders hold.
//!
//! Amounts are small, so that nodes fill up, limits bind and ports clash often.

mod labels;
mod machines;
mod pods;
mod quotas;
mod topology;

use dunnage_engine_core::problem::Rules;

use crate::draw::Draw;
use crate::tables::Tables;

/// How large a problem may become.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Most instance types.
    pub types: u32,
    /// Most templates.
    pub templates: u32,
    /// Most nodes.
    pub nodes: u32,
    /// Most pod classes.
    pub classes: u32,
    /// Most pods of a class.
    pub pods: u32,
    /// Most topology groups.
    pub groups: u32,
    /// Values of the instance family, a key that every type has.
    pub families: u32,
}

impl Size {
    /// What a person can follow.
    pub const SMALL: Self =
        Self { types: 5, templates: 3, nodes: 4, classes: 5, pods: 4, groups: 4, families: 3 };
    /// Masks and value sets of more than one word.
    pub const WIDE: Self = Self {
        types: 150,
        templates: 6,
        nodes: 90,
        classes: 24,
        pods: 12,
        groups: 12,
        families: 70,
    };
    /// More types than a launch request holds.
    pub const MANY_TYPES: Self =
        Self { types: 2000, templates: 2, nodes: 3, classes: 6, pods: 4, groups: 3, families: 70 };
}

/// A random problem.
pub fn problem(draw: &mut Draw, size: Size) -> Tables {
    let mut t = Tables::default();
    let labels = labels::keys(&mut t, draw, size);
    machines::taint_pool(&mut t, draw);
    machines::types(&mut t, draw, size, &labels);
    machines::templates(&mut t, draw, size, &labels);
    machines::nodes(&mut t, draw, size, &labels);
    pods::port_pool(&mut t, draw);
    machines::daemons(&mut t, draw, &labels);
    pods::classes(&mut t, draw, size, &labels);
    topology::groups(&mut t, draw, size, &labels);
    quotas::quotas(&mut t, draw);
    t
}

/// Rules to solve under: mostly one of the two strategies, sometimes any mix of switches.
pub fn rules(draw: &mut Draw) -> Rules {
    match draw.below(4) {
        0 | 1 => Rules::MENDED,
        2 => Rules::KARPENTER,
        _ => mixed(draw),
    }
}

/// Any mix of the switches; those that are not named here come from one of the strategies.
fn mixed(draw: &mut Draw) -> Rules {
    let base = draw.one_of(&[Rules::MENDED, Rules::KARPENTER]);
    Rules {
        lowers_min_values: draw.chance(50),
        reserved_falls_back: draw.chance(50),
        node_limit_is_static: draw.chance(50),
        terms_before_preferences: draw.chance(50),
        unofferable_domains: draw.chance(50),
        anti_affinity_blocks_all: draw.chance(50),
        daemon_first_term: draw.chance(50),
        filter_needs_labels: draw.chance(50),
        min_values_unfiltered: draw.chance(50),
        negative_blocks_all: draw.chance(50),
        spread_picks_first: draw.chance(50),
        limit_drops_unrelated: draw.chance(50),
        node_takes_requirements: draw.chance(50),
        stable_resort: draw.chance(50),
        tie_seed: draw.below(3),
        ..base
    }
}
