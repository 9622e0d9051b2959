//! Money in answers: whole micro-dollars inside, a decimal number of USD outside.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::{format_usd, microusd_from_usd, usd_from_microusd};

/// USD per hour in micro-dollars; `None` stands for a price that nobody knows.
///
/// Serializes as a number with at most six decimal places, or `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub Option<i64>);

impl Money {
    /// A price of the engine's tables, where `i64::MAX` means unknown.
    pub fn of_price(microusd: i64) -> Self {
        Self((microusd != i64::MAX).then_some(microusd))
    }

    /// The sum; unknown when a part is unknown.
    pub fn sum(parts: impl IntoIterator<Item = Money>) -> Self {
        parts.into_iter().fold(Self(Some(0)), |total, part| match (total.0, part.0) {
            (Some(a), Some(b)) => Self(Some(a.saturating_add(b))),
            _ => Self(None),
        })
    }
}

impl fmt::Display for Money {
    /// `0.0504`, or `unknown`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(microusd) => f.pad(&format_usd(microusd)),
            None => f.pad("unknown"),
        }
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The nearest double of a number with six decimals prints as that number again.
        self.0.map(usd_from_microusd).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(usd) = Option::<f64>::deserialize(deserializer)? else {
            return Ok(Self(None));
        };
        microusd_from_usd(usd).map(|m| Self(Some(m))).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_at_most_six_places_and_reads_back() {
        for (microusd, text) in [
            (0, "0.0"),
            (1, "1e-6"),
            (50_400, "0.0504"),
            (192_001, "0.192001"),
            (12_345_678_901, "12345.678901"),
        ] {
            let money = Money(Some(microusd));
            let written = serde_json::to_string(&money).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Money>(&written).unwrap(), money);
        }
        assert_eq!(serde_json::to_string(&Money::of_price(i64::MAX)).unwrap(), "null");
        assert_eq!(serde_json::from_str::<Money>("2").unwrap(), Money(Some(2_000_000)));
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_unknown() {
        assert_eq!(Money::sum([Money(Some(2)), Money(Some(3))]), Money(Some(5)));
        assert_eq!(Money::sum([Money(Some(2)), Money(None)]), Money(None));
        assert_eq!(Money::sum([]), Money(Some(0)));
    }
}
