use crate::read::{Source, read};

fn told(text: &str) -> Vec<(String, String)> {
    let source = Source { name: "in.yaml".to_owned(), text: text.to_owned() };
    let warnings = read(&[source]).expect("a good input").warnings;
    let told = warnings.into_iter().filter(|w| w.code == "IgnoredField");
    told.map(|w| (w.object, w.message)).collect()
}

#[test]
fn typing_errors_are_told_with_the_nearest_name() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p, label: {}}\nspecs: {}\nspec:\n  weigth: 5\n  limits: {cpu: 5}\n  template:\n    metadata: {creationTimestamp: null, labels: {any: thing}}\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n      requirements: [{key: a, operator: Exists, minValue: 1}]\nstatus: {future: 1}\n";
    let said = |(path, meant): (&str, &str)| {
        let message =
            format!("NodePool has no field `{path}` (did you mean `{meant}`?); it is ignored");
        ("NodePool p".to_owned(), message)
    };
    let wanted = [
        ("metadata.label", "labels"),
        ("spec.template.spec.requirements[0].minValue", "minValues"),
        ("spec.weigth", "weight"),
        ("specs", "spec"),
    ];
    assert_eq!(told(pool), wanted.map(said));
    let claim = "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c}\nspec:\n  taint: []\n  requirements: []\n  nodeClassRef: {group: g, kind: K, name: d}\n";
    let message = "NodeClaim has no field `spec.taint` (did you mean `taints`?); it is ignored";
    assert_eq!(told(claim), [("NodeClaim c".to_owned(), message.to_owned())]);
}

#[test]
fn typing_errors_in_built_in_kinds_are_told_once_for_all_objects() {
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  nodeSelecter: {{a: b}}\n  containers: [{{name: c, resource: {{}}, zzzzzzzz: 1}}]\n"
        )
    };
    let set = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replica: 2\n  selector: {}\n  template: {spec: {toleration: [], containers: [{name: c}]}}\n";
    let text = format!("{}---\n{}---\n{}---\n{set}", pod("b"), pod("a"), pod("c"));
    let found = told(&text);
    let of = |object: &str, message: &str| (object.to_owned(), message.to_owned());
    let more = "here and in 2 more of the kind";
    let wanted = [
        of(
            "Deployment default/web",
            "Deployment has no field `spec.replica` (did you mean `replicas`?); it is ignored",
        ),
        of(
            "Deployment default/web",
            "Deployment has no field `spec.template.spec.toleration` (did you mean `tolerations`?); it is ignored",
        ),
        of(
            "Pod default/a",
            &format!(
                "Pod has no field `spec.containers[0].resource` (did you mean `resources`?); it is ignored, {more}"
            ),
        ),
        of(
            "Pod default/a",
            &format!("Pod has no field `spec.containers[0].zzzzzzzz`; it is ignored, {more}"),
        ),
        of(
            "Pod default/a",
            &format!(
                "Pod has no field `spec.nodeSelecter` (did you mean `nodeSelector`?); it is ignored, {more}"
            ),
        ),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn open_mappings_take_anything() {
    let class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: d}\nspec:\n  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n  subnetSelectorTerms: [{tags: {a: b}}]\n  securityGroupSelectorTerms: [{tags: {a: b}}]\n  kubelet: {maxPods: 20, clusterDNS: [10.0.1.100]}\n  maxPod: 5\n";
    let found = told(class);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("EC2NodeClass has no field `spec.maxPod`"), "{found:?}");
}

