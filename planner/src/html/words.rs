//! Text of the page: escaped names, amounts, money and shares as people read them.

use std::fmt::{self, Write};

use crate::plan::Money;
use crate::raise::readable;
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

/// Text of a reason or warning: what stands between backticks is code.
pub(super) struct Said<'a>(pub &'a str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return Safe(self.0).fmt(f);
        }
        for (at, part) in parts.into_iter().enumerate() {
            match at % 2 {
                0 => Safe(part).fmt(f)?,
                _ => write!(f, "<code>{}</code>", Safe(part))?,
            }
        }
        Ok(())
    }
}

/// A name that may be broken after each `/`.
pub(super) struct Breakable<'a>(pub &'a str);

impl fmt::Display for Breakable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.split('/').enumerate() {
            if at > 0 {
                f.write_str("/<wbr>")?;
            }
            Safe(part).fmt(f)?;
        }
        Ok(())
    }
}

/// An amount of a resource: from 1,000 on without decimals, with commas between thousands.
pub(super) fn size(resource: &str, amount: i64) -> String {
    let text = readable(resource, amount);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[..digits].parse::<u128>() {
        Ok(whole) if whole >= 1000 => {
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            format!("{}{unit}", grouped(whole))
        }
        _ => text,
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

/// USD per month of [`MONTH_HOURS`] hours.
pub(super) fn usd_per_month(money: Money) -> String {
    let month = money.0.map(|microusd| i128::from(microusd) * MONTH_HOURS);
    month.map_or_else(|| "unknown".to_owned(), cents)
}

/// Micro-dollars, not negative, to the nearest cent; from 100,000 dollars on to the dollar.
pub(super) fn cents(microusd: i128) -> String {
    let cents = (microusd.unsigned_abs() + 5_000) / 10_000;
    if cents >= 10_000_000 {
        return grouped((microusd.unsigned_abs() + 500_000) / 1_000_000);
    }
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
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
    fn backticks_are_code_when_they_come_in_pairs() {
        assert_eq!(
            Said("pool `a<` is `b`").to_string(),
            "pool <code>a&lt;</code> is <code>b</code>"
        );
        assert_eq!(Said("a ` b").to_string(), "a ` b");
        assert_eq!(Breakable("nvidia.com/<gpu>").to_string(), "nvidia.com/<wbr>&lt;gpu&gt;");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(1_234_567, "node"), "1,234,567 nodes");
        assert_eq!(usd(Money(Some(37_840))), "0.03784");
        assert_eq!(usd(Money(Some(7_396_579_200))), "7,396.58");
        assert_eq!(usd(Money(None)), "unknown");
        assert_eq!(usd_per_month(Money(Some(306_000))), "223.38");
        assert_eq!(usd_per_month(Money(Some(7_396_579_200))), "5,399,503");
        assert_eq!(size("cpu", 85_436_012), "85,436");
        assert_eq!(size("cpu", 3_152), "3.152");
        assert_eq!(size("memory", 8_053_063_680), "7.5Gi");
        assert_eq!(size("memory", 0), "0");
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
