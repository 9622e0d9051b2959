//! Prices that the user gives: a file of prices, and discounts.
//!
//! Both change the offerings of types in place and mark them
//! [`PriceSource::User`]. Order matters and is the caller's: a discount applies to whatever
//! price stands there. NodeOverlays are applied elsewhere.

mod discounts;
mod file;

pub use discounts::{Discount, DiscountError, apply_discounts};
pub use file::{MAX_PRICE_ERRORS, MAX_PRICE_ROWS, PriceFileError, PriceReport, apply_price_file};

use super::labels;
use crate::instance_type::{InstanceType, Offering, PriceSource};

/// The capacity types that a row or a discount may name.
const CAPACITY_TYPES: [&str; 3] = ["on-demand", "spot", "reserved"];

/// Sets a price in USD and makes an offering available that lacked nothing else.
fn set_price(offering: &mut Offering, usd: f64) {
    offering.price = usd;
    offering.available |= offering.price_source == PriceSource::Missing;
    offering.price_source = PriceSource::User;
}

/// True if nodes of the type carry the label with this value.
fn has_label(one: &InstanceType, key: &str, value: &str) -> bool {
    one.requirements
        .iter()
        .any(|r| r.key == key && r.operator == "In" && r.values.iter().any(|v| v == value))
}

/// True if the type belongs to the family: `m5` on AWS; `D` or `Ds_v5` on Azure.
fn is_of_family(one: &InstanceType, family: &str) -> bool {
    FAMILIES.iter().any(|key| has_label(one, key, family))
}

const FAMILIES: [&str; 3] = [labels::aws::FAMILY, labels::azure::FAMILY, labels::azure::SERIES];

/// The families that a discount may name a type by.
pub(crate) fn families_of(one: &InstanceType) -> impl Iterator<Item = &str> {
    let named = one.requirements.iter().filter(|r| FAMILIES.contains(&r.key.as_str()));
    named.flat_map(|r| r.values.iter().map(String::as_str))
}
