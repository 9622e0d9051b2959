//! Every field and setting: a pair of inputs that differ only there is answered differently, or
//! the field is said to be unused and the pair is answered the same. docs/fields.md lists both.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::{crd, validate::Kind};
use dunnage_planner::options::Options;
use dunnage_planner::plan::plan;
use dunnage_planner::read::{Source, read};
use serde::Deserialize;
use serde_json::Value;

const DOCS: &str = include_str!("../../docs/fields.md");

#[derive(Deserialize)]
struct Table {
    bases: BTreeMap<String, Value>,
    pairs: Vec<Pair>,
}

/// Two inputs that differ at one place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    field: String,
    /// Whether the plan must differ.
    changes: bool,
    base: String,
    /// What both inputs have on top of the base; `null` removes.
    #[serde(default)]
    common: Vec<(String, Value)>,
    at: String,
    /// What stands there in the first input; nothing, or what the base has, when absent.
    from: Option<Value>,
    to: Value,
}

fn table() -> Table {
    serde_json::from_str(include_str!("data/fields.json")).expect("the table can be read")
}

/// Sets `value` at a JSON pointer, making mappings on the way; `null` removes.
fn set(object: &mut Value, pointer: &str, value: &Value) {
    let (parents, last) = pointer.rsplit_once('/').expect("a pointer");
    let mut at = object;
    for part in parents.split('/').skip(1) {
        at = match at {
            Value::Array(rows) => &mut rows[part.parse::<usize>().expect("an index")],
            other => &mut other[part],
        };
    }
    let last = last.replace("~1", "/");
    match (at, value) {
        (Value::Array(rows), value) => {
            rows[last.parse::<usize>().expect("an index")] = value.clone();
        }
        (Value::Object(fields), Value::Null) => {
            fields.remove(&last);
        }
        (other, value) => other[last.as_str()] = value.clone(),
    }
}

/// The plan without its warnings and without what deciding took.
fn answer(field: &str, input: &Value) -> Result<Value, String> {
    let source = Source { name: "pair.json".to_owned(), text: input.to_string() };
    let snapshot = read(&[source]).map_err(|errors| format!("{field}: refused: {errors:?}"))?;
    let plan = plan(&snapshot, &Options::default()).map_err(|e| format!("{field}: {e:?}"))?;
    let mut plan = serde_json::to_value(plan).map_err(|e| e.to_string())?;
    let fields = plan.as_object_mut().ok_or("a plan is a mapping")?;
    fields.remove("warnings");
    fields.remove("effort");
    Ok(plan)
}

/// What is wrong with a pair, if anything. Plans of inputs seen before are in `known`.
fn judge(
    bases: &BTreeMap<String, Value>,
    pair: &Pair,
    known: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    let mut first = bases.get(&pair.base).ok_or("no such base")?.clone();
    for (pointer, value) in &pair.common {
        set(&mut first, pointer, value);
    }
    if let Some(value) = &pair.from {
        set(&mut first, &pair.at, value);
    }
    let mut second = first.clone();
    set(&mut second, &pair.at, &pair.to);
    if first == second {
        return Err(format!("{}: the two inputs are the same", pair.field));
    }
    let mut planned = |input: &Value| match known.get(&input.to_string()) {
        Some(answer) => Ok(answer.clone()),
        None => {
            let answer = answer(&pair.field, input)?;
            known.insert(input.to_string(), answer.clone());
            Ok::<_, String>(answer)
        }
    };
    let is_different = planned(&first)? != planned(&second)?;
    match (is_different, pair.changes) {
        (false, true) => Err(format!("{}: the plan does not change", pair.field)),
        (true, false) => Err(format!("{}: the plan changes", pair.field)),
        _ => Ok(()),
    }
}

#[test]
fn pairs_differ_exactly_where_the_table_says_so() {
    let (table, mut known) = (table(), BTreeMap::new());
    let judged = table.pairs.iter().map(|pair| judge(&table.bases, pair, &mut known));
    let wrong: Vec<String> = judged.filter_map(Result::err).collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert!(table.pairs.iter().filter(|pair| pair.changes).count() >= 20);
}

/// Rows of the document: the field and what it does.
fn rows() -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| `")?.splitn(3, '|').map(str::trim);
        Some((cells.next()?.trim_end_matches('`'), cells.next()?))
    };
    DOCS.lines().filter_map(cells).collect()
}

#[test]
fn the_document_says_what_the_pairs_show() {
    let said: BTreeSet<(String, bool)> = rows()
        .into_iter()
        .filter(|(_, verdict)| *verdict != "bookkeeping")
        .map(|(field, verdict)| (field.to_owned(), verdict == "changes the plan"))
        .collect();
    let shown: BTreeSet<(String, bool)> =
        table().pairs.into_iter().map(|pair| (pair.field, pair.changes)).collect();
    assert_eq!(said, shown);
}

/// Paths of the leaves of a schema.
fn leaves(schema: &Value, path: String, out: &mut Vec<String>) {
    let below = [("items", "[]"), ("additionalProperties", "")];
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        for (name, field) in fields {
            leaves(field, format!("{path}.{name}"), out);
        }
    } else if let Some((inner, step)) = below.iter().find_map(|(key, step)| {
        schema.get(key).filter(|s| s.get("properties").is_some()).zip(Some(step))
    }) {
        leaves(inner, format!("{path}{step}"), out);
    } else {
        out.push(path);
    }
}

#[test]
fn the_document_has_a_row_for_every_field_of_the_api() {
    let rows = rows();
    let is_said = |leaf: &String| {
        rows.iter().any(|(field, _)| {
            // `requirements In` is a row about one operator of `requirements`.
            let field = field.split(' ').next().unwrap_or_default();
            leaf.strip_prefix(field).is_some_and(|r| r.is_empty() || r.starts_with(['.', '[']))
                || field.strip_prefix(leaf.as_str()).is_some_and(|r| r.starts_with('.'))
        })
    };
    let mut missing = Vec::new();
    for kind in Kind::ALL {
        let schema = crd::schema(kind);
        for part in ["spec", "status"] {
            let part_schema = &schema["properties"][part];
            let mut all = Vec::new();
            leaves(part_schema, format!("{}.{part}", kind.names().1), &mut all);
            missing.extend(all.into_iter().filter(|leaf| !is_said(leaf)));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
