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
        "quota",
        "A quota of the cloud account, or a limit of the settings over all pools, is used up.",
        "Raise the quota that the message names, or allow machines that it does not count.",
    ),
    doc(
        "reservationTaken",
        "A capacity reservation fits, but no unit of it is left; the pod waits for the next pass.",
        "Enlarge the reservation, or allow on-demand or spot.",
    ),
    doc(
        "reservationLost",
        "The pod would make a node give up the reservation that it holds. Such a node is passed by \
         for a fresh one, so no pod is left for this alone: the code is for programs that read \
         the engine's own answers.",
        "Loosen what the pod asks for, or enlarge the reservation.",
    ),
    doc(
        "deviceClaims",
        "The pod claims devices through resource claims, which are not scheduled.",
        "Ask for the devices as extended resources, such as `nvidia.com/gpu`.",
    ),
];

/// Codes of pods that are not given to the engine at all.
pub const REJECTED_CODES: &[CodeDoc] = &[
    doc(
        "notForManagedNodes",
        "The pod asks for nodes without the label `karpenter.sh/nodepool`.",
        "Drop that requirement, or wait for a node of your own.",
    ),
    doc(
        "restrictedLabel",
        "The pod asks for a label that no new node can be chosen by, such as a hostname.",
        "Drop the label from the pod's node selector or affinity.",
    ),
    doc(
        "invalidRequirement",
        "A node selector or required affinity term is malformed, or names no known value.",
        "Mend the operator, key or values that the message names.",
    ),
    doc(
        "matchFieldsNotSupported",
        "A required affinity term uses matchFields.",
        "Use matchExpressions.",
    ),
    doc("claimNotFound", "A volume claim of the pod does not exist.", "Create the claim."),
    doc(
        "claimBeingDeleted",
        "A volume claim of the pod is being deleted.",
        "Let the pod use another claim.",
    ),
    doc("claimLost", "A volume claim is bound to a volume that is gone.", "Create the claim anew."),
    doc(
        "claimNotBoundYet",
        "A volume claim is not bound, and its class binds without waiting for a pod.",
        "Wait for the volume controller, or use volumeBindingMode WaitForFirstConsumer.",
    ),
    doc(
        "volumeNotFound",
        "A volume claim names a volume that does not exist.",
        "Restore the volume, or create the claim anew.",
    ),
    doc("volumeBeingDeleted", "The volume of a claim is being deleted.", "Create the claim anew."),
    doc(
        "noStorageClass",
        "A volume claim is not bound and names no storage class.",
        "Name a storage class in the claim.",
    ),
    doc(
        "storageClassNotFound",
        "The storage class of a volume claim does not exist.",
        "Create the class, or name another.",
    ),
    doc(
        "tooManyVolumePlaces",
        "The pod's volumes allow more combinations of places than are considered.",
        "Bind the claims, or use fewer topologies.",
    ),
];

/// Codes of `because` of a node to launch.
pub const LAUNCH_CODES: &[CodeDoc] = &[
    doc(
        "poolChosen",
        "Which pool opens the node, and which pools were asked before.",
        "Change the weights of the pools for another order.",
    ),
    doc(
        "preferenceGivenUp",
        "Pods are here that fit nowhere with all their preferences.",
        "Make room for the preference, or drop it.",
    ),
    doc(
        "minValuesLowered",
        "minValues was lowered to what the types that fit can offer.",
        "Widen the pool, or set minValuesPolicy to Strict to refuse instead.",
    ),
    doc(
        "replicasLacking",
        "The pool has `replicas` and fewer nodes than that; the node holds no pods of the plan.",
        "Lower `replicas` to launch fewer.",
    ),
    doc(
        "reservationUsed",
        "The node is launched into a capacity reservation.",
        "Nothing: the reservation is paid for already.",
    ),
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
        ReasonCode::Quota => "quota",
        ReasonCode::ReservationTaken => "reservationTaken",
        ReasonCode::ReservationLost => "reservationLost",
        ReasonCode::DeviceClaims => "deviceClaims",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that this table is printed as.
    fn page() -> String {
        let mut out = String::from(
            "# Reasons\n\nEvery code that a plan gives, what it means and what helps. Messages in \
             answers carry the\nnumbers and names of the case at hand.\n",
        );
        for (title, table) in [
            ("Pods that fit nowhere (`unplaced[].because`)", CODES),
            ("Pods that are refused before placing (`unplaced[].because`)", REJECTED_CODES),
            ("Nodes to launch (`launch[].because`)", LAUNCH_CODES),
        ] {
            out.push_str(&format!("\n## {title}\n\n| code | meaning | fix |\n|---|---|---|\n"));
            for row in table {
                out.push_str(&format!("| `{}` | {} | {} |\n", row.code, row.meaning, row.fix));
            }
        }
        out
    }

    #[test]
    fn the_page_of_reasons_is_this_table() {
        assert_eq!(include_str!("../../../docs/reasons.md"), page());
    }

    #[test]
    fn every_code_stands_once() {
        let all = [CODES, REJECTED_CODES, LAUNCH_CODES].concat();
        let mut codes: Vec<&str> = all.iter().map(|row| row.code).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
        assert!(all.iter().all(|row| row.meaning.ends_with('.') && row.fix.ends_with('.')));
    }

    #[test]
    fn every_engine_code_is_in_the_table_by_its_own_name() {
        for row in CODES {
            let code: ReasonCode =
                serde_json::from_value(row.code.into()).expect("a code of the engine");
            assert_eq!(name(code), row.code);
        }
        assert_eq!(CODES.len(), 29, "one row for each code of the engine");
    }
}
