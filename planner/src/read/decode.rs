//! Trees into typed objects, with errors that name the path, the line and the value.
//!
//! Kubernetes' habits are kept: `null` is an absent field, a quantity may be written as a
//! number, and text must be text (an unquoted `true` or `1` is told to be quoted).

use std::fmt::{self, Display};

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};

use super::node::{Node, Value};
use crate::error::{ErrorCode, quoted};

/// Why a tree is not the object it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodeError {
    pub code: ErrorCode,
    pub message: String,
    pub value: Option<String>,
    pub line: u32,
    /// Steps from the leaf up to the root.
    steps: Vec<String>,
}

impl DecodeError {
    /// `spec.containers[0].name`
    pub fn path(&self) -> String {
        self.steps.iter().rev().fold(String::new(), |path, step| crate::error::join(&path, step))
    }

    fn new(code: ErrorCode, message: String) -> Self {
        Self { code, message, value: None, line: 0, steps: Vec::new() }
    }

    fn at_line(mut self, line: u32) -> Self {
        if self.line == 0 {
            self.line = line;
        }
        self
    }

    fn below(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}

impl Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(ErrorCode::InvalidValue, message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = plain(&expected.to_string());
        let message = format!("must be {expected}, not {}", kind_of(found));
        Self { value: written(found), ..Self::new(ErrorCode::WrongType, message) }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = plain(&expected.to_string());
        let (value, shown) = match written(found) {
            Some(value) => (Some(value.clone()), format!("`{value}`")),
            None => (None, kind_of(found).to_owned()),
        };
        let message = format!("{shown} is not possible here; it must be {expected}");
        Self { value, ..Self::new(ErrorCode::InvalidValue, message) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(ErrorCode::MissingField, format!("`{field}` is required"))
    }
}

fn written(found: Unexpected<'_>) -> Option<String> {
    match found {
        Unexpected::Bool(b) => Some(b.to_string()),
        Unexpected::Unsigned(n) => Some(n.to_string()),
        Unexpected::Signed(n) => Some(n.to_string()),
        Unexpected::Float(n) => Some(n.to_string()),
        Unexpected::Str(text) => Some(quoted(text)),
        _ => None,
    }
}

fn kind_of(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Str(_) | Unexpected::Char(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "another value",
    }
}

/// serde's and the types' own words for what they expect, in words for people.
fn plain(expected: &str) -> String {
    match expected {
        "a string" | "str" | "string" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping".to_owned(),
        "Quantity" => "a quantity such as `500m` or `2Gi`".to_owned(),
        "Time" | "MicroTime" => "a time such as `2026-11-30T12:00:00Z`".to_owned(),
        "IntOrString" => "a whole number or text".to_owned(),
        _ => match expected.strip_prefix("struct ") {
            Some(name) => format!("a mapping ({name})"),
            None => expected.to_owned(),
        },
    }
}

/// Reads a typed object from a tree.
pub(crate) fn decode<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, DecodeError> {
    T::deserialize(At(node))
}

/// A place in a tree, as serde sees it.
#[derive(Clone, Copy)]
struct At<'n, 'a>(&'n Node<'a>);

/// Where no quotes make a number or a truth value out of what must be text.
fn unquoted(written: &str) -> DecodeError {
    let message = format!("must be text; put it in quotes: \"{}\"", quoted(written));
    DecodeError { value: Some(quoted(written)), ..DecodeError::new(ErrorCode::WrongType, message) }
}

impl<'n> At<'n, '_> {
    fn any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Number(text) => number(text, visitor),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Map(fields) => visitor.visit_map(Fields { fields, next: 0, skips_nulls: false }),
        }
    }

    fn text<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Bool(b) => Err(unquoted(&b.to_string())),
            Value::Number(text) => Err(unquoted(text)),
            // Go reads `null` into a string as an empty one.
            Value::Null => visitor.visit_borrowed_str(""),
            _ => self.any(visitor),
        }
    }

    fn quantity<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Number(text) | Value::Text(text) => {
                visitor.visit_newtype_struct(BorrowedStrDeserializer::new(text))
            }
            Value::Null => visitor.visit_newtype_struct(BorrowedStrDeserializer::new("0")),
            _ => self.any(visitor),
        }
    }

    /// Puts the line of this place on errors that have none yet.
    fn on_line<T>(self, result: Result<T, DecodeError>) -> Result<T, DecodeError> {
        result.map_err(|e| e.at_line(self.0.line))
    }
}

fn number<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, DecodeError> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(n) = unsigned.parse::<u64>() {
        return visitor.visit_u64(n);
    }
    if let Ok(n) = unsigned.parse::<i64>() {
        return visitor.visit_i64(n);
    }
    match unsigned.parse::<f64>() {
        // `3.0` and `1e3` are whole numbers to Kubernetes too.
        Ok(n) if n.fract() == 0.0 && n.abs() < 9e15 => visitor.visit_i64(n as i64),
        Ok(n) if n.is_finite() => visitor.visit_f64(n),
        _ => Err(DecodeError {
            value: Some(quoted(text)),
            ..DecodeError::new(ErrorCode::InvalidValue, "is too large a number".to_owned())
        }),
    }
}

macro_rules! forward_to_any {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.on_line(self.any(visitor))
        })*
    };
}

