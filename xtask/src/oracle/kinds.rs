//! The kinds of reason why a pod stays unplaced, in one table for both sides: Karpenter's
//! error texts on the left, our `because[].code` on the right.

/// A kind of reason. Its name is what reports show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A kind of the table.
    Known(&'static str),
    /// A text or a code that the table lacks. It equals only itself.
    Unknown(String),
}

impl Kind {
    /// The name that reports show.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Unknown(text) => text,
        }
    }
}

/// One kind: its name, how Karpenter's text of it begins, and our codes for it.
struct Row {
    kind: &'static str,
    begins: &'static [&'static str],
    codes: &'static [&'static str],
}

const fn row(
    kind: &'static str,
    begins: &'static [&'static str],
    codes: &'static [&'static str],
) -> Row {
    Row { kind, begins, codes }
}

/// First match wins. Which topology rule an upstream error names is random (it iterates a
/// map), so all of them are one kind. A tightened requirement that nothing meets shows as a
/// bare `key …` there, and as a conflict of topology rules here.
const TABLE: &[Row] = &[
    row("validation", &["ignored: "], VALIDATION_CODES),
    row("no pools", &["no dynamic nodepools found"], &["NoPools"]),
    row(
        "pools without types",
        &["nodepool requirements filtered out all available instance types"],
        &["NoTypesInPools"],
    ),
    row("taint", &["did not tolerate taint"], &["Taint"]),
    row("requirement", &["incompatible requirements"], &["Requirement", "UnknownLabel"]),
    row("volume", &["incompatible volume requirements"], &["Volume"]),
    row("volume limit", &["checking volume usage", "would exceed volume limit"], &["VolumeLimit"]),
    row(
        "topology",
        &["unsatisfiable topology constraint", "key ", "label "],
        &["Spread", "Affinity", "AntiAffinity", "TopologyConflict"],
    ),
    row("host port", &["checking host port usage", "pod hostport conflicts"], &["HostPort"]),
    row("node resources", &["exceeds node resources"], &["NodeResources"]),
    row(
        "min values",
        &["minValues requirement is not met", "pod didn’t schedule because NodePool couldn’t meet"],
        &["MinValues"],
    ),
    row(
        "types: nothing fits",
        &[
            "no instance type met the scheduling requirements or had enough resources or had a required offering",
        ],
        &["NothingFits"],
    ),
    row(
        "types: labels and size",
        &["no instance type met the scheduling requirements or had enough resources,"],
        &["LabelsAndSize"],
    ),
    row(
        "types: labels and offering",
        &["no instance type met the scheduling requirements or had a required offering,"],
        &["LabelsAndOffering"],
    ),
    row(
        "types: size and offering",
        &["no instance type had enough resources or had a required offering,"],
        &["SizeAndOffering"],
    ),
    row("types: labels", &["no instance type met all requirements,"], &["Labels"]),
    row("types: size", &["no instance type has enough resources,"], &["Size"]),
    row("types: offering", &["no instance type has the required offering,"], &["Offering"]),
    row(
        "types: fitting not offered",
        &["no instance type which met the scheduling requirements and had enough resources,"],
        &["FittingNotOffered"],
    ),
    row(
        "types: offered not fitting",
        &["no instance type which had enough resources and the required offering"],
        &["OfferedNotFitting"],
    ),
    row(
        "types: offered too small",
        &["no instance type which met the scheduling requirements and the required offering"],
        &["OfferedTooSmall"],
    ),
    row(
        "types: none passes all",
        &["no instance type met the requirements/resources/offering tuple"],
        &["NoTypePassesAll"],
    ),
    // One kind in the specification: a pool whose node limit was exceeded before the pass is
    // refused there by its types, here by its nodes.
    row(
        "limit",
        &["all available instance types exceed limits", "node limits have been exhausted"],
        &["Limit", "NodeLimit"],
    ),
    row(
        "reserved",
        &[
            "one or more instance types with compatible reserved offerings",
            "satisfying updated nodeclaim constraints would remove all compatible reserved",
        ],
        &["ReservationTaken", "ReservationLost"],
    ),
    row("device claims", &["pod has Dynamic Resource Allocation requirements"], &["DeviceClaims"]),
    row("not considered", &["not considered"], &["NotConsidered"]),
];

/// Codes of pods that are refused before the simulation.
const VALIDATION_CODES: &[&str] = &[
    "NotForManagedNodes",
    "RestrictedLabel",
    "InvalidRequirement",
    "MatchFieldsNotSupported",
    "ClaimNotFound",
    "ClaimBeingDeleted",
    "ClaimLost",
    "ClaimNotBoundYet",
    "VolumeNotFound",
    "VolumeBeingDeleted",
    "NoStorageClass",
    "StorageClassNotFound",
];

