//! Where money goes that the lower bound does not need: by launch, by resource, and by the pods
//! whose shape leaves room that nobody uses.
//!
//! A launch wastes its price less the value of its pods, the values being those that prove the
//! lower bound. So the launches together waste exactly what the plan costs beyond the bound, up
//! to what the bound is above its values. Within a launch pods share its waste by how much of the
//! machine they take; that is a rule of ours, not a proof.

use std::collections::BTreeMap;

use dunnage_engine_core::search::Dual;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;

use super::{ExplainError, classes, percent, with_words};
use crate::html::{Sizes, sizes};
use crate::options::{Options, Strategy};
use crate::plan::{Choice, Decided, Failure, Launch, Money, decide, plan};
use crate::quantity::{Rounding, format_resource, parse_resource};
use crate::snapshot::{Snapshot, full_name};

/// Most launches and shapes that are listed.
const LISTED: usize = 10;
/// Most shapes for which a smaller request is planned. LIMIT: each costs a plan.
const RESHAPED: usize = 5;

/// Where money goes beyond the lower bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WasteReport {
    /// USD per hour of all launches.
    pub launch_per_hour: Money,
    /// What no plan can undercut.
    pub lower_bound_per_hour: Money,
    /// The difference.
    pub waste_per_hour: Money,
    /// What the bound is above the values of the pods: the launches waste so much more together.
    pub bound_above_values: Money,
    /// Pods that the bound does not cover: they count as worth nothing.
    pub pods_without_value: usize,
    /// What is bought and used, by resource.
    pub resources: Vec<ResourceUse>,
    /// Launches that waste most.
    pub launches: Vec<LaunchWaste>,
    /// Number and waste of the launches that are not listed.
    pub further_launches: Further,
    /// Pods of one shape, those with most waste first.
    pub shapes: Vec<ShapeWaste>,
}

/// What is bought and used of a resource, as quantities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUse {
    /// Name.
    pub resource: String,
    /// What pods can use of the machines.
    pub allocatable: String,
    /// What pods request.
    pub pods: String,
    /// What DaemonSets request.
    pub daemons: String,
    /// The rest.
    pub unused: String,
}

/// A launch and what it wastes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchWaste {
    /// Its number in the plan, from 1.
    pub launch: usize,
    /// NodePool.
    pub node_pool: String,
    /// Its machine.
    pub machine: Choice,
    /// Number of its pods.
    pub pods: usize,
    /// What the pods are worth.
    pub value_per_hour: Money,
    /// Price less value; below nothing where the machine is a bargain.
    pub waste_per_hour: Money,
    /// What nobody uses.
    pub unused: BTreeMap<String, String>,
}

/// What is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Further {
    /// How many.
    pub count: usize,
    /// Their waste together.
    pub waste_per_hour: Money,
}

/// Pods that ask for the same, and their part of the waste.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShapeWaste {
    /// `namespace/name` of the first.
    pub pod: String,
    /// How many are on launches.
    pub count: usize,
    /// What one requests.
    pub requests: BTreeMap<String, String>,
    /// Their part of the waste.
    pub waste_per_hour: Money,
    /// A slightly smaller request with which one more fits a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smaller: Option<Smaller>,
}

/// A smaller request, and the plan with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Smaller {
    /// The resource.
    pub resource: String,
    /// What one pod requests now.
    pub from: String,
    /// What lets one more fit.
    pub to: String,
    /// The machine.
    pub instance_type: String,
    /// Pods of the shape that fill it now; with the smaller request it holds one more.
    pub fitting: i64,
    /// USD per hour that the plan with it costs less.
    pub saves_per_hour: Money,
    /// The same as a percentage.
    pub saves_percent: Option<f64>,
}

/// Where the launches of the plan waste money, and which pods make them.
///
/// # Errors
/// As [`crate::plan::plan`]. Only the strategy `cheapest` has a lower bound.
pub fn explain_waste(snapshot: &Snapshot, options: &Options) -> Result<WasteReport, ExplainError> {
    let options = Options { strategy: Strategy::Cheapest, ..options.clone() };
    let decided = decide(snapshot, &options)?;
    let sizes = sizes(snapshot, &decided)?;
    let launches = Launches::of(&decided, &sizes);
    let mut said = launches.report();
    for at in 0..said.shapes.len().min(RESHAPED) {
        let row = launches.shapes[at].class;
        said.shapes[at].smaller = launches.smaller(snapshot, &options, row)?;
    }
    Ok(said)
}

/// Launches of a plan with sizes and values.
struct Launches<'a> {
    decided: &'a Decided,
    sizes: &'a Sizes,
    /// Class of each pod of each launch.
    classes: Vec<Vec<usize>>,
    /// Waste of each launch in micro-dollars.
    waste: Vec<i64>,
    /// Classes by waste, the most first.
    shapes: Vec<Shape>,
}

struct Shape {
    class: usize,
    count: usize,
    waste: i64,
}