/// What a cluster writes, and every kind of field that holds what it likes.
#[test]
fn nothing_is_said_of_what_a_cluster_writes() {
    let text = r#"
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: x
  generateName: a-
  creationTimestamp: null
  deletionGracePeriodSeconds: 30
  resourceVersion: "7"
  generation: 1
  uid: u
  selfLink: /api/v1/pods/a
  finalizers: [f]
  labels: {any: thing}
  annotations: {any.thing/else: here}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true, blockOwnerDeletion: true}]
  managedFields:
  - {manager: kubelet, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:status": {"f:x": {}}}, subresource: status}
spec:
  automountServiceAccountToken: true
  dnsConfig: {nameservers: [1.1.1.1], options: [{name: ndots, value: "5"}]}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  ephemeralContainers: [{name: d, image: x, targetContainerName: c}]
  hostAliases: [{ip: 1.1.1.1, hostnames: [a]}]
  hostUsers: false
  imagePullSecrets: [{name: s}]
  initContainers: [{name: i, restartPolicy: Always, volumeDevices: [{name: v, devicePath: /dev/x}]}]
  nodeName: n
  os: {name: linux}
  overhead: {cpu: 1m}
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  readinessGates: [{conditionType: x}]
  resourceClaims: [{name: r, resourceClaimTemplateName: t}]
  resources: {requests: {cpu: 1}}
  restartPolicy: Always
  runtimeClassName: r
  schedulerName: default-scheduler
  schedulingGates: [{name: g}]
  securityContext: {fsGroup: 1, seccompProfile: {type: RuntimeDefault}, sysctls: [{name: a, value: b}], supplementalGroupsPolicy: Merge}
  serviceAccount: s
  serviceAccountName: s
  setHostnameAsFQDN: false
  shareProcessNamespace: true
  subdomain: s
  terminationGracePeriodSeconds: 30
  tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [pod-template-hash], labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}]
  volumes:
  - {name: t, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: token, expirationSeconds: 3607}}, {configMap: {name: c, items: [{key: k, path: p}]}}, {downwardAPI: {items: [{path: n, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}}]}}
  - {name: e, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}}}}
  - {name: c, csi: {driver: d, volumeAttributes: {any: thing}, readOnly: true}}
  - {name: g, gitRepo: {repository: r}}
  - {name: i, image: {reference: r, pullPolicy: Always}}
  containers:
  - name: c
    image: x
    imagePullPolicy: Always
    env: [{name: A, value: b}, {name: C, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]
    envFrom: [{prefix: p, configMapRef: {name: c}}]
    lifecycle: {preStop: {exec: {command: [a]}, sleep: {seconds: 1}}, stopSignal: SIGTERM}
    livenessProbe: {httpGet: {path: /, port: http, scheme: HTTP, httpHeaders: [{name: a, value: b}]}, failureThreshold: 3}
    readinessProbe: {grpc: {port: 1, service: s}}
    startupProbe: {tcpSocket: {port: 1}}
    ports: [{containerPort: 1, hostPort: 1, hostIP: 1.1.1.1, name: p, protocol: TCP}]
    resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
    resources: {limits: {any/thing: 1, cpu: 1}, requests: {any/thing: 1}, claims: [{name: r, request: q}]}
    securityContext: {capabilities: {drop: [ALL]}, procMount: Default, seLinuxOptions: {level: l}, windowsOptions: {hostProcess: false}}
    stdin: true
    stdinOnce: true
    terminationMessagePath: /dev/x
    terminationMessagePolicy: File
    tty: true
    volumeMounts: [{name: t, mountPath: /x, subPathExpr: $(A), recursiveReadOnly: Disabled, mountPropagation: None}]
    workingDir: /
status: {anything: {at: all}}
---
apiVersion: v1
kind: Node
metadata: {name: n}
spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24], providerID: "aws:///a/i", unschedulable: true, taints: [{key: k, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}], externalID: e, configSource: {}}
status: {capacity: {cpu: 1}, images: [{names: [a], sizeBytes: 1}], nodeInfo: {future: 1}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  serviceName: s
  selector: {matchLabels: {a: b}}
  ordinals: {start: 1}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}
  volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}]
  template: {metadata: {labels: {a: b}, creationTimestamp: null}, spec: {containers: [{name: c}]}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
parameters: {any: thing}
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
reclaimPolicy: Delete
mountOptions: [debug]
"#;
    assert_eq!(told(text), []);
}

#[test]
fn a_flood_of_unknown_fields_is_cut_with_a_count() {
    let many: String = (0..150)
        .map(|i| {
            format!(
                "- {{metadata: {{name: p{i}}}, spec: {{containers: [{{name: c}}], zq{i}x: 1}}}}\n"
            )
        })
        .collect();
    let found = told(&format!("pods:\n{many}"));
    assert_eq!(found.len(), 101);
    assert!(found.iter().any(|(object, m)| object == "input" && m.starts_with("50 more")));
}
