//! What a caller may ask beside the input itself, in words: flags, keyword arguments, JSON.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::refusal::Refusal;
use crate::catalog::prices::Discount;
use crate::catalog::{Region, regions};
use crate::options::{Options, StopFlag};
use crate::read::Source;
use crate::replay::Scoring;
use crate::snapshot::Snapshot;

/// Options of a question. What is absent is as it is by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Asked {
    /// `cheapest`, `greedy` or `karpenter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// `low`, `default` or `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Region of the built-in catalog, instead of the one that the input shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// A price file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Text>,
    /// Factors on prices: `0.9`, `spot=0.8`, `m5=0.7`, `m5/on-demand=0.6`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<String>,
    /// Zones in which nothing can be bought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_zones: Vec<String>,
    /// The moment to plan for, instead of the input's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Settings by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// Quotas of the cloud account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotas: Option<Text>,
    /// Also what proves the lower bound.
    #[serde(skip_serializing_if = "is_false")]
    pub dual: bool,
    /// Also what kube-scheduler makes of the plan: `leastAllocated` or `mostAllocated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Permutes choices that are free.
    #[serde(skip_serializing_if = "is_zero")]
    pub tie_seed: u32,
}

/// A text with the name that errors call it by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Text {
    /// Name in messages.
    pub name: String,
    /// The text itself.
    pub text: String,
}

impl Text {
    fn source(&self) -> Source {
        Source { name: self.name.clone(), text: self.text.clone() }
    }
}

fn is_false(yes: &bool) -> bool {
    !yes
}

fn is_zero(seed: &u32) -> bool {
    *seed == 0
}

impl Asked {
    /// Options from JSON; an empty text asks for nothing.
    ///
    /// # Errors
    /// No JSON, a field that does not exist, a value of another type.
    pub fn of_json(text: &str) -> Result<Self, Refusal> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut reader);
        read.map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "options".to_owned() } else { path };
            Refusal::usage(&path, "", error.inner().to_string())
        })
    }

    /// These options, and those of a call, which come first.
    pub(super) fn with(&self, call: &Self) -> Self {
        let mut all = call.clone();
        let or = |own: &mut Option<String>, base: &Option<String>| {
            if own.is_none() {
                own.clone_from(base);
            }
        };
        or(&mut all.strategy, &self.strategy);
        or(&mut all.effort, &self.effort);
        or(&mut all.catalog, &self.catalog);
        or(&mut all.now, &self.now);
        or(&mut all.replay, &self.replay);
        all.prices = all.prices.or_else(|| self.prices.clone());
        all.quotas = all.quotas.or_else(|| self.quotas.clone());
        all.discounts.splice(0..0, self.discounts.iter().cloned());
        all.without_zones.splice(0..0, self.without_zones.iter().cloned());
        for (name, value) in &self.settings {
            all.settings.entry(name.clone()).or_insert_with(|| value.clone());
        }
        all.dual |= self.dual;
        all.tie_seed = if all.tie_seed == 0 { self.tie_seed } else { all.tie_seed };
        all
    }

    /// The moment asked for. Errors name options with `dashes` before them.
    ///
    /// # Errors
    /// A text that is no time.
    pub fn moment(&self, dashes: &str) -> Result<Option<Timestamp>, Refusal> {
        let Some(text) = &self.now else { return Ok(None) };
        let why = format!("`{text}` is not a time: write one such as 2026-11-30T12:00:00Z");
        text.parse().map(Some).map_err(|_| Refusal::usage(&format!("{dashes}now"), text, why))
    }

    /// The planner's options.
    ///
    /// # Errors
    /// A value that an option does not have.
    pub fn options(&self, dashes: &str, stop: &StopFlag) -> Result<Options, Refusal> {
        let mut options = Options {
            strategy: word(dashes, "strategy", &self.strategy)?,
            effort: word(dashes, "effort", &self.effort)?,
            tie_seed: self.tie_seed,
            dual: self.dual,
            stop: stop.clone(),
            without_zones: self.without_zones.clone(),
            prices: self.prices.as_ref().map(Text::source),
            ..Options::default()
        };
        if let Some(text) = &self.replay {
            let known = [Scoring::LeastAllocated, Scoring::MostAllocated];
            let found = known.into_iter().find(|known| crate::replay::name(*known) == text);
            let why = format!("`{text}` is no scoring: use `leastAllocated` or `mostAllocated`");
            let refuse = || Refusal::usage(&format!("{dashes}replay"), text, why);
            options.replay = Some(found.ok_or_else(refuse)?);
        }
        if let Some(name) = &self.catalog {
            options.region = Some(region(name, &format!("{dashes}catalog"))?);
        }
        let option = if dashes.is_empty() { "discounts" } else { "--discount" };
        for text in &self.discounts {
            options.discounts.push(discount(text, option)?);
        }
        Ok(options)
    }

    /// The Snapshot with the settings, quotas and moment asked for; none when none are.
    ///
    /// # Errors
    /// A setting that does not exist or has no such value; quotas that cannot be read.
    pub fn applied(&self, dashes: &str, snapshot: &Snapshot) -> Result<Option<Snapshot>, Refusal> {
        if self.settings.is_empty() && self.quotas.is_none() && self.now.is_none() {
            return Ok(None);
        }
        let mut changed = snapshot.clone();
        for (name, value) in &self.settings {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if let Err(why) = changed.settings.set(name, value) {
                let text = format!("{name}={shown}");
                let why = format!("`{text}`: {why}");
                return Err(Refusal::usage(&format!("{dashes}settings"), &text, why));
            }
        }
        if let Some(quotas) = &self.quotas {
            changed.settings.read_quotas(&quotas.source()).map_err(|e| vec![*e])?;
        }
        if let Some(now) = self.moment(dashes)? {
            changed.now = now;
        }
        Ok(Some(changed))
    }
}

fn word<T: std::str::FromStr<Err = String> + Default>(
    dashes: &str,
    option: &str,
    text: &Option<String>,
) -> Result<T, Refusal> {
    let Some(text) = text else { return Ok(T::default()) };
    text.parse().map_err(|why: String| Refusal::usage(&format!("{dashes}{option}"), text, why))
}

/// A region of the catalog by name.
///
/// # Errors
/// A name that no region has.
pub fn region(name: &str, option: &str) -> Result<Region, Refusal> {
    let found = regions().iter().find(|region| region.name() == name);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = regions().iter().map(|region| region.name()).collect();
        let why = format!("`{name}` is no region of the catalog; known are {}", known.join(", "));
        Refusal::usage(option, name, why)
    })
}

/// `0.9`, `spot=0.8`, `m5=0.7` or `m5/on-demand=0.6`.
fn discount(text: &str, option: &str) -> Result<Discount, Refusal> {
    let refuse = || {
        let why =
            format!("`{text}` is not a discount: write FACTOR or NAME=FACTOR, such as spot=0.8");
        Refusal::usage(option, text, why)
    };
    let (name, factor) = text.rsplit_once('=').unwrap_or(("", text));
    let factor = factor.parse().map_err(|_| refuse())?;
    let is_capacity_type = |word: &str| ["on-demand", "spot", "reserved"].contains(&word);
    let (family, capacity_type) = match name.split_once('/') {
        Some((family, kind)) if is_capacity_type(kind) => (family, kind),
        Some(_) => return Err(refuse()),
        None if is_capacity_type(name) => ("", name),
        None => (name, ""),
    };
    let given = |word: &str| (!word.is_empty()).then(|| word.to_owned());
    Ok(Discount { capacity_type: given(capacity_type), family: given(family), factor })
}
