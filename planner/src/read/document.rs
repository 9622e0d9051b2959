//! What a document is: one object, a list of objects, or a Snapshot; and what is in it.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::check::{Issues, check_instance_type};
use super::decode::decode;
use super::json::{self, Raw};
use super::kinds::{self, Expected};
use super::node::{Node, TextError, Value};
use super::{Reader, yaml};
use crate::error::{ErrorCode, Origin, PlanError, Warning};
use crate::instance_type::InstanceType;
use crate::nearest::hint;
use crate::settings::Taken;

/// A text that starts like JSON, is none, and is longer than this is not tried as YAML.
/// LIMIT: flow-style YAML is written by hand; a broken dump should fail at once.
const MAX_FLOW_YAML_BYTES: usize = 1 << 20;

/// A document or a part of one, not yet made into a tree when it is JSON.
pub(super) enum Part<'a> {
    Json(Raw<'a>),
    Yaml(Node<'a>),
}

/// What a document turns out to be.
enum Shape<'a> {
    Nothing,
    Object(Part<'a>),
    /// `kind` of the list, its `apiVersion`, and its items.
    List(String, Option<String>, Vec<Part<'a>>),
    Snapshot(Vec<(Cow<'a, str>, Part<'a>)>),
    Array(Vec<Part<'a>>),
    Other(&'static str),
}

/// Splits a text into its documents.
pub(super) fn parts<'a>(name: &str, text: &'a str) -> Result<Vec<Part<'a>>, TextError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let from_yaml = || Ok(yaml::documents(text)?.into_iter().map(Part::Yaml).collect::<Vec<_>>());
    if !text.trim_start().starts_with(['{', '[']) {
        return from_yaml();
    }
    match json::documents(text) {
        Ok(docs) => Ok(docs.into_iter().map(Part::Json).collect()),
        Err(error) if name.ends_with(".json") || text.len() > MAX_FLOW_YAML_BYTES => Err(error),
        Err(error) => from_yaml().map_err(|e: TextError| match e.code {
            ErrorCode::Syntax => error,
            _ => e,
        }),
    }
}

impl<'a> Part<'a> {
    pub fn line(&self) -> u32 {
        match self {
            Part::Json(raw) => raw.line,
            Part::Yaml(node) => node.line,
        }
    }

    pub fn node(self) -> Result<Node<'a>, TextError> {
        match self {
            Part::Json(raw) => raw.node(),
            Part::Yaml(node) => Ok(node),
        }
    }

    fn items(self) -> Result<Option<Vec<Part<'a>>>, TextError> {
        match self {
            Part::Json(raw) => {
                Ok(raw.items()?.map(|items| items.into_iter().map(Part::Json).collect()))
            }
            Part::Yaml(Node { value: Value::List(items), .. }) => {
                Ok(Some(items.into_iter().map(Part::Yaml).collect()))
            }
            Part::Yaml(_) => Ok(None),
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Part::Json(raw) => raw.text == "null",
            Part::Yaml(node) => node.value == Value::Null,
        }
    }

    /// The text of a text value.
    fn text(&self) -> Option<String> {
        match self {
            Part::Json(raw) => serde_json::from_str(raw.text).ok(),
            Part::Yaml(node) => node.text().map(str::to_owned),
        }
    }

    fn shape(self) -> Result<Shape<'a>, TextError> {
        if self.is_null() {
            return Ok(Shape::Nothing);
        }
        let (fields, whole) = match self {
            Part::Json(raw) => match raw.fields()? {
                Some(fields) => {
                    let fields: Vec<_> =
                        fields.into_iter().map(|(k, v)| (k, Part::Json(v))).collect();
                    (fields, Some(raw))
                }
                None => return Part::Json(raw).shape_of_no_map(),
            },
            Part::Yaml(Node { value: Value::Map(fields), .. }) => {
                let fields: Vec<_> = fields.into_iter().map(|(k, v)| (k, Part::Yaml(v))).collect();
                (fields, None)
            }
            other => return other.shape_of_no_map(),
        };
        shape_of_map(fields, whole)
    }

    fn shape_of_no_map(self) -> Result<Shape<'a>, TextError> {
        let kind = match &self {
            Part::Json(raw) if raw.text.starts_with('[') => "a list",
            Part::Json(raw) => raw.node()?.kind(),
            Part::Yaml(node) => node.kind(),
        };
        Ok(match self.items()? {
            Some(items) => Shape::Array(items),
            None => Shape::Other(kind),
        })
    }
}