impl<'a> Launches<'a> {
    fn of(decided: &'a Decided, sizes: &'a Sizes) -> Self {
        let plan = &decided.plan;
        let classes: Vec<Vec<usize>> = with_words(&decided.lowered, |w| {
            let class_of = classes(w);
            let of_launch = |launch: &Launch| {
                launch.pods.iter().filter_map(|pod| class_of.get(pod.as_str()).copied()).collect()
            };
            plan.launch.iter().map(of_launch).collect()
        });
        let mut own = Self { decided, sizes, classes, waste: Vec::new(), shapes: Vec::new() };
        let price = |launch: &Launch| launch.cheapest.price_per_hour.0.unwrap_or(0);
        let rows = plan.launch.iter().zip(&own.classes);
        own.waste = rows.map(|(launch, classes)| price(launch) - own.value(classes)).collect();
        own.share();
        own
    }

    fn dual(&self, class: usize) -> Dual {
        self.decided.duals.get(class).copied().unwrap_or_default()
    }

    /// Micro-dollars that the pods are worth.
    fn value(&self, classes: &[usize]) -> i64 {
        let sum: f64 = classes.iter().map(|&class| self.dual(class).value_microusd).sum();
        sum.round() as i64
    }

    /// Divides the waste of each launch among its pods by the largest share of the machine that
    /// one takes.
    fn share(&mut self) {
        let mut shapes: BTreeMap<usize, (usize, i64)> = BTreeMap::new();
        for (at, classes) in self.classes.iter().enumerate() {
            let parts: Vec<f64> = classes.iter().map(|&class| self.part(at, class).0).collect();
            let whole: f64 = parts.iter().sum();
            let (mut left, mut rest) = (self.waste[at], whole);
            for (&class, part) in classes.iter().zip(parts) {
                // Each takes its part of what is left, so that no micro-dollar is lost.
                let own =
                    if rest > 0.0 { (left as f64 * part / rest).round() as i64 } else { left };
                (left, rest) = (left - own, rest - part);
                let shape = shapes.entry(class).or_default();
                *shape = (shape.0 + 1, shape.1 + own);
            }
        }
        let rows = shapes.into_iter();
        self.shapes = rows.map(|(class, (count, waste))| Shape { class, count, waste }).collect();
        self.shapes.sort_by_key(|shape| (-shape.waste, shape.class));
    }

