package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/events"
)

// ---- a read-only client that behaves like an informer cache ----

// memClient serves Get and List from maps, as the manager's cache does in the
// controller: no serialisation, one deep copy per returned object. Anything that
// writes is unsupported and would panic, which is the point: the oracle only asks.
type memClient struct {
	client.Client
	objs    map[schema.GroupVersionKind]map[types.NamespacedName]client.Object
	order   map[schema.GroupVersionKind][]types.NamespacedName
	podNode map[string][]types.NamespacedName
	mu      sync.Mutex
	lists   int
	gets    int
}

var clusterScoped = map[string]bool{
	"Node": true, "Namespace": true, "PersistentVolume": true, "StorageClass": true, "CSINode": true,
	"PriorityClass": true, "NodePool": true, "NodeClaim": true, "VolumeAttachment": true,
}

func newMemClient() *memClient {
	return &memClient{
		objs:    map[schema.GroupVersionKind]map[types.NamespacedName]client.Object{},
		order:   map[schema.GroupVersionKind][]types.NamespacedName{},
		podNode: map[string][]types.NamespacedName{},
	}
}

func (m *memClient) put(o client.Object) {
	gvk, err := apiutil.GVKForObject(o, scheme.Scheme)
	if err != nil {
		panic(err)
	}
	key := client.ObjectKeyFromObject(o)
	if m.objs[gvk] == nil {
		m.objs[gvk] = map[types.NamespacedName]client.Object{}
	}
	if _, dup := m.objs[gvk][key]; dup {
		panic(fmt.Sprintf("duplicate %s %s", gvk.Kind, key))
	}
	m.objs[gvk][key] = o
	m.order[gvk] = append(m.order[gvk], key)
	if p, ok := o.(*corev1.Pod); ok {
		m.podNode[p.Spec.NodeName] = append(m.podNode[p.Spec.NodeName], key)
	}
}

func (m *memClient) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	m.mu.Lock()
	m.gets++
	m.mu.Unlock()
	gvk, err := apiutil.GVKForObject(obj, scheme.Scheme)
	if err != nil {
		return err
	}
	if clusterScoped[gvk.Kind] {
		key.Namespace = "" // as the cache reader does; upstream asks for volumes with the pod's namespace
	}
	src, ok := m.objs[gvk][key]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}, key.String())
	}
	cp := src.DeepCopyObject()
	switch dst := obj.(type) {
	case *corev1.Node:
		*dst = *cp.(*corev1.Node)
	case *corev1.Pod:
		*dst = *cp.(*corev1.Pod)
	default:
		// the generic path goes through the unstructured converter; rare objects only
		u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cp)
		if err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(u, obj)
	}
	return nil
}

func (m *memClient) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	m.mu.Lock()
	m.lists++
	m.mu.Unlock()
	lo := client.ListOptions{}
	lo.ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(list, scheme.Scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	keys := m.order[gvk]
	field, value := "", ""
	if lo.FieldSelector != nil && !lo.FieldSelector.Empty() {
		reqs := lo.FieldSelector.Requirements()
		if len(reqs) != 1 {
			return fmt.Errorf("unsupported field selector %s", lo.FieldSelector)
		}
		field, value = reqs[0].Field, reqs[0].Value
		if gvk.Kind == "Pod" && field == "spec.nodeName" {
			keys, field = m.podNode[value], ""
		}
	}
	noCopy := lo.UnsafeDisableDeepCopy != nil && *lo.UnsafeDisableDeepCopy
	pods, isPods := list.(*corev1.PodList)
	if isPods {
		pods.Items = pods.Items[:0:0]
	}
	var out []runtime.Object
	for _, k := range keys {
		if lo.Namespace != "" && k.Namespace != lo.Namespace {
			continue
		}
		o := m.objs[gvk][k]
		if lo.LabelSelector != nil && !lo.LabelSelector.Matches(labelSet(o.GetLabels())) {
			continue
		}
		if field != "" && fieldOf(o, field) != value {
			continue
		}
		if isPods {
			p := o.(*corev1.Pod)
			if noCopy {
				pods.Items = append(pods.Items, *p)
			} else {
				pods.Items = append(pods.Items, *p.DeepCopy())
			}
			continue
		}
		if noCopy {
			out = append(out, o)
		} else {
			out = append(out, o.DeepCopyObject())
		}
	}
	if isPods {
		return nil
	}
	return apimeta.SetList(list, out)
}

type labelSet map[string]string

func (l labelSet) Has(k string) bool              { _, ok := l[k]; return ok }
func (l labelSet) Get(k string) string            { return l[k] }
func (l labelSet) Lookup(k string) (string, bool) { v, ok := l[k]; return v, ok }
func fieldOf(o client.Object, field string) string {
	switch x := o.(type) {
	case *corev1.Node:
		if field == "spec.providerID" {
			return x.Spec.ProviderID
		}
	case *v1.NodeClaim:
		if field == "status.providerID" {
			return x.Status.ProviderID
		}
	}
	panic(fmt.Sprintf("unsupported field %s on %T", field, o))
}