fn shape_of_map<'a>(
    mut fields: Vec<(Cow<'a, str>, Part<'a>)>,
    whole: Option<Raw<'a>>,
) -> Result<Shape<'a>, TextError> {
    let find = |name: &str| fields.iter().position(|(key, _)| key == name);
    let (kind, version) = (find("kind"), find("apiVersion"));
    if kind.is_none() && version.is_none() {
        return Ok(Shape::Snapshot(fields));
    }
    let text_of = |at: Option<usize>| at.and_then(|i| fields[i].1.text());
    if let Some(kind) = text_of(kind).filter(|kind| kind.ends_with("List"))
        && let Some(at) = find("items")
    {
        let version = text_of(version);
        let items = fields.swap_remove(at).1;
        if items.is_null() {
            return Ok(Shape::List(kind, version, Vec::new()));
        }
        let line = items.line();
        return match items.items()? {
            Some(items) => Ok(Shape::List(kind, version, items)),
            None => Err(TextError {
                code: ErrorCode::WrongType,
                line,
                message: "`items` must be a list".to_owned(),
            }),
        };
    }
    if let Some(raw) = whole {
        return Ok(Shape::Object(Part::Json(raw)));
    }
    let line = fields.iter().map(|(_, part)| part.line()).min().unwrap_or(0);
    let mut nodes = Vec::with_capacity(fields.len());
    for (key, part) in fields {
        nodes.push((key, part.node()?));
    }
    Ok(Shape::Object(Part::Yaml(Node { line, value: Value::Map(nodes) })))
}

