//! The manifests of tutorials, as they are printed there, and the repaired ones.

use dunnage_planner::lint::{Report, Severity, lint};
use dunnage_planner::options::Options;
use dunnage_planner::read::{ReadOptions, Source, read_with_refused};

fn of(texts: &[&str]) -> Report {
    let source =
        |(i, text): (usize, &&str)| Source { name: format!("{i}.yaml"), text: (*text).to_owned() };
    let sources: Vec<Source> = texts.iter().enumerate().map(source).collect();
    let reading = read_with_refused(&sources, &ReadOptions::default()).expect("readable");
    lint(&reading, &Options::default()).expect("findings")
}

fn codes(report: &Report) -> Vec<(&'static str, &str)> {
    report.findings.iter().map(|f| (f.code, f.object.as_str())).collect()
}

/// Row 57: the first NodePool and EC2NodeClass on EKS, with the Deployment that is scaled to 5.
#[test]
fn the_first_pool_on_eks_has_no_error() {
    let report = of(&[
        include_str!("../../../examples/eks-inflate/nodepool.yaml"),
        include_str!("../../../examples/eks-inflate/nodeclass.yaml"),
        include_str!("../../../examples/eks-inflate/deployment.yaml"),
    ]);
    assert!(!report.has_errors(), "{report:#?}");
    assert_eq!(
        codes(&report),
        [
            ("DefaultRegion", "input"),
            ("MissingMemoryLimit", "Deployment default/inflate"),
            ("MissingMemoryRequest", "Deployment default/inflate"),
            ("ReplicasWithoutPdb", "Deployment default/inflate"),
            ("MissingCpuLimit", "Deployment default/inflate"),
            ("ReplicasWithoutSpread", "Deployment default/inflate"),
            ("ShortConsolidateAfter", "NodePool default"),
        ]
    );
}

const EKS: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiFamily: AL2023
  role: KarpenterNodeRole-demo
  amiSelectorTerms: [AMIS]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
";

/// Row 53: an AL2 image of Kubernetes 1.36 and a class of AL2023.
#[test]
fn the_image_of_the_tutorial_is_of_another_family_than_its_class() {
    let path = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2/recommended/image_id";
    let report = of(&[&EKS.replace("AMIS", &format!("{{ssmParameter: {path}}}"))]);
    let errors: Vec<_> = report.findings.iter().filter(|f| f.severity == Severity::Error).collect();
    let codes: Vec<&str> = errors.iter().map(|f| f.code).collect();
    assert_eq!(codes, ["ImageFamilyMismatch", "ImageUnsupported"], "{report:#?}");
    let good = of(&[&EKS.replace("AMIS", "{alias: al2023@v20261115}")]);
    assert_eq!(good.findings, []);
}

const AKS: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {REF}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}
  limits: {cpu: '100', memory: 1000Gi}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m}
";

const AKS_CLASS: &str = "
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamily: Ubuntu}
";

/// Row 29: a pool on AKS whose reference has a name only.
#[test]
fn the_pool_of_the_azure_article_is_refused_and_the_fix_is_told() {
    let report = of(&[&AKS.replace("REF", "name: default"), AKS_CLASS]);
    assert_eq!(codes(&report), [("IncompleteNodeClassRef", "NodePool default")]);
    let fix = "add `group: karpenter.azure.com` and `kind: AKSNodeClass` to \
               `spec.template.spec.nodeClassRef`";
    assert_eq!(report.findings[0].fix, fix);
    let group = "group: karpenter.azure.com, kind: AKSNodeClass, name: default";
    let good = of(&[&AKS.replace("REF", group), AKS_CLASS]);
    assert_eq!(codes(&good), [("DefaultRegion", "input")]);
}
