//! The known name that a misspelt one was most likely meant to be. Only suggests; nothing is
//! taken for something else.

/// Longest name that is compared. LIMIT: the work grows with the square of it, and no name that
/// people write is longer.
const MAX_CHARS: usize = 64;

/// The known name with the fewest typing errors between it and `word`, the first of equals;
/// `None` when even that one differs in more than a third of its letters. Case is no error.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word)?;
    let far = known.into_iter().filter_map(|name| {
        let own = letters(name)?;
        let most = (own.len().max(word.len()) / 3).max(1);
        let steps = typing_errors(&word, &own, most)?;
        Some((steps, name))
    });
    far.min_by_key(|(steps, _)| *steps).map(|(_, name)| name)
}

/// ` (did you mean `x`?)`, or nothing.
pub(crate) fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn letters(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> =
        text.chars().take(MAX_CHARS + 1).flat_map(char::to_lowercase).collect();
    (letters.len() <= MAX_CHARS).then_some(letters)
}

/// Letters to put in, leave out, change or swap with their neighbour; `None` above `most`.
fn typing_errors(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = last[j] + usize::from(x != y);
            row[j + 1] = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|steps| *steps <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_or_none() {
        let known = ["NodeOverlay", "NodeRepair", "StaticCapacity", "CapacityBuffer"];
        for (word, want) in [
            ("NodeOverlays", Some("NodeOverlay")),
            ("nodeoverlay", Some("NodeOverlay")),
            ("NodeOevrlay", Some("NodeOverlay")),
            ("StaticCapcity", Some("StaticCapacity")),
            ("CapacityBuffers", Some("CapacityBuffer")),
            ("Drift", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), want, "{word}");
        }
        assert_eq!(nearest("weigth", ["width", "weight"]), Some("weight"));
        assert_eq!(nearest("cpus", ["cpu", "gpus"]), Some("cpu"), "the first of equals");
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }
}
