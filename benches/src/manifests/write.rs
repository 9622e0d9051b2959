//! Manifests as text: YAML and JSON, one document or many, lists and Snapshots.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Manifests;

/// How objects stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// YAML, a document each.
    Documents,
    /// YAML, one `List`.
    YamlList,
    /// YAML, a Snapshot.
    YamlSnapshot,
    /// YAML in flow style, a document each.
    Flow,
    /// JSON, a text each.
    Json,
    /// JSON, one `List`.
    JsonList,
    /// JSON, a Snapshot.
    JsonSnapshot,
    /// JSON, a list for each kind (`PodList`), whose items do not say what they are.
    TypedLists,
    /// JSON, an array.
    Array,
}

/// Every form.
pub const FORMS: [Form; 9] = [
    Form::Documents,
    Form::YamlList,
    Form::YamlSnapshot,
    Form::Flow,
    Form::Json,
    Form::JsonList,
    Form::JsonSnapshot,
    Form::TypedLists,
    Form::Array,
];

impl Manifests {
    /// A name for the text, and the text. Without quotes, the values of a YAML text may be
    /// anything.
    pub fn text(&self, form: Form, is_unquoted: bool) -> (&'static str, String) {
        let mut documents = self.documents(form);
        // A text that starts with `null` is not taken for JSON.
        documents.retain(|document| !document.is_null());
        let mut text = String::new();
        for document in &documents {
            match form {
                Form::Documents | Form::YamlList | Form::YamlSnapshot => {
                    text.push_str("---\n");
                    block(&mut text, document, 0, is_unquoted);
                }
                Form::Flow => writeln!(text, "---\n{document}").expect("a String takes all"),
                Form::Json | Form::TypedLists => {
                    writeln!(text, "{document}").expect("a String takes all");
                }
                Form::JsonList | Form::JsonSnapshot | Form::Array => {
                    writeln!(text, "{document:#}").expect("a String takes all");
                }
            }
        }
        let is_yaml =
            matches!(form, Form::Documents | Form::YamlList | Form::YamlSnapshot | Form::Flow);
        (if is_yaml { "input.yaml" } else { "input.json" }, text)
    }

    fn documents(&self, form: Form) -> Vec<Value> {
        let mut documents = match form {
            Form::Documents | Form::Flow | Form::Json => self.objects.clone(),
            Form::YamlList | Form::JsonList => {
                vec![json!({"apiVersion": "v1", "kind": "List", "items": self.objects})]
            }
            Form::Array => vec![self.objects.clone().into()],
            Form::TypedLists => self.grouped(|object| {
                let kind = format!("{}List", object.get("kind")?.as_str()?);
                Some((kind, object.get("apiVersion")?.as_str()?.to_owned()))
            }),
            Form::YamlSnapshot | Form::JsonSnapshot => return self.snapshot(),
        };
        documents.push(Value::Object(self.world.clone()));
        documents
    }

    /// One list for all objects of a kind; the others as they are.
    fn grouped(&self, list_of: impl Fn(&Value) -> Option<(String, String)>) -> Vec<Value> {
        let mut lists: Vec<((String, String), Vec<Value>)> = Vec::new();
        let mut others = Vec::new();
        for object in &self.objects {
            let Some(id) = list_of(object).filter(|(kind, _)| !kind.ends_with("ListList")) else {
                others.push(object.clone());
                continue;
            };
            let mut item = object.clone();
            if let Some(fields) = item.as_object_mut() {
                fields.remove("kind");
                fields.remove("apiVersion");
            }
            match lists.iter_mut().find(|(known, _)| *known == id) {
                Some((_, items)) => items.push(item),
                None => lists.push((id, vec![item])),
            }
        }
        let lists = lists.into_iter().map(
            |((kind, version), items)| json!({"apiVersion": version, "kind": kind, "items": items}),
        );
        lists.chain(others).collect()
    }

    /// One Snapshot, and a document for each object that has no place in it.
    fn snapshot(&self) -> Vec<Value> {
        let mut fields: Map<String, Value> = self.world.clone();
        let mut documents = Vec::new();
        for object in &self.objects {
            match field(object) {
                Some(name) => {
                    let list = fields.entry(name).or_insert_with(|| json!([]));
                    if let Value::Array(items) = list {
                        items.push(object.clone());
                    }
                }
                None => documents.push(object.clone()),
            }
        }
        documents.push(Value::Object(fields));
        documents
    }
}

/// The field of a Snapshot that holds such an object.
fn field(object: &Value) -> Option<String> {
    let kind = object.get("kind")?.as_str()?;
    object.get("metadata")?;
    Some(match kind {
        "Service" | "Secret" => return None,
        "EC2NodeClass" | "AKSNodeClass" => "nodeClasses".to_owned(),
        "CSINode" => "csiNodes".to_owned(),
        "StorageClass" => "storageClasses".to_owned(),
        "PriorityClass" => "priorityClasses".to_owned(),
        "NodePool" if object.get("apiVersion")? != "karpenter.sh/v1" => return None,
        _ => {
            let first = kind.chars().next()?.to_ascii_lowercase();
            format!("{first}{}s", &kind[first.len_utf8()..])
        }
    })
}

/// Writes a value in block style; a scalar ends its line.
fn block(out: &mut String, value: &Value, indent: usize, is_unquoted: bool) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                out.extend(std::iter::repeat_n(' ', indent));
                scalar(out, key, is_unquoted);
                out.push(':');
                below(out, value, indent, is_unquoted);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.extend(std::iter::repeat_n(' ', indent));
                out.push('-');
                below(out, item, indent, is_unquoted);
            }
        }
        Value::String(text) => {
            scalar(out, text, is_unquoted);
            out.push('\n');
        }
        other => writeln!(out, "{other}").expect("a String takes all"),
    }
}

/// Writes a value after its key or dash.
fn below(out: &mut String, value: &Value, indent: usize, is_unquoted: bool) {
    let is_nested = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_nested {
        out.push('\n');
        block(out, value, indent + 2, is_unquoted);
    } else {
        out.push(' ');
        block(out, value, 0, is_unquoted);
    }
}

/// Words stand without quotes; whatever YAML could take for something else has them.
fn scalar(out: &mut String, text: &str, is_unquoted: bool) {
    let is_word = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() > 3
        && !["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str());
    if is_word || is_unquoted {
        out.push_str(text);
    } else {
        write!(out, "{}", Value::from(text)).expect("a String takes all");
    }
}
