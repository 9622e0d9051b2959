//! Inputs of known difficulty: nine families of pods on the machines of one region, each in
//! several sizes, as Snapshots. Decides how rows of numbers become Kubernetes objects.
//!
//! The rows are in `data/study`, one file for each family, with their source at the head. The
//! same name gives the same bytes.

pub mod growing;
pub mod machines;
pub mod objects;

use serde_json::{Value, json};

pub use machines::Selling;
pub use objects::Form;

/// A family of pods and where they are bought.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    rows: &'static str,
    /// Which machine types, and how they are sold.
    pub selling: Selling,
}

macro_rules! family {
    ($name:literal, $selling:expr) => {
        Family {
            name: $name,
            rows: include_str!(concat!("../data/study/", $name, ".csv")),
            selling: $selling,
        }
    };
}

/// Every family.
pub const FAMILIES: [Family; 9] = [
    family!("kbench", Selling::Plain),
    family!("enterprise", Selling::Plain),
    family!("openball", Selling::Plain),
    family!("openbcpu", Selling::Plain),
    family!("pow2", Selling::Plain),
    family!("dlrm", Selling::Plain),
    family!("openbgpu", Selling::Gpu),
    family!("kzonal", Selling::ZonalSpot),
    family!("kdiverse", Selling::Plain),
];

/// Pods of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Requested milli-cpu.
    pub cpu_milli: u32,
    /// Requested MiB of memory.
    pub memory_mib: u32,
    /// Requested GPUs.
    pub gpu: u32,
    /// The zone they are pinned to.
    pub zone: Option<u32>,
    /// Pods of the same group share no host.
    pub group: Option<u32>,
    /// How many there are.
    pub count: u32,
}

/// One family in one size.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// What kind of pods.
    pub family: Family,
    /// How many.
    pub pods: u32,
}

/// Every input, by family and size.
pub fn inputs() -> Vec<Input> {
    let of = |family: Family| family.sizes().into_iter().map(move |pods| Input { family, pods });
    FAMILIES.into_iter().flat_map(of).collect()
}

/// The input of a name such as `kbench-1000`.
pub fn find(name: &str) -> Option<Input> {
    inputs().into_iter().find(|input| input.name() == name)
}

/// Rows of a table: fields by comma, `#` before what is for people.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(',').collect())
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

const BOUNDS: &str = include_str!("../data/study/bounds.csv");

/// Columns before those of the sizes.
const SHAPE: usize = 5;

impl Family {
    /// The sizes that its table has.
    pub fn sizes(&self) -> Vec<u32> {
        let head = rows(self.rows).next().unwrap_or_default();
        head.iter().skip(SHAPE).map(|size| number(size)).collect()
    }
}

impl Input {
    /// `family-pods`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.family.name, self.pods)
    }

    /// Its pods.
    pub fn classes(&self) -> Vec<Class> {
        let sizes = self.family.sizes();
        let column = sizes.iter().position(|size| *size == self.pods);
        let column = SHAPE + column.unwrap_or_else(|| panic!("no size {}", self.pods));
        let optional = |text: &str| (!text.is_empty()).then(|| number(text));
        let class = |row: Vec<&str>| Class {
            cpu_milli: number(row[0]),
            memory_mib: number(row[1]),
            gpu: number(row[2]),
            zone: optional(row[3]),
            group: optional(row[4]),
            count: number(row[column]),
        };
        rows(self.family.rows).skip(1).map(class).filter(|class| class.count > 0).collect()
    }

    /// USD per hour that no plan can undercut, as the study proved; two decimals.
    pub fn proven_usd(&self) -> f64 {
        let pods = self.pods.to_string();
        let own = rows(BOUNDS).find(|row| row[0] == self.family.name && row[1] == pods);
        let text = own.unwrap_or_else(|| panic!("no bound of {}", self.name()))[2];
        text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
    }

    /// The whole input.
    pub fn snapshot(&self, form: Form) -> Value {
        snapshot(&self.classes(), machines::types(self.family.selling), form)
    }
}

/// Pods, one open pool, what runs on every node, and machine types.
pub fn snapshot(classes: &[Class], types: Vec<Value>, form: Form) -> Value {
    let (field, rows) = objects::workloads(classes, form);
    json!({
        "nodePools": [objects::pool()],
        "daemonSets": objects::daemon_sets(),
        "instanceTypes": types,
        field: rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_has_as_many_pods_as_its_name_says() {
        let mut seen = 0;
        for input in inputs() {
            let pods: u32 = input.classes().iter().map(|class| class.count).sum();
            assert_eq!(pods, input.pods, "{}", input.name());
            assert_eq!(find(&input.name()).map(|found| found.pods), Some(pods));
            seen += 1;
        }
        assert_eq!(seen, 42);
    }

    #[test]
    fn classes_are_as_many_as_in_the_study() {
        let classes = |name: &str| find(name).map(|input| input.classes().len());
        assert_eq!(classes("kbench-1000"), Some(30));
        assert_eq!(classes("enterprise-50000"), Some(195));
        assert_eq!(classes("openball-10000"), Some(103));
        assert_eq!(classes("openbcpu-1000"), Some(25));
        assert_eq!(classes("openbgpu-1000"), Some(68));
        assert_eq!(classes("dlrm-10000"), Some(24));
        assert_eq!(classes("pow2-500"), Some(12));
        assert_eq!(classes("kzonal-1000"), Some(119));
        assert_eq!(classes("kdiverse-10000"), Some(270));
        assert_eq!(classes("kbench-2"), None);
    }

    /// FNV-1a over the bytes: enough to tell that something changed.
    fn digest(text: &str) -> u64 {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
    }

    #[test]
    fn the_same_name_gives_the_same_bytes() {
        let text = |name: &str| {
            let input = find(name).unwrap_or_else(|| panic!("{name}"));
            input.snapshot(Form::Workloads).to_string()
        };
        let digests = ["kbench-1000", "kzonal-500", "kdiverse-500", "openbgpu-500"]
            .map(|name| format!("{:016x}", digest(&text(name))));
        let known =
            ["0a2b30b4c7eb34c4", "1271959dd90dfd81", "cbdd966fd1a6261d", "4361f26651bafcdf"];
        assert_eq!(digests, known);
    }
}
