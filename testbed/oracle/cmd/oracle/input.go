// Package main is a differential oracle: it reads one JSON description of a
// cluster and asks the upstream Go scheduler what it would do with it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Input is the whole world both systems read.
type Input struct {
	NodePools       []v1.NodePool                  `json:"nodePools"`
	Nodes           []corev1.Node                  `json:"nodes"`
	NodeClaims      []v1.NodeClaim                 `json:"nodeClaims"`
	Pods            []corev1.Pod                   `json:"pods"`
	DaemonSets      []appsv1.DaemonSet             `json:"daemonSets"`
	InstanceTypes   []InstanceType                 `json:"instanceTypes"`
	PVCs            []corev1.PersistentVolumeClaim `json:"pvcs"`
	PVs             []corev1.PersistentVolume      `json:"pvs"`
	StorageClasses  []storagev1.StorageClass       `json:"storageClasses"`
	CSINodes        []storagev1.CSINode            `json:"csiNodes"`
	PriorityClasses []schedulingv1.PriorityClass   `json:"priorityClasses"`
	Namespaces      []corev1.Namespace             `json:"namespaces"`
	PDBs            []policyv1.PodDisruptionBudget `json:"pdbs"`

	// InstanceTypesFile lets a large catalogue be shared between inputs. The path
	// is relative to the input file.
	InstanceTypesFile string `json:"instanceTypesFile"`

	Settings Settings `json:"settings"`
}

type InstanceType struct {
	Name         string              `json:"name"`
	Requirements []Requirement       `json:"requirements"`
	Capacity     corev1.ResourceList `json:"capacity"`
	Overhead     corev1.ResourceList `json:"overhead"`
	Offerings    []Offering          `json:"offerings"`
}

type Requirement struct {
	Key      string                      `json:"key"`
	Operator corev1.NodeSelectorOperator `json:"operator"`
	Values   []string                    `json:"values"`
}

type Offering struct {
	Zone                string  `json:"zone"`
	CapacityType        string  `json:"capacityType"`
	Price               float64 `json:"price"`
	Available           *bool   `json:"available"`
	ReservationID       string  `json:"reservationID"`
	ReservationCapacity int     `json:"reservationCapacity"`
}

func readInput(path string) (*Input, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	in := &Input{}
	if err := json.Unmarshal(raw, in); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if in.InstanceTypesFile != "" {
		p := in.InstanceTypesFile
		if !strings.HasPrefix(p, "/") {
			if i := strings.LastIndex(path, "/"); i >= 0 {
				p = path[:i+1] + p
			}
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		var its []InstanceType
		if err := json.Unmarshal(raw, &its); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		in.InstanceTypes = append(in.InstanceTypes, its...)
	}
	return in, nil
}

// The key that tells reservations apart, as the AWS provider registers it. Without one
// upstream finds no reserved offering compatible with anything.
const reservationIDLabel = "karpenter.k8s.aws/capacity-reservation-id"

// What upstream knows before any provider adds its own.
var coreWellKnown = v1.WellKnownLabels.Clone()

// resetWellKnown forgets the keys that an earlier input of the same process registered.
func resetWellKnown() {
	for k := range v1.WellKnownLabels {
		if !coreWellKnown.Has(k) {
			delete(v1.WellKnownLabels, k)
		}
	}
	cloudprovider.ReservationIDLabel = reservationIDLabel
	v1.WellKnownLabels.Insert(reservationIDLabel)
}

// toInstanceTypes turns the neutral description into the cloud provider's types.
// Every requirement key is registered as a well known label, as each cloud
// provider does in its own init().
func toInstanceTypes(in *Input) []*cloudprovider.InstanceType {
	resetWellKnown()
	out := make([]*cloudprovider.InstanceType, 0, len(in.InstanceTypes))
	for i := range in.InstanceTypes {
		d := &in.InstanceTypes[i]
		reqs := scheduling.NewRequirements()
		have := map[string]bool{}
		for _, r := range d.Requirements {
			op := r.Operator
			if op == "" {
				op = corev1.NodeSelectorOpIn
			}
			reqs.Add(scheduling.NewRequirement(r.Key, op, r.Values...))
			have[r.Key] = true
			v1.WellKnownLabels.Insert(r.Key)
		}
		zones, cts := map[string]bool{}, map[string]bool{}
		for _, o := range d.Offerings {
			zones[o.Zone] = true
			cts[o.CapacityType] = true
		}
		if !have[corev1.LabelInstanceTypeStable] {
			reqs.Add(scheduling.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, d.Name))
		}
		if !have[corev1.LabelTopologyZone] {
			reqs.Add(scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, keys(zones)...))
		}
		if !have[v1.CapacityTypeLabelKey] {
			reqs.Add(scheduling.NewRequirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, keys(cts)...))
		}
		if !have[corev1.LabelArchStable] {
			reqs.Add(scheduling.NewRequirement(corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64"))
		}
		if !have[corev1.LabelOSStable] {
			reqs.Add(scheduling.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, "linux"))
		}
		it := &cloudprovider.InstanceType{
			Name:         d.Name,
			Requirements: reqs,
			Capacity:     d.Capacity,
			Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: d.Overhead},
		}
		for _, o := range d.Offerings {
			labels := map[string]string{
				v1.CapacityTypeLabelKey:  o.CapacityType,
				corev1.LabelTopologyZone: o.Zone,
			}
			reqs := scheduling.NewLabelRequirements(labels)
			if o.ReservationID != "" {
				reqs.Add(scheduling.NewRequirement(cloudprovider.ReservationIDLabel, corev1.NodeSelectorOpIn, o.ReservationID))
			} else {
				reqs.Add(scheduling.NewRequirement(cloudprovider.ReservationIDLabel, corev1.NodeSelectorOpDoesNotExist))
			}
			it.Offerings = append(it.Offerings, &cloudprovider.Offering{
				Requirements:        reqs,
				Price:               o.Price,
				Available:           o.Available == nil || *o.Available,
				ReservationCapacity: o.ReservationCapacity,
			})
		}
		out = append(out, it)
	}
	return out
}

