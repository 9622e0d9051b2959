//! Reads the embedded tables: comma-separated lines under `#` comments and one header.
//!
//! Strict on purpose: the header must be the expected one, every line must have its cells,
//! every number must be plain digits. What a cell means is decided by the reader of a table.

use thiserror::Error;

use crate::quantity::parse_microusd;

/// A cell of a built-in table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("built-in table `{file}` line {line}: `{value}` {why}")]
pub struct TableError {
    /// File name below `planner/data`.
    pub file: &'static str,
    /// Line, from 1.
    pub line: usize,
    /// Text of the cell or line.
    pub value: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The cells of one line, taken from left to right.
pub(super) struct Cells {
    file: &'static str,
    line: usize,
    text: &'static str,
    rest: Option<std::str::Split<'static, char>>,
}

impl Cells {
    fn error(&self, value: &str, why: &'static str) -> TableError {
        TableError { file: self.file, line: self.line, value: value.to_owned(), why }
    }

    /// The next cell as text; may be empty.
    pub(super) fn text(&mut self) -> Result<&'static str, TableError> {
        match self.rest.as_mut().and_then(Iterator::next) {
            Some(cell) => Ok(cell),
            None => Err(self.error(self.text, "has too few cells")),
        }
    }

    /// The next cell as a name: text that is not empty.
    pub(super) fn name(&mut self) -> Result<&'static str, TableError> {
        let cell = self.text()?;
        if cell.is_empty() { Err(self.error(self.text, "lacks a name")) } else { Ok(cell) }
    }

    /// The next cell as a number; `None` when empty.
    pub(super) fn optional(&mut self) -> Result<Option<u64>, TableError> {
        let cell = self.text()?;
        if cell.is_empty() {
            return Ok(None);
        }
        let digits = cell.bytes().all(|b| b.is_ascii_digit());
        match cell.parse() {
            Ok(number) if digits => Ok(Some(number)),
            _ => Err(self.error(cell, "is not a whole number")),
        }
    }

    /// The next cell as a number that must be there.
    pub(super) fn number(&mut self) -> Result<u64, TableError> {
        self.optional()?.ok_or_else(|| self.error(self.text, "lacks a number"))
    }

    /// The next cell as 0 or 1; `None` when empty.
    pub(super) fn optional_flag(&mut self) -> Result<Option<bool>, TableError> {
        match self.text()? {
            "" => Ok(None),
            "0" => Ok(Some(false)),
            "1" => Ok(Some(true)),
            other => Err(self.error(other, "is neither 0 nor 1")),
        }
    }

    /// The next cell as 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool, TableError> {
        self.optional_flag()?.ok_or_else(|| self.error(self.text, "lacks a 0 or 1"))
    }

    /// The next cell as a price above zero in micro-dollars per hour; `None` when empty.
    pub(super) fn optional_price_microusd(&mut self) -> Result<Option<i64>, TableError> {
        let cell = self.text()?;
        if cell.is_empty() {
            return Ok(None);
        }
        match parse_microusd(cell) {
            Ok(price) if price > 0 => Ok(Some(price)),
            _ => Err(self.error(cell, "is not a price above zero")),
        }
    }

    /// Fails with the whole line: for rules over several cells.
    pub(super) fn refuse(&self, why: &'static str) -> TableError {
        self.error(self.text, why)
    }

    fn end(&mut self) -> Result<(), TableError> {
        match self.rest.as_mut().and_then(Iterator::next) {
            None => Ok(()),
            Some(cell) => Err(self.error(cell, "is one cell too many")),
        }
    }
}

/// Reads every line of a table.
///
/// # Errors
/// The first comment, header, line or cell that is not as expected.
pub(super) fn rows<T>(
    file: &'static str,
    text: &'static str,
    header: &str,
    mut read: impl FnMut(&mut Cells) -> Result<T, TableError>,
) -> Result<Vec<T>, TableError> {
    let mut out = Vec::new();
    let mut has_header = false;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            continue;
        }
        let rest = Some(line.split(','));
        let mut cells = Cells { file, line: at + 1, text: line, rest };
        if !has_header {
            if at == 0 {
                return Err(cells.refuse("stands where the comment that names the source should"));
            }
            if line != header {
                return Err(cells.refuse("is not the expected header"));
            }
            has_header = true;
            continue;
        }
        out.push(read(&mut cells)?);
        cells.end()?;
    }
    if has_header {
        Ok(out)
    } else {
        Err(TableError { file, line: 1, value: String::new(), why: "has no header" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line = (&'static str, u64, Option<bool>);

    fn read(text: &'static str) -> Result<Vec<Line>, TableError> {
        rows("t.csv", text, "name,n,flag", |c| Ok((c.name()?, c.number()?, c.optional_flag()?)))
    }

    #[test]
    fn a_table_is_read_line_by_line() {
        assert_eq!(
            read("# source\nname,n,flag\na,1,\nb,20,1\n"),
            Ok(vec![("a", 1, None), ("b", 20, Some(true))])
        );
    }

    #[test]
    fn every_fault_names_its_line_and_value() {
        for (text, line, value, why) in [
            ("name,n,flag\n", 1, "name,n,flag", "stands where the comment"),
            ("# s\nname,m,flag\n", 2, "name,m,flag", "is not the expected header"),
            ("# s\n", 1, "", "has no header"),
            ("# s\nname,n,flag\na,1\n", 3, "a,1", "has too few cells"),
            ("# s\nname,n,flag\na,1,1,9\n", 3, "9", "is one cell too many"),
            ("# s\nname,n,flag\na,+1,1\n", 3, "+1", "is not a whole number"),
            ("# s\nname,n,flag\na,,1\n", 3, "a,,1", "lacks a number"),
            ("# s\nname,n,flag\n,1,1\n", 3, ",1,1", "lacks a name"),
            ("# s\nname,n,flag\na,1,2\n", 3, "2", "is neither 0 nor 1"),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!((error.line, error.value.as_str()), (line, value), "{text:?}");
            assert!(error.why.starts_with(why), "{text:?}: {}", error.why);
        }
        for price in ["0", "-1", "x", "1e999"] {
            let text: &'static str = format!("# s\nprice\n{price}\n").leak();
            let read = rows("p.csv", text, "price", Cells::optional_price_microusd);
            assert_eq!(read.expect_err(price).why, "is not a price above zero");
        }
    }
}
