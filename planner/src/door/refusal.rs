//! Why there is no answer, in one shape for every door.

use std::fmt;

use serde::Serialize;

use crate::error::{ErrorCode, Origin, PlanError};
use crate::explain::{ExplainError, NameError};
use crate::plan::Failure;

/// Why there is no answer: JSON `{"errors": [{code, path, message, …}]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Everything that is wrong.
    pub errors: Vec<PlanError>,
    /// Whose fault it is.
    #[serde(skip)]
    pub why: Why,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The input or the question is wrong: exit code 2.
    Input,
    /// A promise is broken: a limit of the engine, or a plan that its check refused. Exit code 1.
    Broken,
    /// The caller stopped it.
    Stopped,
}

impl Refusal {
    /// A bad option or argument.
    pub fn usage(option: &str, value: &str, why: impl Into<String>) -> Self {
        let origin = Origin { file: option.into(), ..Origin::default() };
        vec![PlanError::new(ErrorCode::InvalidValue, origin, why).with_value(value)].into()
    }

    /// A name that means nothing.
    pub(super) fn unknown(option: &str, name: &str, why: impl Into<String>) -> Self {
        let origin = Origin { file: option.into(), ..Origin::default() };
        vec![PlanError::new(ErrorCode::UnknownName, origin, why).with_value(name)].into()
    }

    fn one(code: ErrorCode, why: Why, message: String) -> Self {
        Self { errors: vec![PlanError::new(code, Origin::default(), message)], why }
    }

    /// The refusal as JSON, in the form of an answer.
    pub fn text(&self) -> String {
        super::json(self)
    }
}

impl fmt::Display for Refusal {
    /// One line for each error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl From<Vec<PlanError>> for Refusal {
    fn from(errors: Vec<PlanError>) -> Self {
        Self { errors, why: Why::Input }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let text = failure.to_string();
        match failure {
            Failure::Input(errors) => errors.into(),
            Failure::Broken(_) => Self::one(ErrorCode::Broken, Why::Broken, text),
            Failure::Stopped => Self::one(ErrorCode::Stopped, Why::Stopped, text),
        }
    }
}

impl From<NameError> for Refusal {
    fn from(error: NameError) -> Self {
        Self::one(ErrorCode::UnknownName, Why::Input, error.to_string())
    }
}

impl From<ExplainError> for Refusal {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Plan(failure) => failure.into(),
            ExplainError::Name(error) => error.into(),
        }
    }
}
