//! The pods to place: which ones, in which order, and which are refused before placing.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;

use super::Rejected;
use super::buffers::BufferPods;
use super::cluster::StateNode;
use super::dialect::Refusal;
use super::groups::LabelSets;
use super::pdb::Blocking;
use super::rules::{RuleReader, namespace_of};
use super::selector::Labels;
use super::shape::{Shape, shape_bytes};
use super::spot_share;
use super::volumes::{PodVolumes, Storage};
use crate::error::{ErrorCode, Origin, PlanError};
use crate::pod;
use crate::settings::ShareMillionths;
use crate::snapshot::Snapshot;

/// A pod to place.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// `namespace/name`.
    pub name: String,
    /// Row of `shapes`.
    pub shape: u32,
    /// Row of `labels`.
    pub labels: u32,
    /// Row of `volumes`.
    pub volumes: u32,
    created: Option<Timestamp>,
    uid: String,
}

/// The pods to place.
#[derive(Debug, Default)]
pub struct Queue<'a> {
    /// What pods ask for, each once.
    pub shapes: Vec<Shape>,
    /// Namespaces and labels, each pair once.
    pub labels: LabelSets<'a>,
    /// Volumes; the first row is no volumes.
    pub volumes: Vec<PodVolumes>,
    /// In the order in which they are placed.
    pub pods: Vec<Waiting>,
    /// Pods that are not placed, ascending by name.
    pub rejected: Vec<Rejected>,
    /// Rows of the Snapshot's pods that leave a node which is about to go.
    pub moved: HashSet<usize>,
}

/// Reads pods into a queue.
struct Reader<'a, 'r> {
    reader: &'r RuleReader<'r>,
    storage: &'r Storage<'r>,
    queue: Queue<'a>,
    shapes: HashMap<Vec<u8>, u32>,
    volumes: HashMap<PodVolumes, u32>,
    errors: Vec<PlanError>,
    buffer: Vec<u8>,
    /// The pod at hand is to prefer other capacity than spot.
    holds_back: bool,
}

static NO_LABELS: Labels = Labels::new();

/// Collects the pods to place: pending ones, those of nodes about to go, virtual ones.
pub fn queue<'a>(
    snapshot: &'a Snapshot,
    nodes: &[StateNode],
    buffers: &'a [BufferPods],
    reader: &RuleReader,
    storage: &Storage,
) -> Result<Queue<'a>, Vec<PlanError>> {
    let moved = moved(snapshot, nodes);
    let share =
        if reader.is_mended { snapshot.settings.spot_share } else { ShareMillionths(1_000_000) };
    let held_back = spot_share::held_back(snapshot, nodes, &moved, share);
    let mut own = Reader {
        reader,
        storage,
        queue: Queue { volumes: vec![PodVolumes::default()], ..Queue::default() },
        shapes: HashMap::new(),
        volumes: HashMap::from([(PodVolumes::default(), 0)]),
        errors: Vec::new(),
        buffer: Vec::new(),
        holds_back: false,
    };
    for (row, pending) in snapshot.pods.iter().enumerate() {
        if pod::is_provisionable(pending) || moved.contains(&row) {
            let name = pending.metadata.name.clone().unwrap_or_default();
            let uid = pending.metadata.uid.clone().unwrap_or_default();
            own.holds_back = held_back.contains(&row);
            own.add(&pending.object, &pending.origin, name, uid);
        }
    }
    own.holds_back = false;
    for buffer in buffers {
        for i in 0..buffer.count {
            let name = format!("{}{i}", buffer.name_prefix);
            own.add(&buffer.pod, &Origin::default(), name, format!("{}{i}", buffer.uid_prefix));
        }
    }
    if !own.errors.is_empty() {
        own.errors.sort_by(|a, b| (&a.origin, &a.path).cmp(&(&b.origin, &b.path)));
        return Err(own.errors);
    }
    let mut queue = own.queue;
    queue.moved = moved;
    queue.rejected.sort_by(|a, b| a.pod.cmp(&b.pod));
    let amount = |shape: u32, name: &str| {
        std::cmp::Reverse(queue.shapes[shape as usize].amounts.get(name).copied().unwrap_or(0))
    };
    let sizes: Vec<_> = (0..queue.shapes.len() as u32)
        .map(|shape| (amount(shape, "cpu"), amount(shape, "memory")))
        .collect();
    queue.pods.sort_unstable_by(|a, b| {
        let key = |w: &Waiting| (sizes[w.shape as usize], w.created);
        key(a).cmp(&key(b)).then_with(|| (&a.uid, &a.name).cmp(&(&b.uid, &b.name)))
    });
    Ok(queue)
}

