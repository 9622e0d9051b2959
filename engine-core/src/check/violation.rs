//! What a refusal says.

use crate::decision::Target;
use crate::problem::NONE;

/// A rule that a decision breaks, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The node that it concerns, when it concerns one.
    pub target: Option<Target>,
    /// Row of the problem's classes, or `NONE`.
    pub class: u32,
    /// Row of the table that the rule names, or `NONE`.
    pub subject: u32,
}

/// Rules of a decision. `subject` is said at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Rule {
    /// Lent memory is shorter than the need.
    Memory,
    /// A table of the problem names a row that does not exist, or is not in its order.
    Problem,
    /// A table of the decision has the wrong length or order.
    Shape,
    /// A row of the decision names a row that does not exist; `subject` is that row.
    Index,
    /// Placed and left-over pods of a class are not as many as it has.
    Count,
    /// A new node says another number of pods than are placed on it, or has none.
    NodePods,
    /// A pod that claims devices is placed.
    DeviceClaims,
    /// The template takes no part; `subject` is its row.
    TemplateState,
    /// The mask of types is empty, too long, or holds a type that the template has not;
    /// `subject` is the type, if there is one.
    TypeMask,
    /// No type of the mask can come: labels, offerings and reservations leave none.
    NoMachine,
    /// A taint is not tolerated; `subject` is its row.
    Taint,
    /// A machine that may come is not of the template; `subject` is the key.
    Template,
    /// The node selector does not hold; `subject` is the key.
    Selector,
    /// No required node-affinity term holds.
    Term,
    /// No alternative of the volumes holds.
    Volume,
    /// A resource is short; `subject` is its column.
    Resource,
    /// Host ports clash; `subject` is the row of the port.
    HostPort,
    /// More volumes than the node attaches; `subject` is the driver.
    AttachLimit,
    /// A spread is ahead by more than its skew, or has no domain; `subject` is the group.
    Spread,
    /// No pod that the affinity asks for is in the domain; `subject` is the group.
    Affinity,
    /// A pod that the anti-affinity excludes is in the domain; `subject` is the group.
    AntiAffinity,
    /// The domain holds a pod that keeps this one away; `subject` is the group.
    InverseAntiAffinity,
    /// The stated offering is not one that the node can get; `subject` is the offering.
    Offering,
    /// The stated price is not that of the offering; `subject` is the offering.
    Price,
    /// A cheaper offering can be had; `subject` is that offering.
    Cheapest,
    /// Stated requests are not those of the pods with the least DaemonSet overhead;
    /// `subject` is the resource column.
    Requests,
    /// Too few values of a key; `subject` is the key.
    MinValues,
    /// New nodes exceed a limit of the pool; `subject` is the resource column.
    Limit,
    /// More nodes than the pool may have; `subject` is the template.
    NodeLimit,
    /// More nodes hold a reservation than it has units; `subject` is the reservation.
    Reservation,
    /// New nodes take more than a quota leaves; `subject` is the quota.
    Quota,
}

impl Violation {
    pub(super) const fn of(rule: Rule) -> Self {
        Self { rule, target: None, class: NONE, subject: NONE }
    }

    pub(super) const fn on(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    pub(super) const fn class(self, class: u32) -> Self {
        Self { class, ..self }
    }

    pub(super) const fn row(self, subject: u32) -> Self {
        Self { subject, ..self }
    }
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "decision breaks rule {:?}", self.rule)?;
        match self.target {
            Some(Target::Node(row)) => write!(f, " on node {row}")?,
            Some(Target::New(row)) => write!(f, " on new node {row}")?,
            None => {}
        }
        if self.class != NONE {
            write!(f, " for class {}", self.class)?;
        }
        if self.subject != NONE {
            write!(f, " at row {}", self.subject)?;
        }
        Ok(())
    }
}

impl core::error::Error for Violation {}