func keys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// applyDefaults does the part of the API server's and the other controllers'
// work that the scheduler relies on: defaulting, pod conditions, NodePool
// readiness and the NodeClaim behind each managed node.
func applyDefaults(in *Input) {
	for i := range in.NodePools {
		np := &in.NodePools[i]
		if np.UID == "" {
			np.UID = types.UID("nodepool-" + np.Name)
		}
		if np.Spec.Template.Spec.NodeClassRef == nil {
			np.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		}
		d := &np.Spec.Disruption
		if d.ConsolidationPolicy == "" {
			d.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
		}
		if d.ConsolidateAfter.Duration == nil && len(d.ConsolidateAfter.Raw) == 0 {
			d.ConsolidateAfter = v1.MustParseNillableDuration("0s")
		}
		if len(d.Budgets) == 0 {
			d.Budgets = []v1.Budget{{Nodes: "10%"}}
		}
		np.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
		np.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
		np.StatusConditions().SetTrue(v1.ConditionTypeNodeRegistrationHealthy)
	}

	prio := map[string]int32{}
	var defPrio *int32
	for i := range in.PriorityClasses {
		pc := &in.PriorityClasses[i]
		prio[pc.Name] = pc.Value
		if pc.GlobalDefault {
			v := pc.Value
			defPrio = &v
		}
	}
	// Ties in the queue are broken by creation time and then by UID: a pod without a UID
	// gets its rank by namespace and name, so that the order of the input does not matter.
	rank := map[string]int{}
	names := make([]string, 0, len(in.Pods))
	for i := range in.Pods {
		if in.Pods[i].Namespace == "" {
			in.Pods[i].Namespace = "default"
		}
		names = append(names, in.Pods[i].Namespace+"/"+in.Pods[i].Name)
	}
	sort.Strings(names)
	for i, n := range names {
		rank[n] = i
	}
	for i := range in.Pods {
		p := &in.Pods[i]
		if p.UID == "" {
			p.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", rank[p.Namespace+"/"+p.Name]))
		}
		if p.CreationTimestamp.IsZero() {
			p.CreationTimestamp = metav1.NewTime(epoch)
		}
		defaultRequests(p.Spec.Containers)
		defaultRequests(p.Spec.InitContainers)
		if p.Spec.Priority == nil {
			if v, ok := prio[p.Spec.PriorityClassName]; ok {
				p.Spec.Priority = &v
			} else if p.Spec.PriorityClassName == "" {
				p.Spec.Priority = defPrio
			}
		}
		if p.Spec.NodeName == "" {
			if p.Status.Phase == "" {
				p.Status.Phase = corev1.PodPending
			}
			if p.Status.Phase == corev1.PodPending && len(p.Status.Conditions) == 0 {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			}
		} else {
			if p.Status.Phase == "" {
				p.Status.Phase = corev1.PodRunning
			}
			if len(p.Status.Conditions) == 0 {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
			}
		}
	}
	for i := range in.DaemonSets {
		ds := &in.DaemonSets[i]
		if ds.Namespace == "" {
			ds.Namespace = "default"
		}
		if ds.UID == "" {
			ds.UID = types.UID("daemonset-" + ds.Namespace + "-" + ds.Name)
		}
		defaultRequests(ds.Spec.Template.Spec.Containers)
		defaultRequests(ds.Spec.Template.Spec.InitContainers)
	}
	for i := range in.PVCs {
		if in.PVCs[i].Namespace == "" {
			in.PVCs[i].Namespace = "default"
		}
	}
	for i := range in.PDBs {
		if in.PDBs[i].Namespace == "" {
			in.PDBs[i].Namespace = "default"
		}
	}

	have := map[string]bool{}
	for i := range in.NodeClaims {
		have[in.NodeClaims[i].Status.ProviderID] = true
	}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		if n.CreationTimestamp.IsZero() {
			n.CreationTimestamp = metav1.NewTime(epoch)
		}
		if n.Spec.ProviderID == "" {
			n.Spec.ProviderID = "oracle:///" + n.Name
		}
		if n.Labels[corev1.LabelHostname] == "" {
			n.Labels[corev1.LabelHostname] = n.Name
		}
		if len(n.Status.Capacity) == 0 {
			n.Status.Capacity = n.Status.Allocatable.DeepCopy()
		}
		if len(n.Status.Allocatable) == 0 {
			n.Status.Allocatable = n.Status.Capacity.DeepCopy()
		}
		if len(n.Status.Conditions) == 0 {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
		pool := n.Labels[v1.NodePoolLabelKey]
		if pool == "" || have[n.Spec.ProviderID] {
			continue
		}
		if n.Labels[v1.NodeRegisteredLabelKey] == "" {
			n.Labels[v1.NodeRegisteredLabelKey] = "true"
		}
		if n.Labels[v1.NodeInitializedLabelKey] == "" {
			n.Labels[v1.NodeInitializedLabelKey] = "true"
		}
		in.NodeClaims = append(in.NodeClaims, claimForNode(in, n, pool))
	}
}

