//! Label keys, label values and selectors.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{Issues, Path};
use crate::error::ErrorCode;

const MAX_PART_LEN: usize = 63;
const MAX_PREFIX_LEN: usize = 253;

/// Why a key is no label key, or None when it is one.
pub(super) fn key_fault(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if name.is_empty() {
        return Some("is not a label key; write `name` or `domain/name`");
    }
    if name.len() > MAX_PART_LEN {
        return Some("is too long; the name part of a label key has at most 63 characters");
    }
    if !is_word(name) {
        return Some(
            "is not a label key; its name part may hold letters, digits, `-`, `_` and `.`, and starts and ends with a letter or digit",
        );
    }
    match prefix {
        Some(prefix) if prefix.len() > MAX_PREFIX_LEN || !is_domain(prefix) => {
            Some("is not a label key; the part before `/` must be a domain in lower case")
        }
        _ => None,
    }
}

/// Why a value is no label value, or None when it is one.
pub(super) fn value_fault(value: &str) -> Option<&'static str> {
    if value.len() > MAX_PART_LEN {
        return Some("is too long; a label value has at most 63 characters");
    }
    if !value.is_empty() && !is_word(value) {
        return Some(
            "is not a label value; it may hold letters, digits, `-`, `_` and `.`, and starts and ends with a letter or digit",
        );
    }
    None
}

fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|b| b.is_some_and(u8::is_ascii_alphanumeric))
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_domain(text: &str) -> bool {
    text.split('.').all(|part| {
        let bytes = part.as_bytes();
        let is_plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        [bytes.first(), bytes.last()].iter().all(|b| b.is_some_and(is_plain))
            && bytes.iter().all(|b| is_plain(b) || *b == b'-')
    })
}

pub(super) fn check_key(path: Path<'_>, key: &str, issues: &mut Issues) {
    if let Some(fault) = key_fault(key) {
        issues.value(ErrorCode::InvalidLabel, path, key, fault);
    }
}

pub(super) fn check_value(path: Path<'_>, value: &str, issues: &mut Issues) {
    if let Some(fault) = value_fault(value) {
        issues.value(ErrorCode::InvalidLabel, path, value, fault);
    }
}

pub(super) fn check_labels(
    path: Path<'_>,
    labels: Option<&BTreeMap<String, String>>,
    issues: &mut Issues,
) {
    for (key, value) in labels.into_iter().flatten() {
        check_key(path, key, issues);
        check_value(path.field(key), value, issues);
    }
}

/// A selector may be absent (it then matches nothing) or empty (everything).
pub(super) fn check_selector(
    path: Path<'_>,
    selector: Option<&LabelSelector>,
    issues: &mut Issues,
) {
    let Some(selector) = selector else { return };
    check_labels(path.field("matchLabels"), selector.match_labels.as_ref(), issues);
    let list = path.field("matchExpressions");
    for (i, expression) in selector.match_expressions.iter().flatten().enumerate() {
        let path = list.index(i);
        check_key(path.field("key"), &expression.key, issues);
        issues.one_of(
            ErrorCode::UnknownOperator,
            path.field("operator"),
            &expression.operator,
            &["In", "NotIn", "Exists", "DoesNotExist"],
        );
        let values = expression.values.as_deref().unwrap_or_default();
        check_operands(path, &expression.operator, values, issues);
        for (j, value) in values.iter().enumerate() {
            check_value(path.field("values").index(j), value, issues);
        }
    }
}

/// The number of values that an operator needs.
pub(super) fn check_operands(
    path: Path<'_>,
    operator: &str,
    values: &[String],
    issues: &mut Issues,
) {
    let fault = match operator {
        "In" | "NotIn" if values.is_empty() => "needs at least one value",
        "Exists" | "DoesNotExist" if !values.is_empty() => "takes no values",
        "Gt" | "Lt" | "Gte" | "Lte" if values.len() != 1 => "needs exactly one value",
        _ => return,
    };
    issues.add(ErrorCode::InvalidValue, path.field("values"), format!("`{operator}` {fault}"));
}
