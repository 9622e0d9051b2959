//! JSON text into trees. serde_json splits and checks the text; the pieces are made into trees
//! one at a time, so that a large list is never held twice.

use std::borrow::Cow;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::node::{MAX_DEPTH, Node, TextError, Value};
use crate::error::ErrorCode;

/// A piece of valid JSON and the line on which it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a> {
    pub text: &'a str,
    pub line: u32,
}

/// Fields of an object in the order of the text.
pub(crate) type RawFields<'a> = Vec<(Cow<'a, str>, Raw<'a>)>;

/// Splits text into its JSON documents, usually one.
pub(crate) fn documents(text: &str) -> Result<Vec<Raw<'_>>, TextError> {
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut docs = Vec::new();
    for next in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let raw = next.map_err(|e| syntax(&e, 1))?;
        docs.push(lines.raw(raw.get()));
    }
    Ok(docs)
}

impl<'a> Raw<'a> {
    /// Fields of an object, or None for anything else. The same key twice is an error.
    pub fn fields(self) -> Result<Option<RawFields<'a>>, TextError> {
        if !self.text.starts_with('{') {
            return Ok(None);
        }
        let mut deserializer = serde_json::Deserializer::from_str(self.text);
        let pairs = deserializer.deserialize_map(Pairs).map_err(|e| syntax(&e, self.line))?;
        let mut lines = Lines { text: self.text, at: 0, line: self.line };
        let mut fields: Vec<(Cow<'a, str>, Raw<'a>)> = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let raw = lines.raw(value.get());
            if fields.iter().any(|(k, _)| k.as_ref() == key) {
                return Err(duplicate(&key, raw.line));
            }
            fields.push((Cow::Owned(key), raw));
        }
        Ok(Some(fields))
    }

    /// Elements of an array, or None for anything else.
    pub fn items(self) -> Result<Option<Vec<Raw<'a>>>, TextError> {
        if !self.text.starts_with('[') {
            return Ok(None);
        }
        let values: Vec<&RawValue> =
            serde_json::from_str(self.text).map_err(|e| syntax(&e, self.line))?;
        let mut lines = Lines { text: self.text, at: 0, line: self.line };
        Ok(Some(values.into_iter().map(|value| lines.raw(value.get())).collect()))
    }

    /// The whole piece as a tree.
    pub fn node(self) -> Result<Node<'a>, TextError> {
        let mut cursor = Cursor { text: self.text, at: 0, line: self.line };
        cursor.value(0)
    }
}

fn syntax(error: &serde_json::Error, first_line: u32) -> TextError {
    let line = first_line + (error.line().saturating_sub(1)) as u32;
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let message = format!("is not valid JSON: {what} (column {})", error.column());
    TextError { code: ErrorCode::Syntax, line, message }
}

fn duplicate(key: &str, line: u32) -> TextError {
    let key = crate::error::quoted(key);
    TextError {
        code: ErrorCode::DuplicateKey,
        line,
        message: format!("key `{key}` stands twice in one mapping; remove one of them"),
    }
}

/// Reads an object's entries in order, duplicates included.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

/// Counts lines up to slices of one text, which must come in order.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn raw(&mut self, piece: &'a str) -> Raw<'a> {
        // INVARIANT: pieces are slices of `text` in order; anything else keeps the line so far.
        let start = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if let Some(between) = self.text.as_bytes().get(self.at..start) {
            self.line += between.iter().filter(|b| **b == b'\n').count() as u32;
            self.at = start;
        }
        Raw { text: piece, line: self.line }
    }
}

/// Builds the tree of one piece. serde_json has already accepted the text, so that errors here
/// concern depth and duplicate keys; anything unexpected is still an error, never a panic.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        loop {
            match self.peek() {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn unexpected(&self) -> TextError {
        TextError {
            code: ErrorCode::Syntax,
            line: self.line,
            message: "is not valid JSON".to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, TextError> {
        if depth > MAX_DEPTH {
            return Err(too_deep(self.line));
        }
        self.skip_space();
        let line = self.line;
        let value = match self.peek() {
            b'{' => self.map(depth)?,
            b'[' => self.list(depth)?,
            b'"' => Value::Text(self.string()?),
            b't' => self.word("true", Value::Bool(true))?,
            b'f' => self.word("false", Value::Bool(false))?,
            b'n' => self.word("null", Value::Null)?,
            b'-' | b'0'..=b'9' => self.number(),
            _ => return Err(self.unexpected()),
        };
        Ok(Node { line, value })
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, TextError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected());
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Value<'a> {
        let rest = &self.text[self.at..];
        let end = rest
            .bytes()
            .position(|b| !matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        self.at += end;
        Value::Number(Cow::Borrowed(&rest[..end]))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, TextError> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let mut end = 1;
        let mut has_escapes = false;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    end += 2;
                }
                Some(_) => end += 1,
                None => return Err(self.unexpected()),
            }
        }
        self.at += end + 1;
        if has_escapes {
            let text: String =
                serde_json::from_str(&rest[..=end]).map_err(|_| self.unexpected())?;
            return Ok(Cow::Owned(text));
        }
        Ok(Cow::Borrowed(&rest[1..end]))
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, TextError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                b']' => break,
                b',' if !items.is_empty() => self.at += 1,
                _ => {}
            }
            items.push(self.value(depth + 1)?);
        }
        self.at += 1;
        Ok(Value::List(items))
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>, TextError> {
        self.at += 1;
        let mut fields: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                b'}' => break,
                b',' if !fields.is_empty() => {
                    self.at += 1;
                    self.skip_space();
                }
                _ => {}
            }
            if self.peek() != b'"' {
                return Err(self.unexpected());
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != b':' {
                return Err(self.unexpected());
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            fields.push((key, node));
        }
        self.at += 1;
        refuse_duplicates(&fields)?;
        Ok(Value::Map(fields))
    }
}