func claimForNode(in *Input, n *corev1.Node, pool string) v1.NodeClaim {
	nc := v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:              n.Name + "-claim",
			UID:               types.UID("nodeclaim-" + n.Name),
			Labels:            map[string]string{},
			Annotations:       map[string]string{},
			CreationTimestamp: n.CreationTimestamp,
		},
		Status: v1.NodeClaimStatus{
			NodeName:    n.Name,
			ProviderID:  n.Spec.ProviderID,
			Capacity:    n.Status.Capacity.DeepCopy(),
			Allocatable: n.Status.Allocatable.DeepCopy(),
		},
	}
	for k, v := range n.Labels {
		nc.Labels[k] = v
	}
	for k, v := range n.Annotations {
		nc.Annotations[k] = v
	}
	for i := range in.NodePools {
		np := &in.NodePools[i]
		if np.Name != pool {
			continue
		}
		tmpl := np.Spec.Template.ToNodeClaim()
		nc.Spec = tmpl.Spec
		nc.Annotations[v1.NodePoolHashAnnotationKey] = np.Hash()
		nc.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	}
	for _, c := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable} {
		nc.StatusConditions().SetTrue(c)
	}
	return nc
}

func defaultRequests(cs []corev1.Container) {
	for i := range cs {
		for k, v := range cs[i].Resources.Limits {
			if _, ok := cs[i].Resources.Requests[k]; !ok {
				if cs[i].Resources.Requests == nil {
					cs[i].Resources.Requests = corev1.ResourceList{}
				}
				cs[i].Resources.Requests[k] = v
			}
		}
	}
}
