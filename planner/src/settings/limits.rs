//! What a plan may take together: of the cluster's size, of money, of the quotas of a cloud
//! account.
//!
//! Quotas are read as users have them: in a short form of our own, as the AWS command line
//! lists them (`service-quotas list-service-quotas`), or as Azure's does (`vm list-usage`).

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SettingError;
use crate::quantity::{Rounding, parse_resource};

/// Limits over all NodePools, nodes that exist included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterLimits {
    /// CPU of all machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quantity>,
    /// Memory of all machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// Machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// USD per hour of all machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
}

impl ClusterLimits {
    /// True when nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// vCPUs that machines of some families may have together in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Quota {
    /// What the cloud calls it.
    pub name: String,
    /// Families that it counts: letters (`m`, `c`), families (`m7i`), or Azure's names
    /// (`standardDSv5Family`); empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<String>,
    /// `on-demand` or `spot`; both when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Region; all of the plan's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Most vCPUs.
    pub vcpu: u32,
    /// vCPUs in use; those of the nodes in the input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u32>,
}

/// AWS' list.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AwsQuota {
    quota_name: String,
    value: f64,
    #[serde(default)]
    quota_arn: String,
}

/// Azure's list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AzureUsage {
    current_value: Number,
    limit: Number,
    name: AzureName,
}

#[derive(Deserialize)]
struct AzureName {
    value: String,
}

/// The command line prints these numbers as text, the service as numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Number(f64),
    Text(String),
}

impl Number {
    fn whole(&self) -> u32 {
        let number = match self {
            Self::Number(number) => *number,
            Self::Text(text) => text.trim().parse().unwrap_or(0.0),
        };
        number as u32
    }
}

pub(super) fn quotas(value: &Value) -> Result<Vec<Quota>, SettingError> {
    const FORM: SettingError = SettingError::Invalid(
        "a list of {name, families, capacityType, region, vcpu, used}, what `aws service-quotas \
         list-service-quotas --service-code ec2` prints, or what `az vm list-usage` prints",
    );
    let list = match value {
        Value::String(text) => {
            let value: Value = serde_json::from_str(text).map_err(|_| FORM)?;
            return quotas(&value);
        }
        Value::Object(object) => match (object.get("quotas"), object.get("Quotas")) {
            (Some(own), _) => own,
            (_, Some(list)) => {
                let list: Vec<AwsQuota> = serde_json::from_value(list.clone()).map_err(|_| FORM)?;
                return Ok(list.iter().filter_map(aws).collect());
            }
            _ => object.get("value").ok_or(FORM)?,
        },
        other => other,
    };
    let is_azure = |row: &Value| row.get("currentValue").is_some();
    if list.as_array().is_some_and(|rows| rows.iter().any(is_azure)) {
        let list: Vec<AzureUsage> = serde_json::from_value(list.clone()).map_err(|_| FORM)?;
        return Ok(list.iter().filter_map(azure).collect());
    }
    let mut own: Vec<Quota> = serde_json::from_value(list.clone()).map_err(|_| FORM)?;
    let is_kind = |kind: &str| matches!(kind, "on-demand" | "spot");
    if own.iter().any(|q| q.capacity_type.as_deref().is_some_and(|kind| !is_kind(kind))) {
        return Err(SettingError::Invalid("with `on-demand` or `spot` as capacityType"));
    }
    own.sort();
    Ok(own)
}

/// A vCPU quota of AWS: `Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances`,
/// `All G and VT Spot Instance Requests`. Others count nothing that a plan takes.
fn aws(row: &AwsQuota) -> Option<Quota> {
    let name = row.quota_name.as_str();
    let (capacity_type, rest) = if let Some(rest) = name.strip_prefix("Running On-Demand ") {
        ("on-demand", rest.strip_suffix(" instances")?)
    } else {
        ("spot", name.strip_prefix("All ")?.strip_suffix(" Spot Instance Requests")?)
    };
    let listed = match (rest.find('('), rest.find(')')) {
        (Some(open), Some(close)) if open < close => &rest[open + 1..close],
        _ => rest,
    };
    let words = listed.split([',', ' ']).filter(|word| !matches!(*word, "" | "and" | "instances"));
    let families = words.map(|word| match word {
        "High" | "Memory" => "u".to_owned(),
        word => word.to_lowercase(),
    });
    let mut families: Vec<String> = families.collect();
    families.dedup();
    Some(Quota {
        name: name.to_owned(),
        families,
        capacity_type: Some(capacity_type.to_owned()),
        region: row.quota_arn.split(':').nth(3).filter(|r| !r.is_empty()).map(str::to_owned),
        vcpu: row.value as u32,
        used: None,
    })
}