/// Pods that have to go somewhere else because their node goes.
fn moved(snapshot: &Snapshot, nodes: &[StateNode]) -> HashSet<usize> {
    if nodes.iter().all(|node| !node.is_leaving) {
        return HashSet::new();
    }
    let blocking = Blocking::of(snapshot);
    let leaving = nodes.iter().filter(|node| node.is_leaving);
    leaving
        .flat_map(|node| &node.pods)
        .copied()
        .filter(|row| {
            let own = &snapshot.pods[*row];
            pod::is_reschedulable(own)
                && pod::is_disruptable(own, snapshot.now)
                && !blocking.blocks(own)
        })
        .collect()
}

impl<'a> Reader<'a, '_> {
    fn add(&mut self, pod: &'a Pod, origin: &Origin, name: String, uid: String) {
        let name = format!("{}/{name}", namespace_of(pod));
        let Some(shape) = self.shape(pod, origin) else { return };
        if let Some(refusal) = &self.queue.shapes[shape as usize].refusal {
            let refusal = refusal.clone();
            return self.reject(name, refusal);
        }
        let volumes = match self.volumes(pod) {
            Ok(volumes) => volumes,
            Err(refusal) => return self.reject(name, refusal),
        };
        let labels = pod.metadata.labels.as_ref().unwrap_or(&NO_LABELS);
        let labels = self.queue.labels.number(namespace_of(pod), labels, &mut self.buffer);
        let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
        self.queue.pods.push(Waiting { name, shape, labels, volumes, created, uid });
    }

    fn reject(&mut self, pod: String, refusal: Refusal) {
        let Refusal { code, message } = refusal;
        self.queue.rejected.push(Rejected { pod, code, message });
    }

    fn shape(&mut self, pod: &Pod, origin: &Origin) -> Option<u32> {
        shape_bytes(pod, !self.reader.defaults.is_empty(), &mut self.buffer);
        self.buffer.push(u8::from(self.holds_back));
        if let Some(shape) = self.shapes.get(self.buffer.as_slice()) {
            return Some(*shape);
        }
        match Shape::of(pod, self.reader) {
            Ok(mut shape) => {
                if self.holds_back {
                    shape.avoid_spot();
                }
                let number = self.queue.shapes.len() as u32;
                self.queue.shapes.push(shape);
                self.shapes.insert(self.buffer.clone(), number);
                Some(number)
            }
            Err(error) => {
                self.errors.push(request_error(&error, origin));
                None
            }
        }
    }

    fn volumes(&mut self, pod: &Pod) -> Result<u32, Refusal> {
        if pod.spec.as_ref().is_none_or(|spec| spec.volumes.is_none()) {
            return Ok(0);
        }
        let names = Storage::claim_names(pod);
        if names.is_empty() {
            return Ok(0);
        }
        let read = self.storage.read(&names)?;
        let next = self.queue.volumes.len() as u32;
        Ok(match self.volumes.get(&read) {
            Some(number) => *number,
            None => {
                self.queue.volumes.push(read.clone());
                self.volumes.insert(read, next);
                next
            }
        })
    }
}

/// A request that cannot be used, as an error of the input.
pub fn request_error(error: &pod::RequestError, origin: &Origin) -> PlanError {
    let message = format!("`{}` {}", crate::error::quoted(&error.value), error.error);
    PlanError::at(ErrorCode::InvalidQuantity, origin.clone(), &error.path, message)
        .with_value(&error.value)
}

impl Queue<'_> {
    /// Label keys that pods ask for.
    pub fn asked(&self) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for shape in &self.shapes {
            let preferred = shape.preferred.iter().map(|(_, needs)| needs);
            for needs in shape.required.iter().chain(preferred).chain([&shape.selector]) {
                keys.extend(needs.0.keys().cloned());
            }
        }
        keys
    }
}
