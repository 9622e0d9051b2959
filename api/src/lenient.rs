//! How values are read: `null` means absent, and a quantity may be a JSON number.
//!
//! The API server drops `null` from fields that are not nullable before it looks at them; the
//! readers here do the same. They decide nothing about the value.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// Reads `T`, or its default when the value is `null`.
pub(crate) fn null_as_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Reads a quantity from a string or a number.
pub(crate) fn quantity<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Quantity>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(Quantity(text))),
        Value::Number(number) => Ok(Some(Quantity(number.to_string()))),
        other => Err(D::Error::custom(format!("`{other}` is not a quantity"))),
    }
}

#[derive(Deserialize)]
struct AnyQuantity(#[serde(deserialize_with = "quantity")] Option<Quantity>);

/// Reads a map of quantities; entries that are `null` are dropped.
pub(crate) fn quantities<'de, D>(from: D) -> Result<BTreeMap<String, Quantity>, D::Error>
where
    D: Deserializer<'de>,
{
    let map = Option::<BTreeMap<String, AnyQuantity>>::deserialize(from)?.unwrap_or_default();
    Ok(map.into_iter().filter_map(|(key, value)| Some((key, value.0?))).collect())
}

/// As [`quantities`], but keeps the difference between an absent and an empty map.
pub(crate) fn some_quantities<'de, D>(
    from: D,
) -> Result<Option<BTreeMap<String, Quantity>>, D::Error>
where
    D: Deserializer<'de>,
{
    let map = Option::<BTreeMap<String, AnyQuantity>>::deserialize(from)?;
    Ok(map.map(|map| map.into_iter().filter_map(|(key, value)| Some((key, value.0?))).collect()))
}
