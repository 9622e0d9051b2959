//! Names of the clouds' regions, so that a zone of a region that the catalog lacks is not taken
//! for a misspelt one. Says nothing about what is sold there.

/// Regions of AWS and Azure that the public may name, government's and China's included.
const REGIONS: &[&str] = &[
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "australiacentral",
    "australiacentral2",
    "australiaeast",
    "australiasoutheast",
    "austriaeast",
    "belgiumcentral",
    "brazilsouth",
    "brazilsoutheast",
    "ca-central-1",
    "ca-west-1",
    "canadacentral",
    "canadaeast",
    "centralindia",
    "centralus",
    "chilecentral",
    "chinaeast",
    "chinaeast2",
    "chinaeast3",
    "chinanorth",
    "chinanorth2",
    "chinanorth3",
    "cn-north-1",
    "cn-northwest-1",
    "denmarkeast",
    "eastasia",
    "eastus",
    "eastus2",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eusc-de-east-1",
    "francecentral",
    "francesouth",
    "germanynorth",
    "germanywestcentral",
    "il-central-1",
    "indonesiacentral",
    "israelcentral",
    "italynorth",
    "japaneast",
    "japanwest",
    "jioindiacentral",
    "jioindiawest",
    "koreacentral",
    "koreasouth",
    "malaysiawest",
    "me-central-1",
    "me-south-1",
    "mexicocentral",
    "mx-central-1",
    "newzealandnorth",
    "northcentralus",
    "northeurope",
    "norwayeast",
    "norwaywest",
    "polandcentral",
    "qatarcentral",
    "sa-east-1",
    "southafricanorth",
    "southafricawest",
    "southcentralus",
    "southeastasia",
    "southindia",
    "spaincentral",
    "swedencentral",
    "swedensouth",
    "switzerlandnorth",
    "switzerlandwest",
    "uaecentral",
    "uaenorth",
    "uksouth",
    "ukwest",
    "us-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-west-1",
    "us-west-2",
    "usgovarizona",
    "usgovtexas",
    "usgovvirginia",
    "westcentralus",
    "westeurope",
    "westindia",
    "westus",
    "westus2",
    "westus3",
];

/// The region that a zone is of by its name: the longest that it begins with.
pub(super) fn region_of(zone: &str) -> Option<&'static str> {
    let begun = REGIONS.iter().filter(|region| zone.starts_with(**region));
    begun.max_by_key(|region| region.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_the_region() {
        for (zone, want) in [
            ("us-east-2a", Some("us-east-2")),
            ("us-west-2-lax-1a", Some("us-west-2")),
            ("eastus2-1", Some("eastus2")),
            ("eastus-1", Some("eastus")),
            ("us-eats-1a", None),
            ("zone-a", None),
        ] {
            assert_eq!(region_of(zone), want, "{zone}");
        }
        assert!(REGIONS.is_sorted());
    }

    #[test]
    fn every_region_of_the_catalog_is_known() {
        for region in crate::catalog::regions() {
            assert_eq!(region_of(region.name()), Some(region.name()));
        }
    }
}
