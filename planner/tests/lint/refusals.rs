//! Objects that an API server would refuse: told one by one, beside the rest.

use dunnage_planner::lint::Severity::Error;
use dunnage_planner::lint::lint;
use dunnage_planner::options::Options;
use dunnage_planner::read::{ReadOptions, Source, read_with_refused};
use serde_json::{Value, json};

use crate::world::*;

#[test]
fn a_reference_without_group_and_kind_is_explained() {
    let want = Want {
        code: "IncompleteNodeClassRef",
        severity: Error,
        object: "NodePool p",
        says: "`spec.template.spec.nodeClassRef` lacks `group` and `kind`: karpenter.sh/v1 \
               refuses the NodePool",
        fix: "add `group: karpenter.k8s.aws` and `kind: EC2NodeClass` to \
              `spec.template.spec.nodeClassRef`",
    };
    let path = format!("{SPEC}/nodeClassRef");
    let bad = with(clean(), &path, json!({ "name": "default" }));
    found_and_fixed(&want, &bad, &clean());
    let azure = json!([{ "apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass",
        "metadata": { "name": "default" }, "spec": {} }]);
    let fix = "add `group: karpenter.azure.com` and `kind: AKSNodeClass` to";
    let of_azure = with(bad.clone(), "/nodeClasses", azure);
    found_and_fixed(&Want { fix, ..want }, &of_azure, &clean());
    let fix = "`kind: EC2NodeClass` (AWS) or `group: karpenter.azure.com`";
    let of_none = with(bad, "/nodeClasses", Value::Null);
    found_and_fixed(&Want { fix, ..want }, &of_none, &clean());
    let none = with(clean(), &path, Value::Null);
    let says = "there is no `spec.template.spec.nodeClassRef`";
    found_and_fixed(&Want { says, fix: "and the `name` of the class", ..want }, &none, &clean());
}

#[test]
fn a_field_that_is_refused_is_told_with_its_path() {
    let want =
        |object, says, fix| Want { code: "InvalidField", severity: Error, object, says, fix };
    let operator = format!("{SPEC}/requirements/0/operator");
    found_and_fixed(
        &want(
            "NodePool p",
            "`spec.template.spec.requirements[0].operator`: `Inn` is not known here; use In,",
            "set `spec.template.spec.requirements[0].operator` (now `Inn`) to an operator",
        ),
        &with(clean(), &operator, json!("Inn")),
        &clean(),
    );
    let cpu = format!("{PODS}/containers/0/resources/requests/cpu");
    found_and_fixed(
        &want(
            "Deployment shop/web",
            "`spec.template.spec.containers[0].resources.requests.cpu`: `1 core`",
            "(now `1 core`) to a quantity such as `500m`",
        ),
        &with(clean(), &cpu, json!("1 core")),
        &clean(),
    );
    let after = "/nodePools/0/spec/disruption/consolidateAfter";
    found_and_fixed(
        &want("NodePool p", "`spec.disruption.consolidateAfter`: `1d`", "such as `30s`, `15m`"),
        &with(clean(), after, json!("1d")),
        &clean(),
    );
    // A rule of the definition itself, and a field that only an API server insists on.
    let weight = with(clean(), "/nodePools/0/spec/weight", json!(0));
    found_and_fixed(
        &want("NodePool p", "`spec.weight`: `0` ", "change `spec.weight`"),
        &weight,
        &clean(),
    );
    let role = with(clean(), "/nodeClasses/0/spec/amiSelectorTerms", Value::Null);
    found_and_fixed(
        &want("EC2NodeClass default", "`spec.amiSelectorTerms`", "write `spec.amiSelectorTerms`"),
        &role,
        &clean(),
    );
    let requirements = with(clean(), &format!("{SPEC}/requirements"), Value::Null);
    found_and_fixed(
        &want(
            "NodePool p",
            "`spec.template.spec.requirements`",
            "write `spec.template.spec.requirements`",
        ),
        &requirements,
        &clean(),
    );
}

#[test]
fn a_class_that_was_refused_is_not_called_absent() {
    let bad = with(clean(), "/nodeClasses/0/spec/amiSelectorTerms", json!([]));
    let found = report(&bad).findings;
    let codes: Vec<&str> = found.iter().map(|f| f.code).collect();
    assert!(codes.contains(&"InvalidField") && !codes.contains(&"NodeClassNotFound"), "{found:#?}");
}

#[test]
fn an_object_that_is_there_twice_is_told_and_not_looked_at() {
    let other = with(pool("p"), "/spec/disruption/consolidateAfter", json!("1m"));
    let want = Want {
        code: "DuplicateObject",
        severity: Error,
        object: "NodePool p",
        says: "is in the input more than once",
        fix: "remove all but one",
    };
    let bad = with(clean(), "/nodePools/-", other.clone());
    found_and_fixed(&want, &bad, &clean());
    let turned = with(clean(), "/nodePools", json!([other, pool("p")]));
    assert_eq!(report(&bad), report(&turned));
    assert!(report(&bad).findings.iter().all(|f| f.code != "ShortConsolidateAfter"));
}

/// Findings in a text of its own, for what a Snapshot cannot hold.
fn of_text(text: &str) -> Vec<(&'static str, String)> {
    let source = Source { name: "a.yaml".to_owned(), text: text.to_owned() };
    let reading = read_with_refused(&[source], &ReadOptions::default()).expect("readable");
    let report = lint(&reading, &Options::default()).expect("findings");
    report
        .findings
        .into_iter()
        .map(|f| (f.code, format!("{}: {} | {}", f.object, f.message, f.fix)))
        .collect()
}

#[test]
fn an_old_version_is_told_with_the_new_one() {
    let old = "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\n";
    let found = of_text(old);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "UnsupportedVersion");
    assert!(found[0].1.starts_with("Provisioner a: "), "{found:?}");
    assert!(found[0].1.ends_with("| convert it to NodePool (karpenter.sh/v1)"), "{found:?}");
    let old = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\n";
    let found = of_text(old);
    assert!(found[0].1.ends_with("| convert the object to `karpenter.sh/v1`"), "{found:?}");
    let of_v1 = json!({ "apiVersion": "v1", "kind": "List", "items": [pool("p"), class()] });
    assert!(of_text(&of_v1.to_string()).iter().all(|f| f.0 != "UnsupportedVersion"));
}

#[test]
fn what_belongs_to_no_object_is_no_finding() {
    for text in ["a: [", "just text", "kind: {}", "settings: {nonsense: 1}", "pods: [{a: 1}, {}]"] {
        let source = Source { name: "a.yaml".to_owned(), text: text.to_owned() };
        let read = read_with_refused(&[source], &ReadOptions::default());
        let is_of_pods = text.starts_with("pods");
        assert_eq!(read.is_ok(), is_of_pods, "{text}: {read:?}");
    }
}

/// What the reader takes and the plan refuses.
#[test]
fn an_object_that_only_a_plan_refuses_is_left_out() {
    let bad = with(clean(), "/nodeClasses/0/spec/kubelet", json!({ "maxPods": "many" }));
    let found = report(&bad).findings;
    let own = found.iter().filter(|f| f.code == "InvalidField").collect::<Vec<_>>();
    assert_eq!(own.len(), 1, "{found:#?}");
    assert_eq!(own[0].object, "EC2NodeClass default");
}