impl<'n> de::Deserializer<'n> for At<'n, '_> {
    type Error = DecodeError;

    forward_to_any! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_seq deserialize_map
    }

    fn deserialize_f32<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let result = match &self.0.value {
            Value::Number(text) => match text.parse::<f64>() {
                Ok(n) if n.is_finite() => visitor.visit_f64(n),
                _ => number(text, visitor),
            },
            _ => self.any(visitor),
        };
        self.on_line(result)
    }

    fn deserialize_str<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.on_line(self.text(visitor))
    }

    fn deserialize_string<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.on_line(self.text(visitor))
    }

    fn deserialize_char<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.on_line(self.text(visitor))
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = if name == "Quantity" {
            self.quantity(visitor)
        } else {
            visitor.visit_newtype_struct(self)
        };
        self.on_line(result)
    }

    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = match &self.0.value {
            Value::Map(fields) => visitor.visit_map(Fields { fields, next: 0, skips_nulls: true }),
            _ => self.any(visitor),
        };
        self.on_line(result)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = match &self.0.value {
            Value::Text(text) => {
                let unit: StrDeserializer<'_, DecodeError> = text.as_ref().into_deserializer();
                visitor.visit_enum(unit)
            }
            _ => self.any(visitor),
        };
        self.on_line(result)
    }

    fn deserialize_identifier<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'n>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'n>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'n>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }
}

struct Items<'n, 'a> {
    items: &'n [Node<'a>],
    next: usize,
}

impl<'n> de::SeqAccess<'n> for Items<'n, '_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(At(item))
            .map(Some)
            .map_err(|e| e.at_line(item.line).below(format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Fields<'n, 'a> {
    fields: &'n [(std::borrow::Cow<'a, str>, Node<'a>)],
    next: usize,
    skips_nulls: bool,
}

impl<'n> de::MapAccess<'n> for Fields<'n, '_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'n>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        while self.skips_nulls
            && self.fields.get(self.next).is_some_and(|(_, node)| node.value == Value::Null)
        {
            self.next += 1;
        }
        let Some((key, node)) = self.fields.get(self.next) else { return Ok(None) };
        self.next += 1;
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
            .map_err(|e: DecodeError| e.at_line(node.line).below(key.to_string()))
    }

    fn next_value_seed<V: DeserializeSeed<'n>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        // INVARIANT: serde asks for a value only after a key.
        let (key, node) = &self.fields[self.next - 1];
        seed.deserialize(At(node)).map_err(|e| e.at_line(node.line).below(key.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len() - self.next)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::read::yaml::documents;

    fn pod(text: &str) -> Result<Pod, DecodeError> {
        decode(&documents(text).unwrap()[0])
    }

    #[test]
    fn quantities_may_be_numbers_and_null_is_absent() {
        let pod = pod(
            "metadata: {name: a, creationTimestamp: null, labels: {x: null}}\nspec:\n  nodeSelector: null\n  containers:\n  - resources: {requests: {cpu: 1, memory: 1Gi, x/y: 0.5}}\n",
        )
        .unwrap();
        let spec = pod.spec.unwrap();
        assert_eq!(spec.node_selector, None);
        assert_eq!(pod.metadata.labels.unwrap()["x"], "");
        let requests = spec.containers[0].resources.clone().unwrap().requests.unwrap();
        assert_eq!(requests["cpu"].0, "1");
        assert_eq!(requests["x/y"].0, "0.5");
    }

    #[test]
    fn errors_name_path_line_and_value() {
        for (text, code, path, line, message) in [
            (
                "metadata:\n  labels:\n    a: true\n",
                ErrorCode::WrongType,
                "metadata.labels.a",
                3,
                "must be text; put it in quotes: \"true\"",
            ),
            (
                "spec:\n  containers:\n  - name: c\n  - name: [1]\n",
                ErrorCode::WrongType,
                "spec.containers[1].name",
                4,
                "must be text, not a list",
            ),
            (
                "spec:\n  priority: high\n",
                ErrorCode::WrongType,
                "spec.priority",
                2,
                "must be a whole number, not text",
            ),
            (
                "spec:\n  priority: 99999999999\n",
                ErrorCode::InvalidValue,
                "spec.priority",
                2,
                "`99999999999` is not possible here; it must be a whole number",
            ),
            (
                "spec:\n  containers:\n    name: c\n",
                ErrorCode::WrongType,
                "spec.containers",
                3,
                "must be a list, not a mapping",
            ),
            ("spec: text\n", ErrorCode::WrongType, "spec", 1, "must be PodSpec, not text"),
            (
                "spec:\n  containers:\n  - resources: {requests: {cpu: [1]}}\n",
                ErrorCode::WrongType,
                "spec.containers[0].resources.requests.cpu",
                3,
                "must be a quantity such as `500m` or `2Gi`, not a list",
            ),
        ] {
            let error = pod(text).unwrap_err();
            assert_eq!(
                (error.code, error.path().as_str(), error.line, error.message.as_str()),
                (code, path, line, message),
                "{text}"
            );
        }
    }

    #[test]
    fn a_bad_time_is_an_error_of_its_field() {
        let error = pod("metadata:\n  creationTimestamp: yesterday\n").unwrap_err();
        assert_eq!(error.path(), "metadata.creationTimestamp");
        assert_eq!(error.line, 2);
    }
}