/// A core quota of Azure. `cores` counts every machine at list price, `lowPriorityCores` every
/// spot machine, others one family.
fn azure(row: &AzureUsage) -> Option<Quota> {
    let name = row.name.value.as_str();
    let (families, capacity_type) = match name {
        "cores" => (Vec::new(), "on-demand"),
        "lowPriorityCores" => (Vec::new(), "spot"),
        family if family.ends_with("Family") => (vec![family.to_owned()], "on-demand"),
        _ => return None,
    };
    Some(Quota {
        name: name.to_owned(),
        families,
        capacity_type: Some(capacity_type.to_owned()),
        region: None,
        vcpu: row.limit.whole(),
        used: Some(row.current_value.whole()),
    })
}

pub(super) fn cluster_limits(value: &Value) -> Result<ClusterLimits, SettingError> {
    const FORM: SettingError =
        SettingError::Invalid("a mapping of some of cpu, memory, nodes and pricePerHour");
    let parsed = match value {
        Value::String(text) => serde_json::from_str(text).map_err(|_| FORM)?,
        other => other.clone(),
    };
    let limits: ClusterLimits = serde_json::from_value(parsed).map_err(|_| FORM)?;
    for (name, quantity) in [("cpu", &limits.cpu), ("memory", &limits.memory)] {
        if let Some(quantity) = quantity {
            amount(name, quantity).ok_or(FORM)?;
        }
    }
    if limits.price_per_hour.is_some_and(|usd| !(0.0..1e9).contains(&usd)) {
        return Err(FORM);
    }
    Ok(limits)
}

/// A quantity of a resource in the engine's unit, when it is one and not negative.
pub(crate) fn amount(name: &str, quantity: &Quantity) -> Option<i64> {
    parse_resource(name, &quantity.0, Rounding::Down).ok().filter(|amount| *amount >= 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotas_of_aws_are_read_from_its_own_list() {
        let read = quotas(&json!({"Quotas": [
            {"QuotaName": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "Value": 64.0,
             "QuotaArn": "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-1216C47A"},
            {"QuotaName": "All G and VT Spot Instance Requests", "Value": 8.0},
            {"QuotaName": "Running On-Demand High Memory instances", "Value": 0.0},
            {"QuotaName": "EC2-VPC Elastic IPs", "Value": 5.0},
        ]}))
        .unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].families, ["a", "c", "d", "h", "i", "m", "r", "t", "z"]);
        assert_eq!(read[0].capacity_type.as_deref(), Some("on-demand"));
        assert_eq!((read[0].region.as_deref(), read[0].vcpu), (Some("us-east-1"), 64));
        assert_eq!(read[1].families, ["g", "vt"]);
        assert_eq!(read[1].capacity_type.as_deref(), Some("spot"));
        assert_eq!(read[2].families, ["u"]);
    }

    #[test]
    fn quotas_of_azure_are_read_from_its_own_list() {
        let read = quotas(&json!([
            {"currentValue": "10", "limit": "100", "name": {"value": "cores", "localizedValue": "Total"}},
            {"currentValue": 4, "limit": 20, "name": {"value": "standardDSv5Family"}},
            {"currentValue": 0, "limit": 3, "name": {"value": "lowPriorityCores"}},
            {"currentValue": 1, "limit": 2500, "name": {"value": "availabilitySets"}},
        ]))
        .unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!((read[0].vcpu, read[0].used), (100, Some(10)));
        assert!(read[0].families.is_empty());
        assert_eq!(read[1].families, ["standardDSv5Family"]);
        assert_eq!(read[2].capacity_type.as_deref(), Some("spot"));
    }

    #[test]
    fn other_forms_are_refused() {
        for bad in [
            json!("m5=4"),
            json!({"m5": 4}),
            json!([{"name": "x"}]),
            json!([{"name": "x", "vcpu": 4, "capacityType": "reserved"}]),
            json!([{"name": "x", "vcpu": -4}]),
        ] {
            assert!(quotas(&bad).is_err(), "{bad}");
        }
        for bad in [json!(4), json!({"pods": 4}), json!({"cpu": "-1"}), json!({"pricePerHour": -1})]
        {
            assert!(cluster_limits(&bad).is_err(), "{bad}");
        }
    }
}
