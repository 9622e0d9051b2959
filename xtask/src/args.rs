//! Options on the command line: `--name value`, `--name=value` and bare `--name`, and names
//! between them for the verbs that take some.

use std::collections::BTreeMap;

/// Options by name, without the dashes.
pub type Table = BTreeMap<String, String>;

/// Reads `words`. `valued` are the options that take a value, `bare` those that take none.
///
/// # Errors
/// An unknown option, a missing value or a word that is no option.
pub fn table(words: &[String], valued: &[&str], bare: &[&str]) -> Result<Table, String> {
    let (options, names) = table_and_names(words, valued, bare)?;
    match names.first() {
        Some(word) => Err(format!("`{word}` is no option")),
        None => Ok(options),
    }
}

/// As [`table`], and the words that are no options in their order.
///
/// # Errors
/// An unknown option or a missing value.
pub fn table_and_names(
    words: &[String],
    valued: &[&str],
    bare: &[&str],
) -> Result<(Table, Vec<String>), String> {
    let (mut out, mut names) = (Table::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(name) = word.strip_prefix("--") else {
            names.push(word.clone());
            continue;
        };
        let (name, inline) = match name.split_once('=') {
            Some((n, v)) => (n, Some(v.to_owned())),
            None => (name, None),
        };
        let value = if bare.contains(&name) && inline.is_none() {
            String::new()
        } else if valued.contains(&name) {
            let given = inline.or_else(|| rest.next().cloned());
            given.ok_or_else(|| format!("`--{name}` needs a value"))?
        } else {
            return Err(format!("no option `{word}`"));
        };
        out.insert(name.to_owned(), value);
    }
    Ok((out, names))
}

/// A number from the table, or its default.
///
/// # Errors
/// The value is no number.
pub fn number(table: &Table, name: &str, default: u64) -> Result<u64, String> {
    match table.get(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`--{name} {text}`: not a number")),
    }
}

/// For verbs without options.
///
/// # Errors
/// Any word at all.
pub fn none(words: &[String]) -> Result<(), String> {
    table(words, &[], &[]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn reads_both_spellings_and_bare_options() {
        let t = table(&words("--seed 7 --only=a --bare"), &["seed", "only"], &["bare"]);
        let t = t.expect("valid");
        assert_eq!(number(&t, "seed", 1), Ok(7));
        assert_eq!(number(&t, "runs", 8), Ok(8));
        assert_eq!(t.get("only").map(String::as_str), Some("a"));
        assert!(t.contains_key("bare"));
    }

    #[test]
    fn names_keep_their_order_between_options() {
        let read = table_and_names(&words("b --seed 7 a"), &["seed"], &[]).expect("valid");
        assert_eq!(read.1, ["b", "a"]);
        assert_eq!(number(&read.0, "seed", 1), Ok(7));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(table(&words("--sed 7"), &["seed"], &[]).is_err());
        assert!(table(&words("--seed"), &["seed"], &[]).is_err());
        assert!(table(&words("seed"), &["seed"], &[]).is_err());
        let t = table(&words("--seed x"), &["seed"], &[]).expect("valid");
        assert!(number(&t, "seed", 1).is_err());
    }
}
