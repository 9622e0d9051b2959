package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	pscheduling "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type cheapest struct {
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

type claimOut struct {
	NodePool          string            `json:"nodePool"`
	InstanceTypes     []string          `json:"instanceTypes"`
	InstanceTypeCount int               `json:"instanceTypeCount"`
	Cheapest          *cheapest         `json:"cheapest"`
	Pods              []string          `json:"pods"`
	Requirements      []requirementOut  `json:"requirements"`
	Requests          map[string]string `json:"requests"`
	Taints            []corev1.Taint    `json:"taints,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
}

type requirementOut struct {
	Key       string   `json:"key"`
	Operator  string   `json:"operator"`
	Values    []string `json:"values,omitempty"`
	MinValues *int     `json:"minValues,omitempty"`
}

type existingOut struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type scheduleOut struct {
	NewNodeClaims    []claimOut        `json:"newNodeClaims"`
	ExistingNodes    []existingOut     `json:"existingNodes"`
	Errors           map[string]string `json:"errors"`
	ElapsedSeconds   float64           `json:"elapsedSeconds"`
	NewSchedulerSec  float64           `json:"newSchedulerSeconds,omitempty"`
	SolveSec         float64           `json:"solveSeconds,omitempty"`
	TruncateSec      float64           `json:"truncateSeconds,omitempty"`
	CPUParts         []float64         `json:"cpuParts,omitempty"` // pending pods, new scheduler, solve, truncate
	CPUSeconds       float64           `json:"cpuSeconds"`         // user+system of the whole process, garbage collection included
	TotalHourlyPrice float64           `json:"totalHourlyPrice"`
	ScheduledPods    int               `json:"scheduledPods"`
	TimedOut         bool              `json:"timedOut,omitempty"`
	Memory           *memOut           `json:"memory,omitempty"`
	Events           []string          `json:"events,omitempty"`
}

type memOut struct {
	PeakRSSMiB     float64 `json:"peakRssMiB"`
	HeapBeforeMiB  float64 `json:"heapBeforeMiB"`
	AllocDuringMiB float64 `json:"allocDuringMiB"`
	MallocsDuring  uint64  `json:"mallocsDuring"`
	LiveAfterMiB   float64 `json:"liveAfterMiB"`
}

type flags struct {
	input, cpuprofile, memprofile, out    string
	direct, mem, full, verbose, eventsOut bool
	cpu                                   int64
	minValues, preferences, gates         string
	runs                                  int
	limitTypes                            int
	method                                string
	given                                 map[string]bool // flags named on the command line; they beat the input's settings
}

func main() {
	mode := "schedule"
	args := os.Args[1:]
	if len(args) > 0 && (args[0] == "schedule" || args[0] == "consolidate" || args[0] == "batch") {
		mode, args = args[0], args[1:]
	}
	f := flags{}
	fs := flag.NewFlagSet("oracle", flag.ExitOnError)
	fs.StringVar(&f.cpuprofile, "cpuprofile", "", "write a CPU profile of the decision")
	fs.StringVar(&f.memprofile, "memprofile", "", "write an allocation profile")
	fs.StringVar(&f.out, "o", "", "write the answer here instead of to stdout")
	fs.StringVar(&f.out, "out", "", "the same as -o")
	fs.BoolVar(&f.direct, "no-timeout", false, "take Provisioner.Schedule apart so that its one minute limit does not apply, and time its two parts")
	fs.BoolVar(&f.mem, "mem", false, "report memory")
	fs.BoolVar(&f.full, "summary", false, "leave out names of pods, instance types and requirements")
	fs.BoolVar(&f.verbose, "v", false, "upstream's own log on stderr")
	fs.BoolVar(&f.eventsOut, "events", false, "report the events it published")
	fs.Int64Var(&f.cpu, "cpu-requests", 1000, "the controller's CPU request in millicores: upstream tries ceil(n/1000) candidates at once")
	fs.StringVar(&f.minValues, "min-values-policy", "Strict", "Strict or BestEffort")
	fs.StringVar(&f.preferences, "preference-policy", "Respect", "Respect or Ignore")
	fs.StringVar(&f.gates, "feature-gates", "ReservedCapacity=true", "as upstream's flag")
	fs.IntVar(&f.runs, "runs", 1, "repeat in fresh state, report the spread of prices (map order makes upstream random)")
	fs.IntVar(&f.limitTypes, "limit-types", 0, "keep only N instance types, spread evenly over the list")
	fs.StringVar(&f.method, "method", "", "consolidate: only this method (empty, drift, multi, single)")
	_ = fs.Parse(args)
	f.given = map[string]bool{}
	fs.Visit(func(x *flag.Flag) { f.given[x.Name] = true })
	if mode == "batch" && fs.NArg() > 0 {
		if err := runBatch(f, fs.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
		return
	}
	if fs.NArg() != 1 || mode == "batch" {
		fmt.Fprintln(os.Stderr, "usage: oracle [schedule|consolidate] [flags] input.json\n       oracle batch [flags] -runs N -out answers.jsonl (input.json|directory)...")
		os.Exit(2)
	}
	f.input = fs.Arg(0)

	var answer any
	var err error
	switch mode {
	case "schedule":
		answer, err = runSchedule(f)
	case "consolidate":
		answer, err = runConsolidate(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
	w := os.Stdout
	if f.out != "" {
		if w, err = os.Create(f.out); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
		defer w.Close()
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(answer); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// world is one freshly hydrated copy of the controller's in-memory state.
type world struct {
	ctx   context.Context
	in    *Input
	kube  *memClient
	cp    *provider
	clk   clock.Clock
	rec   *recorder
	state *state.Cluster
	prov  *provisioning.Provisioner
}

func newWorld(f flags) (*world, error) {
	in, err := readInput(f.input)
	if err != nil {
		return nil, err
	}
	if n := len(in.InstanceTypes); f.limitTypes > 0 && f.limitTypes < n {
		var kept []InstanceType
		for i := 0; i < f.limitTypes; i++ {
			kept = append(kept, in.InstanceTypes[i*n/f.limitTypes])
		}
		in.InstanceTypes = kept
	}
	in.Settings.override(&f)
	applyDefaults(in)
	if err := registerNodeClass(in); err != nil {
		return nil, err
	}
	logger := logr.Discard()
	if f.verbose {
		cfg := zap.NewDevelopmentConfig()
		cfg.OutputPaths = []string{"stderr"}
		z, err := cfg.Build()
		if err != nil {
			return nil, err
		}
		logger = zapr.NewLogger(z)
	}
	log.SetLogger(logger)

	opt := &options.Options{}
	ofs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	opt.AddFlags(ofs)
	if err := opt.Parse(ofs,
		"--cpu-requests", fmt.Sprint(f.cpu),
		"--min-values-policy", f.minValues,
		"--preference-policy", f.preferences,
		"--feature-gates", f.gates,
	); err != nil {
		return nil, err
	}
	ctx := options.ToContext(context.Background(), opt)
	ctx = injection.WithControllerName(ctx, "provisioner")
	ctx = log.IntoContext(ctx, logger)

	w := &world{ctx: ctx, in: in, clk: eagerClock{}, rec: newRecorder()}
	w.cp = &provider{its: toInstanceTypes(in)}
	w.kube = buildClient(in)
	w.state = state.NewCluster(w.clk, w.kube, w.cp)
	// What the informers would have told the cluster state, in their usual order.
	for i := range in.NodeClaims {
		w.state.UpdateNodeClaim(&in.NodeClaims[i])
	}
	for i := range in.Nodes {
		if err := w.state.UpdateNode(ctx, &in.Nodes[i]); err != nil {
			return nil, fmt.Errorf("node %s: %w", in.Nodes[i].Name, err)
		}
	}
	for i := range in.Pods {
		if err := w.state.UpdatePod(ctx, &in.Pods[i]); err != nil {
			return nil, fmt.Errorf("pod %s: %w", in.Pods[i].Name, err)
		}
	}
	for i := range in.DaemonSets {
		if err := w.state.UpdateDaemonSet(ctx, &in.DaemonSets[i]); err != nil {
			return nil, err
		}
	}
	if !w.state.Synced(ctx) {
		return nil, fmt.Errorf("cluster state did not sync: a managed node lacks an instance type label or a provider id")
	}
	w.prov = provisioning.NewProvisioner(w.kube, w.rec, w.cp, w.state, w.clk, deviceallocation.NewController(w.kube))
	return w, nil
}

func runSchedule(f flags) (any, error) {
	var first *scheduleOut
	var prices, secs []float64
	var claims []int
	for i := 0; i < f.runs; i++ {
		w, err := newWorld(f)
		if err != nil {
			return nil, err
		}
		out, err := w.schedule(f)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = out
		}
		prices = append(prices, out.TotalHourlyPrice)
		secs = append(secs, out.ElapsedSeconds)
		claims = append(claims, len(out.NewNodeClaims))
	}
	var answer any = first
	if f.full {
		answer = summary(first)
	}
	if f.runs == 1 {
		return answer, nil
	}
	return map[string]any{"first": answer, "totalHourlyPrices": prices, "elapsedSeconds": secs, "newNodeClaimCounts": claims}, nil
}

func summary(o *scheduleOut) any {
	return map[string]any{
		"newNodeClaims": len(o.NewNodeClaims), "existingNodesUsed": len(o.ExistingNodes), "scheduledPods": o.ScheduledPods,
		"errors": len(o.Errors), "elapsedSeconds": o.ElapsedSeconds, "cpuSeconds": o.CPUSeconds, "newSchedulerSeconds": o.NewSchedulerSec, "solveSeconds": o.SolveSec, "truncateSeconds": o.TruncateSec, "cpuParts": o.CPUParts,
		"totalHourlyPrice": o.TotalHourlyPrice, "timedOut": o.TimedOut, "memory": o.Memory,
	}
}

func (w *world) schedule(f flags) (*scheduleOut, error) {
	var before runtime.MemStats
	if f.mem {
		runtime.GC()
		runtime.ReadMemStats(&before)
	}
	stop, err := startCPU(f)
	if err != nil {
		return nil, err
	}
	out := &scheduleOut{}
	var results pscheduling.Results
	start, cpu := time.Now(), cpuSeconds()
	if f.direct {
		results, err = w.scheduleDirect(out)
	} else {
		// exactly what the provisioning controller's Reconcile calls after its batch window
		results, err = w.prov.Schedule(w.ctx)
	}
	out.ElapsedSeconds = time.Since(start).Seconds()
	out.CPUSeconds = cpuSeconds() - cpu
	stop()
	if err != nil {
		return nil, err
	}
	if f.mem {
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		out.Memory = &memOut{
			PeakRSSMiB:     peakRSS(),
			HeapBeforeMiB:  float64(before.HeapAlloc) / (1 << 20),
			AllocDuringMiB: float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20),
			MallocsDuring:  after.Mallocs - before.Mallocs,
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		out.Memory.LiveAfterMiB = float64(after.HeapAlloc) / (1 << 20)
	}
	if f.memprofile != "" {
		if err := writeAllocs(f.memprofile); err != nil {
			return nil, err
		}
	}
	w.fill(out, results)
	if f.eventsOut {
		out.Events = w.rec.sorted()
	}
	return out, nil
}

// scheduleDirect walks the same steps as Provisioner.Schedule without its
// one minute context, and times the set-up and the solve apart.
func (w *world) scheduleDirect(out *scheduleOut) (pscheduling.Results, error) {
	last := cpuSeconds()
	lap := func() {
		now := cpuSeconds()
		out.CPUParts = append(out.CPUParts, now-last)
		last = now
	}
	nodes := w.state.DeepCopyNodes()
	pods, err := w.prov.GetPendingPods(w.ctx)
	if err != nil {
		return pscheduling.Results{}, err
	}
	deleting, err := nodes.Deleting().CurrentlyReschedulablePods(w.ctx, w.kube, w.clk, w.rec)
	if err != nil {
		return pscheduling.Results{}, err
	}
	uids := sets.New[types.UID]()
	for _, p := range deleting {
		uids.Insert(p.UID)
	}
	pods = append(pods, deleting...)
	if len(pods) == 0 {
		return pscheduling.Results{}, nil
	}
	o := options.FromContext(w.ctx)
	opts := []pscheduling.Options{
		pscheduling.DisableReservedCapacityFallback,
		pscheduling.NumConcurrentReconciles(int(math.Ceil(float64(o.CPURequests) / 1000.0))),
		pscheduling.MinValuesPolicy(o.MinValuesPolicy),
	}
	if o.PreferencePolicy == options.PreferencePolicyIgnore {
		opts = append(opts, pscheduling.IgnorePreferences)
	}
	lap()
	t := time.Now()
	s, err := w.prov.NewScheduler(w.ctx, pods, nodes.Active(), uids, opts...)
	out.NewSchedulerSec = time.Since(t).Seconds()
	if err != nil {
		return pscheduling.Results{}, err
	}
	lap()
	t = time.Now()
	r, err := s.Solve(w.ctx, pods)
	out.SolveSec = time.Since(t).Seconds()
	if err != nil {
		return pscheduling.Results{}, err
	}
	lap()
	t = time.Now()
	r = r.TruncateInstanceTypes(w.ctx, pscheduling.MaxInstanceTypes)
	out.TruncateSec = time.Since(t).Seconds()
	lap()
	return r, nil
}

func podName(p *corev1.Pod) string {
	if p.Namespace == "default" || p.Namespace == "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

func (w *world) fill(out *scheduleOut, r pscheduling.Results) {
	out.NewNodeClaims = []claimOut{}
	out.ExistingNodes = []existingOut{}
	out.Errors = map[string]string{}
	placed := map[string]bool{}
	for _, nc := range r.NewNodeClaims {
		c := describeClaim(nc)
		if c.Cheapest != nil {
			out.TotalHourlyPrice += c.Cheapest.Price
		}
		out.ScheduledPods += len(c.Pods)
		for _, p := range c.Pods {
			placed[p] = true
		}
		out.NewNodeClaims = append(out.NewNodeClaims, c)
	}
	for _, n := range r.ExistingNodes {
		if len(n.Pods) == 0 {
			continue
		}
		e := existingOut{Name: n.Name()}
		for _, p := range n.Pods {
			e.Pods = append(e.Pods, podName(p))
			placed[podName(p)] = true
		}
		out.ScheduledPods += len(e.Pods)
		out.ExistingNodes = append(out.ExistingNodes, e)
	}
	for p, err := range r.PodErrors {
		out.Errors[podName(p)] = err.Error()
	}
	// Pods that the provisioner refused to consider only show up as events.
	unseen := 0
	for i := range w.in.Pods {
		p := &w.in.Pods[i]
		if p.Spec.NodeName != "" || placed[podName(p)] || p.Status.Phase != corev1.PodPending {
			continue
		}
		if _, ok := out.Errors[podName(p)]; ok {
			continue
		}
		if err := w.prov.Validate(w.ctx, p); err != nil {
			out.Errors[podName(p)] = "ignored: " + err.Error()
			continue
		}
		unseen++
		out.Errors[podName(p)] = "not considered (timed out, or not provisionable)"
	}
	out.TimedOut = unseen > 0 && out.ElapsedSeconds > 55
}

func describeClaim(nc *pscheduling.NodeClaim) claimOut {
	c := claimOut{NodePool: nc.NodePoolName, Requests: map[string]string{}}
	for _, p := range nc.Pods {
		c.Pods = append(c.Pods, podName(p))
	}
	ordered := append(cloudprovider.InstanceTypes(nil), nc.InstanceTypeOptions...)
	ordered = ordered.OrderByPrice(nc.Requirements)
	for _, it := range ordered {
		c.InstanceTypes = append(c.InstanceTypes, it.Name)
	}
	c.InstanceTypeCount = len(c.InstanceTypes)
	c.Cheapest = cheapestOf(ordered, nc.Requirements)
	// what would be written to the API server, which also tightens the requirements
	api := nc.ToNodeClaim()
	for _, r := range api.Spec.Requirements {
		vals := append([]string(nil), r.Values...)
		sort.Strings(vals)
		if r.Key == corev1.LabelInstanceTypeStable {
			vals = nil // equal to instanceTypes
		}
		c.Requirements = append(c.Requirements, requirementOut{Key: r.Key, Operator: string(r.Operator), Values: vals, MinValues: r.MinValues})
	}
	sort.Slice(c.Requirements, func(i, j int) bool { return c.Requirements[i].Key < c.Requirements[j].Key })
	for k, v := range api.Spec.Resources.Requests {
		c.Requests[string(k)] = v.String()
	}
	c.Taints = append(append([]corev1.Taint(nil), api.Spec.Taints...), api.Spec.StartupTaints...)
	c.Labels = api.Labels
	if api.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] == "true" {
		c.Annotations = map[string]string{v1.NodeClaimMinValuesRelaxedAnnotationKey: "true"}
	}
	return c
}

func cheapestOf(its []*cloudprovider.InstanceType, reqs scheduling.Requirements) *cheapest {
	var best *cheapest
	for _, it := range its {
		for _, o := range it.Offerings.Available().Compatible(reqs) {
			c := &cheapest{InstanceType: it.Name, Zone: o.Zone(), CapacityType: o.CapacityType(), Price: o.Price}
			if best == nil || c.Price < best.Price ||
				(c.Price == best.Price && (c.InstanceType < best.InstanceType || (c.InstanceType == best.InstanceType && c.Zone < best.Zone))) {
				best = c
			}
		}
	}
	return best
}

func startCPU(f flags) (func(), error) {
	if f.cpuprofile == "" {
		return func() {}, nil
	}
	w, err := os.Create(f.cpuprofile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = w.Close() }, nil
}

func writeAllocs(path string) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	return pprof.Lookup("allocs").WriteTo(w, 0)
}

func cpuSeconds() float64 {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return float64(ru.Utime.Sec+ru.Stime.Sec) + float64(ru.Utime.Usec+ru.Stime.Usec)/1e6
}

func peakRSS() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kb float64
	for _, line := range splitLines(string(raw)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}

func splitLines(s string) []string {
	var out []string
	start := 0
	for i := range s {
		if s[i] == '\n' {
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}
