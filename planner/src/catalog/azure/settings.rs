//! What an AKSNodeClass and the provider's own settings say about a node.
//!
//! Only fields that change which sizes fit, their labels or their capacity are read; the
//! class's own rules are the API's.

use serde_json::Value;

use super::super::CatalogError;
use super::super::class_view::Field;

/// The image families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the documentation
pub enum ImageFamily {
    #[default]
    Ubuntu,
    Ubuntu2204,
    Ubuntu2404,
    AzureLinux,
}

impl ImageFamily {
    /// Value of `kubernetes.azure.com/os-sku`.
    pub fn os_sku(self) -> &'static str {
        if self == Self::AzureLinux { "AzureLinux" } else { "Ubuntu" }
    }
}

/// How pods get addresses; it decides the pods per node where the class does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkPlugin {
    /// Azure CNI with overlay, the provider's default: 250 pods.
    #[default]
    AzureOverlay,
    /// Azure CNI with addresses of the node's subnet: 30 pods.
    AzureNodeSubnet,
    /// A plugin that the user brings: 250 pods.
    None,
    /// Anything else: 110 pods.
    Other,
}

impl NetworkPlugin {
    pub(super) fn pods(self) -> i64 {
        match self {
            Self::AzureOverlay | Self::None => 250,
            Self::AzureNodeSubnet => 30,
            Self::Other => 110,
        }
    }
}

/// All of it. `default()` is Ubuntu on a 128 GB disk with nothing else set.
#[derive(Clone, Debug, PartialEq)]
pub struct AzureNodeSettings {
    /// `imageFamily`.
    pub image_family: ImageFamily,
    /// `osDiskSizeGB`, decimal gigabytes.
    pub os_disk_gb: u32,
    /// `maxPods`; `None` leaves it to the network plugin.
    pub max_pods: Option<u32>,
    /// `fipsMode: FIPS`.
    pub has_fips: bool,
    /// `security.encryptionAtHost`.
    pub has_encryption_at_host: bool,
    /// Virtual TPM or secure boot under `security.trustedLaunch`.
    pub has_trusted_launch: bool,
    /// `gpu.mode: Driver`, the default: GPU sizes need a driver that AKS installs.
    pub installs_gpu_driver: bool,
    /// `artifactStreaming.enabled`: not on Arm.
    pub has_artifact_streaming: bool,
    /// `localDNS.mode: Required`. `Preferred` is off on every Kubernetes version of today.
    pub has_local_dns: bool,
    /// Provider settings `network-plugin` and `network-plugin-mode`.
    pub network_plugin: NetworkPlugin,
    /// Provider setting `vm-memory-overhead-percent`, a fraction: 0.075 by default.
    pub vm_memory_overhead_percent: f64,
    /// Value of `kubernetes.azure.com/cluster`, if known: the node resource group.
    pub cluster: Option<String>,
}

impl Default for AzureNodeSettings {
    fn default() -> Self {
        Self {
            image_family: ImageFamily::default(),
            os_disk_gb: 128,
            max_pods: None,
            has_fips: false,
            has_encryption_at_host: false,
            has_trusted_launch: false,
            installs_gpu_driver: true,
            has_artifact_streaming: false,
            has_local_dns: false,
            network_plugin: NetworkPlugin::default(),
            vm_memory_overhead_percent: 0.075,
            cluster: None,
        }
    }
}

impl AzureNodeSettings {
    /// Reads an AKSNodeClass object. Settings of the provider keep their defaults.
    ///
    /// # Errors
    /// A field that cannot be used, with its path and value.
    pub fn from_node_class(class: &Value) -> Result<Self, CatalogError> {
        let spec = Field::root(class).get("spec");
        let security = spec.get("security");
        let is_on = |field: Field<'_>| Ok::<_, CatalogError>(field.flag()?.unwrap_or(false));
        let trusted = security.get("trustedLaunch");
        let (has_tpm, has_boot) = (is_on(trusted.get("vtpm"))?, is_on(trusted.get("secureBoot"))?);
        let gpu_modes = [("Driver", true), ("None", false)];
        let dns_modes = [("Required", true), ("Preferred", false), ("Disabled", false)];
        Ok(Self {
            image_family: choice(
                &spec.get("imageFamily"),
                &[
                    ("Ubuntu", ImageFamily::Ubuntu),
                    ("Ubuntu2204", ImageFamily::Ubuntu2204),
                    ("Ubuntu2404", ImageFamily::Ubuntu2404),
                    ("AzureLinux", ImageFamily::AzureLinux),
                ],
            )?
            .unwrap_or_default(),
            os_disk_gb: between(&spec.get("osDiskSizeGB"), 30, 2048)?.unwrap_or(128),
            max_pods: between(&spec.get("maxPods"), 10, 250)?,
            has_fips: choice(&spec.get("fipsMode"), &[("FIPS", true), ("Disabled", false)])?
                .unwrap_or(false),
            has_encryption_at_host: is_on(security.get("encryptionAtHost"))?,
            has_trusted_launch: has_tpm || has_boot,
            installs_gpu_driver: choice(&spec.get("gpu").get("mode"), &gpu_modes)?.unwrap_or(true),
            has_artifact_streaming: is_on(spec.get("artifactStreaming").get("enabled"))?,
            has_local_dns: choice(&spec.get("localDNS").get("mode"), &dns_modes)?.unwrap_or(false),
            ..Self::default()
        })
    }
}

fn choice<T: Copy>(field: &Field<'_>, known: &[(&str, T)]) -> Result<Option<T>, CatalogError> {
    let Some(text) = field.text()? else { return Ok(None) };
    match known.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            Err(field.refuse(format!("must be one of: {}", names.join(", "))))
        }
    }
}

fn between(field: &Field<'_>, low: u32, high: u32) -> Result<Option<u32>, CatalogError> {
    match field.count()? {
        Some(n) if !(low..=high).contains(&n) => {
            Err(field.refuse(format!("must be from {low} to {high}")))
        }
        other => Ok(other),
    }
}
