//! From texts to a Snapshot: what the user wrote, checked, completed, with every error found.
//!
//! The reader takes YAML with many documents, JSON, lists (`List`, `PodList`, …) and Snapshots
//! in either format. It does no I/O: whoever calls it hands over texts, and a way to open the
//! one file that a Snapshot may refer to. What the objects mean is decided elsewhere.

mod check;
mod decode;
mod document;
mod json;
mod kinds;
mod node;
mod refused;
mod unknown;
mod verdict;
mod yaml;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use jiff::Timestamp;

pub use document::path_beside;
pub use node::MAX_DEPTH;
pub use refused::{Reading, Refused, read_with_refused};
pub(crate) use refused::{merge, name_at, remove, remove_at};
pub use yaml::MAX_ALIASED_NODES;

use crate::error::{ErrorCode, MAX_ERRORS, Origin, PlanError, Warning, join};
use crate::snapshot::Snapshot;
use crate::{defaults, workload};
use check::Issues;
use kinds::Kind;
use node::{Node, TextError};

/// One text of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// File name, `-`, or whatever names the text in messages.
    pub name: String,
    /// The text itself.
    pub text: String,
}

impl Source {
    /// A source from what a file or pipe holds.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, PlanError> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name: name.to_owned(), text }),
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + valid.iter().filter(|b| **b == b'\n').count() as u32;
                let origin = Origin { file: name.into(), line, ..Origin::default() };
                Err(PlanError::new(ErrorCode::NotUtf8, origin, "the text is not UTF-8"))
            }
        }
    }
}

/// The system's words for an error of a file: without its number, lower case.
pub fn words_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// Opens a file that a source refers to: the source's name, then the path as it says it.
pub type Open<'a> = &'a dyn Fn(&str, &str) -> io::Result<String>;

/// What the caller adds to the texts.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The moment to decide for; overrides what the input says.
    pub now: Option<Timestamp>,
    /// How to open `instanceTypesFile`; without it such a reference is an error.
    pub open: Option<Open<'a>>,
}

/// Reads texts that refer to no other file. See [`read_with`].
pub fn read(sources: &[Source]) -> Result<Snapshot, Vec<PlanError>> {
    read_with(sources, &ReadOptions::default())
}

/// Reads all sources into one Snapshot with everything filled in that a file may leave out.
/// Fails with all errors found, at most [`MAX_ERRORS`] of them. The order of sources and of
/// objects does not matter.
pub fn read_with(
    sources: &[Source],
    options: &ReadOptions<'_>,
) -> Result<Snapshot, Vec<PlanError>> {
    let (raw, now) = written(sources, options)?;
    completed(raw, now)
}

/// The objects as they are written, and the Snapshot of [`read_with`].
pub(crate) fn read_raw(
    sources: &[Source],
    options: &ReadOptions<'_>,
) -> Result<(Snapshot, Snapshot), Vec<PlanError>> {
    let (raw, now) = written(sources, options)?;
    let snapshot = completed(raw.clone(), now)?;
    Ok((raw, snapshot))
}

fn written(
    sources: &[Source],
    options: &ReadOptions<'_>,
) -> Result<(Snapshot, Option<Timestamp>), Vec<PlanError>> {
    let mut reader = Reader::new(options.open);
    for source in sources {
        reader.source(source);
    }
    let read = reader.finish();
    if !read.errors.is_empty() {
        return Err(read.errors.into_iter().map(|(_, error)| error).collect());
    }
    Ok((read.snapshot, options.now.or(read.now)))
}

/// Fills in what a file may leave out: the moment, the pods of workloads, defaults.
pub(crate) fn completed(
    mut snapshot: Snapshot,
    now: Option<Timestamp>,
) -> Result<Snapshot, Vec<PlanError>> {
    snapshot.now = now.unwrap_or_else(|| defaults::newest_time(&snapshot));
    workload::expand(&mut snapshot)?;
    defaults::apply(&mut snapshot);
    Ok(snapshot)
}

/// What all sources gave.
struct Read {
    snapshot: Snapshot,
    /// The newest `now` of the sources.
    now: Option<Timestamp>,
    /// Everything wrong, with the object it is wrong with when one can be named.
    errors: Vec<(Option<String>, PlanError)>,
}

