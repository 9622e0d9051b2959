//! A table for people that is Markdown as well.

/// Rows of text below a head.
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|&name| name.to_owned()).collect()] }
    }

    /// Appends a row of as many cells as the head has.
    pub fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table, the first column to the left, all others to the right.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let (width, cell) = (*width, cell.as_str());
                let shown = if column == 0 {
                    format!("| {cell:width$} ")
                } else {
                    format!("| {cell:>width$} ")
                };
                out.push_str(&shown);
            }
            out.push_str("|\n");
            if number == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let end = if column == 0 { "-" } else { ":" };
                    out.push_str(&format!("|{}{end}", "-".repeat(width + 1)));
                }
                out.push_str("|\n");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut columns = Columns::new(&["input", "s"]);
        columns.push(vec!["a".to_owned(), "10.25".to_owned()]);
        assert_eq!(columns.text(), "| input |     s |\n|-------|------:|\n| a     | 10.25 |\n");
    }
}