func (m *memClient) Scheme() *runtime.Scheme { return scheme.Scheme }
func (m *memClient) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, scheme.Scheme)
}

// ---- the node class kind named by the NodePools ----

type anyNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Conditions        []status.Condition `json:"conditions,omitempty"`
}

func (a *anyNodeClass) DeepCopyObject() runtime.Object {
	c := *a
	c.ObjectMeta = *a.ObjectMeta.DeepCopy()
	return &c
}
func (a *anyNodeClass) GetConditions() []status.Condition  { return a.Conditions }
func (a *anyNodeClass) SetConditions(c []status.Condition) { a.Conditions = c }
func (a *anyNodeClass) StatusConditions(_ ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(a)
}

var registered *schema.GroupKind

// registerNodeClass makes the kind that the NodePools reference known, so that
// the provider reports it as supported.
func registerNodeClass(in *Input) error {
	var gk *schema.GroupKind
	for i := range in.NodePools {
		g := in.NodePools[i].Spec.Template.Spec.NodeClassRef.GroupKind()
		if gk != nil && *gk != g {
			return fmt.Errorf("the oracle supports one node class kind per input, got %s and %s", gk, g)
		}
		gk = &g
	}
	if gk == nil {
		gk = &schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}
	}
	// The scheme is global to the process and maps one Go type to one kind.
	if registered != nil && *registered != *gk {
		return fmt.Errorf("the oracle supports one node class kind per process, had %s and got %s", registered, gk)
	}
	registered = gk
	scheme.Scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: gk.Group, Version: "v1", Kind: gk.Kind}, &anyNodeClass{})
	return nil
}

// ---- cloud provider: only describes, never launches ----

type provider struct {
	its []*cloudprovider.InstanceType
}

var _ cloudprovider.CloudProvider = (*provider)(nil)

func (p *provider) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, fmt.Errorf("the oracle does not launch")
}
func (p *provider) Delete(context.Context, *v1.NodeClaim) error {
	return fmt.Errorf("the oracle does not delete")
}
func (p *provider) Get(context.Context, string) (*v1.NodeClaim, error) {
	return nil, fmt.Errorf("unsupported")
}
func (p *provider) List(context.Context) ([]*v1.NodeClaim, error) { return nil, nil }
func (p *provider) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return append([]*cloudprovider.InstanceType(nil), p.its...), nil
}
func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (p *provider) Name() string                                 { return "oracle" }
func (p *provider) GetSupportedNodeClasses() []status.Object     { return []status.Object{&anyNodeClass{}} }

// ---- recorder that keeps the reasons ----

type recorder struct {
	mu   sync.Mutex
	msgs map[string]int
}

func newRecorder() *recorder { return &recorder{msgs: map[string]int{}} }

func (r *recorder) Publish(evts ...events.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range evts {
		name := ""
		if o, ok := e.InvolvedObject.(client.Object); ok {
			name = o.GetName()
		}
		r.msgs[fmt.Sprintf("%s %s: %s", name, e.Reason, e.Message)]++
	}
}

func (r *recorder) sorted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.msgs))
	for m := range r.msgs {
		out = append(out, m)
	}
	sort.Strings(out)
	return out
}

// ---- real clock whose waits return at once ----

// The validators wait 15 seconds on After; a frozen world has nothing to wait for.
type eagerClock struct{ clock.RealClock }

func (eagerClock) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Now()
	return c
}

func buildClient(in *Input) *memClient {
	m := newMemClient()
	ns := map[string]bool{}
	for i := range in.Namespaces {
		m.put(&in.Namespaces[i])
		ns[in.Namespaces[i].Name] = true
	}
	need := map[string]bool{"default": true}
	for i := range in.Pods {
		need[in.Pods[i].Namespace] = true
		m.put(&in.Pods[i])
	}
	for n := range need {
		if !ns[n] {
			m.put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{"kubernetes.io/metadata.name": n}}})
		}
	}
	for i := range in.NodePools {
		m.put(&in.NodePools[i])
	}
	for i := range in.Nodes {
		m.put(&in.Nodes[i])
	}
	for i := range in.NodeClaims {
		m.put(&in.NodeClaims[i])
	}
	for i := range in.DaemonSets {
		m.put(&in.DaemonSets[i])
	}
	for i := range in.PVCs {
		m.put(&in.PVCs[i])
	}
	for i := range in.PVs {
		m.put(&in.PVs[i])
	}
	for i := range in.StorageClasses {
		m.put(&in.StorageClasses[i])
	}
	for i := range in.CSINodes {
		m.put(&in.CSINodes[i])
	}
	for i := range in.PriorityClasses {
		m.put(&in.PriorityClasses[i])
	}
	for i := range in.PDBs {
		m.put(&in.PDBs[i])
	}
	return m
}
