//! Images of EC2 nodes.

use dunnage_planner::lint::Severity;
use dunnage_planner::lint::Severity::{Error, Info, Warning};
use serde_json::{Value, json};

use crate::world::*;

const TERMS: &str = "/nodeClasses/0/spec/amiSelectorTerms";
const FAMILY: &str = "/nodeClasses/0/spec/amiFamily";
const STATUS: &str = "/nodeClasses/0/status";

fn class(family: Value, terms: Value) -> Value {
    with(with(clean(), FAMILY, family), TERMS, terms)
}

fn want<'w>(code: &'w str, severity: Severity, says: &'w str, fix: &'w str) -> Want<'w> {
    Want { code, severity, object: "EC2NodeClass default", says, fix }
}

const AL2_PATH: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2-arm64/recommended/image_id";
const AL2023_PATH: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id";

#[test]
fn an_image_of_another_family_never_joins() {
    let told = want(
        "ImageFamilyMismatch",
        Error,
        "`spec.amiFamily` is AL2023 and `spec.amiSelectorTerms[0].ssmParameter: \
         /aws/service/eks/optimized-ami/1.36/amazon-linux-2-arm64/recommended/image_id` is an \
         image of AL2",
        "set `spec.amiSelectorTerms` to one term with `alias`",
    );
    let al2023 = json!("AL2023");
    let bad = class(al2023.clone(), json!([{ "ssmParameter": AL2_PATH }]));
    found_and_fixed(&told, &bad, &class(al2023.clone(), json!([{ "ssmParameter": AL2023_PATH }])));
    found_and_fixed(&told, &bad, &class(json!("Custom"), json!([{ "ssmParameter": AL2_PATH }])));
}

/// An id tells its image by the status of the class.
#[test]
fn the_name_of_an_id_tells_its_family() {
    let terms = json!([{ "id": "ami-1" }]);
    let named = |name: &str| {
        let input = class(json!("AL2023"), terms.clone());
        with(
            input,
            STATUS,
            json!({ "amis": [{ "id": "ami-1", "name": name, "requirements": [] }] }),
        )
    };
    let told = want(
        "ImageFamilyMismatch",
        Error,
        "`status.amis[ami-1].name: amazon-eks-node-1.32-v20261101` is an image of AL2",
        "or `spec.amiFamily` to `AL2`",
    );
    let good = named("amazon-eks-node-al2023-x86_64-standard-1.36-v20261101");
    found_and_fixed(&told, &named("amazon-eks-node-1.32-v20261101"), &good);
    assert_eq!(report(&good).findings, []);
    let bottle = named("bottlerocket-aws-k8s-1.36-x86_64-v1.50.0-abc");
    assert!(report(&bottle).findings.iter().any(|f| f.code == told.code));
}

#[test]
fn al2_has_no_image_from_1_33_on() {
    let told = want(
        "ImageUnsupported",
        Error,
        "asks for AL2 with Kubernetes 1.36: AL2 has images up to 1.32 only",
        "set `spec.amiFamily` to `AL2023` and `spec.amiSelectorTerms` to one term with `alias`",
    );
    let bad = class(json!("AL2"), json!([{ "ssmParameter": AL2_PATH }]));
    let good = class(json!("AL2023"), json!([{ "alias": "al2023@v20261115" }]));
    found_and_fixed(&told, &bad, &good);
    // The seed's pair: AL2 with 1.36, and a class of AL2023.
    let both = class(json!("AL2023"), json!([{ "ssmParameter": AL2_PATH }]));
    found_and_fixed(&told, &both, &good);
    // The version of a node counts when the image does not tell one.
    let node = |version: &str| {
        json!([{ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" }, "status": {
            "capacity": { "cpu": "1" }, "nodeInfo": { "kubeletVersion": version,
                "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "",
                "kernelVersion": "", "kubeProxyVersion": "", "machineID": "",
                "operatingSystem": "linux", "osImage": "", "systemUUID": "" } } }])
    };
    let alias = class(Value::Null, json!([{ "alias": "al2@v20251115" }]));
    let on = |version: &str| with(alias.clone(), "/nodes", node(version));
    let says = want(
        "ImageUnsupported",
        Error,
        "`spec.amiSelectorTerms[0].alias: al2@v20251115` asks for AL2 with Kubernetes 1.33",
        "AL2023",
    );
    found_and_fixed(&says, &on("v1.33.1-eks-1"), &on("v1.32.9-eks-1"));
}

