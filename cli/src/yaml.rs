//! Answers as YAML: the JSON of the contract, field order kept.
//!
//! A string that could be read as anything but itself is written as a JSON string, which is
//! a YAML string too.

use std::fmt::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A JSON value that keeps the order of fields.
enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// The YAML of a JSON text.
pub fn from_json(json: &str) -> Result<String, serde_json::Error> {
    let tree: Tree = serde_json::from_str(json)?;
    let mut out = String::new();
    write_block(&mut out, &tree, 0);
    Ok(out)
}

fn write_block(out: &mut String, tree: &Tree, indent: usize) {
    match tree {
        Tree::Map(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let _ = write!(out, "{:indent$}{}:", "", scalar(name));
                write_value(out, value, indent);
            }
        }
        Tree::List(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{:indent$}-", "");
                write_item(out, item, indent);
            }
        }
        other => {
            let _ = writeln!(out, "{:indent$}{}", "", leaf(other));
        }
    }
}

/// A value after `name:`. Lists stand at the indent of their name, as kubectl writes them.
fn write_value(out: &mut String, value: &Tree, indent: usize) {
    match value {
        Tree::Map(fields) if !fields.is_empty() => {
            out.push('\n');
            write_block(out, value, indent + 2);
        }
        Tree::List(items) if !items.is_empty() => {
            out.push('\n');
            write_block(out, value, indent);
        }
        other => {
            let _ = writeln!(out, " {}", leaf(other));
        }
    }
}

/// A value after `-`: its first line stands beside the dash.
fn write_item(out: &mut String, item: &Tree, indent: usize) {
    let mut block = String::new();
    write_block(&mut block, item, indent + 2);
    out.push(' ');
    out.push_str(block.trim_start_matches(' '));
}

fn leaf(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(value) => value.to_string(),
        Tree::Number(number) => number.to_string(),
        Tree::Text(text) => scalar(text),
        Tree::List(_) => "[]".to_owned(),
        Tree::Map(_) => "{}".to_owned(),
    }
}

fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// True for text that every YAML reader takes as this string.
fn is_plain(text: &str) -> bool {
    const RESERVED: [&str; 12] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", "nan", "inf"];
    let starts_with_letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    starts_with_letter
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:".contains(c))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    // INVARIANT: a string always serializes.
    serde_json::to_string(text).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(field) = fields.next_entry()? {
            map.push(field);
        }
        Ok(Tree::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_doubtful_strings_are_quoted() {
        let json = r#"{"z":1,"a":{"list":[{"x":"yes","y":[]},["p","1"],0.5],"e":{}},
                      "text":"needs 2: more","q":"100m","t":"2026-01-01T00:00:00Z","n":null,
                      "pod":"default/inflate-0","b":"a\nb","s":"us-east-1a"}"#;
        let want = "\
z: 1
a:
  list:
  - x: \"yes\"
    \"y\": []
  - - p
    - \"1\"
  - 0.5
  e: {}
text: \"needs 2: more\"
q: \"100m\"
t: \"2026-01-01T00:00:00Z\"
\"n\": null
pod: default/inflate-0
b: \"a\\nb\"
s: us-east-1a
";
        assert_eq!(from_json(json).unwrap(), want);
    }
}
