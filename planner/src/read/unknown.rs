//! Fields that no definition knows. An API server drops them without a word, so that a typing
//! error passes for a setting: each is a warning.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use dunnage_api::crd::schema;
use dunnage_api::validate::Kind as Judged;
use serde_json::Value as Json;

use super::Reader;
use super::check::Path;
use super::node::{Node, Value};
use crate::error::{Warning, quoted};

/// Most warnings about one object. LIMIT: nonsense must not fill the answer.
const MAX_WARNINGS: usize = 20;

/// Warns of fields of `node` that the definition of its kind does not have.
pub(super) fn warn(reader: &mut Reader<'_>, kind: Judged, node: &Node<'_>) {
    static SCHEMAS: OnceLock<BTreeMap<Judged, Json>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| Judged::ALL.map(|kind| (kind, schema(kind))).into());
    let Some(fields) = schemas.get(&kind).and_then(|s| s.get("properties")) else { return };
    let mut found = Vec::new();
    // The status is the cluster's own, and newer clusters write more into it.
    if let (Some(spec), Some(schema)) = (node.get("spec"), fields.get("spec")) {
        walk(spec, schema, Path::Field(&Path::Root, "spec"), &mut found);
    }
    if let Value::Map(roots) = &node.value {
        let roots = roots.iter().filter(|(key, _)| fields.get(key.as_ref()).is_none());
        found.extend(roots.map(|(key, _)| Path::Root.field(key).to_string()));
    }
    found.truncate(MAX_WARNINGS);
    let kind = kind.names().1;
    // The object's name and not its line, so that the order of the input does not show.
    let name = node.get("metadata").and_then(|m| m.get("name")).and_then(Node::text);
    let object = format!("{kind} {}", quoted(name.unwrap_or_default()));
    for path in found {
        let message = format!("{kind} has no field `{}`; it is ignored", quoted(&path));
        reader.warn(Warning::new("IgnoredField", object.as_str(), message));
    }
}

/// Collects the paths of what `schema` does not know.
fn walk(node: &Node<'_>, schema: &Json, path: Path<'_>, found: &mut Vec<String>) {
    let is_open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Json::Bool(true));
    let fields = schema.get("properties");
    let others = schema.get("additionalProperties");
    match (&node.value, schema.get("items")) {
        (Value::Map(entries), _) if fields.is_some() || others.is_some() => {
            for (key, below) in entries {
                let path = path.field(key);
                match fields.and_then(|f| f.get(key.as_ref())).or(others) {
                    Some(schema) => walk(below, schema, path, found),
                    // `creationTimestamp: null` stands in every generated template.
                    None if is_open || below.value == Value::Null => {}
                    None => found.push(path.to_string()),
                }
            }
        }
        (Value::List(items), Some(schema)) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, schema, path.index(index), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::read::{Source, read};

    fn told(text: &str) -> Vec<(String, String)> {
        let source = Source { name: "in.yaml".to_owned(), text: text.to_owned() };
        let warnings = read(&[source]).map(|snapshot| snapshot.warnings).unwrap_or_default();
        let told = warnings.into_iter().filter(|w| w.code == "IgnoredField");
        told.map(|w| (w.object, w.message)).collect()
    }

    #[test]
    fn typing_errors_are_told() {
        let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspecs: {}\nspec:\n  weigth: 5\n  limits: {cpu: 5}\n  template:\n    metadata: {creationTimestamp: null, labels: {any: thing}}\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n      requirements: [{key: a, operator: Exists, minValue: 1}]\nstatus: {future: 1}\n";
        let said = |path: &str| {
            ("NodePool p".to_owned(), format!("NodePool has no field `{path}`; it is ignored"))
        };
        let wanted =
            ["spec.template.spec.requirements[0].minValue", "spec.weigth", "specs"].map(said);
        assert_eq!(told(pool), wanted);
    }

    #[test]
    fn open_mappings_take_anything() {
        let class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: d}\nspec:\n  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n  subnetSelectorTerms: [{tags: {a: b}}]\n  securityGroupSelectorTerms: [{tags: {a: b}}]\n  kubelet: {maxPods: 20, clusterDNS: [10.0.1.100]}\n  maxPod: 5\n";
        let message = "EC2NodeClass has no field `spec.maxPod`; it is ignored";
        assert_eq!(told(class), [("EC2NodeClass d".to_owned(), message.to_owned())]);
    }
}