#[test]
fn al2_with_a_version_that_nobody_tells_is_a_warning() {
    let told = want(
        "ImageEndsSoon",
        Warning,
        "`spec.amiFamily: AL2` asks for AL2, which has no images for Kubernetes 1.33 and later",
        "set `spec.amiFamily` to `AL2023`",
    );
    let bad = class(json!("AL2"), json!([{ "id": "ami-1" }]));
    found_and_fixed(&told, &bad, &class(json!("AL2023"), json!([{ "id": "ami-1" }])));
}

#[test]
fn an_image_that_moves_is_told_with_the_version_to_pin() {
    let latest = class(Value::Null, json!([{ "alias": "al2023@latest" }]));
    let status = json!({ "amis": [{ "id": "ami-7", "requirements": [],
        "name": "amazon-eks-node-al2023-x86_64-standard-1.36-v20261120" }] });
    let bad = with(latest.clone(), STATUS, status.clone());
    let good =
        with(class(Value::Null, json!([{ "alias": "al2023@v20261120" }])), STATUS, status.clone());
    let told = |says, fix| want("UnpinnedImage", Warning, says, fix);
    let says = "`spec.amiSelectorTerms[0].alias: al2023@latest` names no single image";
    let fix = "set `spec.amiSelectorTerms[0].alias` to `al2023@v20261120`";
    found_and_fixed(&told(says, fix), &bad, &good);
    let form = "to a version that you tested, written `al2023@vYYYYMMDD`";
    found_and_fixed(&told(says, form), &latest, &good);
    for (terms, says) in [
        (json!([{ "tags": { "env": "prod" } }]), "`spec.amiSelectorTerms[0].tags: env=prod`"),
        (json!([{ "name": "my-image-*" }]), "`spec.amiSelectorTerms[0].name: my-image-*`"),
        (json!([{ "ssmParameter": AL2023_PATH }]), "`spec.amiSelectorTerms[0].ssmParameter:"),
    ] {
        let bad = with(class(json!("AL2023"), terms), STATUS, status.clone());
        let good = class(json!("AL2023"), json!([{ "id": "ami-7" }]));
        found_and_fixed(
            &told(says, "a term with `id` for each image that you tested: `ami-7`"),
            &bad,
            &good,
        );
    }
    let named = class(json!("AL2023"), json!([{ "name": "my-image-7", "owner": "self" }]));
    assert_eq!(report(&named).findings, []);
}

#[test]
fn an_image_older_than_a_quarter_is_told_with_its_age() {
    let told = want(
        "OldImage",
        Info,
        "`spec.amiSelectorTerms[0].alias: al2023@v20260801` is 122 days old",
        "test a newer image in staging, then set `spec.amiSelectorTerms` to it",
    );
    let alias = |alias: &str| class(Value::Null, json!([{ "alias": alias }]));
    found_and_fixed(&told, &alias("al2023@v20260801"), &alias("al2023@v20260902"));
}

#[test]
fn an_image_that_no_pool_launches_is_told() {
    let told = want(
        "ImageWithoutPool",
        Info,
        "amazon-linux-2023/arm64/standard/recommended/image_id` is an image for arm64, which no \
         NodePool of this class launches (NodePool p)",
        "allow `arm64` for `kubernetes.io/arch` in `spec.template.spec.requirements` of NodePool p",
    );
    let paths = json!([{ "ssmParameter": AL2023_PATH },
        { "ssmParameter": AL2023_PATH.replace("arm64", "x86_64") }]);
    let input = class(json!("AL2023"), paths);
    let on = |arches: Value| {
        let asked = json!({ "key": "kubernetes.io/arch", "operator": "In", "values": arches });
        with(input.clone(), &format!("{SPEC}/requirements/-"), asked)
    };
    found_and_fixed(&told, &on(json!(["amd64"])), &on(json!(["amd64", "arm64"])));
    let one = class(json!("AL2023"), json!([{ "id": "ami-1" }, { "id": "ami-2" }]));
    let named = json!({ "amis": [
        { "id": "ami-1", "name": "amazon-eks-node-1.32-v20261101", "requirements": [] },
        { "id": "ami-2", "name": "amazon-eks-arm64-node-1.32-v20261101", "requirements": [] }] });
    let bad = with(
        with(one, STATUS, named),
        &format!("{SPEC}/requirements/-"),
        json!({ "key": "kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"] }),
    );
    let found = report(&bad).findings;
    let own: Vec<_> = found.iter().filter(|f| f.code == told.code).collect();
    assert_eq!(own.len(), 1, "{found:#?}");
    assert!(own[0].message.contains("status.amis[ami-2].name"), "{own:#?}");
}
