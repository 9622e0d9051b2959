//! Features that can be switched.

use serde::Serialize;

/// Features that can be switched, with Karpenter's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct FeatureGates {
    /// Capacity reservations are used.
    pub reserved_capacity: bool,
    /// Spot nodes may be replaced by cheaper spot nodes.
    pub spot_to_spot_consolidation: bool,
    /// Unhealthy nodes are replaced.
    pub node_repair: bool,
    /// NodeOverlays count.
    pub node_overlay: bool,
    /// Pools with replicas are filled.
    pub static_capacity: bool,
    /// CapacityBuffers count.
    pub capacity_buffer: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        Self {
            reserved_capacity: true,
            spot_to_spot_consolidation: false,
            node_repair: false,
            node_overlay: false,
            static_capacity: false,
            capacity_buffer: false,
        }
    }
}

impl FeatureGates {
    /// Names of the gates.
    pub const NAMES: [&'static str; 6] = [
        "ReservedCapacity",
        "SpotToSpotConsolidation",
        "NodeRepair",
        "NodeOverlay",
        "StaticCapacity",
        "CapacityBuffer",
    ];

    pub(super) fn gate(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "ReservedCapacity" => &mut self.reserved_capacity,
            "SpotToSpotConsolidation" => &mut self.spot_to_spot_consolidation,
            "NodeRepair" => &mut self.node_repair,
            "NodeOverlay" => &mut self.node_overlay,
            "StaticCapacity" => &mut self.static_capacity,
            "CapacityBuffer" => &mut self.capacity_buffer,
            _ => return None,
        })
    }
}
