//! The plan of the input, and its warnings as findings.

use super::world::World;
use super::{Finding, Severity};
use crate::options::Options;
use crate::plan::{Failure, Notice, Plan, plan};
use crate::read::{Reading, Refused, name_at, remove_at};

/// How bad a warning of a plan is as a finding, and what to do about it.
struct Told {
    code: &'static str,
    severity: Severity,
    fix: &'static str,
}

const fn told(code: &'static str, fix: &'static str) -> Told {
    Told { code, severity: Severity::Warning, fix }
}

const fn refused(code: &'static str, fix: &'static str) -> Told {
    Told { code, severity: Severity::Error, fix }
}

/// Every warning of a plan, ascending.
const TOLD: &[Told] = &[
    told("BorrowedPrices", "give the prices of your region: `--prices FILE`"),
    told("BufferNotReady", "mend what the message names in the buffer's `spec`"),
    told("BuffersOff", "set `settings.featureGates.CapacityBuffer` to `true`"),
    told(
        "ContradictoryNodePool",
        "remove from `spec.template.spec.requirements` (or from `spec.template.metadata.labels`) one of the entries on the key that is named",
    ),
    told(
        "DefaultNodeClassRef",
        "write `spec.template.spec.nodeClassRef` with `group`, `kind` and `name`",
    ),
    told("DefaultRegion", "choose one: `--catalog REGION`, or `settings.region`"),
    told("DiscountUnused", "mend the family or the capacity type of `--discount`"),
    told("IgnoredField", "correct the name of the field that the message names, or remove it"),
    told("IgnoredKind", "nothing: leave the objects out of the input when the message disturbs"),
    told("IgnoredSetting", "remove the setting, or keep it for the controller"),
    refused(
        "InvalidBudget",
        "correct the field of the budget that the message names: five cron fields such as `0 9 * * mon-fri` in UTC, or `@daily`",
    ),
    refused("InvalidNodePool", "correct the field that the message names"),
    told("InvalidOverlay", "correct the field that the message names"),
    told("KarpenterBreaksRule", "plan with `--strategy greedy` or `cheapest`"),
    told("NegativePrice", "set the price of the offering to 0 or more"),
    told("NoCatalog", "give `instanceTypes` in the input"),
    told(
        "NodeClassNotFound",
        "add the node class to the input, or correct `spec.template.spec.nodeClassRef.name`",
    ),
    told("NodePoolNotReady", "mend what the conditions in `status.conditions` name"),
    told("OverlayConflict", "give the overlays different values of `spec.weight`"),
    told("OverlaysOff", "set `settings.featureGates.NodeOverlay` to `true`"),
    told(
        "PriceFileUnused",
        "correct region, type, zone or capacity type of the rows of the price file",
    ),
    told(
        "PriorityClassNotFound",
        "add the PriorityClass to the input, or correct `priorityClassName` of the pods",
    ),
    told("QuotaTooSmall", "ask the cloud for a larger quota, or raise the limit of the settings"),
    told("RegionUnused", "use a region that the message lists"),
    told("SeveralRegions", "choose one: `--catalog REGION`"),
    told(
        "StaticCapacityOff",
        "set `settings.featureGates.StaticCapacity` to `true`, or remove `spec.replicas`",
    ),
    told(
        "StaticPoolLacksNodes",
        "nothing when the pool is new; else raise `spec.limits.nodes` to `spec.replicas` or more",
    ),
    told("TypesLeftOut", "nothing when that is what you want; else raise or remove the setting"),
    told(
        "UnknownFeatureGate",
        "correct the name to the nearest one that the message tells, or remove it",
    ),
    told("UnknownNode", "add the nodes to the input"),
    told("UnknownRegion", "give `instanceTypes`, or name a region that the message lists"),
];

/// Codes of the warnings of a plan, with how bad they are.
pub(super) fn codes() -> impl Iterator<Item = (&'static str, Severity)> {
    TOLD.iter().map(|told| (told.code, told.severity))
}

/// The plan of the input without those objects that a plan refuses, which are added to what
/// was refused.
pub(super) fn plan_without_refused(
    reading: &Reading,
    options: &Options,
) -> Result<(Reading, Plan), Failure> {
    let mut reading = reading.clone();
    loop {
        let errors = match plan(&reading.snapshot, options) {
            Ok(plan) => return Ok((reading, plan)),
            Err(Failure::Input(errors)) => errors,
            Err(broken) => return Err(broken),
        };
        let mut rest = Vec::new();
        let mut places = Vec::new();
        for error in errors {
            match name_at(&reading.snapshot, &error.origin) {
                Some(object) => {
                    places.push(error.origin.clone());
                    reading.refused.push(Refused { object, error });
                }
                None => rest.push(error),
            }
        }
        if !rest.is_empty() {
            return Err(Failure::Input(rest));
        }
        for origin in &places {
            remove_at(&mut reading.snapshot, origin);
        }
    }
}

/// The warnings of the plan as findings.
pub(super) fn findings(world: &World<'_>) -> Vec<Finding> {
    let told = world.plan.warnings.iter().filter(|notice| !is_of_refused(world, notice));
    told.filter_map(|notice| {
        let row = TOLD.iter().find(|row| row.code == notice.code)?;
        Some(Finding {
            code: row.code,
            severity: row.severity,
            object: notice.object.clone(),
            message: notice.message.clone(),
            fix: row.fix.to_owned(),
        })
    })
    .collect()
}

/// What was refused is not absent.
fn is_of_refused(world: &World<'_>, notice: &Notice) -> bool {
    let is_refused = |object: &str| world.refused.iter().any(|r| r.object == object);
    match notice.code.as_str() {
        "NodeClassNotFound" => {
            let pool = world.pools.iter().find(|pool| pool.name == notice.object);
            pool.is_some_and(|pool| {
                let class = &pool.object.spec.template.spec.node_class_ref;
                is_refused(&format!("{} {}", class.kind, class.name))
            })
        }
        "PriorityClassNotFound" => is_refused(&notice.object),
        _ => false,
    }
}
