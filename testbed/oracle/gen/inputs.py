#!/usr/bin/env python3
"""Write the oracle's inputs. Everything is seeded; running it twice gives the
same bytes, one line each. Small cases carry their instance types inline, large ones
refer to a shared catalogue through "instanceTypesFile"."""
import json, os, random

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs")
ALL = {t["name"]: t for t in json.load(open(f"{OUT}/types-all.json"))}
SMALL = """t3.medium t3.large m5.large m5.xlarge m5.2xlarge m5.4xlarge c5.large c5.xlarge c5.2xlarge c5.4xlarge
r5.large r5.xlarge r5.2xlarge m6g.large m6g.xlarge c6g.xlarge r6g.xlarge""".split()
ZONES = ["us-east-1a", "us-east-1b", "us-east-1c"]
ZONE, HOST, CT = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "karpenter.sh/capacity-type"


def req(key, op, *values, min_values=None):
    r = {"key": key, "operator": op}
    if values:
        r["values"] = list(values)
    if min_values is not None:
        r["minValues"] = min_values
    return r


AMD = req("kubernetes.io/arch", "In", "amd64")
LINUX = req("kubernetes.io/os", "In", "linux")
OD = req(CT, "In", "on-demand")
BOTH = req(CT, "In", "spot", "on-demand")
CMR = req("karpenter.k8s.aws/instance-category", "In", "c", "m", "r")
GEN2 = req("karpenter.k8s.aws/instance-generation", "Gt", "2")


def pool(name="default", reqs=(AMD, LINUX, OD, CMR, GEN2), weight=None, limits=None, taints=None, labels=None, budgets=None,
         policy="WhenEmptyOrUnderutilized", after="0s"):
    spec = {"template": {"metadata": {"labels": labels or {}},
                         "spec": {"requirements": list(reqs), "expireAfter": "720h",
                                  "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}},
            "disruption": {"consolidationPolicy": policy, "consolidateAfter": after}}
    if taints:
        spec["template"]["spec"]["taints"] = taints
    if weight is not None:
        spec["weight"] = weight
    if limits:
        spec["limits"] = limits
    if budgets:
        spec["disruption"]["budgets"] = budgets
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def pod(name, cpu="1", mem=None, labels=None, node=None, owner=None, **spec):
    r = {"cpu": cpu}
    if mem:
        r["memory"] = mem
    s = {"containers": [{"name": "c", "image": "pause", "resources": {"requests": r}}]}
    s.update(spec)
    m = {"name": name, "namespace": "default", "labels": labels or {}}
    if owner:
        m["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": owner[1], "controller": True}]
    if node:
        s["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": m, "spec": s}


def sel(**labels):
    return {"matchLabels": labels}


def spread(key, labels, skew=1, when="DoNotSchedule", **more):
    return dict({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": labels}}, **more)


def affinity(key, labels, anti=False):
    k = "podAntiAffinity" if anti else "podAffinity"
    return {k: {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {"matchLabels": labels}, "topologyKey": key}]}}


def node_affinity(*terms, preferred=()):
    a = {}
    if terms:
        a["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchExpressions": list(t)} for t in terms]}
    if preferred:
        a["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": w, "preference": {"matchExpressions": list(t)}} for w, t in preferred]
    return {"nodeAffinity": a}


def allocatable(t):
    def n(q):
        for s, f in (("Mi", 2**20), ("Gi", 2**30), ("m", .001)):
            if q.endswith(s):
                return float(q[:-len(s)]) * f
        return float(q)
    cap, ov = t["capacity"], t["overhead"]
    return {"cpu": f'{round((n(cap["cpu"]) - n(ov["cpu"])) * 1000)}m',
            "memory": f'{int((n(cap["memory"]) - n(ov["memory"])) / 2**20)}Mi',
            "ephemeral-storage": f'{int((n(cap["ephemeral-storage"]) - n(ov["ephemeral-storage"])) / 2**20)}Mi',
            "pods": cap["pods"]}


