//! Would an API server have accepted the object? What it would refuse is an error with a path;
//! what it would take is kept, and judged where it is used.
//!
//! Left out on purpose: rules that no decision depends on (image names, ports' names, security
//! contexts), and an object's name, which may be anything that can be printed.

mod cluster;
mod labels;
mod pod;
mod pool;

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::error::{ErrorCode, quoted};
use crate::quantity::{QuantityError, Rounding, parse_resource};

pub(crate) use cluster::check_instance_type;

/// Longest name. LIMIT: Kubernetes' own.
const MAX_NAME_LEN: usize = 253;
/// All annotations of one object together. LIMIT: Kubernetes' own.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

/// A path that costs nothing until it is printed.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub fn field(&'p self, name: &'p str) -> Path<'p> {
        Path::Field(self, name)
    }

    pub fn index(&'p self, index: usize) -> Path<'p> {
        Path::Index(self, index)
    }
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Something that an API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    pub code: ErrorCode,
    pub path: String,
    pub value: Option<String>,
    pub message: String,
}

/// What was found in one object.
#[derive(Default)]
pub(crate) struct Issues(pub Vec<Issue>);

impl Issues {
    pub fn add(&mut self, code: ErrorCode, path: Path<'_>, message: impl Into<String>) {
        self.0.push(Issue { code, path: path.to_string(), value: None, message: message.into() });
    }

    /// An issue about a value, which the message repeats first.
    pub fn value(&mut self, code: ErrorCode, path: Path<'_>, value: &str, message: &str) {
        let value = quoted(value);
        let message = format!("`{value}` {message}");
        self.0.push(Issue { code, path: path.to_string(), value: Some(value), message });
    }

    pub fn missing(&mut self, path: Path<'_>, message: &str) {
        self.add(ErrorCode::MissingField, path, message);
    }

    /// `value` must be one of `known`.
    pub fn one_of(&mut self, code: ErrorCode, path: Path<'_>, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            let message = format!("is not known here; use {}", known.join(", "));
            self.value(code, path, value, &message);
        }
    }

    pub fn at_least(&mut self, path: Path<'_>, value: Option<i64>, least: i64) {
        if let Some(n) = value.filter(|n| *n < least) {
            let message = format!("is too small; the least is {least}");
            self.value(ErrorCode::InvalidValue, path, &n.to_string(), &message);
        }
    }

    pub fn quantity(&mut self, path: Path<'_>, name: &str, quantity: &Quantity) -> Option<i64> {
        match parse_resource(name, &quantity.0, Rounding::Up) {
            Ok(amount) => Some(amount),
            Err(error) => {
                let code = match error {
                    QuantityError::Negative => ErrorCode::NegativeQuantity,
                    _ => ErrorCode::InvalidQuantity,
                };
                self.value(code, path, &quantity.0, &error.to_string());
                None
            }
        }
    }

    pub fn quantities(&mut self, path: Path<'_>, list: Option<&BTreeMap<String, Quantity>>) {
        for (name, quantity) in list.into_iter().flatten() {
            self.quantity(path.field(name), name, quantity);
        }
    }
}

/// A kind of object that can be held against an API server's rules.
pub(crate) trait Check {
    fn check(&self, issues: &mut Issues);
}

/// Name, labels and annotations. A name may be anything that prints on one line and does not
/// look like a path.
pub(crate) fn check_metadata(metadata: &ObjectMeta, issues: &mut Issues) {
    let root = Path::Root;
    let path = root.field("metadata");
    match metadata.name.as_deref().unwrap_or_default() {
        "" => issues.add(
            ErrorCode::MissingName,
            path.field("name"),
            "an object needs a name; `generateName` is not enough",
        ),
        name => check_name(path.field("name"), name, issues),
    }
    if let Some(namespace) = metadata.namespace.as_deref().filter(|n| !n.is_empty()) {
        check_name(path.field("namespace"), namespace, issues);
    }
    labels::check_labels(path.field("labels"), metadata.labels.as_ref(), issues);
    let annotations = metadata.annotations.as_ref();
    let bytes: usize =
        annotations.into_iter().flatten().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > MAX_ANNOTATIONS_BYTES {
        issues.add(
            ErrorCode::InvalidValue,
            path.field("annotations"),
            format!("annotations take {bytes} bytes; Kubernetes allows {MAX_ANNOTATIONS_BYTES}"),
        );
    }
}

fn check_name(path: Path<'_>, name: &str, issues: &mut Issues) {
    if name.len() > MAX_NAME_LEN {
        let message =
            format!("is {} characters long; a name has at most {MAX_NAME_LEN}", name.len());
        issues.value(ErrorCode::InvalidValue, path, name, &message);
    } else if name.chars().any(|c| c == '/' || c.is_whitespace() || c.is_control()) {
        issues.value(
            ErrorCode::InvalidValue,
            path,
            name,
            "is not a name; use lower case letters, digits, `-` and `.`",
        );
    }
}

#[cfg(test)]
mod tests;
