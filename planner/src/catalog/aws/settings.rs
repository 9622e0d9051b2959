//! What an EC2NodeClass and the provider's own settings say about a node's size and place.
//!
//! Only fields that change labels, capacity or offerings are read; whether the class is valid
//! is decided by the API's rules, and what its selectors find by the controller (the result
//! stands in the class's status).

use serde_json::Value;

use super::super::CatalogError;
use super::super::class_view::Field;
use crate::quantity::Rounding;

/// The image families; they differ in disks, pod density and reservations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the documentation
pub enum AmiFamily {
    Al2,
    #[default]
    Al2023,
    Bottlerocket,
    Custom,
    Windows2019,
    Windows2022,
    Windows2025,
}

const GIB: i64 = 1 << 30;

impl AmiFamily {
    /// The family named in `amiFamily` or, in lower case, before the `@` of an alias.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "AL2" | "al2" => Self::Al2,
            "AL2023" | "al2023" => Self::Al2023,
            "Bottlerocket" | "bottlerocket" => Self::Bottlerocket,
            "Custom" => Self::Custom,
            "Windows2019" | "windows2019" => Self::Windows2019,
            "Windows2022" | "windows2022" => Self::Windows2022,
            "Windows2025" | "windows2025" => Self::Windows2025,
            _ => return None,
        })
    }

    /// Value of `node.kubernetes.io/windows-build`; `None` for Linux.
    pub fn windows_build(self) -> Option<&'static str> {
        match self {
            Self::Windows2019 => Some("10.0.17763"),
            Self::Windows2022 => Some("10.0.20348"),
            Self::Windows2025 => Some("10.0.26100"),
            _ => None,
        }
    }

    /// True if the memory reserved follows the interfaces, whatever `maxPods` says.
    pub(super) fn reserves_by_eni(self) -> bool {
        matches!(self, Self::Al2 | Self::Al2023 | Self::Custom)
    }

    /// The disk that pods write to; `None` where only the image knows.
    fn ephemeral_device(self) -> Option<&'static str> {
        match self {
            Self::Al2 | Self::Al2023 => Some("/dev/xvda"),
            Self::Bottlerocket => Some("/dev/xvdb"),
            Self::Custom => None,
            _ => Some("/dev/sda1"),
        }
    }

    fn default_disk_bytes(self) -> i64 {
        if self.windows_build().is_some() { 50 * GIB } else { 20 * GIB }
    }
}

/// Amounts kept from pods; `None` leaves the computed amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Thousandths of a CPU.
    pub cpu_milli: Option<i64>,
    /// Bytes of memory.
    pub memory_bytes: Option<i64>,
    /// Bytes of ephemeral storage.
    pub disk_bytes: Option<i64>,
}

/// A hard eviction threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Eviction {
    /// An amount in bytes.
    Bytes(i64),
    /// Percent of the capacity; 100 switches it off.
    Percent(f64),
}

/// The kubelet fields that change arithmetic. `evictionSoft` never does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KubeletSettings {
    /// `maxPods`.
    pub max_pods: Option<u32>,
    /// `podsPerCore`; 0 counts as unset.
    pub pods_per_core: Option<u32>,
    /// `kubeReserved`.
    pub kube_reserved: Reserved,
    /// `systemReserved`.
    pub system_reserved: Reserved,
    /// `evictionHard["memory.available"]`.
    pub eviction_memory: Option<Eviction>,
    /// `evictionHard["nodefs.available"]`.
    pub eviction_disk: Option<Eviction>,
}

/// One entry of `networkInterfaces`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkInterface {
    /// Index of the network card.
    pub card: u32,
    /// Index of the device on the card.
    pub device: u32,
    /// True for `efa-only`: it carries no addresses for pods.
    pub is_efa_only: bool,
}

/// How a placement group spreads machines; not every type can be in every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the documentation
pub enum PlacementStrategy {
    Cluster,
    Partition,
    Spread,
}

impl PlacementStrategy {
    /// The letter that the type table uses for it.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Cluster => 'c',
            Self::Partition => 'p',
            Self::Spread => 's',
        }
    }
}

/// A zone in which the class has a subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetZone {
    /// For example `us-east-1a`.
    pub zone: String,
    /// For example `use1-az2`; `None` if the status does not say.
    pub zone_id: Option<String>,
}

/// A capacity reservation or capacity block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// `cr-…`.
    pub id: String,
    /// Type it holds.
    pub instance_type: String,
    /// Zone it is in.
    pub zone: String,
    /// `default` or `capacity-block`.
    pub kind: String,
    /// True if it may be taken back.
    pub is_interruptible: bool,
    /// True when it ends soon: nothing is launched into it any more.
    pub is_expiring: bool,
    /// Machines left. The class does not say: 0 until the caller fills it in.
    pub left: u32,
}

