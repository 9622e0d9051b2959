//! The verdict of the API server and of the controller on an object, without either.
//!
//! Three layers, each run only when the one before found nothing wrong: the schema of the CRD
//! ([`crate::crd`] is the one source), its CEL rules (cargo feature `cel`, on by default), and the
//! rules that the controller checks at run time. Objects are judged as written, as JSON: a typed
//! object has already lost what a user wrote wrong.

#[cfg(feature = "cel")]
mod cel;
mod cron;
mod kubelet;
mod runtime;
mod tree;

use std::fmt;

use serde_json::Value;

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Where: `spec.template.spec.requirements[2].operator`.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
    /// What stands there; `null` when nothing does.
    pub value: Value,
}

impl fmt::Display for Violation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.path, self.message)?;
        match &self.value {
            Value::Null | Value::Object(_) | Value::Array(_) => Ok(()),
            Value::String(text) => write!(to, " (found `{}`)", shortened(text)),
            other => write!(to, " (found `{other}`)"),
        }
    }
}

// LIMIT: characters of a user's value or key that a message or path repeats. Longer than any label
// key, so that only nonsense is cut.
const SHOWN_CHARS: usize = 320;

/// A text cut to what a message shows.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The six kinds that are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `karpenter.sh/v1`.
    NodePool,
    /// `karpenter.sh/v1`.
    NodeClaim,
    /// `karpenter.sh/v1alpha1`.
    NodeOverlay,
    /// `autoscaling.x-k8s.io/v1beta1`.
    CapacityBuffer,
    /// `karpenter.k8s.aws/v1`.
    EC2NodeClass,
    /// `karpenter.azure.com/v1beta1`.
    AKSNodeClass,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::NodePool,
        Self::NodeClaim,
        Self::NodeOverlay,
        Self::CapacityBuffer,
        Self::EC2NodeClass,
        Self::AKSNodeClass,
    ];

    /// Its `apiVersion` and `kind`.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::NodePool => ("karpenter.sh/v1", "NodePool"),
            Self::NodeClaim => ("karpenter.sh/v1", "NodeClaim"),
            Self::NodeOverlay => ("karpenter.sh/v1alpha1", "NodeOverlay"),
            Self::CapacityBuffer => ("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer"),
            Self::EC2NodeClass => ("karpenter.k8s.aws/v1", "EC2NodeClass"),
            Self::AKSNodeClass => ("karpenter.azure.com/v1beta1", "AKSNodeClass"),
        }
    }

    /// The kind of an object by its `apiVersion` and `kind`; `None` for any other object.
    pub fn of(object: &Value) -> Option<Self> {
        let names = (object.get("apiVersion")?.as_str()?, object.get("kind")?.as_str()?);
        Self::ALL.into_iter().find(|kind| kind.names() == names)
    }
}

/// Judges a new object. An empty list means that it would be accepted and used.
pub fn validate(kind: Kind, object: &Value) -> Vec<Violation> {
    judge(kind, object, None)
}

/// Judges a change of an object: as [`validate`], and what must not change did not.
pub fn validate_update(kind: Kind, old: &Value, new: &Value) -> Vec<Violation> {
    judge(kind, new, Some(old))
}

/// What the API server alone would refuse: as [`validate`] (or, with `old`, [`validate_update`])
/// without the rules of the controller.
pub fn admission(kind: Kind, object: &Value, old: Option<&Value>) -> Vec<Violation> {
    admitted(kind, &with_defaults(kind, object), old)
}

/// Judges a NodePool.
pub fn validate_node_pool(object: &Value) -> Vec<Violation> {
    validate(Kind::NodePool, object)
}

/// Judges a NodeClaim.
pub fn validate_node_claim(object: &Value) -> Vec<Violation> {
    validate(Kind::NodeClaim, object)
}

/// Judges a NodeOverlay.
pub fn validate_node_overlay(object: &Value) -> Vec<Violation> {
    validate(Kind::NodeOverlay, object)
}

/// Judges a CapacityBuffer.
pub fn validate_capacity_buffer(object: &Value) -> Vec<Violation> {
    validate(Kind::CapacityBuffer, object)
}

/// Judges an EC2NodeClass.
pub fn validate_ec2_node_class(object: &Value) -> Vec<Violation> {
    validate(Kind::EC2NodeClass, object)
}

/// Judges an AKSNodeClass.
pub fn validate_aks_node_class(object: &Value) -> Vec<Violation> {
    validate(Kind::AKSNodeClass, object)
}

/// The object as the API server would keep it: `null`s dropped, defaults filled in.
pub fn with_defaults(kind: Kind, object: &Value) -> Value {
    let mut object = object.clone();
    tree::of(kind).complete(&mut object);
    object
}

/// Paths of fields that the resource does not have: the API server drops them, so they are
/// mistakes of spelling or of place.
pub fn unknown_fields(kind: Kind, object: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    tree::of(kind).unknown_fields(object, &mut String::new(), &mut paths);
    paths
}

fn judge(kind: Kind, object: &Value, old: Option<&Value>) -> Vec<Violation> {
    let object = with_defaults(kind, object);
    let mut found = admitted(kind, &object, old);
    if found.is_empty() {
        found = runtime::violations(kind, &object);
    }
    sorted(found)
}

fn admitted(kind: Kind, object: &Value, old: Option<&Value>) -> Vec<Violation> {
    let mut found = Vec::new();
    tree::of(kind).check(object, &mut String::new(), &mut found);
    #[cfg(feature = "cel")]
    if found.is_empty() {
        let old = old.map(|old| with_defaults(kind, old));
        found = cel::violations(kind, object, old.as_ref());
    }
    #[cfg(not(feature = "cel"))]
    let _ = old;
    sorted(found)
}

fn sorted(mut found: Vec<Violation>) -> Vec<Violation> {
    found.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
    found
}
