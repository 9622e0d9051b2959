//! Taints and tolerations as symbols: equal text, equal number.

use dunnage_engine_core::problem::{self, Effect, Span, TolerationOperator};
use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::Tables;
use super::intern::{Lists, Numbers};
use super::needs::integer;

/// A toleration in names; those that can tolerate nothing are not made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tolerated {
    key: String,
    operator: Operator,
    value: String,
    effect: Option<EffectName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Operator {
    Equal,
    Exists,
    Lt,
    Gt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum EffectName {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

impl Tolerated {
    /// Tolerates every taint that only prefers.
    pub fn soft_taints() -> Self {
        Self {
            key: String::new(),
            operator: Operator::Exists,
            value: String::new(),
            effect: Some(EffectName::PreferNoSchedule),
        }
    }
}

impl EffectName {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "NoSchedule" => Self::NoSchedule,
            "PreferNoSchedule" => Self::PreferNoSchedule,
            "NoExecute" => Self::NoExecute,
            _ => return None,
        })
    }

    fn number(self) -> Effect {
        match self {
            Self::NoSchedule => Effect::NoSchedule,
            Self::PreferNoSchedule => Effect::PreferNoSchedule,
            Self::NoExecute => Effect::NoExecute,
        }
    }
}

/// The tolerations of a pod, ascending, without those whose operator or effect is unknown.
pub fn tolerated(list: Option<&Vec<Toleration>>) -> Vec<Tolerated> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let read = |t: &Toleration| {
        let effect = match text(&t.effect).as_str() {
            "" => None,
            name => Some(EffectName::of(name)?),
        };
        let operator = match text(&t.operator).as_str() {
            "" | "Equal" => Operator::Equal,
            "Exists" => Operator::Exists,
            "Lt" => Operator::Lt,
            "Gt" => Operator::Gt,
            _ => return None,
        };
        let value = if operator == Operator::Exists { String::new() } else { text(&t.value) };
        Some(Tolerated { key: text(&t.key), operator, value, effect })
    };
    // Their order means nothing, and pods that differ in it alone are one class.
    let mut all: Vec<Tolerated> = list.into_iter().flatten().filter_map(read).collect();
    all.sort();
    all.dedup();
    all
}

/// True when every taint is tolerated, whatever its effect.
pub fn tolerates_all(tolerations: &[Tolerated], taints: &[Taint]) -> bool {
    taints.iter().all(|taint| tolerations.iter().any(|t| t.covers(taint)))
}

impl Tolerated {
    fn covers(&self, taint: &Taint) -> bool {
        let value = taint.value.as_deref().unwrap_or_default();
        let compared = || Some(integer(value)?.cmp(&integer(&self.value)?));
        let fits_effect =
            self.effect.is_none_or(|effect| EffectName::of(&taint.effect) == Some(effect));
        if self.key.is_empty() {
            return fits_effect && self.operator == Operator::Exists;
        }
        fits_effect
            && self.key == taint.key
            && match self.operator {
                Operator::Exists => true,
                Operator::Equal => self.value == value,
                Operator::Lt => compared().is_some_and(std::cmp::Ordering::is_lt),
                Operator::Gt => compared().is_some_and(std::cmp::Ordering::is_gt),
            }
    }
}

/// Writes taints and tolerations; equal lists once.
#[derive(Debug, Default)]
pub struct Symbols {
    texts: Numbers<String>,
    taints: Lists<(String, String, String)>,
    tolerations: Lists<Tolerated>,
}

impl Symbols {
    /// 0 is the empty text.
    pub fn symbol(&mut self, text: &str) -> u32 {
        symbol(&mut self.texts, text)
    }

    /// Writes the taints of a pool or node; `names` runs parallel to the table.
    pub fn taints(
        &mut self,
        taints: &[&Taint],
        tables: &mut Tables,
        names: &mut Vec<String>,
    ) -> Span {
        let list: Vec<_> = taints
            .iter()
            .filter(|t| EffectName::of(&t.effect).is_some())
            .map(|t| (t.key.clone(), t.value.clone().unwrap_or_default(), t.effect.clone()))
            .collect();
        let before = tables.taints.len();
        let Self { texts, taints, .. } = self;
        let span =
            taints.span(&mut tables.taints, list.clone(), |(key, value, effect)| problem::Taint {
                key: symbol(texts, key),
                value: symbol(texts, value),
                integer: integer(value),
                effect: EffectName::of(effect).map_or(Effect::NoSchedule, EffectName::number),
            });
        if tables.taints.len() > before {
            names.extend(list.iter().map(|(key, value, effect)| {
                if value.is_empty() {
                    format!("{key}:{effect}")
                } else {
                    format!("{key}={value}:{effect}")
                }
            }));
        }
        span
    }

    /// Writes the tolerations of a class, daemon or group.
    pub fn tolerations(&mut self, list: &[Tolerated], tables: &mut Tables) -> Span {
        let Self { texts, tolerations, .. } = self;
        tolerations.span(&mut tables.tolerations, list.to_vec(), |t| problem::Toleration {
            key: symbol(texts, &t.key),
            value: symbol(texts, &t.value),
            integer: integer(&t.value),
            operator: match t.operator {
                Operator::Equal => TolerationOperator::Equal,
                Operator::Exists => TolerationOperator::Exists,
                Operator::Lt => TolerationOperator::Lt,
                Operator::Gt => TolerationOperator::Gt,
            },
            effect: t.effect.map(EffectName::number),
        })
    }
}

fn symbol(texts: &mut Numbers<String>, text: &str) -> u32 {
    texts.number(String::new());
    texts.number(text.to_owned()).0
}
