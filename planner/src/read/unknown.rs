//! Fields that no definition knows. An API server drops them with a warning at best, so that a
//! typing error passes for a setting: each is a warning here, with the nearest known name.
//!
//! Known are the fields of Kubernetes' OpenAPI document and of our own definitions. The status
//! is not looked at: it is the cluster's own, and newer clusters write more into it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use dunnage_api::built_in::built_in;
use dunnage_api::crd::schema;
use dunnage_api::validate::Kind as Ours;
use serde_json::{Map, Value as Json};

use super::Reader;
use super::check::Path;
use super::node::{Node, Value};
use crate::error::{Warning, quoted};
use crate::nearest::nearest;

/// Most unknown fields of one object that are told. LIMIT: nonsense must not fill the answer.
const MAX_OF_OBJECT: usize = 20;
/// Most unknown fields of an input that are told, equal ones of one kind counted once. LIMIT: a
/// plan is read by people.
const MAX_TOLD: usize = 100;

/// An unknown field of some objects of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknown {
    /// The first object by name.
    object: String,
    /// How many objects have it.
    count: usize,
    /// The known name that it may have been meant to be.
    meant: Option<String>,
}

/// Unknown fields by kind and path.
pub(super) type Found = BTreeMap<(&'static str, String), Unknown>;

/// Notes the unknown fields of an object of a kind that is read.
pub(super) fn note(found: &mut Found, kind: &'static str, node: &Node<'_>, object: &str) {
    let known = known();
    let Some(&root) = known.kinds.get(kind) else { return };
    let Value::Map(fields) = &node.value else { return };
    let mut own = Vec::new();
    for (key, below) in fields.iter().filter(|(key, _)| key != "status") {
        known.step(root, key, below, &Path::Root, &mut own);
    }
    own.truncate(MAX_OF_OBJECT);
    for (path, meant) in own {
        let row = found.entry((kind, path)).or_default();
        row.count += 1;
        if row.object.is_empty() || object < row.object.as_str() {
            object.clone_into(&mut row.object);
        }
        row.meant = meant;
    }
}

/// One warning for each unknown field of a kind.
pub(super) fn tell(reader: &mut Reader<'_>, found: Found) {
    let rest = found.len().saturating_sub(MAX_TOLD);
    for ((kind, path), row) in found.into_iter().take(MAX_TOLD) {
        let others = match row.count {
            1 => String::new(),
            count => format!(", here and in {} more of the kind", count - 1),
        };
        let hint =
            row.meant.map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
        let message =
            format!("{kind} has no field `{}`{hint}; it is ignored{others}", quoted(&path));
        // The object's name and not its line, so that the order of the input does not show.
        let object = format!("{kind} {}", quoted(&row.object));
        reader.warn(Warning::new("IgnoredField", object, message));
    }
    if rest > 0 {
        let message = format!("{rest} more unknown fields are not listed; the limit is {MAX_TOLD}");
        reader.warn(Warning::new("IgnoredField", "input", message));
    }
}

/// A field that holds anything.
const ANY: usize = 0;

/// What may stand at one place of an object.
#[derive(Clone, Debug, Default)]
struct Shape {
    /// Fields by name, ascending, and their shapes.
    fields: Vec<(Box<str>, usize)>,
    /// Shape of what stands under any other key; none for a place that knows its fields.
    others: Option<usize>,
    /// Shape of the items of a list.
    items: Option<usize>,
}

/// The shapes of all kinds; shapes refer to each other by number.
struct Known {
    kinds: BTreeMap<&'static str, usize>,
    shapes: Vec<Shape>,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let all = built_in();
        let mut maker = Maker::new(all.definitions);
        for (name, schema) in all.kinds {
            let shape = maker.shape(&schema);
            maker.known.kinds.insert(name, shape);
        }
        let metadata = maker.known.kinds.remove("ObjectMeta").unwrap_or(ANY);
        for kind in Ours::ALL {
            let shape = maker.shape(&schema(kind));
            // Our definitions leave the metadata to Kubernetes.
            let fields = &mut maker.known.shapes[shape].fields;
            if let Some(field) = fields.iter_mut().find(|(name, _)| &**name == "metadata") {
                field.1 = metadata;
            }
            maker.known.kinds.insert(kind.names().1, shape);
        }
        maker.known
    })
}

