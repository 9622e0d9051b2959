//! Taints and tolerations: the first taint that is not tolerated.

use crate::problem::{Effect, Taint, Toleration, TolerationOperator};

/// The first of `taints` that none of `tolerations` covers. Every effect must be tolerated,
/// `PreferNoSchedule` too, unless `ignores_preferences`.
pub fn untolerated(
    taints: &[Taint],
    tolerations: &[Toleration],
    ignores_preferences: bool,
) -> Option<usize> {
    taints.iter().position(|taint| {
        !(ignores_preferences && taint.effect == Effect::PreferNoSchedule)
            && !tolerations.iter().any(|t| tolerates(t, taint))
    })
}

/// True when the toleration covers the taint. An empty key with `Exists` covers every key;
/// comparisons need integers on both sides.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    if toleration.effect.is_some_and(|e| e != taint.effect) {
        return false;
    }
    if toleration.key == 0 {
        return toleration.operator == TolerationOperator::Exists;
    }
    if toleration.key != taint.key {
        return false;
    }
    match toleration.operator {
        TolerationOperator::Exists => true,
        TolerationOperator::Equal => toleration.value == taint.value,
        TolerationOperator::Lt => {
            compare(toleration, taint).is_some_and(core::cmp::Ordering::is_lt)
        }
        TolerationOperator::Gt => {
            compare(toleration, taint).is_some_and(core::cmp::Ordering::is_gt)
        }
    }
}

fn compare(toleration: &Toleration, taint: &Taint) -> Option<core::cmp::Ordering> {
    Some(taint.integer?.cmp(&toleration.integer?))
}
