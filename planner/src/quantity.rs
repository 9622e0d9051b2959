//! Kubernetes quantities and money, exactly: text to integers with a stated rounding, and back.
//!
//! Every suffix of Kubernetes is known (`n u m k M G T P E`, `Ki` to `Ei`, decimal exponents).
//! Nothing passes through a float. Whether a number makes sense where it stands is not
//! decided here, except that amounts of resources are never negative.

use thiserror::Error;

/// Longest quantity that is looked at. LIMIT: twice what an exact 64-bit amount with nine
/// decimals and a sign could need; longer texts are mistakes or attacks.
pub const MAX_QUANTITY_LEN: usize = 128;

/// What to do with the part below the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero: requests.
    Up,
    /// Towards zero: capacity.
    Down,
}

/// Why a text is no usable amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// Nothing there.
    #[error("is empty; write a number such as `500m`, `2` or `1.5Gi`")]
    Empty,
    /// Not a number with a known suffix.
    #[error(
        "is not a quantity; write a number with an optional suffix, such as `500m`, `2` or `1.5Gi`"
    )]
    Malformed,
    /// Below zero.
    #[error("is negative; amounts start at 0")]
    Negative,
    /// Above what a 64-bit integer of the unit asked for can hold.
    #[error("is too large; the largest amount is 9223372036854775807 of its smallest unit")]
    TooLarge,
    /// Longer than [`MAX_QUANTITY_LEN`].
    #[error("is longer than {MAX_QUANTITY_LEN} characters")]
    TooLong,
}

/// Reads an amount in thousandths (`cpu`): `1500m` and `1.5` are 1500.
pub fn parse_milli(text: &str, rounding: Rounding) -> Result<i64, QuantityError> {
    narrow(parse_milli_wide(text, rounding)?)
}

/// Reads an amount in whole units (bytes, pods, devices): `1.5Ki` is 1536.
pub fn parse_units(text: &str, rounding: Rounding) -> Result<i64, QuantityError> {
    narrow(Parts::of(text)?.scaled(1, rounding)?)
}

/// As [`parse_milli`] with room for sums of many large amounts.
pub(crate) fn parse_milli_wide(text: &str, rounding: Rounding) -> Result<i128, QuantityError> {
    Parts::of(text)?.scaled(1000, rounding)
}

/// Reads an amount of the named resource in the unit the planner uses for it:
/// thousandths for `cpu`, whole units for everything else.
pub fn parse_resource(name: &str, text: &str, rounding: Rounding) -> Result<i64, QuantityError> {
    if name == "cpu" { parse_milli(text, rounding) } else { parse_units(text, rounding) }
}

/// True for a text that Kubernetes would read as a quantity, negative ones included.
pub fn is_quantity(text: &str) -> bool {
    match Parts::of(text) {
        Ok(_) | Err(QuantityError::Negative) => true,
        Err(_) => false,
    }
}

fn narrow(value: i128) -> Result<i64, QuantityError> {
    i64::try_from(value).map_err(|_| QuantityError::TooLarge)
}

/// A non-negative number as written: `digits × 10^-places × factor`.
struct Parts<'a> {
    whole: &'a str,
    fraction: &'a str,
    /// Power of two of a binary suffix.
    factor: u128,
    /// Power of ten of a decimal suffix or exponent.
    power: i64,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Empty);
        }
        if text.len() > MAX_QUANTITY_LEN {
            return Err(QuantityError::TooLong);
        }
        let (is_negative, rest) = match text.as_bytes()[0] {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = split_digits(rest);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(QuantityError::Malformed);
        }
        let (factor, power) = suffix_of(suffix).ok_or(QuantityError::Malformed)?;
        let parts = Self { whole, fraction, factor, power };
        if is_negative && !parts.is_zero() {
            return Err(QuantityError::Negative);
        }
        Ok(parts)
    }

    fn is_zero(&self) -> bool {
        self.whole.bytes().chain(self.fraction.bytes()).all(|d| d == b'0')
    }

    /// The value times `scale`, rounded to an integer.
    fn scaled(&self, scale: u128, rounding: Rounding) -> Result<i128, QuantityError> {
        if self.is_zero() {
            return Ok(0);
        }
        // Long multiplication by hand, base ten, least digit first: exact for any length.
        let factor = self.factor * scale;
        let mut digits = Vec::with_capacity(MAX_QUANTITY_LEN + 24);
        let mut carry = 0u128;
        for d in self.fraction.bytes().rev().chain(self.whole.bytes().rev()) {
            carry += u128::from(d - b'0') * factor;
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        // INVARIANT: a text is at most MAX_QUANTITY_LEN long, so the lengths fit i64.
        let places = self.fraction.len() as i64 - self.power.clamp(-10_000, 10_000);
        let mut value = 0i128;
        for (at, digit) in digits.iter().enumerate().rev() {
            if (at as i64) < places {
                break;
            }
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(i128::from(*digit)))
                .ok_or(QuantityError::TooLarge)?;
        }
        for _ in places..0 {
            if value == 0 {
                break;
            }
            value = value.checked_mul(10).ok_or(QuantityError::TooLarge)?;
        }
        let is_cut = digits.iter().enumerate().any(|(at, d)| (at as i64) < places && *d != 0);
        if is_cut && rounding == Rounding::Up {
            value += 1;
        }
        Ok(value)
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// The factor and the power of ten that a suffix stands for.
fn suffix_of(suffix: &str) -> Option<(u128, i64)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let is_small = exponent.starts_with('-');
            match digits.parse::<i32>() {
                Ok(size) => (1, if is_small { -i64::from(size) } else { size.into() }),
                // Kubernetes lets such an exponent wrap around, or refuses it. As an amount it
                // is too large; as a small one it is a mistake.
                Err(_) if is_small => return None,
                Err(_) => (1, i64::MAX),
            }
        }
    })
}

