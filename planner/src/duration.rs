//! Durations as text: Go's form (`1.5h`, `300ms`) and the narrower form of the CRDs (`1h30m`,
//! `Never`). What a duration is for is decided where it is used.

use thiserror::Error;

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// Not in Go's form.
    #[error("is not a duration; write numbers with units, such as `90s`, `15m` or `1h30m`")]
    Malformed,
    /// Not in the CRDs' form, which knows hours, minutes and seconds in whole numbers.
    #[error(
        "is not a duration; write whole hours, minutes or seconds, such as `1h30m` or `720h` (no days, no fractions)"
    )]
    NotWhole,
    /// `Never` where it has no meaning.
    #[error("may not be `Never` here; write a duration such as `1h30m`")]
    NeverNotAllowed,
    /// More than 292 years.
    #[error("is too long; a duration ends at about 2562047h")]
    TooLong,
}

/// A duration of the CRDs that may be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifetime {
    /// That many seconds.
    Seconds(i64),
    /// Without end.
    Never,
}

/// Largest duration of Go in nanoseconds.
const MAX_NANOS: u128 = i64::MAX as u128;

/// Reads Go's duration form into nanoseconds: `1h15m30.918s`, `-1.5h`, `0`.
pub fn parse_go_nanos(text: &str) -> Result<i64, DurationError> {
    let (is_negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(DurationError::Malformed);
    }
    let mut total = 0u128;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(DurationError::Malformed);
        }
        let (unit_nanos, after) = go_unit(after).ok_or(DurationError::Malformed)?;
        let mut amount = 0u128;
        for digit in whole.bytes() {
            amount = amount * 10 + u128::from(digit - b'0');
            if amount > MAX_NANOS {
                return Err(DurationError::TooLong);
            }
        }
        amount *= unit_nanos;
        // Eighteen places are below a nanosecond for every unit; what follows is cut as Go does.
        let mut place = unit_nanos * 1_000_000_000_000_000_000;
        let mut part = 0u128;
        for digit in fraction.bytes().take(18) {
            place /= 10;
            part += u128::from(digit - b'0') * place;
        }
        total += amount + part / 1_000_000_000_000_000_000;
        if total > MAX_NANOS {
            return Err(DurationError::TooLong);
        }
        rest = after;
    }
    // INVARIANT: `total` is at most i64::MAX.
    let nanos = total as i64;
    Ok(if is_negative { -nanos } else { nanos })
}

fn go_unit(text: &str) -> Option<(u128, &str)> {
    // Longer names first: `ms` is not `m`.
    for (name, nanos) in [
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((nanos, rest));
        }
    }
    None
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Reads the CRDs' form into seconds: one or more of `<int>(s|m|h)`.
pub fn parse_crd_secs(text: &str) -> Result<i64, DurationError> {
    if text == "Never" {
        return Err(DurationError::NeverNotAllowed);
    }
    let mut rest = text;
    let mut total = 0i64;
    loop {
        let (whole, after) = split_digits(rest);
        if whole.is_empty() {
            return Err(DurationError::NotWhole);
        }
        let (unit_secs, after) = match after.as_bytes().first() {
            Some(b's') => (1, &after[1..]),
            Some(b'm') => (60, &after[1..]),
            Some(b'h') => (3600, &after[1..]),
            _ => return Err(DurationError::NotWhole),
        };
        total = whole
            .parse::<i64>()
            .ok()
            .and_then(|n| n.checked_mul(unit_secs))
            .and_then(|n| n.checked_add(total))
            // The original holds nanoseconds in 64 bits.
            .filter(|n| *n <= i64::MAX / 1_000_000_000)
            .ok_or(DurationError::TooLong)?;
        if after.is_empty() {
            return Ok(total);
        }
        rest = after;
    }
}

/// Reads the CRDs' form where `Never` is allowed.
pub fn parse_crd(text: &str) -> Result<Lifetime, DurationError> {
    if text == "Never" {
        return Ok(Lifetime::Never);
    }
    parse_crd_secs(text).map(Lifetime::Seconds)
}

/// Seconds in the CRDs' form: 5400 is `1h30m`, 0 is `0s`.
pub fn format_secs(secs: i64) -> String {
    if secs == 0 {
        return "0s".to_owned();
    }
    let sign = if secs < 0 { "-" } else { "" };
    let size = secs.unsigned_abs();
    let mut text = sign.to_owned();
    for (amount, unit) in [(size / 3600, 'h'), (size / 60 % 60, 'm'), (size % 60, 's')] {
        if amount > 0 {
            text.push_str(&amount.to_string());
            text.push(unit);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_form() {
        for (text, want) in [
            ("0", Ok(0)),
            ("1h", Ok(3_600_000_000_000)),
            ("1.5h", Ok(5_400_000_000_000)),
            ("1h15m30.918273645s", Ok(4_530_918_273_645)),
            ("300ms", Ok(300_000_000)),
            ("-1.5h", Ok(-5_400_000_000_000)),
            ("+5s", Ok(5_000_000_000)),
            ("12us", Ok(12_000)),
            ("12\u{b5}s", Ok(12_000)),
            ("12\u{3bc}s", Ok(12_000)),
            ("7ns", Ok(7)),
            (".5m", Ok(30_000_000_000)),
            ("1.s", Ok(1_000_000_000)),
            ("0.1234567891234567891s", Ok(123_456_789)),
            ("", Err(DurationError::Malformed)),
            ("-", Err(DurationError::Malformed)),
            ("5", Err(DurationError::Malformed)),
            ("1d", Err(DurationError::Malformed)),
            (".s", Err(DurationError::Malformed)),
            ("1h 5m", Err(DurationError::Malformed)),
            ("true", Err(DurationError::Malformed)),
            ("3000000h", Err(DurationError::TooLong)),
            ("99999999999999999999999999999999999999999999s", Err(DurationError::TooLong)),
        ] {
            assert_eq!(parse_go_nanos(text), want, "{text:?}");
        }
    }

    #[test]
    fn crd_form() {
        for (text, want) in [
            ("0s", Ok(Lifetime::Seconds(0))),
            ("720h", Ok(Lifetime::Seconds(2_592_000))),
            ("1h30m", Ok(Lifetime::Seconds(5400))),
            ("30m1h", Ok(Lifetime::Seconds(5400))),
            ("Never", Ok(Lifetime::Never)),
            ("never", Err(DurationError::NotWhole)),
            ("1.5h", Err(DurationError::NotWhole)),
            ("1d", Err(DurationError::NotWhole)),
            ("30", Err(DurationError::NotWhole)),
            ("100ms", Err(DurationError::NotWhole)),
            ("-1h", Err(DurationError::NotWhole)),
            ("", Err(DurationError::NotWhole)),
            ("9999999999h", Err(DurationError::TooLong)),
        ] {
            assert_eq!(parse_crd(text), want, "{text:?}");
        }
        assert_eq!(parse_crd_secs("Never"), Err(DurationError::NeverNotAllowed));
    }

    #[test]
    fn seconds_read_back() {
        for (secs, text) in [(0, "0s"), (5400, "1h30m"), (61, "1m1s"), (2_592_000, "720h")] {
            assert_eq!(format_secs(secs), text);
            assert_eq!(parse_crd_secs(text), Ok(secs));
        }
    }
}
