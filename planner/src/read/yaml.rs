//! YAML text into trees, with the meaning of plain scalars that Kubernetes' own tools give
//! them: YAML 1.1 booleans, merge keys, quoted text stays text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, Span, StrInput};

use super::json::{refuse_duplicates, too_deep};
use super::node::{MAX_DEPTH, Node, TextError, Value};
use crate::error::ErrorCode;

/// Nodes that anchors and aliases may copy in one text. LIMIT: a thousand times what manifests use; a
/// document that doubles itself thirty times over stops here.
pub const MAX_ALIASED_NODES: usize = 1_000_000;

/// Reads every document of the text. Empty documents are `Value::Null`.
pub(crate) fn documents(text: &str) -> Result<Vec<Node<'_>>, TextError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder { parser, anchors: BTreeMap::new(), aliased: 0 };
    let mut docs = Vec::new();
    loop {
        let (event, _) = builder.next()?;
        match event {
            Event::StreamEnd => return Ok(docs),
            Event::DocumentStart(..) => {
                builder.anchors.clear();
                let (event, span) = builder.next()?;
                docs.push(match event {
                    Event::DocumentEnd => Node { line: line_of(&span), value: Value::Null },
                    event => builder.node(event, &span, 0)?.0,
                });
            }
            _ => {}
        }
    }
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Finished anchored nodes with their number of nodes.
    anchors: BTreeMap<usize, (Node<'a>, usize)>,
    aliased: usize,
}

fn line_of(span: &Span) -> u32 {
    u32::try_from(span.start.line()).unwrap_or(u32::MAX)
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), TextError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let mark = error.marker();
                if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
                    return Err(too_deep(u32::try_from(mark.line()).unwrap_or(u32::MAX)));
                }
                Err(TextError {
                    code: ErrorCode::Syntax,
                    line: u32::try_from(mark.line()).unwrap_or(u32::MAX),
                    message: format!(
                        "is not valid YAML: {} (column {})",
                        error.info(),
                        mark.col() + 1
                    ),
                })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The node that starts with `event`, and how many nodes it holds.
    fn node(
        &mut self,
        event: Event<'a>,
        span: &Span,
        depth: usize,
    ) -> Result<(Node<'a>, usize), TextError> {
        let line = line_of(span);
        if depth > MAX_DEPTH {
            return Err(too_deep(line));
        }
        let (anchor, value, count) = match event {
            Event::Alias(id) => return self.alias(id, line),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.as_ref().is_some_and(|t| t.suffix() == "str");
                (anchor, scalar(text, style, is_text), 1)
            }
            Event::SequenceStart(_, anchor, _) => {
                let (items, count) = self.items(depth)?;
                (anchor, Value::List(items), count)
            }
            Event::MappingStart(_, anchor, _) => {
                let (fields, count) = self.fields(depth)?;
                (anchor, Value::Map(fields), count)
            }
            _ => {
                return Err(TextError {
                    code: ErrorCode::Syntax,
                    line,
                    message: "is not valid YAML: a value is missing here".to_owned(),
                });
            }
        };
        let node = Node { line, value };
        if anchor > 0 {
            self.spend(count, line)?;
            self.anchors.insert(anchor, (node.clone(), count));
        }
        Ok((node, count))
    }

    fn alias(&mut self, id: usize, line: u32) -> Result<(Node<'a>, usize), TextError> {
        let Some(count) = self.anchors.get(&id).map(|(_, count)| *count) else {
            return Err(TextError {
                code: ErrorCode::Syntax,
                line,
                message: "is not valid YAML: an alias stands inside its own anchor".to_owned(),
            });
        };
        self.spend(count, line)?;
        Ok((self.anchors[&id].0.clone(), count))
    }

    /// Counts nodes that anchors and aliases copy.
    fn spend(&mut self, count: usize, line: u32) -> Result<(), TextError> {
        self.aliased += count;
        if self.aliased <= MAX_ALIASED_NODES {
            return Ok(());
        }
        Err(TextError {
            code: ErrorCode::TooManyAliases,
            line,
            message: format!(
                "anchors and aliases copy more than {MAX_ALIASED_NODES} values; write them out"
            ),
        })
    }

    fn items(&mut self, depth: usize) -> Result<(Vec<Node<'a>>, usize), TextError> {
        let (mut items, mut count) = (Vec::new(), 1);
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok((items, count));
            }
            let (node, inside) = self.node(event, &span, depth + 1)?;
            count += inside;
            items.push(node);
        }
    }

    fn fields(&mut self, depth: usize) -> Result<(Fields<'a>, usize), TextError> {
        let (mut fields, mut count): (Fields<'a>, usize) = (Vec::new(), 1);
        let mut merged: Vec<Node<'a>> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let line = line_of(&span);
            let (key, is_merge) = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, style, _, _) => {
                    let is_merge = text == "<<" && style == ScalarStyle::Plain;
                    (text, is_merge)
                }
                Event::Alias(id) => match self.alias(id, line)?.0.value {
                    Value::Text(text) | Value::Number(text) => (text, false),
                    _ => return Err(bad_key(line)),
                },
                _ => return Err(bad_key(line)),
            };
            let (event, span) = self.next()?;
            let (node, inside) = self.node(event, &span, depth + 1)?;
            count += inside;
            if is_merge {
                merged.push(node);
            } else {
                fields.push((key, node));
            }
        }
        refuse_duplicates(&fields)?;
        for node in merged {
            merge(&mut fields, node)?;
        }
        Ok((fields, count))
    }
}