impl Reader<'_> {
    /// Reads one document.
    pub(super) fn document(&mut self, part: Part<'_>, origin: &Origin) -> Result<(), TextError> {
        match part.shape()? {
            Shape::Nothing => Ok(()),
            Shape::Object(part) => {
                let node = part.node()?;
                self.object(&node, &Expected::default(), origin);
                Ok(())
            }
            Shape::List(kind, version, items) => {
                let expected = kinds::of_list(&kind, version.as_deref());
                self.items(items, "items", &expected, origin)
            }
            Shape::Array(items) => self.items(items, "", &Expected::default(), origin),
            Shape::Snapshot(fields) => self.snapshot(fields, origin),
            Shape::Other(kind) => {
                let message = format!(
                    "a document must be a Kubernetes object, a list of them or a Snapshot, not {kind}"
                );
                self.error(PlanError::new(ErrorCode::NotAnObject, origin.clone(), message));
                Ok(())
            }
        }
    }

    fn items(
        &mut self,
        items: Vec<Part<'_>>,
        list: &'static str,
        expected: &Expected,
        origin: &Origin,
    ) -> Result<(), TextError> {
        for (i, item) in items.into_iter().enumerate() {
            let origin = Origin { line: item.line(), list, index: i as u32, ..origin.clone() };
            match item.node() {
                Ok(node) => self.object(&node, expected, &origin),
                Err(error) => self.text_error(error, &origin),
            }
        }
        Ok(())
    }

    fn snapshot(
        &mut self,
        fields: Vec<(Cow<'_, str>, Part<'_>)>,
        origin: &Origin,
    ) -> Result<(), TextError> {
        if !fields.is_empty() && !fields.iter().any(|(key, _)| is_snapshot_field(key)) {
            let message =
                "has neither `kind` nor any field of a Snapshot (`nodePools`, `pods`, `nodes`, …)";
            let error = PlanError::new(ErrorCode::MissingKind, origin.clone(), message);
            let first = fields.first().map(|(key, _)| key.to_string()).unwrap_or_default();
            self.error(error.with_value(&first));
            return Ok(());
        }
        for (key, part) in fields {
            if part.is_null() {
                continue;
            }
            let here = Origin { line: part.line(), ..origin.clone() };
            match key.as_ref() {
                "now" => self.now(part, &here),
                "settings" => self.settings(&part.node()?, &here),
                "instanceTypes" => self.instance_types(part, &here)?,
                "instanceTypesFile" => self.instance_types_file(part, &here),
                _ => match kinds::of_field(&key) {
                    Some((list, expected)) => match part.items()? {
                        Some(items) => self.items(items, list, &expected, origin)?,
                        None => self.error(PlanError::at(
                            ErrorCode::WrongType,
                            here,
                            list,
                            "must be a list of objects",
                        )),
                    },
                    None => self.warn(Warning::new(
                        "IgnoredField",
                        here.place(),
                        format!(
                            "a Snapshot has no field `{}`{}; it is ignored",
                            crate::error::quoted(&key),
                            hint(&key, kinds::fields().chain(OWN_FIELDS))
                        ),
                    )),
                },
            }
        }
        Ok(())
    }

    fn now(&mut self, part: Part<'_>, origin: &Origin) {
        let text = part.text().unwrap_or_default();
        match text.parse::<jiff::Timestamp>() {
            Ok(now) => self.now = self.now.max(Some(now)),
            Err(_) => {
                let message = "must be a time such as `2026-11-30T12:00:00Z`";
                let error = PlanError::at(ErrorCode::InvalidValue, origin.clone(), "now", message);
                self.error(error.with_value(&text));
            }
        }
    }

    fn settings(&mut self, node: &Node<'_>, origin: &Origin) {
        let Value::Map(fields) = &node.value else {
            let message = "must be a mapping of settings";
            self.error(PlanError::at(ErrorCode::WrongType, origin.clone(), "settings", message));
            return;
        };
        for (name, value) in fields {
            let path = format!("settings.{name}");
            let here = Origin { line: value.line, ..origin.clone() };
            let json: Json = match decode(value) {
                Ok(json) => json,
                Err(error) => {
                    self.decode_error(error, &here, &path);
                    continue;
                }
            };
            match self.snapshot.settings.set(name, &json) {
                Ok(Taken::Used) => {}
                Ok(Taken::NotOurs) => self.warn(Warning::new(
                    "IgnoredSetting",
                    name.as_ref(),
                    "this setting concerns a running controller and changes no answer",
                )),
                Err(error) => {
                    let code = match error {
                        crate::settings::SettingError::Unknown => ErrorCode::UnknownSetting,
                        crate::settings::SettingError::Invalid(_) => ErrorCode::InvalidValue,
                    };
                    let shown = match &json {
                        Json::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    let message = match code {
                        ErrorCode::UnknownSetting => {
                            format!("`{name}` {error}{}", hint(name, crate::settings::NAMES))
                        }
                        _ => format!(
                            "`{}` is not possible; it {error}",
                            crate::error::quoted(&shown)
                        ),
                    };
                    self.error(PlanError::at(code, here, &path, message).with_value(&shown));
                }
            }
        }
    }

    fn instance_types(&mut self, part: Part<'_>, origin: &Origin) -> Result<(), TextError> {
        let Some(items) = part.items()? else {
            let message = "must be a list of instance types";
            let error =
                PlanError::at(ErrorCode::WrongType, origin.clone(), "instanceTypes", message);
            self.error(error);
            return Ok(());
        };
        self.snapshot.instance_types.get_or_insert_default();
        for (i, item) in items.into_iter().enumerate() {
            let origin = Origin {
                line: item.line(),
                list: "instanceTypes",
                index: i as u32,
                ..origin.clone()
            };
            match item.node() {
                Ok(node) => self.instance_type(&node, &origin),
                Err(error) => self.text_error(error, &origin),
            }
        }
        Ok(())
    }

    fn instance_type(&mut self, node: &Node<'_>, origin: &Origin) {
        let it: InstanceType = match decode(node) {
            Ok(it) => it,
            Err(error) => return self.decode_error(error, origin, ""),
        };
        let mut issues = Issues::default();
        check_instance_type(&it, &mut issues);
        if !self.issues(issues, node, origin) {
            return;
        }
        if let Some(first) = self.seen_types.insert(it.name.clone(), origin.clone()) {
            let message = format!(
                "instance type `{}` was already given at {}; remove one of them",
                crate::error::quoted(&it.name),
                first.place()
            );
            self.error(PlanError::at(ErrorCode::DuplicateObject, origin.clone(), "name", message));
            return;
        }
        self.snapshot.instance_types.get_or_insert_default().push(it);
    }

    fn instance_types_file(&mut self, part: Part<'_>, origin: &Origin) {
        let refuse = |message: String, code| {
            PlanError::at(code, origin.clone(), "instanceTypesFile", message)
        };
        let Some(path) = part.text() else {
            return self
                .error(refuse("must be the path of a file".to_owned(), ErrorCode::WrongType));
        };
        let Some(open) = self.open else {
            let message = "no files can be opened here; put the list into `instanceTypes`";
            let error = refuse(message.to_owned(), ErrorCode::Unreadable).with_value(&path);
            return self.error(error);
        };
        let name = path_beside(&origin.file, &path);
        let text = match open(&origin.file, &path) {
            Ok(text) => text,
            Err(error) => {
                let (name, why) = (crate::error::quoted(&name), super::words_of(&error));
                let message = format!("`{name}` cannot be read: {why}");
                return self.error(refuse(message, ErrorCode::Unreadable).with_value(&path));
            }
        };
        let there = Origin { file: name.as_str().into(), document: 1, ..Origin::default() };
        let read = parts(&path, &text).and_then(|parts| {
            parts.into_iter().try_for_each(|part| {
                let there = Origin { line: part.line(), ..there.clone() };
                self.instance_types(part, &there)
            })
        });
        if let Err(error) = read {
            self.text_error(error, &there);
        }
    }
}

/// The path of a file that `source` names relative to its own folder. Text alone: whether there
/// is such a file is not asked.
pub fn path_beside(source: &str, path: &str) -> String {
    let folder = std::path::Path::new(source).parent().unwrap_or(std::path::Path::new(""));
    folder.join(path).display().to_string()
}

/// Fields of a Snapshot that hold no objects.
const OWN_FIELDS: [&str; 4] = ["instanceTypes", "instanceTypesFile", "now", "settings"];

fn is_snapshot_field(key: &str) -> bool {
    OWN_FIELDS.contains(&key) || kinds::of_field(key).is_some()
}
