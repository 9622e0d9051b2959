//! Text of the page: escaped names, amounts, money and shares as people read them.

use std::fmt::{self, Write};

use crate::plan::Money;
use crate::workload::by_workload;

/// Hours of a month.
const MONTH_HOURS: i128 = 730;

/// Text from outside, safe in elements and in quoted attributes.
pub(super) struct Safe<'a>(pub &'a str);

impl fmt::Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Control characters are no part of HTML, and neither are marks that turn the
                // direction of what follows.
                '\t' | '\n' => f.write_char(c)?,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_char('\u{fffd}')?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// `1 node`, `2,000 nodes`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {noun}{end}", grouped(count as u128))
}

/// A whole number with commas between thousands.
pub(super) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// USD: exact below 10, to the cent from there on; `unknown` for a price that nobody knows.
pub(super) fn usd(money: Money) -> String {
    match money.0 {
        None => "unknown".to_owned(),
        Some(microusd) if microusd.abs() < 10_000_000 => money.to_string(),
        Some(microusd) => cents(i128::from(microusd)),
    }
}

/// USD per month of [`MONTH_HOURS`] hours, to the cent.
pub(super) fn usd_per_month(money: Money) -> String {
    let month = money.0.map(|microusd| i128::from(microusd) * MONTH_HOURS);
    month.map_or_else(|| "unknown".to_owned(), cents)
}

/// Micro-dollars to the nearest cent.
pub(super) fn cents(microusd: i128) -> String {
    let cents = (microusd.unsigned_abs() + 5_000) / 10_000;
    let sign = if microusd < 0 && cents > 0 { "−" } else { "" };
    format!("{sign}{}.{:02}", grouped(cents / 100), cents % 100)
}

/// `part` of `whole` in percent with one decimal; never `0` for something and never `100` for
/// less than all.
pub(super) fn percent(part: i128, whole: i128) -> String {
    if whole <= 0 {
        return "–".to_owned();
    }
    let permille = (part * 1000 + whole / 2) / whole;
    match permille {
        0 if part > 0 => "<0.1 %".to_owned(),
        1000 if part < whole => ">99.9 %".to_owned(),
        _ if permille % 10 == 0 => format!("{} %", permille / 10),
        _ => format!("{}.{} %", permille / 10, permille % 10),
    }
}

/// `a/web ×2, b/one-7 and 4 more`: pods by workload.
pub(super) fn workloads<'a>(pods: impl Iterator<Item = &'a str>, most: usize) -> String {
    let names = by_workload(pods);
    let shown = names.iter().take(most).map(|(name, count)| match count {
        1 => (*name).to_owned(),
        _ => format!("{name} ×{}", grouped(*count as u128)),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more as u128)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        let text = Safe("<script>\"a\" & 'b'</script>\u{0}\u{202e}").to_string();
        assert_eq!(
            text,
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(1_234_567, "node"), "1,234,567 nodes");
        assert_eq!(usd(Money(Some(37_840))), "0.03784");
        assert_eq!(usd(Money(Some(7_396_579_200))), "7,396.58");
        assert_eq!(usd(Money(None)), "unknown");
        assert_eq!(usd_per_month(Money(Some(306_000))), "223.38");
        for (part, whole, text) in [
            (0, 5, "0 %"),
            (1, 100_000, "<0.1 %"),
            (99_999, 100_000, ">99.9 %"),
            (5, 5, "100 %"),
            (1, 3, "33.3 %"),
            (7, 5, "140 %"),
            (1, 0, "–"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
    }
}
