//! Durations as the resources write them: `1h30m`, `720h`, `0s`, `Never`.
//!
//! Only whole hours, minutes and seconds exist: no days, no fractions, no sign.

use std::time::Duration;

/// A duration or `Never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaybeNever {
    /// A duration.
    After(Duration),
    /// Never.
    Never,
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError(String);

impl std::fmt::Display for DurationError {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "`{}` is not a duration: write hours, minutes and seconds like `1h30m`", self.0)
    }
}

impl std::error::Error for DurationError {}

/// Reads one or more of `<whole number>(s|m|h)`. Errors on any other text and on overflow.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    parse_secs(text).map(Duration::from_secs).ok_or_else(|| DurationError(text.to_owned()))
}

/// As [`parse`], but also reads `Never`.
pub fn parse_or_never(text: &str) -> Result<MaybeNever, DurationError> {
    if text == "Never" {
        return Ok(MaybeNever::Never);
    }
    parse(text).map(MaybeNever::After)
}

fn parse_secs(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut secs: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        let unit_secs = match rest.as_bytes().get(digits)? {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            _ => return None,
        };
        secs = secs.checked_add(number.checked_mul(unit_secs)?)?;
        rest = &rest[digits + 1..];
    }
    (!text.is_empty()).then_some(secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_hours_minutes_and_seconds_only() {
        for (text, secs) in [("0s", 0), ("1h30m", 5400), ("720h", 2_592_000), ("1m1m", 120)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(secs)), "{text}");
        }
        for text in ["", "1", "1d", "1.5h", "-1h", "h", "1ms", "Never", "99999999999999999999h"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse_or_never("Never"), Ok(MaybeNever::Never));
    }
}