/// Kinds of one of Karpenter's error texts: one for each cause that it joins with `; `.
pub fn of_text(text: &str) -> Vec<Kind> {
    if text.starts_with("ignored: ") {
        return vec![Kind::Known("validation")];
    }
    let mut kinds = Vec::new();
    let mut lists_keys = false;
    for cause in text.split("; ") {
        // Several keys of one incompatibility are joined like causes; only the first of them
        // says what it is about.
        let is_bare = cause.starts_with("key ") || cause.starts_with("label ");
        if is_bare && lists_keys {
            continue;
        }
        lists_keys = cause.starts_with("incompatible");
        kinds.push(of_cause(cause));
    }
    kinds
}

fn of_cause(cause: &str) -> Kind {
    let hit = TABLE.iter().find(|r| r.begins.iter().any(|b| cause.starts_with(b)));
    hit.map_or_else(
        || Kind::Unknown(format!("text: {}", cause.chars().take(60).collect::<String>())),
        |r| Kind::Known(r.kind),
    )
}

/// Kind of one of our reason codes; upper and lower case, `-` and `_` do not matter.
pub fn of_code(code: &str) -> Kind {
    let plain = |s: &str| s.replace(['-', '_'], "").to_lowercase();
    let want = plain(code);
    let hit = TABLE.iter().find(|r| r.codes.iter().any(|c| plain(c) == want));
    hit.map_or_else(|| Kind::Unknown(format!("code: {code}")), |r| Kind::Known(r.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        of_text(text).iter().map(|k| k.name().to_owned()).collect()
    }

    #[test]
    fn joined_causes_are_told_apart() {
        let text = "did not tolerate taint (taint=dedicated=batch:NoSchedule); \
                    incompatible requirements, label \"team\" does not have known values";
        assert_eq!(names(text), ["taint", "requirement"]);
    }

    #[test]
    fn the_type_filter_has_eight_kinds() {
        let cases = [
            (
                "no instance type met the scheduling requirements or had enough resources or had a required offering, requirements=a In [b]",
                "types: nothing fits",
            ),
            (
                "no instance type met the scheduling requirements or had enough resources, requirements=",
                "types: labels and size",
            ),
            (
                "no instance type met the scheduling requirements or had a required offering, requirements=",
                "types: labels and offering",
            ),
            (
                "no instance type had enough resources or had a required offering, requirements=",
                "types: size and offering",
            ),
            ("no instance type met all requirements, requirements=", "types: labels"),
            ("no instance type has enough resources, requirements=", "types: size"),
            ("no instance type has the required offering, requirements=", "types: offering"),
            (
                "no instance type which met the scheduling requirements and had enough resources, had a required offering",
                "types: fitting not offered",
            ),
            (
                "no instance type which had enough resources and the required offering met",
                "types: offered not fitting",
            ),
            (
                "no instance type which met the scheduling requirements and the required offering had",
                "types: offered too small",
            ),
            (
                "no instance type met the requirements/resources/offering tuple, requirements=",
                "types: none passes all",
            ),
        ];
        for (text, kind) in cases {
            assert_eq!(names(text), [kind]);
        }
    }

    #[test]
    fn the_rest_of_the_texts() {
        let cases = [
            ("ignored: getting persistent volume claim, x \"a; b\" not found", "validation"),
            (
                "unsatisfiable topology constraint for pod affinity, key=z (counts = a: 0, b: 0",
                "topology",
            ),
            ("key topology.kubernetes.io/zone, z In [] not in z In [a]", "topology"),
            ("minValues requirement is not met for label(s) (label(s)=[x])", "min values"),
            ("node limits have been exhausted for nodepool (NodePool=default)", "limit"),
            ("all available instance types exceed limits for nodepool (NodePool=p)", "limit"),
            (
                "one or more instance types with compatible reserved offerings are available, but could not be reserved",
                "reserved",
            ),
        ];
        for (text, kind) in cases {
            assert_eq!(names(text), [kind]);
        }
        assert!(matches!(&of_text("something new")[..], [Kind::Unknown(_)]));
    }

    #[test]
    fn codes_meet_texts_in_the_same_kind() {
        assert_eq!(of_code("unknownLabel"), of_cause("incompatible requirements, label \"x\""));
        assert_eq!(
            of_code("anti-affinity"),
            of_cause("unsatisfiable topology constraint for pod anti-affinity")
        );
        assert_eq!(of_code("claimNotFound"), Kind::Known("validation"));
        assert_ne!(of_code("Labels"), of_code("Size"));
        assert_eq!(of_code("Newish"), Kind::Unknown("code: Newish".to_owned()));
    }

    #[test]
    fn no_code_and_no_beginning_stands_twice() {
        let mut codes: Vec<&str> = TABLE.iter().flat_map(|r| r.codes).copied().collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
