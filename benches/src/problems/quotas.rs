//! What new nodes may take together, and penalties of spot offerings.

use dunnage_engine_core::problem::{CapacityType, Charge, Quota};

use crate::draw::Draw;
use crate::tables::{Tables, push};

/// Writes quotas that bind often: of nodes, of money, of some offerings. Drawn last, so that a
/// seed draws the same problem apart from them.
pub fn quotas(t: &mut Tables, draw: &mut Draw) {
    if draw.chance(70) {
        return;
    }
    let count = draw.between(1, 3);
    let kinds: Vec<u32> = (0..count).map(|_| draw.below(3)).collect();
    for &kind in &kinds {
        let nodes = i64::from(draw.below(6));
        let limit = if kind == 1 { nodes * 150_000 } else { nodes };
        t.quotas.push(Quota { limit, usage: i64::from(draw.below(2)) });
    }
    let penalty_microusd = draw.below(3) * 20_000;
    for i in 0..t.offerings.len() {
        let mut own = Vec::new();
        for (quota, &kind) in (0..).zip(&kinds) {
            let amount = match kind {
                0 => 1,
                1 => t.offerings[i].price_microusd.min(1_000_000_000),
                _ if draw.chance(50) => 1,
                _ => continue,
            };
            own.push(Charge { quota, amount });
        }
        t.offerings[i].charges = push(&mut t.charges, own);
        if t.offerings[i].capacity_type == CapacityType::Spot {
            t.offerings[i].penalty_microusd = penalty_microusd;
        }
    }
}
