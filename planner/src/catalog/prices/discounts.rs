//! Discounts: a factor on prices, for everything or for a family or capacity type.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CAPACITY_TYPES, is_of_family, set_price};
use crate::instance_type::{InstanceType, PriceSource};
use crate::quantity::{microusd_from_usd, usd_from_microusd};

/// LIMIT: largest factor; more is a mistake such as 90 for 90 %.
const MAX_FACTOR: f64 = 10.0;

/// A factor on the prices of what it names; unset fields name everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Discount {
    /// `on-demand`, `spot` or `reserved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Family of types: `m5` on AWS; `D` or the series `Ds_v5` on Azure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// What prices are multiplied by: 0.9 is ten percent off. From 0 to 10.
    pub factor: f64,
}

impl Discount {
    /// A family says more than a capacity type, both more than either.
    fn weight(&self) -> u8 {
        u8::from(self.family.is_some()) * 2 + u8::from(self.capacity_type.is_some())
    }

    /// True when it names some offering of the type.
    pub(crate) fn matches(&self, one: &InstanceType) -> bool {
        one.offerings.iter().any(|offering| self.names(one, &offering.capacity_type))
    }

    fn names(&self, one: &InstanceType, capacity_type: &str) -> bool {
        self.capacity_type.as_deref().is_none_or(|own| own == capacity_type)
            && self.family.as_deref().is_none_or(|own| is_of_family(one, own))
    }
}

impl Display for Discount {
    /// As users write it: `0.9`, `spot=0.8`, `m5=0.7` or `m5/on-demand=0.6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [&self.family, &self.capacity_type].into_iter().flatten();
        let named = named.map(String::as_str).collect::<Vec<_>>().join("/");
        let equals = if named.is_empty() { "" } else { "=" };
        write!(f, "{named}{equals}{}", self.factor)
    }
}

/// A discount that cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("discounts[{row}].{field}: `{value}` {why}")]
pub struct DiscountError {
    /// Position in the list, from 0.
    pub row: usize,
    /// Field that is wrong.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong with it.
    pub why: &'static str,
}

fn check(discounts: &[Discount]) -> Result<(), DiscountError> {
    for (row, discount) in discounts.iter().enumerate() {
        let error = |field, value: &str, why| {
            Err(DiscountError { row, field, value: value.to_owned(), why })
        };
        if !(0.0..=MAX_FACTOR).contains(&discount.factor) {
            let value = discount.factor.to_string();
            return error("factor", &value, "must be from 0 to 10: 0.9 is ten percent off");
        }
        match discount.capacity_type.as_deref() {
            Some(own) if !CAPACITY_TYPES.contains(&own) => {
                return error("capacityType", own, "must be on-demand, spot or reserved");
            }
            _ => {}
        }
        if discount.family.as_deref() == Some("") {
            return error("family", "", "must not be empty");
        }
        let is_same = |other: &Discount| {
            (&other.family, &other.capacity_type) == (&discount.family, &discount.capacity_type)
        };
        if discounts[..row].iter().any(is_same) {
            let value = discount.family.clone().unwrap_or_default();
            return error("family", &value, "has a discount already for this capacity type");
        }
    }
    Ok(())
}

/// Multiplies prices by the factor of the discount that says most: family and capacity type,
/// then family, then capacity type, then neither; where a type is of two families named (an
/// Azure family and a series), the earlier in the list. Unknown prices stay unknown. Returns
/// the number of offerings changed.
///
/// # Errors
/// The first discount that cannot be used; nothing is changed then.
pub fn apply_discounts(
    types: &mut [InstanceType],
    discounts: &[Discount],
) -> Result<usize, DiscountError> {
    check(discounts)?;
    let mut changed = 0;
    for one in types {
        let mut offerings = std::mem::take(&mut one.offerings);
        for offering in &mut offerings {
            let best = discounts
                .iter()
                .filter(|d| d.names(one, &offering.capacity_type))
                .reduce(|best, d| if d.weight() > best.weight() { d } else { best });
            let Some(discount) = best else { continue };
            if offering.price_source == PriceSource::Missing {
                continue;
            }
            let usd = offering.price * discount.factor;
            // Reserved prices lie below a micro-dollar on purpose: they keep their order.
            let rounded = match microusd_from_usd(usd) {
                Ok(microusd) if microusd > 0 || usd == 0.0 => usd_from_microusd(microusd),
                _ => usd,
            };
            set_price(offering, rounded);
            changed += 1;
        }
        one.offerings = offerings;
    }
    Ok(changed)
}