    /// The largest share of the launch's machine that a pod of the class takes, and of what.
    fn part(&self, launch: usize, class: usize) -> (f64, usize) {
        let requests = self.requests(class);
        let room = &self.sizes.launches[launch].allocatable;
        let shares = requests.iter().zip(room).enumerate().filter(|(_, (_, room))| **room > 0);
        let shares = shares.map(|(at, (asks, room))| (*asks as f64 / *room as f64, at));
        shares.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).unwrap_or((0.0, 0))
    }

    fn first_pod(&self, class: usize) -> &str {
        let pods = self.decided.lowered.names.pods.get(class);
        pods.and_then(|pods| pods.first()).map_or("", String::as_str)
    }

    fn requests(&self, class: usize) -> &[i64] {
        let shape = self.sizes.pods.get(self.first_pod(class));
        shape.and_then(|row| self.sizes.shapes.get(*row as usize)).map_or(&[], Vec::as_slice)
    }

    fn quantities(&self, row: &[i64]) -> BTreeMap<String, String> {
        let cells = self.sizes.resources.iter().zip(row).filter(|(_, amount)| **amount != 0);
        cells.map(|(name, amount)| (name.clone(), format_resource(name, *amount))).collect()
    }

    /// What pods request of a launch, by resource.
    fn asked(&self, launch: usize) -> Vec<i64> {
        let mut sum = vec![0; self.sizes.resources.len()];
        for &class in &self.classes[launch] {
            sum.iter_mut().zip(self.requests(class)).for_each(|(sum, own)| *sum += own);
        }
        sum
    }

    fn unused(&self, launch: usize) -> Vec<i64> {
        let machine = &self.sizes.launches[launch];
        let used = self.asked(launch);
        let rows = machine.allocatable.iter().zip(&machine.daemons).zip(&used);
        rows.map(|((room, daemons), pods)| (room - daemons - pods).max(0)).collect()
    }

    fn report(&self) -> WasteReport {
        let cost = &self.decided.plan.cost;
        let waste: i64 = self.waste.iter().sum();
        let beyond = cost.launch_per_hour.0.zip(cost.lower_bound_per_hour.0).map(|(c, b)| c - b);
        let mut order: Vec<usize> = (0..self.waste.len()).collect();
        order.sort_by_key(|&at| (-self.waste[at], at));
        let listed: Vec<LaunchWaste> =
            order.iter().take(LISTED).map(|&at| self.launch_waste(at)).collect();
        let further = order.iter().skip(LISTED);
        let worthless = |class: &&usize| self.dual(**class).pods == 0;
        WasteReport {
            launch_per_hour: cost.launch_per_hour,
            lower_bound_per_hour: cost.lower_bound_per_hour,
            waste_per_hour: Money(beyond),
            bound_above_values: Money(beyond.map(|beyond| waste - beyond)),
            pods_without_value: self.classes.iter().flatten().filter(worthless).count(),
            resources: self.resources(),
            launches: listed,
            further_launches: Further {
                count: further.len(),
                waste_per_hour: Money(Some(further.map(|&at| self.waste[at]).sum())),
            },
            shapes: self.shapes.iter().take(LISTED).map(|shape| self.shape_waste(shape)).collect(),
        }
    }

    fn launch_waste(&self, at: usize) -> LaunchWaste {
        let launch = &self.decided.plan.launch[at];
        LaunchWaste {
            launch: at + 1,
            node_pool: launch.node_pool.clone(),
            machine: launch.cheapest.clone(),
            pods: launch.pods.len(),
            value_per_hour: Money(Some(self.value(&self.classes[at]))),
            waste_per_hour: Money(Some(self.waste[at])),
            unused: self.quantities(&self.unused(at)),
        }
    }

    fn shape_waste(&self, shape: &Shape) -> ShapeWaste {
        ShapeWaste {
            pod: self.first_pod(shape.class).to_owned(),
            count: shape.count,
            requests: self.quantities(self.requests(shape.class)),
            waste_per_hour: Money(Some(shape.waste)),
            smaller: None,
        }
    }

    fn resources(&self) -> Vec<ResourceUse> {
        let rows = self.sizes.resources.iter().enumerate().map(|(column, name)| {
            let sum = |row: &dyn Fn(usize) -> i64| (0..self.waste.len()).map(row).sum::<i64>();
            let machine = |at: usize| &self.sizes.launches[at];
            let pods = sum(&|at| self.asked(at)[column]);
            let daemons = sum(&|at| machine(at).daemons[column]);
            let use_of = ResourceUse {
                resource: name.clone(),
                allocatable: format_resource(name, sum(&|at| machine(at).allocatable[column])),
                pods: format_resource(name, pods),
                daemons: format_resource(name, daemons),
                unused: format_resource(name, sum(&|at| self.unused(at)[column])),
            };
            (pods + daemons, use_of)
        });
        rows.filter(|(used, _)| *used > 0).map(|(_, row)| row).collect()
    }

    /// The request with which one more pod of the class fits the machine that most of its pods
    /// are on, if it is at least three quarters of the present one, and the plan with it.
    fn smaller(
        &self,
        snapshot: &Snapshot,
        options: &Options,
        class: usize,
    ) -> Result<Option<Smaller>, Failure> {
        let on = |at: &usize| self.classes[*at].iter().filter(|own| **own == class).count();
        let Some(at) = (0..self.classes.len()).max_by_key(|at| (on(at), std::cmp::Reverse(*at)))
        else {
            return Ok(None);
        };
        let column = self.part(at, class).1;
        let name = &self.sizes.resources[column];
        let machine = &self.sizes.launches[at];
        let room = machine.allocatable[column] - machine.daemons[column];
        let from = self.requests(class).get(column).copied().unwrap_or(0);
        let unit = match name.as_str() {
            "cpu" => 10,
            "memory" | "ephemeral-storage" => 1 << 20,
            _ => return Ok(None),
        };
        if from <= 0 || room < from {
            return Ok(None);
        }
        let fitting = room / from;
        let to = room / (fitting + 1) / unit * unit;
        if to <= 0 || to * 4 < from * 3 || to >= from {
            return Ok(None);
        }
        let mut other = snapshot.clone();
        let pods = self.decided.lowered.names.pods.get(class);
        let of_class = |name: &str| pods.is_some_and(|pods| pods.iter().any(|pod| pod == name));
        for pod in &mut other.pods {
            if of_class(&full_name(&pod.metadata)) && !shrink(pod, name, from - to) {
                return Ok(None);
            }
        }
        let then = plan(&other, options)?.cost.launch_per_hour.0;
        let now = self.decided.plan.cost.launch_per_hour.0;
        let saves = now.zip(then).map(|(now, then)| (now - then).max(0));
        Ok(Some(Smaller {
            resource: name.clone(),
            from: format_resource(name, from),
            to: format_resource(name, to),
            instance_type: self.decided.plan.launch[at].cheapest.instance_type.clone(),
            fitting,
            saves_per_hour: Money(saves),
            saves_percent: saves.zip(now).and_then(|(saves, now)| percent(saves, now)),
        }))
    }
}

/// Takes that much off the request of the first container that has more; false when none has.
fn shrink(pod: &mut k8s_openapi::api::core::v1::Pod, resource: &str, less: i64) -> bool {
    let containers = pod.spec.as_mut().map(|spec| &mut spec.containers).into_iter().flatten();
    for container in containers {
        let requests = container.resources.as_mut().and_then(|own| own.requests.as_mut());
        let Some(own) = requests.and_then(|requests| requests.get_mut(resource)) else { continue };
        let Ok(now) = parse_resource(resource, &own.0, Rounding::Up) else { continue };
        if now > less {
            *own = Quantity(format_resource(resource, now - less));
            return true;
        }
    }
    false
}