/// The one document of a source as JSON.
///
/// # Errors
/// Text that is neither JSON nor YAML, or not one document.
pub(crate) fn value(source: &Source) -> Result<serde_json::Value, Box<PlanError>> {
    let at = |line: u32, code: ErrorCode, message: String| {
        let file = source.name.as_str().into();
        Box::new(PlanError::new(code, Origin { file, line, ..Origin::default() }, message))
    };
    let parts = document::parts(&source.name, &source.text)
        .map_err(|e| at(e.line, e.code, e.message.clone()))?;
    let [part] = <[_; 1]>::try_from(parts)
        .map_err(|_| at(0, ErrorCode::Syntax, "must hold one document".to_owned()))?;
    let node = part.node().map_err(|e| at(e.line, e.code, e.message.clone()))?;
    decode::decode(&node).map_err(|e: decode::DecodeError| at(e.line, e.code, e.message.clone()))
}

/// Collects objects and errors over all sources.
struct Reader<'o> {
    open: Option<Open<'o>>,
    snapshot: Snapshot,
    /// The newest `now` of the sources.
    now: Option<Timestamp>,
    errors: Vec<(Option<String>, PlanError)>,
    most_errors: usize,
    dropped_errors: usize,
    /// The object that is being read, as `Kind namespace/name`.
    object: Option<String>,
    /// What a file may leave out and an API server would refuse is an error, too.
    is_strict: bool,
    /// Where each object stands that has been read.
    seen: HashMap<(Kind, String), Origin>,
    seen_types: HashMap<String, Origin>,
    /// How many objects of each unread kind there were.
    ignored: BTreeMap<String, usize>,
    /// NodePools that a cluster would have, and not use.
    not_ready: BTreeSet<String>,
    /// Fields that no definition knows.
    unknown: unknown::Found,
}

impl<'o> Reader<'o> {
    fn new(open: Option<Open<'o>>) -> Self {
        Self {
            open,
            snapshot: Snapshot::default(),
            now: None,
            errors: Vec::new(),
            most_errors: MAX_ERRORS,
            dropped_errors: 0,
            object: None,
            is_strict: false,
            seen: HashMap::new(),
            seen_types: HashMap::new(),
            ignored: BTreeMap::new(),
            not_ready: BTreeSet::new(),
            unknown: BTreeMap::new(),
        }
    }

    fn source(&mut self, source: &Source) {
        let origin = Origin { file: Arc::from(source.name.as_str()), ..Origin::default() };
        match document::parts(&source.name, &source.text) {
            Ok(parts) => {
                for (i, part) in parts.into_iter().enumerate() {
                    let origin =
                        Origin { document: i as u32 + 1, line: part.line(), ..origin.clone() };
                    if let Err(error) = self.document(part, &origin) {
                        self.text_error(error, &origin);
                    }
                }
            }
            Err(error) => self.text_error(error, &origin),
        }
    }

    fn finish(mut self) -> Read {
        for (kind, count) in std::mem::take(&mut self.ignored) {
            let message = format!("{count} of this kind ignored: no decision depends on it");
            self.warn(Warning::new("IgnoredKind", kind, message));
        }
        self.mark_not_ready();
        let found = std::mem::take(&mut self.unknown);
        unknown::tell(&mut self, found);
        if self.dropped_errors > 0 {
            let message = format!(
                "{} more errors are not shown; the limit is {MAX_ERRORS}",
                self.dropped_errors
            );
            let error = PlanError::new(ErrorCode::TooManyErrors, Origin::default(), message);
            self.errors.push((None, error));
        }
        Read { snapshot: self.snapshot, now: self.now, errors: self.errors }
    }

    fn warn(&mut self, warning: Warning) {
        self.snapshot.warnings.push(warning);
    }

    fn error(&mut self, error: PlanError) {
        if self.errors.len() < self.most_errors {
            self.errors.push((self.object.clone(), error));
        } else {
            self.dropped_errors += 1;
        }
    }

    fn text_error(&mut self, error: TextError, origin: &Origin) {
        let origin = Origin { line: error.line, ..origin.clone() };
        self.error(PlanError::new(error.code, origin, error.message));
    }

    /// Puts places on what was found in one object, and tells whether there was nothing.
    fn issues(&mut self, issues: Issues, node: &Node<'_>, origin: &Origin) -> bool {
        let is_good = issues.0.is_empty();
        for issue in issues.0 {
            let origin = Origin { line: node.line_at(&issue.path), ..origin.clone() };
            let mut error = PlanError::at(issue.code, origin, &issue.path, issue.message);
            error.value = issue.value.map(String::into_boxed_str);
            self.error(error);
        }
        is_good
    }

    fn decode_error(&mut self, error: decode::DecodeError, origin: &Origin, below: &str) {
        let origin = Origin { line: error.line, ..origin.clone() };
        let path = join(below, &error.path());
        let mut plan_error = PlanError::at(error.code, origin, &path, error.message);
        plan_error.value = error.value.map(String::into_boxed_str);
        self.error(plan_error);
    }
}
