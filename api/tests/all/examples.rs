//! The manifests of the EKS and the AKS tutorial are read and judged clean.

use dunnage_api::{AKSNodeClass, EC2NodeClass, Kind, NodePool, validate};
use serde_json::Value;

use crate::table::yaml;

const EKS_POOL: &str = r#"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: ["amd64"]
        - key: kubernetes.io/os
          operator: In
          values: ["linux"]
        - key: karpenter.sh/capacity-type
          operator: In
          values: ["on-demand"]
        - key: karpenter.k8s.aws/instance-category
          operator: In
          values: ["c", "m", "r"]
        - key: karpenter.k8s.aws/instance-generation
          operator: Gt
          values: ["2"]
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      expireAfter: 720h
  limits:
    cpu: 1000
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
"#;

const EKS_CLASS: &str = r#"
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: "KarpenterNodeRole-demo"
  amiSelectorTerms:
    - alias: "al2023@latest"
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: "demo"
  securityGroupSelectorTerms:
    - tags:
        karpenter.sh/discovery: "demo"
"#;

const AKS_POOL: &str = r#"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  template:
    spec:
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}
      nodeClassRef:
        group: karpenter.azure.com
        kind: AKSNodeClass
        name: default
  limits:
    cpu: "200"
    memory: 400Gi
"#;

const AKS_CLASS: &str = r#"
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata:
  name: default
spec:
  imageFamily: Ubuntu
  osDiskSizeGB: 128
  tags:
    team: platform
"#;

fn clean(text: &str) -> Value {
    let object = yaml(text);
    let kind = Kind::of(&object).expect("a known kind");
    assert_eq!(validate(kind, &object), [], "{text}");
    assert_eq!(validate::unknown_fields(kind, &object), Vec::<String>::new());
    object
}

#[test]
fn the_eks_tutorial() {
    let pool: NodePool = serde_json::from_value(clean(EKS_POOL)).expect("a pool");
    assert_eq!(pool.metadata.name.as_deref(), Some("default"));
    assert_eq!(pool.spec.limits.as_ref().expect("limits")["cpu"].0, "1000");
    assert_eq!(pool.disruption().consolidate_after.as_deref(), Some("1m"));
    assert_eq!(pool.spec.template.spec.requirements.len(), 5);
    let class: EC2NodeClass = serde_json::from_value(clean(EKS_CLASS)).expect("a class");
    assert_eq!(class.ami_family(), "AL2023");
}

#[test]
fn the_aks_tutorial() {
    let pool: NodePool = serde_json::from_value(clean(AKS_POOL)).expect("a pool");
    assert_eq!(pool.spec.template.spec.node_class_ref.kind, "AKSNodeClass");
    let class: AKSNodeClass = serde_json::from_value(clean(AKS_CLASS)).expect("a class");
    assert_eq!(
        (class.os_disk_size_gb(), class.image_family(), class.gpu_mode()),
        (128, "Ubuntu", "Driver")
    );
}

#[test]
fn a_pool_without_group_and_kind_is_told_the_fix() {
    let text = AKS_POOL
        .replace("        group: karpenter.azure.com\n", "")
        .replace("        kind: AKSNodeClass\n", "");
    let told: Vec<String> =
        validate::validate_node_pool(&yaml(&text)).iter().map(ToString::to_string).collect();
    let fix = "is required: write `group: karpenter.k8s.aws` and `kind: EC2NodeClass` on AWS, \
               `group: karpenter.azure.com` and `kind: AKSNodeClass` on Azure";
    let at = "spec.template.spec.nodeClassRef";
    assert_eq!(told, [format!("{at}.group: {fix}"), format!("{at}.kind: {fix}")]);
}