/// Thousandths in canonical form: 1500 is `1500m`, 2000 is `2`, 3000000 is `3k`.
pub fn format_milli(milli: i64) -> String {
    if milli % 1000 == 0 { format_units(milli / 1000) } else { format!("{milli}m") }
}

/// Whole units in canonical decimal form: 58 is `58`, 110000 is `110k`.
pub fn format_units(units: i64) -> String {
    let (value, suffix) = largest(units, 1000, ["", "k", "M", "G", "T", "P", "E"]);
    format!("{value}{suffix}")
}

/// Bytes in canonical binary form: 1610612736 is `1536Mi`, 1500 is `1500`.
pub fn format_bytes(bytes: i64) -> String {
    let (value, suffix) = largest(bytes, 1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]);
    format!("{value}{suffix}")
}

/// An amount of the named resource, in the unit of [`parse_resource`], in canonical form.
pub fn format_resource(name: &str, amount: i64) -> String {
    match name {
        "cpu" => format_milli(amount),
        "memory" | "ephemeral-storage" | "storage" => format_bytes(amount),
        _ if name.starts_with("hugepages-") => format_bytes(amount),
        _ => format_units(amount),
    }
}

fn largest(mut value: i64, step: i64, suffixes: [&'static str; 7]) -> (i64, &'static str) {
    let mut at = 0;
    while value != 0 && value % step == 0 && at + 1 < suffixes.len() {
        value /= step;
        at += 1;
    }
    (value, suffixes[at])
}

/// Why a text or number is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MoneyError {
    /// Not a plain decimal number.
    #[error("is not a decimal number of USD such as `0.0425`")]
    Malformed,
    /// Below zero, where only a price from 0 up makes sense.
    #[error("is negative; a price starts at 0")]
    Negative,
    /// Above 9.2 million million USD, or not finite.
    #[error("is too large for a price")]
    TooLarge,
}

/// Reads a decimal number of USD into micro-dollars, rounded to the nearest (half up).
pub fn parse_microusd(text: &str) -> Result<i64, MoneyError> {
    if text.len() > MAX_QUANTITY_LEN {
        return Err(MoneyError::Malformed);
    }
    let (is_negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, rest) = split_digits(rest);
    let (fraction, exponent) = match rest.strip_prefix('.') {
        Some(after) => split_digits(after),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(MoneyError::Malformed);
    }
    let (factor, power) = match exponent {
        "" => (1, 0),
        _ if exponent.starts_with(['e', 'E']) && exponent.len() > 1 => {
            suffix_of(exponent).ok_or(MoneyError::Malformed)?
        }
        _ => return Err(MoneyError::Malformed),
    };
    let parts = Parts { whole, fraction, factor, power };
    if is_negative && !parts.is_zero() {
        return Err(MoneyError::Negative);
    }
    // Half up: twice the value, cut, plus one, halved.
    let twice = parts.scaled(2_000_000, Rounding::Down).map_err(|_| MoneyError::TooLarge)?;
    i64::try_from((twice + 1) / 2).map_err(|_| MoneyError::TooLarge)
}

/// USD as a float into micro-dollars, rounded to the nearest. The float is taken as the
/// shortest decimal that reads back as it, which is what its writer wrote.
pub fn microusd_from_usd(usd: f64) -> Result<i64, MoneyError> {
    if !usd.is_finite() {
        return Err(MoneyError::TooLarge);
    }
    parse_microusd(&format!("{usd:e}"))
}

/// Micro-dollars as a number of USD with at most six decimal places.
pub fn usd_from_microusd(microusd: i64) -> f64 {
    microusd as f64 / 1_000_000.0
}

