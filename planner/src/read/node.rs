//! A document as a tree that remembers its lines: what YAML and JSON have in common.
//!
//! Scalars keep their text; what they mean is decided when a typed object asks for them.

use std::borrow::Cow;

/// Deepest nesting of mappings and lists. LIMIT: Kubernetes' own types nest about 30 deep.
pub const MAX_DEPTH: usize = 100;

/// A value and the line on which it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node<'a> {
    pub line: u32,
    pub value: Value<'a>,
}

/// The kinds of value that both formats know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// A number as written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// The field of that name.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        match &self.value {
            Value::Map(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of a text value.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What people call this kind of value.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The line of the deepest existing node on the way along a path such as
    /// `spec.containers[0].name`. Keys with dots of their own are found by trying the longest
    /// match first.
    pub fn line_at(&self, path: &str) -> u32 {
        let path = path.strip_prefix('.').unwrap_or(path);
        if path.is_empty() {
            return self.line;
        }
        match &self.value {
            Value::Map(fields) => {
                let found = fields
                    .iter()
                    .filter_map(|(key, node)| {
                        let rest = path.strip_prefix(key.as_ref())?;
                        let is_whole = rest.is_empty() || rest.starts_with(['.', '[']);
                        is_whole.then_some((key.len(), node, rest))
                    })
                    .max_by_key(|(len, _, _)| *len);
                found.map_or(self.line, |(_, node, rest)| node.line_at(rest))
            }
            Value::List(items) => {
                let Some((index, rest)) =
                    path.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                else {
                    return self.line;
                };
                let item = index.parse::<usize>().ok().and_then(|i| items.get(i));
                item.map_or(self.line, |node| node.line_at(rest))
            }
            _ => self.line,
        }
    }
}

/// Why a text could not be made into a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextError {
    pub code: crate::error::ErrorCode,
    pub line: u32,
    pub message: String,
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_found_along_paths() {
        let text = "a:\n  b:\n  - x: 1\n  - y.z/w: 2\n    y: 3\n";
        let docs = crate::read::yaml::documents(text).unwrap();
        let root = &docs[0];
        for (path, line) in [
            ("a", 2),
            ("a.b", 3),
            ("a.b[0].x", 3),
            ("a.b[1].y.z/w", 4),
            ("a.b[1].y", 5),
            ("a.b[1].missing", 4),
            ("a.b[7]", 3),
            ("nothing", 1),
            ("", 1),
        ] {
            assert_eq!(root.line_at(path), line, "{path}");
        }
    }
}
