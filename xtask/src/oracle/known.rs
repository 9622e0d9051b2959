//! Inputs on which we differ on purpose: `testbed/oracle/known-differences.txt`.

use std::collections::BTreeMap;

/// Why one input differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Id of the rule switch, as docs/compatibility.md lists it.
    pub rule: String,
    /// One sentence.
    pub why: String,
}

/// Reads the table: `INPUT RULE why`, `#` begins a comment line.
///
/// # Errors
/// A row without all three parts, or an input twice.
pub fn parse(text: &str) -> Result<BTreeMap<String, Known>, String> {
    let mut out = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parts = line.splitn(3, char::is_whitespace).map(str::trim);
        let (Some(input), Some(rule), Some(why)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("known-differences.txt:{}: want `INPUT RULE why`", i + 1));
        };
        let row = Known { rule: rule.to_owned(), why: why.to_owned() };
        if out.insert(input.to_owned(), row).is_some() {
            return Err(format!("known-differences.txt:{}: `{input}` twice", i + 1));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_three_parts() {
        let rows = parse("# head\n\n04-x 13.4 domains nobody can offer\n").expect("valid");
        assert_eq!(rows["04-x"].rule, "13.4");
        assert_eq!(rows["04-x"].why, "domains nobody can offer");
        assert!(parse("04-x 13.4\n").is_err());
        assert!(parse("a 1 x\na 2 y\n").is_err());
    }
}
