//! What is wrong with an input, and where: stable codes, the place, one line for people.
//!
//! A pod that fits nowhere is no error; it is a row of the answer. These are only the inputs
//! that cannot be read as what they claim to be.

use std::fmt::{self, Display};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// Errors kept of one reading. LIMIT: a person mends the first few; a broken generator would
/// otherwise print one line for each of its 100,000 pods.
pub const MAX_ERRORS: usize = 100;

/// Longest piece of the user's text that a message repeats.
const MAX_QUOTED_CHARS: usize = 80;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Stable names of the ways in which an input can be wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ErrorCode {
            /// Every code, in the order of their declaration.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name,)+];

            /// The code as it stands in answers.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => stringify!($name),)+ }
            }
        }
    };
}

codes! {
    /// A file that cannot be opened or read.
    Unreadable,
    /// Bytes that are not UTF-8 text.
    NotUtf8,
    /// Text that is neither JSON nor YAML.
    Syntax,
    /// The same key twice in one mapping.
    DuplicateKey,
    /// Nesting beyond the reader's limit.
    TooDeep,
    /// Aliases that would blow a document up beyond the reader's limit.
    TooManyAliases,
    /// More objects than the planner can number.
    TooManyObjects,
    /// More errors than are reported.
    TooManyErrors,
    /// A document that is no Kubernetes object, list or Snapshot.
    NotAnObject,
    /// An object without `kind` or `apiVersion`.
    MissingKind,
    /// An object of another kind than its list holds.
    WrongKind,
    /// A version of a known kind that is not read.
    UnsupportedVersion,
    /// An object without a name.
    MissingName,
    /// A required field that is absent.
    MissingField,
    /// A value of another type than the field has.
    WrongType,
    /// A value that the field does not allow.
    InvalidValue,
    /// A text that is no quantity, or too large a one.
    InvalidQuantity,
    /// An amount below zero.
    NegativeQuantity,
    /// A text that is no duration.
    InvalidDuration,
    /// An operator that the field does not know.
    UnknownOperator,
    /// A label key or value that Kubernetes refuses, or that is reserved.
    InvalidLabel,
    /// Two objects with the same kind, namespace and name.
    DuplicateObject,
    /// A setting that does not exist.
    UnknownSetting,
    /// A name that means no object of the input, or several.
    UnknownName,
    /// A broken promise: a limit of the engine, or a plan that its check refused.
    Broken,
    /// The caller stopped it.
    Stopped,
}

impl Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Where an object came from. All empty for objects that were not read from text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Name of the source as the caller gave it.
    pub file: Arc<str>,
    /// Document within the source, from 1; 0 when unknown.
    pub document: u32,
    /// Line within the source, from 1; 0 when unknown.
    pub line: u32,
    /// Field of the list that held the object (`items`, `pods`), or empty.
    pub list: &'static str,
    /// Position in that list, from 0.
    pub index: u32,
}

impl Origin {
    /// Path of the object within its document: `pods[12]`, or empty for a document of its own.
    pub fn path(&self) -> String {
        if self.list.is_empty() { String::new() } else { format!("{}[{}]", self.list, self.index) }
    }

    /// `file:line`, as far as known.
    pub fn place(&self) -> String {
        match (self.file.is_empty(), self.line) {
            (true, 0) => String::new(),
            (true, line) => format!("line {line}"),
            (false, 0) => self.file.to_string(),
            (false, line) => format!("{}:{line}", self.file),
        }
    }
}

/// One thing wrong with the input. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.line_of_text())]
pub struct PlanError {
    /// Stable code.
    pub code: ErrorCode,
    /// Where it is.
    pub origin: Origin,
    /// Path of the field within the document, list position included; may be empty.
    pub path: String,
    /// The offending value as written, cut to a readable length.
    pub value: Option<Box<str>>,
    /// What is wrong and what to do about it; lower case, one line.
    pub message: String,
}

impl PlanError {
    /// An error about a whole object or document.
    pub fn new(code: ErrorCode, origin: Origin, message: impl Into<String>) -> Self {
        let path = origin.path();
        Self { code, origin, path, value: None, message: one_line(&message.into()) }
    }

    /// An error about a field at `path` below the object of `origin`.
    pub fn at(code: ErrorCode, origin: Origin, path: &str, message: impl Into<String>) -> Self {
        let mut error = Self::new(code, origin, message);
        error.path = join(&error.path, path);
        error
    }

    /// Adds the value that the user wrote.
    pub fn with_value(mut self, value: &str) -> Self {
        self.value = Some(quoted(value).into_boxed_str());
        self
    }

    fn line_of_text(&self) -> String {
        let mut text = self.origin.place();
        if self.origin.document > 1 {
            text.push_str(&format!(" (document {})", self.origin.document));
        }
        for part in [self.path.as_str(), self.message.as_str()] {
            if !text.is_empty() && !part.is_empty() {
                text.push_str(": ");
            }
            text.push_str(part);
        }
        text.push_str(&format!(" [{}]", self.code));
        text
    }
}

impl Serialize for PlanError {
    /// `{code, file, document, line, path, value, message}`; unknown places are left out.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        if !self.origin.file.is_empty() {
            map.serialize_entry("file", &*self.origin.file)?;
        }
        if self.origin.document > 0 {
            map.serialize_entry("document", &self.origin.document)?;
        }
        if self.origin.line > 0 {
            map.serialize_entry("line", &self.origin.line)?;
        }
        map.serialize_entry("path", &self.path)?;
        if let Some(value) = &self.value {
            map.serialize_entry("value", value)?;
        }
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}

/// Something worth knowing that does not stop the plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// Stable code, such as `IgnoredKind`.
    pub code: &'static str,
    /// One sentence, lower case.
    pub message: String,
    /// The object meant: `Kind namespace/name`, or the source's name.
    pub object: String,
}

impl Warning {
    /// A warning about one object.
    pub fn new(code: &'static str, object: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, message: one_line(&message.into()), object: one_line(&object.into()) }
    }
}

/// `a` and `b` as one path: `spec` and `[0]` is `spec[0]`, `spec` and `x` is `spec.x`.
pub(crate) fn join(a: &str, b: &str) -> String {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.to_owned(),
        (_, true) => a.to_owned(),
        _ if b.starts_with('[') => format!("{a}{b}"),
        _ => format!("{a}.{b}"),
    }
}

/// The user's words, cut to a readable length, without line breaks.
pub(crate) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    one_line(&short)
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin { file: "pods.yaml".into(), document: 2, line: 12, list: "pods", index: 3 }
    }

    #[test]
    fn an_error_is_one_line_with_place_path_and_code() {
        let error = PlanError::at(
            ErrorCode::NegativeQuantity,
            origin(),
            "spec.containers[0].resources.requests.cpu",
            "`-1` is\nnegative",
        )
        .with_value("-1");
        assert_eq!(
            error.to_string(),
            "pods.yaml:12 (document 2): pods[3].spec.containers[0].resources.requests.cpu: \
             `-1` is negative [NegativeQuantity]"
        );
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":"NegativeQuantity","file":"pods.yaml","document":2,"line":12,"path":"pods[3].spec.containers[0].resources.requests.cpu","value":"-1","message":"`-1` is negative"}"#
        );
    }

    #[test]
    fn long_values_are_cut() {
        let error = PlanError::new(ErrorCode::InvalidLabel, Origin::default(), "no")
            .with_value(&"x".repeat(10_000_000));
        assert_eq!(error.value.as_deref().map(|v| v.chars().count()), Some(81));
        assert_eq!(error.to_string(), "no [InvalidLabel]");
    }
}
