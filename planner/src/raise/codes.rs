//! Every reason code with its meaning and its fix: the one table behind docs/reasons.md.

use dunnage_engine_core::decision::ReasonCode;

/// What a code means and what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeDoc {
    /// The code as it stands in answers.
    pub code: &'static str,
    /// When it is given.
    pub meaning: &'static str,
    /// What to change.
    pub fix: &'static str,
}

const fn doc(code: &'static str, meaning: &'static str, fix: &'static str) -> CodeDoc {
    CodeDoc { code, meaning, fix }
}

/// Codes of pods that fit nowhere.
pub const CODES: &[CodeDoc] = &[
    doc(
        "noPools",
        "No NodePool can open nodes: there is none, or each is static, being deleted or not ready.",
        "Add a NodePool, or make one ready.",
    ),
    doc(
        "noTypesInPools",
        "The requirements of every NodePool leave no instance type.",
        "Widen the requirements of a NodePool.",
    ),
    doc(
        "taint",
        "The pool taints its nodes and the pod does not tolerate it.",
        "Add the toleration to the pod, or use a pool without the taint.",
    ),
    doc(
        "requirement",
        "The pod and the pool ask for different values of one label.",
        "Let the pool allow the value, or drop it from the pod's node selector or affinity.",
    ),
    doc(
        "unknownLabel",
        "The pod asks for a label that the pool's nodes will not have.",
        "Add the label to the pool's template or requirements, or drop it from the pod.",
    ),
    doc(
        "volume",
        "The pod's volume lives where the pool opens no node.",
        "Let the pool allow the volume's zone.",
    ),
    doc(
        "spread",
        "A topology spread leaves no domain.",
        "Raise maxSkew, lower minDomains, open further domains, or use ScheduleAnyway.",
    ),
    doc(
        "affinity",
        "No domain that the pod may use holds a pod that its affinity asks for.",
        "Place the other pods first, widen the affinity, or make it a preference.",
    ),
    doc(
        "antiAffinity",
        "Every domain that the pod may use holds a pod that an anti-affinity excludes.",
        "Open further domains, lower the replicas, or make the anti-affinity a preference.",
    ),
    doc(
        "topologyConflict",
        "Each topology rule can be met, but not all of them at once.",
        "Loosen one of the rules.",
    ),
    doc(
        "hostPort",
        "A DaemonSet takes the pod's host port on every type of the pool.",
        "Change the host port of the pod or of the DaemonSet.",
    ),
    doc(
        "minValues",
        "Too few instance types are left for the pool's minValues.",
        "Lower minValues, widen the pool, or set minValuesPolicy to BestEffort.",
    ),
    doc(
        "nothingFits",
        "No type has fitting labels, none is large enough and none can be bought.",
        "Widen the pool, and lower what the pod asks for.",
    ),
    doc(
        "labelsAndSize",
        "No type has fitting labels, and none is large enough.",
        "Widen the labels that the pod or the pool asks for, and lower the requests.",
    ),
    doc(
        "labelsAndOffering",
        "No type has fitting labels, and none can be bought there.",
        "Widen labels, zones and capacity types of the pod or the pool.",
    ),
    doc(
        "sizeAndOffering",
        "No type is large enough, and none can be bought there.",
        "Lower the requests, and widen zones and capacity types.",
    ),
    doc(
        "labels",
        "No type of the pool has the labels that pod and pool ask for together.",
        "Widen the label that the message names.",
    ),
    doc(
        "size",
        "No type of the pool is large enough for the pod and the DaemonSets.",
        "Lower the request, or allow larger types.",
    ),
    doc(
        "offering",
        "No type of the pool can be bought in the zones and capacity types that are left.",
        "Allow further zones or capacity types, or wait until the types are no longer sold out.",
    ),
    doc(
        "fittingNotOffered",
        "Types with fitting labels are large enough, but none of them can be bought there.",
        "Allow further zones, capacity types or types.",
    ),
    doc(
        "offeredNotFitting",
        "Types that are large enough can be bought, but none of them has fitting labels.",
        "Widen the labels that the pod or the pool asks for.",
    ),
    doc(
        "offeredTooSmall",
        "Types with fitting labels can be bought, but none of them is large enough.",
        "Lower the request, or allow larger types.",
    ),
    doc(
        "noTypePassesAll",
        "Each test is passed by some type, but no type passes all.",
        "Widen the test that the fewest types pass.",
    ),
    doc(
        "limit",
        "What is left of the pool's limits is less than the smallest fitting type.",
        "Raise the limit, or allow smaller types.",
    ),
    doc("nodeLimit", "The pool has as many nodes as its limit allows.", "Raise `limits.nodes`."),
    doc(
        "reservationTaken",
        "A capacity reservation fits, but no unit of it is left; the pod waits for the next pass.",
        "Enlarge the reservation, or allow on-demand or spot.",
    ),
    doc(
        "reservationLost",
        "The pod would make a node give up the reservation that it holds.",
        "Loosen what the pod asks for, or enlarge the reservation.",
    ),
    doc(
        "deviceClaims",
        "The pod claims devices through resource claims, which are not scheduled.",
        "Ask for the devices as extended resources, such as `nvidia.com/gpu`.",
    ),
];

/// Codes of `because` of a node to launch.
pub const LAUNCH_CODES: &[CodeDoc] = &[
    doc("poolChosen", "Which pool opens the node, and which pools were asked before.", ""),
    doc("preferenceGivenUp", "Pods that fit nowhere with all their preferences.", ""),
    doc("minValuesLowered", "minValues was lowered to what the types can offer.", ""),
    doc("reservationUsed", "The node is launched into a capacity reservation.", ""),
];

/// The code of an engine reason.
pub(crate) fn name(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::NoPools => "noPools",
        ReasonCode::NoTypesInPools => "noTypesInPools",
        ReasonCode::Taint => "taint",
        ReasonCode::Requirement => "requirement",
        ReasonCode::UnknownLabel => "unknownLabel",
        ReasonCode::Volume => "volume",
        ReasonCode::Spread => "spread",
        ReasonCode::Affinity => "affinity",
        ReasonCode::AntiAffinity => "antiAffinity",
        ReasonCode::TopologyConflict => "topologyConflict",
        ReasonCode::HostPort => "hostPort",
        ReasonCode::MinValues => "minValues",
        ReasonCode::NothingFits => "nothingFits",
        ReasonCode::LabelsAndSize => "labelsAndSize",
        ReasonCode::LabelsAndOffering => "labelsAndOffering",
        ReasonCode::SizeAndOffering => "sizeAndOffering",
        ReasonCode::Labels => "labels",
        ReasonCode::Size => "size",
        ReasonCode::Offering => "offering",
        ReasonCode::FittingNotOffered => "fittingNotOffered",
        ReasonCode::OfferedNotFitting => "offeredNotFitting",
        ReasonCode::OfferedTooSmall => "offeredTooSmall",
        ReasonCode::NoTypePassesAll => "noTypePassesAll",
        ReasonCode::Limit => "limit",
        ReasonCode::NodeLimit => "nodeLimit",
        ReasonCode::ReservationTaken => "reservationTaken",
        ReasonCode::ReservationLost => "reservationLost",
        ReasonCode::DeviceClaims => "deviceClaims",
        _ => "other",
    }
}