/// All of it. `default()` is AL2023 with nothing set, in every zone of the region.
#[derive(Clone, Debug, PartialEq)]
pub struct AwsNodeSettings {
    /// Resolved image family.
    pub ami_family: AmiFamily,
    /// Kubelet fields.
    pub kubelet: KubeletSettings,
    /// Bytes of the disk for pods: from blockDeviceMappings or the family.
    pub disk_bytes: i64,
    /// `instanceStorePolicy: RAID0`: local disks replace `disk_bytes` where there are some.
    pub has_raid0: bool,
    /// `networkInterfaces`, if set.
    pub network_interfaces: Option<Vec<NetworkInterface>>,
    /// True if `connectionTracking` is set: Nitro types only.
    pub has_connection_tracking: bool,
    /// `cpuOptions.nestedVirtualization: enabled`: only types that can.
    pub has_nested_virtualization: bool,
    /// Placement group by id, a label of its nodes. A name resolves outside.
    pub placement_group_id: Option<String>,
    /// Strategy of that group. The class does not say: unset until the caller fills it in.
    pub placement_strategy: Option<PlacementStrategy>,
    /// Zones of the class's subnets; `None` while the class has no status: all zones.
    pub zones: Option<Vec<SubnetZone>>,
    /// Reservations that the class selects.
    pub reservations: Vec<Reservation>,
    /// Provider setting `vm-memory-overhead-percent`, a fraction: 0.075 by default.
    pub vm_memory_overhead_percent: f64,
    /// Provider setting `reserved-enis`.
    pub reserved_enis: u32,
}

impl Default for AwsNodeSettings {
    fn default() -> Self {
        Self {
            ami_family: AmiFamily::default(),
            kubelet: KubeletSettings::default(),
            disk_bytes: AmiFamily::default().default_disk_bytes(),
            has_raid0: false,
            network_interfaces: None,
            has_connection_tracking: false,
            has_nested_virtualization: false,
            placement_group_id: None,
            placement_strategy: None,
            zones: None,
            reservations: Vec::new(),
            vm_memory_overhead_percent: 0.075,
            reserved_enis: 0,
        }
    }
}

impl AwsNodeSettings {
    /// Reads an EC2NodeClass object. Settings of the provider keep their defaults.
    ///
    /// # Errors
    /// A field that cannot be used, with its path and value.
    pub fn from_node_class(class: &Value) -> Result<Self, CatalogError> {
        let root = Field::root(class);
        let (spec, status) = (root.get("spec"), root.get("status"));
        let ami_family = ami_family(&spec)?;
        let interfaces = spec.get("networkInterfaces");
        let nested = spec.get("cpuOptions").get("nestedVirtualization");
        Ok(Self {
            ami_family,
            kubelet: kubelet(&spec.get("kubelet"))?,
            disk_bytes: disk_bytes(&spec.get("blockDeviceMappings"), ami_family)?,
            has_raid0: choice(&spec.get("instanceStorePolicy"), &["RAID0"])?.is_some(),
            network_interfaces: match interfaces.is_set() {
                true => Some(network_interfaces(&interfaces)?),
                false => None,
            },
            has_connection_tracking: spec.get("connectionTracking").is_set(),
            has_nested_virtualization: choice(&nested, &["enabled", "disabled"])?
                == Some("enabled"),
            placement_group_id: spec
                .get("placementGroupSelector")
                .get("id")
                .text()?
                .map(str::to_owned),
            zones: zones(&status.get("subnets"))?,
            reservations: reservations(&status.get("capacityReservations"))?,
            ..Self::default()
        })
    }
}

fn choice<'a>(field: &Field<'a>, allowed: &[&str]) -> Result<Option<&'a str>, CatalogError> {
    match field.text()? {
        Some(text) if !allowed.contains(&text) => {
            Err(field.refuse(format!("must be one of: {}", allowed.join(", "))))
        }
        other => Ok(other),
    }
}

/// `amiFamily`, else the family of the alias. A class with neither is refused by the API.
fn ami_family(spec: &Field<'_>) -> Result<AmiFamily, CatalogError> {
    let field = spec.get("amiFamily");
    if let Some(name) = field.text()? {
        let known = AmiFamily::from_name(name).filter(|_| name.starts_with(char::is_uppercase));
        return known.ok_or_else(|| {
            field.refuse(
                "must be one of: AL2, AL2023, Bottlerocket, Custom, Windows2019, Windows2022, \
                 Windows2025",
            )
        });
    }
    for term in spec.get("amiSelectorTerms").list()? {
        let alias = term.get("alias");
        let Some(text) = alias.text()? else { continue };
        let (family, _) = text.split_once('@').unwrap_or((text, ""));
        return AmiFamily::from_name(family)
            .filter(|_| family.starts_with(char::is_lowercase))
            .ok_or_else(|| {
                alias.refuse(
                    "must be family@version with one of: al2, al2023, bottlerocket, windows2019, \
                     windows2022, windows2025",
                )
            });
    }
    Ok(AmiFamily::default())
}