/// Fields up to this many are compared pairwise, which needs no memory.
const FEW_FIELDS: usize = 24;

/// An error when a key stands twice in one mapping.
pub(crate) fn refuse_duplicates(fields: &[(Cow<'_, str>, Node<'_>)]) -> Result<(), TextError> {
    if fields.len() <= FEW_FIELDS {
        for (i, (key, node)) in fields.iter().enumerate() {
            if fields[..i].iter().any(|(k, _)| k == key) {
                return Err(duplicate(key, node.line));
            }
        }
        return Ok(());
    }
    let mut seen = std::collections::BTreeSet::new();
    match fields.iter().find(|(key, _)| !seen.insert(key.as_ref())) {
        Some((key, node)) => Err(duplicate(key, node.line)),
        None => Ok(()),
    }
}

pub(crate) fn too_deep(line: u32) -> TextError {
    TextError {
        code: ErrorCode::TooDeep,
        line,
        message: format!("mappings and lists nest deeper than {MAX_DEPTH} levels"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tree as serde_json's own value, for comparison.
    fn as_value(node: &Node<'_>) -> serde_json::Value {
        match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Number(text) => serde_json::from_str(text).unwrap(),
            Value::Text(text) => text.as_ref().into(),
            Value::List(items) => items.iter().map(as_value).collect(),
            Value::Map(fields) => {
                fields.iter().map(|(k, v)| (k.to_string(), as_value(v))).collect()
            }
        }
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            // Binary fractions: serde_json's own floats may be off in the last place.
            any::<i32>().prop_map(|n| (f64::from(n) / 64.0).into()),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn trees_equal_what_serde_json_reads(value in any_value(), is_pretty in any::<bool>()) {
            let text = if is_pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let docs = documents(&text).unwrap();
            prop_assert_eq!(docs.len(), 1);
            prop_assert_eq!(as_value(&docs[0].node().unwrap()), value);
        }

        #[test]
        fn no_text_panics(text in "[\\[\\]{}\",:0-9a-z\\\\ \\n.eE+-]{0,60}") {
            if let Ok(docs) = documents(&text) {
                for doc in docs {
                    let _ = (doc.node(), doc.fields(), doc.items());
                }
            }
            // The tree builder alone must stand text that nobody checked.
            let _ = Raw { text: &text, line: 1 }.node();
        }
    }

    #[test]
    fn lines_count_from_the_start_of_the_text() {
        let text = "\n{\n \"a\": [\n  {\"b\":\n 1},\n  2],\n \"c\": {}\n}\n{}";
        let docs = documents(text).unwrap();
        assert_eq!(docs.iter().map(|d| d.line).collect::<Vec<_>>(), [2, 9]);
        let fields = docs[0].fields().unwrap().unwrap();
        assert_eq!(fields.iter().map(|(_, r)| r.line).collect::<Vec<_>>(), [3, 7]);
        let items = fields[0].1.items().unwrap().unwrap();
        assert_eq!(items.iter().map(|r| r.line).collect::<Vec<_>>(), [4, 6]);
        assert_eq!(items[0].node().unwrap().line_at("b"), 5);
    }

    #[test]
    fn duplicates_depth_and_syntax_are_named() {
        let code = |text: &str| match documents(text) {
            Err(e) => (e.code, e.line),
            Ok(docs) => docs[0].node().map(|_| ()).map_err(|e| (e.code, e.line)).unwrap_err(),
        };
        assert_eq!(code("{\"a\":\n1,\n\"a\":2}"), (ErrorCode::DuplicateKey, 3));
        let many: String = (0..40).map(|i| format!("\"k{i}\":1,")).collect();
        assert_eq!(code(&format!("{{{many}\n\"k7\":2}}")), (ErrorCode::DuplicateKey, 2));
        assert_eq!(code("{\"a\":\n1,\n}"), (ErrorCode::Syntax, 3));
        assert_eq!(code("[1,\n2"), (ErrorCode::Syntax, 2));
        assert_eq!(
            code(&format!("{}1{}", "[".repeat(102), "]".repeat(102))),
            (ErrorCode::TooDeep, 1)
        );
        assert_eq!(
            code(&"[".repeat(100_000)),
            (ErrorCode::Syntax, 1),
            "an unclosed nest is a syntax error"
        );
    }
}
