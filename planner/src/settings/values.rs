//! Values of settings, from JSON or from the text of an environment.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::SettingError;
use super::limits::amount;

/// A share in millionths, so that every machine computes with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShareMillionths(pub u32);

impl ShareMillionths {
    /// The share as a number: 75000 is 0.075.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000_000.0
    }
}

impl Serialize for ShareMillionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

/// Dollars as micro-dollars, up to a thousand.
pub(super) fn usd(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (0.0..=1000.0).contains(&number).then(|| (number * 1e6).round() as u32)
}

pub(super) fn as_usd<S: Serializer>(microusd: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*microusd) / 1e6)
}

pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) => match text.as_str() {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Some(true),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn whole(value: &Value) -> Option<u32> {
    match value {
        Value::Number(n) => n.as_u64()?.try_into().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

pub(super) fn share(value: &Value) -> Option<ShareMillionths> {
    let text = match value {
        Value::Number(n) => n.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let millionths = crate::quantity::parse_microusd(&text).ok()?;
    let millionths = u32::try_from(millionths).ok()?;
    (millionths <= 1_000_000).then_some(ShareMillionths(millionths))
}

pub(super) fn word(value: &Value) -> Result<String, SettingError> {
    match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(SettingError::Invalid("a name")),
    }
}

pub(super) fn as_maybe_usd<S: Serializer>(
    microusd: &Option<u32>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    microusd.map(|x| f64::from(x) / 1e6).serialize(serializer)
}

/// An amount of a resource, as users write it.
pub(super) fn quantity(name: &str, value: &Value) -> Result<Quantity, SettingError> {
    let quantity = match value {
        Value::String(text) => Quantity(text.trim().to_owned()),
        Value::Number(number) => Quantity(number.to_string()),
        _ => return Err(SettingError::Invalid("a quantity, such as `64` or `256Gi`")),
    };
    match amount(name, &quantity) {
        Some(_) => Ok(quantity),
        None => Err(SettingError::Invalid("a quantity, such as `64` or `256Gi`")),
    }
}