fn kubelet(field: &Field<'_>) -> Result<KubeletSettings, CatalogError> {
    let eviction = field.get("evictionHard");
    let max_pods = field.get("maxPods");
    if max_pods.text().is_ok_and(|text| text.is_some()) {
        return Err(max_pods.refuse("is an expression; only a number is supported"));
    }
    Ok(KubeletSettings {
        max_pods: max_pods.count()?,
        pods_per_core: field.get("podsPerCore").count()?.filter(|n| *n > 0),
        kube_reserved: reserved(&field.get("kubeReserved"))?,
        system_reserved: reserved(&field.get("systemReserved"))?,
        eviction_memory: threshold(&eviction.get("memory.available"), "memory")?,
        eviction_disk: threshold(&eviction.get("nodefs.available"), "ephemeral-storage")?,
    })
}

fn reserved(field: &Field<'_>) -> Result<Reserved, CatalogError> {
    Ok(Reserved {
        cpu_milli: field.get("cpu").amount("cpu", Rounding::Up)?,
        memory_bytes: field.get("memory").amount("memory", Rounding::Up)?,
        disk_bytes: field.get("ephemeral-storage").amount("ephemeral-storage", Rounding::Up)?,
    })
}

fn threshold(field: &Field<'_>, resource: &str) -> Result<Option<Eviction>, CatalogError> {
    if let Ok(Some(text)) = field.text()
        && let Some(percent) = text.strip_suffix('%')
    {
        return match percent.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Some(Eviction::Percent(percent))),
            _ => Err(field.refuse("must be a percentage from 0% to 100%")),
        };
    }
    Ok(field.amount(resource, Rounding::Up)?.map(Eviction::Bytes))
}

/// The root volume, else the family's own device, else (Custom) the last mapping.
fn disk_bytes(mappings: &Field<'_>, family: AmiFamily) -> Result<i64, CatalogError> {
    let (mut root, mut own, mut last) = (None, None, None);
    for mapping in mappings.list()? {
        let size = mapping.get("ebs").get("volumeSize");
        let size = size.amount("ephemeral-storage", Rounding::Down)?;
        if mapping.get("rootVolume").flag()? == Some(true) && root.is_none() {
            root = size;
        }
        let device = mapping.get("deviceName").text()?;
        if device.is_some() && device == family.ephemeral_device() && own.is_none() {
            own = size;
        }
        last = size;
    }
    let chosen = root.or(if family == AmiFamily::Custom { last } else { own });
    Ok(chosen.unwrap_or(family.default_disk_bytes()))
}

fn network_interfaces(field: &Field<'_>) -> Result<Vec<NetworkInterface>, CatalogError> {
    let read = |entry: &Field<'_>| {
        let kind = choice(&entry.get("interfaceType"), &["interface", "efa-only"])?;
        Ok(NetworkInterface {
            card: entry.get("networkCardIndex").count()?.unwrap_or(0),
            device: entry.get("deviceIndex").count()?.unwrap_or(0),
            is_efa_only: kind == Some("efa-only"),
        })
    };
    field.list()?.iter().map(read).collect()
}

fn zones(subnets: &Field<'_>) -> Result<Option<Vec<SubnetZone>>, CatalogError> {
    let mut zones: Vec<SubnetZone> = Vec::new();
    for subnet in subnets.list()? {
        let field = subnet.get("zone");
        let Some(zone) = field.text()? else {
            return Err(field.refuse("must name the zone of the subnet"));
        };
        let zone_id = subnet.get("zoneID").text()?.filter(|id| !id.is_empty());
        if zones.iter().all(|z| z.zone != zone) {
            zones.push(SubnetZone { zone: zone.to_owned(), zone_id: zone_id.map(str::to_owned) });
        }
    }
    Ok((!zones.is_empty()).then_some(zones))
}

fn reservations(field: &Field<'_>) -> Result<Vec<Reservation>, CatalogError> {
    let need = |field: Field<'_>| match field.text()? {
        Some(text) => Ok(text.to_owned()),
        None => Err(field.refuse("must be set")),
    };
    let read = |entry: &Field<'_>| {
        let kind = choice(&entry.get("reservationType"), &["default", "capacity-block"])?;
        let state = choice(&entry.get("state"), &["active", "expiring"])?;
        Ok(Reservation {
            id: need(entry.get("id"))?,
            instance_type: need(entry.get("instanceType"))?,
            zone: need(entry.get("availabilityZone"))?,
            kind: kind.unwrap_or("default").to_owned(),
            is_interruptible: entry.get("interruptible").flag()?.unwrap_or(false),
            is_expiring: state == Some("expiring"),
            left: 0,
        })
    };
    let mut all: Vec<Reservation> = field.list()?.iter().map(read).collect::<Result<_, _>>()?;
    all.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(all)
}
