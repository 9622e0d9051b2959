//! Takes the name of an Azure VM size apart.
//!
//! `Standard_NC24ads_A100_v4` is letters `NC`, 24, features `ads`, accelerator `A100`, version
//! 4; `Standard_M8-2ms` has 2 of 8 vCPUs. Names built otherwise (`_Promo`, `_3_v3`) are not
//! taken apart, and such sizes are not offered, as in the provider.

/// The parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkuName {
    /// Family and subfamily, for example `D`, `DC`, `NC`.
    pub(super) letters: &'static str,
    /// vCPUs left of the size's own number, for sizes with constrained vCPUs.
    pub(super) is_constrained: bool,
    /// Lower-case features, for example `ads`.
    pub(super) features: &'static str,
    /// For example `A100`.
    pub(super) accelerator: Option<&'static str>,
    /// Version; `None` when the name has none.
    pub(super) version: Option<u32>,
}

fn split_while(text: &'static str, is: fn(&u8) -> bool) -> (&'static str, &'static str) {
    text.split_at(text.bytes().take_while(is).count())
}

fn version(part: &str) -> Option<u32> {
    let digits = part.strip_prefix('v')?;
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_accelerator(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_uppercase())
        && part.bytes().any(|b| b.is_ascii_digit())
        && part.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

impl SkuName {
    /// The parts of a `Standard_` name, if it is built as they are.
    pub(super) fn parse(name: &'static str) -> Option<Self> {
        let mut parts = name.strip_prefix("Standard_")?.split('_');
        let (letters, rest) = split_while(parts.next()?, u8::is_ascii_uppercase);
        let (digits, rest) = split_while(rest, u8::is_ascii_digit);
        let (is_constrained, rest) = match rest.strip_prefix('-') {
            None => (false, rest),
            Some(rest) => {
                let (left, rest) = split_while(rest, u8::is_ascii_digit);
                if left.is_empty() {
                    return None;
                }
                (true, rest)
            }
        };
        let (features, rest) = split_while(rest, u8::is_ascii_lowercase);
        if letters.is_empty() || digits.is_empty() || !rest.is_empty() {
            return None;
        }
        let mut sku = Self { letters, is_constrained, features, accelerator: None, version: None };
        for part in parts {
            if sku.version.is_none() && version(part).is_some() {
                sku.version = version(part);
            } else if sku.version.is_none() && sku.accelerator.is_none() && is_accelerator(part) {
                sku.accelerator = Some(part);
            } else {
                return None;
            }
        }
        Some(sku)
    }

    /// First letter of the family.
    pub(super) fn family(&self) -> &'static str {
        &self.letters[..1]
    }

    /// Letters, features and version, for example `Dpls_v6`.
    pub(super) fn series(&self) -> String {
        match self.version {
            Some(version) => format!("{}{}_v{version}", self.letters, self.features),
            None => format!("{}{}", self.letters, self.features),
        }
    }

    /// The version that counts: 1 when the name has none.
    pub(super) fn effective_version(&self) -> u32 {
        self.version.unwrap_or(1)
    }

    pub(super) fn has_feature(&self, letter: char) -> bool {
        self.features.contains(letter)
    }

    /// Premium storage: feature `s`, or `S` as in the old `DS2_v2`.
    pub(super) fn is_premium(&self) -> bool {
        self.has_feature('s') || (self.letters.len() > 1 && self.letters.ends_with('S'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart() {
        for (name, letters, features, accelerator, series, version) in [
            ("Standard_D4s_v5", "D", "s", None, "Ds_v5", 5),
            ("Standard_D4pls_v6", "D", "pls", None, "Dpls_v6", 6),
            ("Standard_DS2_v2", "DS", "", None, "DS_v2", 2),
            ("Standard_NC24ads_A100_v4", "NC", "ads", Some("A100"), "NCads_v4", 4),
            ("Standard_ND96isr_MI300X_v5", "ND", "isr", Some("MI300X"), "NDisr_v5", 5),
            ("Standard_NC6s_v3", "NC", "s", None, "NCs_v3", 3),
            ("Standard_F16", "F", "", None, "F", 1),
            ("Standard_E64i_v3", "E", "i", None, "Ei_v3", 3),
        ] {
            let sku = SkuName::parse(name).expect(name);
            assert_eq!(
                (sku.letters, sku.features, sku.accelerator),
                (letters, features, accelerator)
            );
            assert_eq!((sku.series().as_str(), sku.effective_version()), (series, version));
            assert!(!sku.is_constrained);
        }
        assert!(SkuName::parse("Standard_M8-2ms").is_some_and(|s| s.is_constrained));
        assert!(SkuName::parse("Standard_DS2_v2").is_some_and(|s| s.is_premium()));
        assert!(SkuName::parse("Standard_D2_v3").is_some_and(|s| !s.is_premium()));
        for name in [
            "Standard_D11_v2_Promo",
            "Standard_NC12_Promo",
            "Standard_M176ds_3_v3",
            "Standard_DC16ads_cc_v5",
            "Basic_A1",
            "Standard_M8-ms",
            "Standard_v5",
            "D4s_v5",
            "",
        ] {
            assert_eq!(SkuName::parse(name), None, "{name}");
        }
    }
}