/// Micro-dollars as decimal text of USD without trailing zeros: 42500 is `0.0425`.
pub fn format_usd(microusd: i64) -> String {
    let sign = if microusd < 0 { "-" } else { "" };
    let size = microusd.unsigned_abs();
    let (whole, part) = (size / 1_000_000, size % 1_000_000);
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let decimals = format!("{part:06}");
    format!("{sign}{whole}.{}", decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_suffix_is_exact() {
        for (text, milli_up, units_up, units_down) in [
            ("0", 0, 0, 0),
            ("-0", 0, 0, 0),
            ("1", 1000, 1, 1),
            ("+1", 1000, 1, 1),
            ("1.", 1000, 1, 1),
            (".5", 500, 1, 0),
            ("100m", 100, 1, 0),
            ("1500m", 1500, 2, 1),
            ("0.1m", 1, 1, 0),
            ("1n", 1, 1, 0),
            ("1u", 1, 1, 0),
            ("1000000000n", 1000, 1, 1),
            ("2k", 2_000_000, 2000, 2000),
            ("3M", 3_000_000_000, 3_000_000, 3_000_000),
            ("1G", 1_000_000_000_000, 1_000_000_000, 1_000_000_000),
            ("1T", 1_000_000_000_000_000, 1_000_000_000_000, 1_000_000_000_000),
            ("1Ki", 1_024_000, 1024, 1024),
            ("1.5Gi", 1_610_612_736_000, 1_610_612_736, 1_610_612_736),
            ("0.0009765625Ki", 1000, 1, 1),
            ("1e3", 1_000_000, 1000, 1000),
            ("1E3", 1_000_000, 1000, 1000),
            ("1e+3", 1_000_000, 1000, 1000),
            ("12e-1", 1200, 2, 1),
            // As in Kubernetes: what is not zero is at least the smallest amount.
            ("1e-999", 1, 1, 0),
            ("1e-10", 1, 1, 0),
            ("0.1n", 1, 1, 0),
            ("0e999", 0, 0, 0),
        ] {
            assert_eq!(parse_milli(text, Rounding::Up), Ok(milli_up), "{text}");
            assert_eq!(parse_units(text, Rounding::Up), Ok(units_up), "{text}");
            assert_eq!(parse_units(text, Rounding::Down), Ok(units_down), "{text}");
        }
        assert_eq!(parse_units("1E", Rounding::Up), Ok(1_000_000_000_000_000_000));
        assert_eq!(parse_units("7Ei", Rounding::Up), Ok(7 << 60));
        assert_eq!(parse_units("1Pi", Rounding::Up), Ok(1 << 50));
        assert_eq!(parse_units("2P", Rounding::Up), Ok(2_000_000_000_000_000));
        assert_eq!(parse_units("3Ti", Rounding::Up), Ok(3 << 40));
        assert_eq!(parse_units("5Mi", Rounding::Up), Ok(5 << 20));
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_its_reason() {
        for (text, want) in [
            ("", QuantityError::Empty),
            ("-1", QuantityError::Negative),
            ("-1m", QuantityError::Negative),
            ("1e999", QuantityError::TooLarge),
            ("8Ei", QuantityError::TooLarge),
            ("9223372036854775808", QuantityError::TooLarge),
            (&"9".repeat(100), QuantityError::TooLarge),
            (&"9".repeat(129), QuantityError::TooLong),
            ("1e99999999999999999999", QuantityError::TooLarge),
            ("1e-99999999999999999999", QuantityError::Malformed),
            ("1e-4294967297", QuantityError::Malformed),
            ("-1e-999", QuantityError::Negative),
            (".", QuantityError::Malformed),
            ("+", QuantityError::Malformed),
            ("-", QuantityError::Malformed),
            ("1e", QuantityError::Malformed),
            ("1e+", QuantityError::Malformed),
            ("1Kib", QuantityError::Malformed),
            ("1ki", QuantityError::Malformed),
            ("1K", QuantityError::Malformed),
            (" 1", QuantityError::Malformed),
            ("1 ", QuantityError::Malformed),
            ("1.2.3", QuantityError::Malformed),
            ("0x10", QuantityError::Malformed),
            ("NaN", QuantityError::Malformed),
            ("1Gi5", QuantityError::Malformed),
            ("١", QuantityError::Malformed),
        ] {
            assert_eq!(parse_units(text, Rounding::Up), Err(want), "{text:?}");
        }
        assert_eq!(parse_milli("9223372036854775807", Rounding::Up), Err(QuantityError::TooLarge));
        assert_eq!(parse_units("9223372036854775807", Rounding::Up), Ok(i64::MAX));
    }

    #[test]
    fn canonical_text() {
        for (milli, want) in [
            (0, "0"),
            (1, "1m"),
            (1500, "1500m"),
            (2000, "2"),
            (3_000_000, "3k"),
            (-500, "-500m"),
            (1_100_000, "1100"),
        ] {
            assert_eq!(format_milli(milli), want);
        }
        for (bytes, want) in [
            (0, "0"),
            (1500, "1500"),
            (1024, "1Ki"),
            (1_610_612_736, "1536Mi"),
            (7 << 60, "7Ei"),
            (-2048, "-2Ki"),
        ] {
            assert_eq!(format_bytes(bytes), want);
        }
        assert_eq!(format_resource("pods", 110), "110");
        assert_eq!(format_resource("cpu", 250), "250m");
        assert_eq!(format_resource("hugepages-2Mi", 4 << 20), "4Mi");
        assert_eq!(format_resource("nvidia.com/gpu", 8), "8");
    }

    #[test]
    fn money_rounds_to_the_nearest_micro_dollar() {
        for (text, want) in [
            ("0", 0),
            ("0.0425", 42_500),
            ("1.5", 1_500_000),
            ("0.0000004", 0),
            ("0.0000005", 1),
            ("3.0000015", 3_000_002),
            ("1e-2", 10_000),
            ("+2", 2_000_000),
        ] {
            assert_eq!(parse_microusd(text), Ok(want), "{text}");
        }
        assert_eq!(parse_microusd("-0.1"), Err(MoneyError::Negative));
        for text in ["", "1k", "1Gi", "abc", "$1", "1E", "1,5", "1n"] {
            assert_eq!(parse_microusd(text), Err(MoneyError::Malformed), "{text}");
        }
        assert_eq!(parse_microusd("1e40"), Err(MoneyError::TooLarge));
        assert_eq!(microusd_from_usd(0.096), Ok(96_000));
        assert_eq!(microusd_from_usd(f64::NAN), Err(MoneyError::TooLarge));
        assert_eq!(microusd_from_usd(f64::INFINITY), Err(MoneyError::TooLarge));
        assert_eq!(microusd_from_usd(-1.0), Err(MoneyError::Negative));
        assert_eq!(format_usd(42_500), "0.0425");
        assert_eq!(format_usd(2_000_000), "2");
        assert_eq!(format_usd(-1), "-0.000001");
        assert_eq!(usd_from_microusd(96_000).to_string(), "0.096");
    }

    /// The same number by fractions of 128-bit integers, for texts short enough for them.
    fn by_fraction(digits: u64, places: u32, suffix: &str, scale: i128, up: bool) -> i128 {
        let (num, den) = match suffix {
            "n" => (1, 1_000_000_000),
            "u" => (1, 1_000_000),
            "m" => (1, 1_000),
            "k" => (1_000, 1),
            "M" => (1_000_000, 1),
            "Ki" => (1i128 << 10, 1),
            "Mi" => (1i128 << 20, 1),
            "Gi" => (1i128 << 30, 1),
            "e2" => (100, 1),
            "E-2" => (1, 100),
            _ => (1, 1),
        };
        let num = i128::from(digits) * num * scale;
        let den = den * 10i128.pow(places);
        if up { (num + den - 1) / den } else { num / den }
    }

    proptest! {
        #[test]
        fn agrees_with_fractions(
            digits in 0u64..1_000_000_000_000,
            places in 0u32..9,
            suffix in prop::sample::select(vec!["", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "e2", "E-2"]),
            up in any::<bool>(),
        ) {
            let padded = format!("{digits:0width$}", width = places as usize + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places as usize);
            let text = if places == 0 { format!("{whole}{suffix}") } else { format!("{whole}.{fraction}{suffix}") };
            let rounding = if up { Rounding::Up } else { Rounding::Down };
            for scale in [1, 1000] {
                let want = i64::try_from(by_fraction(digits, places, suffix, scale, up))
                    .map_err(|_| QuantityError::TooLarge);
                let got = if scale == 1 { parse_units(&text, rounding) } else { parse_milli(&text, rounding) };
                prop_assert_eq!(got, want, "{}", text);
            }
        }

        #[test]
        fn text_of_a_number_reads_back(n in 0i64..i64::MAX / 1000) {
            prop_assert_eq!(parse_milli(&format_milli(n), Rounding::Down), Ok(n));
            prop_assert_eq!(parse_units(&format_units(n), Rounding::Down), Ok(n));
            prop_assert_eq!(parse_units(&format_bytes(n), Rounding::Down), Ok(n));
            prop_assert_eq!(parse_microusd(&format_usd(n)), Ok(n));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}", number in "[-+]?[0-9.]{0,30}[eEinumkKMGTP+0-9-]{0,8}") {
            for text in [text, number] {
                let _ = parse_milli(&text, Rounding::Up);
                let _ = parse_microusd(&text);
                let _ = is_quantity(&text);
            }
        }
    }
}
