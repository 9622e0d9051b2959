//! Files, directories and standard input become sources for the planner, in sorted order.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dunnage_planner::error::{ErrorCode, Origin, PlanError};
use dunnage_planner::read::{Source, path_beside, words_of};

/// Endings of the files that are read in a directory.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads every path. All errors are collected.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Vec<PlanError>> {
    let (mut sources, mut errors) = (Vec::new(), Vec::new());
    let mut has_stdin = false;
    for path in paths {
        let is_stdin = path.as_os_str() == "-";
        if is_stdin && has_stdin {
            errors.push(unreadable("-", "standard input can be read only once"));
            continue;
        }
        has_stdin |= is_stdin;
        match of_path(path, &mut errors) {
            Ok(files) => {
                for file in files {
                    match one(&file) {
                        Ok(source) => sources.push(source),
                        Err(error) => errors.push(error),
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(sources) } else { Err(errors) }
}

/// The files that a path stands for: itself, or the manifests of a directory by name.
fn of_path(path: &Path, errors: &mut Vec<PlanError>) -> Result<Vec<PathBuf>, PlanError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let name = path.display().to_string();
    let refuse = |error: io::Error| unreadable(&name, &words_of(&error));
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(refuse)? {
        match entry {
            Ok(entry) => files.push(entry.path()),
            Err(error) => errors.push(unreadable(&name, &words_of(&error))),
        }
    }
    files.retain(|file| {
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        ENDINGS.contains(&ending) && !file.is_dir()
    });
    files.sort();
    if files.is_empty() {
        let why = "the directory holds no file that ends in .yaml, .yml or .json";
        return Err(unreadable(&name, why));
    }
    Ok(files)
}

fn one(path: &Path) -> Result<Source, PlanError> {
    let name = path.display().to_string();
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    match bytes {
        Ok(bytes) => Source::from_bytes(&name, bytes),
        Err(error) => Err(unreadable(&name, &words_of(&error))),
    }
}

/// One file that is read whole, such as a price file.
pub fn file(path: &Path) -> Result<Source, Vec<PlanError>> {
    one(path).map_err(|error| vec![error])
}

/// Opens a file that a source names, relative to that source.
pub fn beside(source: &str, path: &str) -> io::Result<String> {
    fs::read_to_string(path_beside(source, path))
}

/// An error of the caller's own words: an option, not a file.
pub fn usage(option: &str, value: &str, why: impl Into<String>) -> Vec<PlanError> {
    let origin = Origin { file: option.into(), ..Origin::default() };
    vec![PlanError::new(ErrorCode::InvalidValue, origin, why).with_value(value)]
}

fn unreadable(name: &str, why: &str) -> PlanError {
    let origin = Origin { file: name.into(), ..Origin::default() };
    PlanError::new(ErrorCode::Unreadable, origin, why)
}
