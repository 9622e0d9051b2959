//! Labels and allocatable of every type on the provider's reference page.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_planner::catalog::Region;
use dunnage_planner::catalog::aws::{self, AwsNodeSettings};
use dunnage_planner::instance_type::InstanceType;
use dunnage_planner::quantity::format_resource;

use crate::{allocatable, label};

const TABLE: &str = include_str!("../data/aws_reference.csv");

/// On the page but no longer in EC2's own list of types: there are no facts for them.
const WITHOUT_FACTS: [&str; 5] =
    ["g4ad.16xlarge", "g4ad.2xlarge", "g4ad.4xlarge", "g4ad.8xlarge", "g4ad.xlarge"];

/// EC2 lowered the interfaces of their default card (15 to 8, 24 to 12) between the page and
/// the facts; pods follow, and the memory reserved for them.
const FEWER_INTERFACES: [&str; 4] =
    ["i7ie.48xlarge", "i7ie.metal-48xl", "i8ge.48xlarge", "i8ge.metal-48xl"];

/// Families for which EC2 states another clock speed now than when the page was made.
const OTHER_CLOCK: [&str; 6] = ["c9g", "c9gd", "i7i", "i7ie", "m9g", "m9gd"];

/// Types whose bandwidth EC2 names in figures now, and named in words when the page was made.
const OTHER_BANDWIDTH: [&str; 3] = ["g7.2xlarge", "g7.4xlarge", "g7.8xlarge"];

/// The table of branch interfaces knows these types; the page was made before it did.
fn has_branches_since(name: &str) -> bool {
    const FAMILIES: [&str; 3] = ["c9g", "c9gd", "hpc7g"];
    const METAL_OF: [&str; 15] = [
        "c8gb", "c8gn", "c8ib", "m8gb", "m8gn", "m8ib", "m8idb", "m8idn", "m8in", "r8gb", "r8gn",
        "r8ib", "r8idb", "r8idn", "r8in",
    ];
    let (family, size) = name.split_once('.').expect("family.size");
    FAMILIES.contains(&family)
        || (METAL_OF.contains(&family) && size.starts_with("metal"))
        || name == "i4i.large"
}

fn is_of(families: &[&str], name: &str) -> bool {
    families.contains(&name.split_once('.').expect("family.size").0)
}

fn shown(one: &InstanceType, column: &str) -> String {
    if let Some(resource) = column.strip_prefix("allocatable:") {
        let amount = allocatable(one, resource);
        return if amount == 0 { String::new() } else { format_resource(resource, amount) };
    }
    let key = if column.contains('/') {
        column.to_owned()
    } else {
        format!("karpenter.k8s.aws/{column}")
    };
    label(one, &key).map_or(String::new(), |values| values.join("+"))
}

#[test]
fn labels_and_allocatable_equal_the_reference_page() {
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert_eq!((columns[0], columns.len()), ("type", 32));
    let settings = AwsNodeSettings::default();
    let mut without_facts = BTreeSet::new();
    let mut differing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (mut compared, mut cells) = (BTreeSet::new(), 0);
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        assert_eq!(row.len(), columns.len(), "{line}");
        let one = aws::instance_type(Region::UsEast1, row[0], &settings).expect("valid settings");
        let Some(one) = one else {
            without_facts.insert(row[0]);
            continue;
        };
        compared.insert(row[0]);
        for (column, want) in columns.iter().zip(&row).skip(1) {
            cells += 1;
            if shown(&one, column) != *want {
                differing.entry(column).or_default().insert(row[0]);
            }
        }
        assert_eq!(shown(&one, "kubernetes.io/os"), "linux", "{}", row[0]);
        assert_eq!(shown(&one, "allocatable:ephemeral-storage"), "17Gi", "{}", row[0]);
        assert_eq!(shown(&one, "node.kubernetes.io/instance-type"), row[0]);
    }
    assert_eq!(compared.len(), 1358);
    assert!(cells > 40_000, "{cells}");
    assert_eq!(without_facts, BTreeSet::from(WITHOUT_FACTS));
    let those = |is: &dyn Fn(&str) -> bool| -> BTreeSet<&str> {
        compared.iter().copied().filter(|name| is(name)).collect()
    };
    let clocks = those(&|name| is_of(&OTHER_CLOCK, name));
    let branches = those(&has_branches_since);
    assert_eq!((clocks.len(), branches.len()), (66, 56));
    let want = BTreeMap::from([
        ("allocatable:memory", BTreeSet::from(FEWER_INTERFACES)),
        ("allocatable:pods", BTreeSet::from(FEWER_INTERFACES)),
        ("allocatable:vpc.amazonaws.com/pod-eni", branches),
        ("instance-cpu-sustained-clock-speed-mhz", clocks),
        ("instance-network-bandwidth", BTreeSet::from(OTHER_BANDWIDTH)),
    ]);
    assert_eq!(differing, want);
}
