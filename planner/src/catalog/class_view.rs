//! Reads single fields of a node class given as JSON, with the path for the error.
//!
//! Only what the catalog needs: whether the class as a whole is valid is decided by the
//! API's own rules. A field that is null counts as absent.

use serde_json::Value;

use super::CatalogError;
use crate::quantity::{Rounding, parse_resource};

/// LIMIT: characters of a wrong value that an error repeats.
const MAX_SHOWN: usize = 80;

/// A place in the class: what stands there, if anything, and its path.
#[derive(Clone)]
pub(super) struct Field<'a> {
    value: Option<&'a Value>,
    path: String,
}

impl<'a> Field<'a> {
    /// The whole object.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value: Some(value), path: String::new() }
    }

    /// The field of this name, absent if this is absent or no object.
    pub(super) fn get(&self, key: &str) -> Self {
        let value = self.value.and_then(|v| v.get(key)).filter(|v| !v.is_null());
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { value, path: format!("{}{dot}{key}", self.path) }
    }

    /// True if something stands here.
    pub(super) fn is_set(&self) -> bool {
        self.value.is_some()
    }

    /// An error about what stands here.
    pub(super) fn refuse(&self, why: impl Into<String>) -> CatalogError {
        let mut value = match self.value {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        if let Some((cut, _)) = value.char_indices().nth(MAX_SHOWN) {
            value.truncate(cut);
            value.push('…');
        }
        CatalogError::Class { path: self.path.clone(), value, why: why.into() }
    }

    pub(super) fn text(&self) -> Result<Option<&'a str>, CatalogError> {
        match self.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.refuse("must be a string")),
        }
    }

    pub(super) fn flag(&self) -> Result<Option<bool>, CatalogError> {
        match self.value {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse("must be true or false")),
        }
    }

    /// A whole number from 0 up that fits 31 bits, as the API's int32 fields.
    pub(super) fn count(&self) -> Result<Option<u32>, CatalogError> {
        let Some(value) = self.value else { return Ok(None) };
        match value.as_u64().filter(|n| *n <= i32::MAX as u64) {
            Some(number) => Ok(Some(number as u32)),
            None => Err(self.refuse("must be a whole number from 0 up")),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<Field<'a>>, CatalogError> {
        match self.value {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items
                .iter()
                .enumerate()
                .map(|(at, v)| Field { value: Some(v), path: format!("{}[{at}]", self.path) })
                .collect()),
            Some(_) => Err(self.refuse("must be a list")),
        }
    }

    /// An amount of the named resource, in the planner's unit. Numbers are read as text.
    pub(super) fn amount(
        &self,
        resource: &str,
        rounding: Rounding,
    ) -> Result<Option<i64>, CatalogError> {
        let text = match self.value {
            None => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(self.refuse("must be a quantity")),
        };
        match parse_resource(resource, &text, rounding) {
            Ok(amount) => Ok(Some(amount)),
            Err(error) => Err(self.refuse(error.to_string())),
        }
    }
}
