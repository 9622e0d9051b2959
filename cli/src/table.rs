//! Tables that fit the terminal: columns of text, the widest flexible one cut or wrapped.

/// A table under way. The last column takes what room is left and wraps.
pub struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// Narrowest last column that is still readable.
const MIN_LAST: usize = 20;
/// Blanks between columns.
const GAP: usize = 2;

impl Table {
    /// A table with these column heads.
    pub fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are heads.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table in lines of at most `width` characters; as records where columns do not fit.
    pub fn text(&self, width: usize) -> String {
        let Some(widths) = self.widths(width) else { return self.records(width) };
        let mut out = String::new();
        let head: Vec<String> = self.head.iter().map(|h| (*h).to_owned()).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            write_row(&mut out, row, &widths);
        }
        out
    }

    /// Natural widths; when their sum is too much, the widest columns give first. None when
    /// even the narrowest are too wide.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
                longest.max(self.head[column].len())
            })
            .collect();
        let room = width.saturating_sub(GAP * widths.len().saturating_sub(1));
        let floor = |at: usize| {
            if at + 1 == self.head.len() { MIN_LAST } else { self.head[at].len() }
        };
        while widths.iter().sum::<usize>() > room {
            let able = widths.iter().enumerate().filter(|&(at, &w)| w > floor(at));
            let (at, _) = able.max_by_key(|&(at, &w)| (w, at))?;
            widths[at] -= 1;
        }
        Some(widths)
    }

    /// Each row as lines of head and value, for terminals that no column fits.
    fn records(&self, width: usize) -> String {
        let label = self.head.iter().map(|head| head.len()).max().unwrap_or(0);
        let mut out = String::new();
        for row in &self.rows {
            for (head, cell) in self.head.iter().zip(row) {
                let line = [(*head).to_owned(), cell.clone()];
                write_row(&mut out, &line, &[label, width.saturating_sub(label + GAP).max(1)]);
            }
            out.push('\n');
        }
        out
    }
}

/// One row: cells wrap at blanks within their column.
fn write_row(out: &mut String, row: &[String], widths: &[usize]) {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for line in 0..height {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let part = cell.get(line).map_or("", String::as_str);
            text.push_str(part);
            let pad = (width + GAP).saturating_sub(part.chars().count());
            text.extend(std::iter::repeat_n(' ', pad));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// Breaks text at blanks, or within a word that is longer than a line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut word: &str = word;
        let mut length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        while length > width {
            let at = word.char_indices().nth(width).map_or(word.len(), |(at, _)| at);
            let (now, rest) = word.split_at(at);
            if let Some(line) = lines.last_mut() {
                line.push_str(now);
            }
            lines.push(String::new());
            (word, length) = (rest, length - width);
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_within_the_width() {
        let mut table = Table::new(&["POD", "WHY"]);
        table.row(vec!["default/a".into(), "needs 500 cpu and there is less ".repeat(4)]);
        table.row(vec!["x".repeat(90), "word".repeat(30)]);
        for width in [24, 40, 80, 200] {
            let text = table.text(width);
            let longest = text.lines().map(|l| l.chars().count()).max().unwrap();
            assert!(longest <= width, "{width}: {longest}\n{text}");
        }
        assert!(table.text(300).lines().count() == 3);
    }

    #[test]
    fn words_longer_than_a_line_are_broken() {
        assert_eq!(wrap("ab abcdef gh", 3), ["ab", "abc", "def", "gh"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("äöü äöü", 3), ["äöü", "äöü"]);
    }
}