def node(name, itype, zone, ct="on-demand", pool_name="default", labels=None, taints=None):
    t = ALL[itype]
    lab = {r["key"]: r["values"][0] for r in t["requirements"] if r["operator"] == "In"}
    lab.update({ZONE: zone, CT: ct, HOST: name})
    if pool_name:
        lab["karpenter.sh/nodepool"] = pool_name
        lab["karpenter.k8s.aws/ec2nodeclass"] = "default"
    else:
        lab.pop(CT)
    lab.update(labels or {})
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": lab},
            "spec": {"taints": taints} if taints else {},
            "status": {"capacity": t["capacity"], "allocatable": allocatable(t)}}


def daemonset(name, cpu, mem, **spec):
    s = {"containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": mem}}}]}
    s.update(spec)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "kube-system", "uid": name},
            "spec": {"selector": {"matchLabels": {"ds": name}}, "template": {"metadata": {"labels": {"ds": name}}, "spec": s}}}


def write(name, **world):
    full = {"nodePools": [], "nodes": [], "pods": [], "daemonSets": []}
    full.update(world)
    if "instanceTypesFile" not in full:
        full.setdefault("instanceTypes", [ALL[n] for n in SMALL])
    with open(f"{OUT}/{name}.json", "w") as f:
        json.dump(full, f, separators=(",", ":"))
        f.write("\n")


