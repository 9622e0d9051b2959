//! Standard output: the form that was asked for, the width there is, a reader that left.

use std::io::{self, Write};

use serde::Serialize;

use crate::args::Form;
use crate::yaml;

/// Width when there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// Prints an answer: as text made by `table`, or as JSON or YAML.
pub fn print<T: Serialize>(
    form: Form,
    answer: &T,
    table: impl FnOnce(usize) -> String,
) -> Result<(), String> {
    let text = match form {
        Form::Table => table(width()),
        Form::Json => json(answer)? + "\n",
        Form::Yaml => self::yaml(&json(answer)?)?,
    };
    write(&text)
}

/// JSON as YAML.
pub fn yaml(json: &str) -> Result<String, String> {
    yaml::from_json(json).map_err(|error| error.to_string())
}

fn json<T: Serialize>(answer: &T) -> Result<String, String> {
    serde_json::to_string_pretty(answer).map_err(|error| error.to_string())
}

/// Writes text; a closed pipe is the reader's good right.
pub fn write(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// `COLUMNS`, else the terminal's width, else [`DEFAULT_WIDTH`].
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.filter(|&width| width > 0).or_else(terminal).unwrap_or(DEFAULT_WIDTH)
}