/// Makes shapes of schemas.
struct Maker {
    definitions: Map<String, Json>,
    /// Shapes of definitions, so that each is made once and may refer to itself.
    made: BTreeMap<String, usize>,
    known: Known,
}

impl Maker {
    fn new(definitions: Map<String, Json>) -> Self {
        let known = Known { kinds: BTreeMap::new(), shapes: vec![Shape::default()] };
        Self { definitions, made: BTreeMap::new(), known }
    }

    fn shape(&mut self, schema: &Json) -> usize {
        if let Some(name) = schema.get("$ref").and_then(Json::as_str) {
            let name = name.rsplit('/').next().unwrap_or(name);
            if let Some(made) = self.made.get(name) {
                return *made;
            }
            let Some(definition) = self.definitions.get(name).cloned() else { return ANY };
            let at = self.room();
            self.made.insert(name.to_owned(), at);
            self.fill(at, &definition);
            return at;
        }
        let is_closed = ["properties", "additionalProperties", "items"]
            .iter()
            .any(|part| schema.get(part).is_some_and(Json::is_object));
        let keeps_all = schema.get("x-kubernetes-preserve-unknown-fields");
        if !is_closed || keeps_all == Some(&Json::Bool(true)) {
            return ANY;
        }
        let at = self.room();
        self.fill(at, schema);
        at
    }

    fn room(&mut self) -> usize {
        self.known.shapes.push(Shape::default());
        self.known.shapes.len() - 1
    }

    fn fill(&mut self, at: usize, schema: &Json) {
        let mut shape = Shape::default();
        for (name, field) in
            schema.get("properties").and_then(Json::as_object).into_iter().flatten()
        {
            shape.fields.push((name.as_str().into(), self.shape(field)));
        }
        shape.fields.sort();
        if let Some(others) = schema.get("additionalProperties").filter(|s| s.is_object()) {
            shape.others = Some(self.shape(others));
        }
        if let Some(items) = schema.get("items") {
            shape.items = Some(self.shape(items));
        }
        self.known.shapes[at] = shape;
    }
}

/// Path of an unknown field, and the known name that it may have been meant to be.
type Finding = (String, Option<String>);

impl Known {
    /// Looks at one field of a mapping of shape `at`.
    fn step(
        &self,
        at: usize,
        key: &str,
        below: &Node<'_>,
        path: &Path<'_>,
        found: &mut Vec<Finding>,
    ) {
        let shape = &self.shapes[at];
        let path = path.field(key);
        if let Ok(field) = shape.fields.binary_search_by(|(name, _)| (**name).cmp(key)) {
            return self.walk(below, shape.fields[field].1, &path, found);
        }
        match shape.others {
            Some(others) => self.walk(below, others, &path, found),
            // A place without fields takes anything; `creationTimestamp: null` stands in every
            // generated template.
            None if shape.fields.is_empty() || below.value == Value::Null => {}
            None => {
                let names = shape.fields.iter().map(|(name, _)| &**name);
                found.push((path.to_string(), nearest(key, names).map(str::to_owned)));
            }
        }
    }

    fn walk(&self, node: &Node<'_>, at: usize, path: &Path<'_>, found: &mut Vec<Finding>) {
        if at == ANY || found.len() >= MAX_OF_OBJECT {
            return;
        }
        match &node.value {
            Value::Map(fields) => {
                for (key, below) in fields {
                    self.step(at, key, below, path, found);
                }
            }
            Value::List(items) => {
                let Some(of_item) = self.shapes[at].items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, of_item, &path.index(index), found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