type Fields<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

fn bad_key(line: u32) -> TextError {
    TextError {
        code: ErrorCode::WrongType,
        line,
        message: "a key must be text, not a list or mapping".to_owned(),
    }
}

/// Adds the entries of a merged mapping that the mapping itself does not name.
fn merge<'a>(fields: &mut Fields<'a>, node: Node<'a>) -> Result<(), TextError> {
    match node.value {
        Value::Map(more) => {
            let own = fields.len();
            for (key, value) in more {
                if !fields[..own].iter().any(|(k, _)| *k == key) {
                    fields.push((key, value));
                }
            }
            Ok(())
        }
        Value::List(nodes) => nodes.into_iter().try_for_each(|node| merge(fields, node)),
        _ => Err(TextError {
            code: ErrorCode::WrongType,
            line: node.line,
            message: "`<<` merges a mapping or a list of mappings, nothing else".to_owned(),
        }),
    }
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, is_text: bool) -> Value<'a> {
    if style != ScalarStyle::Plain || is_text {
        return Value::Text(text);
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        plain if is_number(plain) => Value::Number(text),
        _ => Value::Text(text),
    }
}

/// A decimal number: sign, digits, fraction, exponent. Other bases stay text, which no field
/// of ours takes for a number.
fn is_number(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let is_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let is_exponent = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['+', '-']).unwrap_or(e);
        !digits.is_empty() && is_digits(digits)
    });
    has_digits && is_digits(whole) && is_digits(fraction) && is_exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Node<'_> {
        documents(text).unwrap().into_iter().next().unwrap()
    }

    fn code(text: &str) -> (ErrorCode, u32) {
        documents(text).map(|_| ()).map_err(|e| (e.code, e.line)).unwrap_err()
    }

    #[test]
    fn plain_scalars_mean_what_kubernetes_tools_say() {
        let root = one(
            "{a: 1, b: \"1\", c: yes, d: 'yes', e: , f: 1Gi, g: -1.5e3, h: 1.2.3, i: !!str 5, j: 0x1f, k: y}",
        );
        let value = |key: &str| root.get(key).unwrap().value.clone();
        assert_eq!(value("a"), Value::Number("1".into()));
        assert_eq!(value("b"), Value::Text("1".into()));
        assert_eq!(value("c"), Value::Bool(true));
        assert_eq!(value("d"), Value::Text("yes".into()));
        assert_eq!(value("e"), Value::Null);
        assert_eq!(value("f"), Value::Text("1Gi".into()));
        assert_eq!(value("g"), Value::Number("-1.5e3".into()));
        assert_eq!(value("h"), Value::Text("1.2.3".into()));
        assert_eq!(value("i"), Value::Text("5".into()));
        assert_eq!(value("j"), Value::Text("0x1f".into()));
        assert_eq!(value("k"), Value::Text("y".into()));
    }

    #[test]
    fn documents_keep_their_lines() {
        let docs = documents("# head\na: 1\n---\n---\nb: 2\n...\n---\n- 3\n").unwrap();
        assert_eq!(docs.iter().map(|d| d.line).collect::<Vec<_>>(), [2, 3, 5, 8]);
        assert_eq!(docs[1].value, Value::Null);
        assert!(documents("").unwrap().is_empty());
        assert!(documents("# only a comment\n").unwrap().is_empty());
    }

    #[test]
    fn anchors_aliases_and_merges() {
        let root = one(
            "base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\ncopy: *b\nmany:\n  <<: [*b, {z: 4}]\n",
        );
        let number = |node: &Node<'_>, key: &str| match &node.get(key).unwrap().value {
            Value::Number(n) => n.to_string(),
            other => panic!("{other:?}"),
        };
        let own = root.get("own").unwrap();
        assert_eq!((number(own, "x"), number(own, "y")), ("1".into(), "3".into()));
        assert_eq!(number(root.get("copy").unwrap(), "y"), "2");
        assert_eq!(number(root.get("many").unwrap(), "z"), "4");
    }

    #[test]
    fn bad_text_is_named_with_its_line() {
        assert_eq!(code("a: 1\nb: [1\n").0, ErrorCode::Syntax);
        assert_eq!(code("a: 1\n\tb: 2\n").0, ErrorCode::Syntax);
        assert_eq!(code("a: 1\na: 2\n"), (ErrorCode::DuplicateKey, 2));
        assert_eq!(code("x:\n  ? [1]\n  : 2\n"), (ErrorCode::WrongType, 2));
        assert_eq!(code("a: *nothing\n").0, ErrorCode::Syntax);
        assert_eq!(code("a: &a [*a]\n").0, ErrorCode::Syntax);
        let nest = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(code(&nest).0, ErrorCode::TooDeep);
        assert_eq!(code(&"- ".repeat(5000)).0, ErrorCode::TooDeep);
    }

    #[test]
    fn a_document_that_doubles_itself_is_refused() {
        let mut text = "a0: &a0 [x, x]\n".to_owned();
        for i in 1..40 {
            text.push_str(&format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
        }
        assert_eq!(code(&text).0, ErrorCode::TooManyAliases);
    }
}
