//! Containers that do not say what they need, or what they may take at most.

use k8s_openapi::api::core::v1::{Container, ResourceRequirements};

use super::Findings;
use super::workloads::Workload;
use super::world::World;
use crate::quantity::{Rounding, format_resource, parse_resource};

/// Whether `requests` or `limits` name a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Requests,
    Limits,
}

impl Of {
    fn word(self) -> &'static str {
        match self {
            Self::Requests => "request",
            Self::Limits => "limit",
        }
    }

    /// What is written for a resource; zero is as good as nothing.
    fn amount(self, resources: Option<&ResourceRequirements>, name: &str) -> Option<i64> {
        let list = match self {
            Self::Requests => resources?.requests.as_ref()?,
            Self::Limits => resources?.limits.as_ref()?,
        };
        let amount = parse_resource(name, &list.get(name)?.0, Rounding::Up).ok()?;
        (amount > 0).then_some(amount)
    }
}

pub(super) fn missing_cpu_request(world: &World<'_>, found: &mut Findings) {
    missing(world, Of::Requests, "cpu", found, |_| {
        "to what it uses in normal operation, such as `250m`: a node is chosen by requests, and \
         nothing is kept for this container"
            .to_owned()
    });
}

pub(super) fn missing_memory_request(world: &World<'_>, found: &mut Findings) {
    missing(world, Of::Requests, "memory", found, |_| {
        "to what it uses in normal operation, such as `256Mi`: a node is chosen by requests, and \
         nothing is kept for this container"
            .to_owned()
    });
}

pub(super) fn missing_memory_limit(world: &World<'_>, found: &mut Findings) {
    missing(world, Of::Limits, "memory", found, |container| {
        match Of::Requests.amount(container.resources.as_ref(), "memory") {
            Some(bytes) => format!("to `{}`, its request", format_resource("memory", bytes)),
            None => "to the most that it may use, such as `512Mi`".to_owned(),
        }
    });
}

pub(super) fn missing_cpu_limit(world: &World<'_>, found: &mut Findings) {
    missing(world, Of::Limits, "cpu", found, |container| {
        match Of::Requests.amount(container.resources.as_ref(), "cpu") {
            Some(milli) => format!(
                "to `{}` or more when it must not slow its neighbours; without one it takes what \
                 is idle",
                format_resource("cpu", milli)
            ),
            None => "to the most that it may use, such as `1`".to_owned(),
        }
    });
}

/// One finding for each workload with a container that lacks the amount, unless the pod as a
/// whole has it.
fn missing(
    world: &World<'_>,
    of: Of,
    name: &str,
    found: &mut Findings,
    value: impl Fn(&Container) -> String,
) {
    for workload in &world.workloads {
        if of.amount(workload.spec.resources.as_ref(), name).is_some() {
            continue;
        }
        let lacking: Vec<(String, &Container)> = workload
            .containers()
            .filter(|(_, own)| of.amount(own.resources.as_ref(), name).is_none())
            .collect();
        let Some((path, first)) = lacking.first() else { continue };
        let names = lacking.iter().map(|(_, own)| format!("`{}`", own.name));
        let message = format!(
            "missing {} {}: container{} {}",
            if name == "cpu" { "CPU" } else { name },
            of.word(),
            if lacking.len() == 1 { "" } else { "s" },
            super::listed(names)
        );
        let others = match lacking.len() {
            1 => String::new(),
            _ => "; the other containers likewise".to_owned(),
        };
        let field = format!("{path}.resources.{}s.{name}", of.word());
        found.add(workload.object(), message, format!("set `{field}` {}{others}", value(first)));
    }
}

/// The first free place for a line below the pods' spec.
pub(super) fn below(workload: &Workload, field: &str) -> String {
    format!("{}.{field}", workload.at)
}