def small():
    write("01-tutorial", nodePools=[pool()], pods=[pod(f"inflate-{i}", "1") for i in range(5)])

    r = random.Random(2)
    write("02-mixed", nodePools=[pool(reqs=(AMD, LINUX, OD))],
          pods=[pod(f"p{i:02}", r.choice(["100m", "250m", "500m", "1", "1500m", "2"]), r.choice(["128Mi", "512Mi", "1Gi", "2Gi", "6Gi", "12Gi"])) for i in range(24)])

    write("03-zonal-spread", nodePools=[pool()],
          pods=[pod(f"web-{i}", "500m", "256Mi", {"app": "web"}, topologySpreadConstraints=[spread(ZONE, {"app": "web"})]) for i in range(10)])

    write("04-hostname-anti-affinity", nodePools=[pool()],
          pods=[pod(f"db-{i}", "1", "1Gi", {"app": "db"}, affinity=affinity(HOST, {"app": "db"}, anti=True)) for i in range(4)]
          + [pod(f"filler-{i}", "250m", "256Mi", {"app": "filler"}) for i in range(6)])

    write("05-pod-affinity", nodePools=[pool()],
          pods=[pod("cache-0", "500m", "512Mi", {"app": "cache"})]
          + [pod(f"web-{i}", "1", "512Mi", {"app": "web"}, affinity=affinity(ZONE, {"app": "cache"})) for i in range(5)]
          + [pod(f"pair-{i}", "1", "512Mi", {"app": "pair"}, affinity=affinity(HOST, {"app": "pair"})) for i in range(3)]
          + [pod("lost", "100m", None, {"app": "lost"}, affinity=affinity(ZONE, {"app": "nobody"}))])

    taint = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
    soft = {"key": "prefer-not", "value": "here", "effect": "PreferNoSchedule"}
    tol = [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}]
    write("06-taints", nodePools=[pool("batch", weight=50, taints=[taint], labels={"team": "batch"}), pool("web", weight=10, taints=[soft])],
          pods=[pod(f"web-{i}", "1") for i in range(3)] + [pod(f"batch-{i}", "1", tolerations=tol) for i in range(3)]
          + [pod("must-batch", "1", nodeSelector={"team": "batch"}), pod("must-batch-ok", "1", nodeSelector={"team": "batch"}, tolerations=tol)])

    write("07-weights-limits", nodePools=[pool("cheap", weight=100, limits={"cpu": "12"}), pool("rest", weight=1, reqs=(AMD, LINUX, OD))],
          pods=[pod(f"p{i:02}", "1500m", "1Gi") for i in range(12)])

    write("08-spot-on-demand", nodePools=[pool(reqs=(AMD, LINUX, BOTH, CMR))],
          pods=[pod(f"any-{i}", "1", "1Gi") for i in range(6)] + [pod(f"od-{i}", "1", "1Gi", nodeSelector={CT: "on-demand"}) for i in range(3)]
          + [pod(f"spot-a-{i}", "1", "1Gi", nodeSelector={CT: "spot", ZONE: "us-east-1a"}) for i in range(3)])

    write("09-unsatisfiable", nodePools=[pool()],
          pods=[pod("fine", "1"), pod("no-zone", "1", nodeSelector={ZONE: "us-east-1z"}), pod("no-type", "1", nodeSelector={"node.kubernetes.io/instance-type": "m9.huge"}),
                pod("unknown-label", "1", nodeSelector={"example.com/rack": "7"}), pod("arm", "1", nodeSelector={"kubernetes.io/arch": "arm64"}),
                pod("too-big", "500", "1Gi"), pod("gpu", "1", None) | {"spec": {"containers": [{"name": "c", "image": "pause", "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "1"}}}]}}])

    write("10-daemonsets", nodePools=[pool(reqs=(LINUX, OD))],
          daemonSets=[daemonset("agent", "200m", "256Mi", tolerations=[{"operator": "Exists"}]),
                      daemonset("amd-only", "500m", "512Mi", affinity=node_affinity([req("kubernetes.io/arch", "In", "amd64")])),
                      daemonset("elsewhere", "3", "8Gi", nodeSelector={"example.com/none": "x"})],
          pods=[pod(f"p{i}", "900m", "1Gi") for i in range(7)])

    write("11-existing-nodes", nodePools=[pool()],
          nodes=[node("node-a", "m5.xlarge", "us-east-1a"), node("node-b", "m5.large", "us-east-1b"),
                 node("node-own", "m5.2xlarge", "us-east-1c", pool_name=None),
                 node("node-tainted", "m5.4xlarge", "us-east-1c", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])],
          daemonSets=[daemonset("agent", "100m", "128Mi", tolerations=[{"operator": "Exists"}])],
          pods=[pod("bound-a", "2", "2Gi", {"app": "old"}, node="node-a", owner=("ReplicaSet", "old")),
                pod("bound-own", "6", "8Gi", {"app": "old"}, node="node-own", owner=("ReplicaSet", "old")),
                pod("agent-a", "100m", "128Mi", {"ds": "agent"}, node="node-a", owner=("DaemonSet", "agent"))]
          + [pod(f"new-{i}", "900m", "1Gi", {"app": "new"}) for i in range(6)]
          + [pod("apart", "100m", "128Mi", {"app": "apart"}, affinity=affinity(ZONE, {"app": "old"}, anti=True))])

    write("12-min-values", nodePools=[pool("families", weight=50, reqs=(AMD, LINUX, OD, req("karpenter.k8s.aws/instance-family", "Exists", min_values=3))),
                                      pool("impossible", weight=100, reqs=(AMD, LINUX, OD, req("node.kubernetes.io/instance-type", "Exists", min_values=50)))],
          pods=[pod(f"p{i}", "1500m", "3Gi") for i in range(6)])

    # beyond the twelve
    write("15-node-limit", nodePools=[pool(limits={"nodes": "2"})],
          pods=[pod(f"db-{i}", "1", "1Gi", {"app": "db"}, affinity=affinity(HOST, {"app": "db"}, anti=True)) for i in range(5)])
    write("13-relaxation", nodePools=[pool()],
          pods=[pod("pref-impossible-zone", "1", affinity=node_affinity(preferred=[(10, [req(ZONE, "In", "us-east-1z")]), (1, [req(ZONE, "In", "us-east-1b")])])),
                pod("two-terms", "1", affinity=node_affinity([req(ZONE, "In", "us-east-1z")], [req(ZONE, "In", "us-east-1c")]))]
          + [pod(f"soft-{i}", "500m", None, {"app": "soft"}, topologySpreadConstraints=[spread(ZONE, {"app": "soft"}, when="ScheduleAnyway")], nodeSelector={ZONE: "us-east-1a"}) for i in range(4)])

    pv = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-b"},
          "spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "v"},
                   "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [req(ZONE, "In", "us-east-1b")]}]}}}}
    write("14-volumes", nodePools=[pool()], pvs=[pv],
          storageClasses=[{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"}, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
                           "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["us-east-1a", "us-east-1c"]}]}]}],
          pvcs=[{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "bound", "namespace": "default", "uid": "bound", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "pv-b", "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}},
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "waiting", "namespace": "default", "uid": "waiting"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late"}}],
          pods=[pod("uses-bound", "1", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "bound"}}]),
                pod("uses-waiting", "1", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "waiting"}}]),
                pod("no-such-claim", "1", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}]), pod("plain", "1")])


LETTERS = "abcdefg"
CPUS, MEMS = ["100m", "250m", "500m", "1000m", "1500m"], ["100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"]


def bench_pods(n, seed):
    """The shape of upstream's own benchmark: five equal parts. The last part is one
    big self-anti-affinity group, so it needs at least n/5 nodes."""
    r = random.Random(seed)
    lab = lambda k="my-label": {k: r.choice(LETTERS)}
    size = lambda: (r.choice(CPUS), r.choice(MEMS))
    out, k = [], n // 5
    for i in range(k):
        out.append(pod(f"generic-{i}", *size(), lab()))
    for i in range(k):
        out.append(pod(f"zonespread-{i}", *size(), lab(), topologySpreadConstraints=[spread(ZONE, lab())]))
    for i in range(k):
        out.append(pod(f"hostspread-{i}", *size(), lab(), topologySpreadConstraints=[spread(HOST, lab())]))
    for i in range(k):
        l = lab("my-affinity")
        out.append(pod(f"affinity-{i}", *size(), l, affinity=affinity(ZONE, l)))
    for i in range(k):
        out.append(pod(f"anti-{i}", *size(), {"app": "nginx"}, affinity=affinity(HOST, {"app": "nginx"}, anti=True)))
    while len(out) < n:
        out.append(pod(f"rest-{len(out)}", *size(), lab()))
    return out


def fleet_pods(n, seed):
    """Deployments as people run them: 1..60 replicas that share one shape; most plain,
    some spread over zones, some apart from each other, some bound to a capacity type or zone."""
    r = random.Random(seed)
    out, d = [], 0
    while len(out) < n:
        d += 1
        k = min(n - len(out), r.choice([1, 2, 3, 3, 5, 8, 10, 20, 40, 60]))
        lab = {"app": f"d{d}"}
        cpu = r.choice(["50m", "100m", "100m", "250m", "500m", "1", "2", "4"])
        mem = r.choice(["64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi"])
        kind, more = r.random(), {}
        if kind < .20:
            more["topologySpreadConstraints"] = [spread(ZONE, lab)]
        elif kind < .28:
            more["topologySpreadConstraints"] = [spread(ZONE, lab), spread(HOST, lab, skew=max(1, k // 3))]
        elif kind < .36 and k <= 10:
            more["affinity"] = affinity(HOST, lab, anti=True)
        elif kind < .40:
            more["affinity"] = affinity(ZONE, lab)
        elif kind < .48:
            more["nodeSelector"] = {CT: "on-demand"}
        elif kind < .52:
            more["nodeSelector"] = {ZONE: r.choice(ZONES)}
        elif kind < .58:
            more["nodeSelector"] = {"kubernetes.io/arch": "arm64"}
        elif kind < .62:
            more["affinity"] = node_affinity([req("karpenter.k8s.aws/instance-category", "In", "c", "m")])
        out += [pod(f"d{d}-{i}", cpu, mem, lab, **more) for i in range(k)]
    return out


def large():
    # No limits: upstream charges every claim of a batch at its largest remaining type, so even the
    # ten million GiB of its own benchmark run out after ~330 claims when 32 TiB machines are on offer.
    open_pool = pool(reqs=(LINUX, BOTH))
    for n, tag in ((1000, "1k"), (5000, "5k"), (10000, "10k")):
        for types, f in ((400, "types-400.json"), (800, "types-all.json")):
            write(f"large-{tag}-{types}", nodePools=[open_pool], instanceTypesFile=f, pods=bench_pods(n, 42))
            write(f"fleet-{tag}-{types}", nodePools=[open_pool], instanceTypesFile=f, pods=fleet_pods(n, 7))
        # the same pods with the NodePool people are told to start from: families c, m, r after the second generation
        write(f"fleet-{tag}-cmr", nodePools=[pool(reqs=(LINUX, BOTH, CMR, GEN2))], instanceTypesFile="types-all.json", pods=fleet_pods(n, 7))


def consolidation():
    free = [{"nodes": "100%"}]
    rs = lambda n: ("ReplicaSet", n)
    write("c1-empty", nodePools=[pool(budgets=[{"nodes": "2"}])],
          nodes=[node(f"empty-{i}", t, ZONES[i % 3]) for i, t in enumerate(["m5.large", "m5.4xlarge", "m5.xlarge"])] + [node("busy", "m5.large", "us-east-1a")],
          pods=[pod("work", "1500m", "1Gi", {"app": "w"}, node="busy", owner=rs("w"))])
    write("c2-multi", nodePools=[pool(budgets=free)],
          nodes=[node(f"n{i}", "m5.xlarge", ZONES[i % 3]) for i in range(6)],
          pods=[pod(f"w{i}", "500m", "512Mi", {"app": "w"}, node=f"n{i}", owner=rs("w")) for i in range(6)])
    write("c3-replace", nodePools=[pool(budgets=free)],
          nodes=[node("big", "m5.4xlarge", "us-east-1a"), node("full", "c5.large", "us-east-1b")],
          pods=[pod("small", "500m", "512Mi", {"app": "w"}, node="big", owner=rs("w")), pod("filler", "1800m", "1Gi", {"app": "f"}, node="full", owner=rs("f"))])
    write("c4-budget", nodePools=[pool(budgets=[{"nodes": "1", "reasons": ["Underutilized"]}, {"nodes": "0", "reasons": ["Empty"]}])],
          nodes=[node(f"n{i}", "m5.xlarge", ZONES[i % 3]) for i in range(5)] + [node("empty", "m5.xlarge", "us-east-1a")],
          pods=[pod(f"w{i}", "1", "512Mi", {"app": "w"}, node=f"n{i}", owner=rs("w")) for i in range(5)])
    write("c5-spot", nodePools=[pool(reqs=(AMD, LINUX, BOTH, CMR), budgets=free)],
          nodes=[node("spot-big", "m5.4xlarge", "us-east-1a", ct="spot"), node("full", "c5.large", "us-east-1b", ct="spot")],
          pods=[pod("small", "500m", "512Mi", {"app": "w"}, node="spot-big", owner=rs("w")), pod("filler", "1800m", "1Gi", {"app": "f"}, node="full", owner=rs("f"))])
    write("c6-blocked", nodePools=[pool(budgets=free)],
          nodes=[node(f"n{i}", "m5.2xlarge", ZONES[i % 3]) for i in range(4)],
          pdbs=[{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep", "namespace": "default"}, "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "kept"}}}, "status": {"disruptionsAllowed": 0}}],
          pods=[pod("kept", "500m", "512Mi", {"app": "kept"}, node="n0", owner=rs("kept")),
                pod("pinned", "500m", "512Mi", {"app": "pinned"}, node="n1", owner=rs("pinned")) | {"metadata": {"name": "pinned", "namespace": "default", "labels": {"app": "pinned"}, "annotations": {"karpenter.sh/do-not-disrupt": "true"}, "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "pinned", "uid": "pinned", "controller": True}]}},
                pod("free-2", "500m", "512Mi", {"app": "free"}, node="n2", owner=rs("free")), pod("free-3", "500m", "512Mi", {"app": "free"}, node="n3", owner=rs("free"))])
    for n in (100, 300):
        r = random.Random(n)
        names = ["m5.xlarge", "m5.2xlarge", "c5.2xlarge", "r5.xlarge", "m5.4xlarge"]
        nodes, pods = [], []
        for i in range(n):
            t = r.choice(names)
            nodes.append(node(f"n{i:04}", t, ZONES[i % 3]))
            left = int(int(ALL[t]["capacity"]["cpu"]) * 1000 * r.uniform(.2, .75))
            k = 0
            while left > 250:
                c = r.choice([100, 250, 500, 1000])
                left -= c
                pods.append(pod(f"w{i}-{k}", f"{c}m", r.choice(["128Mi", "256Mi", "512Mi", "1Gi"]), {"app": f"a{r.randrange(40)}"}, node=f"n{i:04}", owner=rs("w")))
                k += 1
        write(f"c7-large-{n}", nodePools=[pool(reqs=(AMD, LINUX, OD, CMR, GEN2), budgets=free)], instanceTypesFile="types-all.json", nodes=nodes, pods=pods)


if __name__ == "__main__":
    small()
    large()
    consolidation()
