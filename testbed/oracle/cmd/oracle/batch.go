package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// answerOut is one run's answer without times and with every order made definite, so
// that two runs that decided the same are the same bytes.
type answerOut struct {
	Count            int               `json:"count"` // runs that answered so
	NewNodeClaims    []claimOut        `json:"newNodeClaims"`
	ExistingNodes    []existingOut     `json:"existingNodes"`
	Errors           map[string]string `json:"errors"`
	TotalHourlyPrice float64           `json:"totalHourlyPrice"`
	ScheduledPods    int               `json:"scheduledPods"`
	TimedOut         bool              `json:"timedOut,omitempty"`
}

// batchOut is one input's line: the distinct answers in the order they were first seen.
type batchOut struct {
	Input          string      `json:"input"` // file name without .json
	Runs           int         `json:"runs"`
	Answers        []answerOut `json:"answers"`
	Error          string      `json:"error,omitempty"`
	ElapsedSeconds float64     `json:"elapsedSeconds"`
}

// runBatch answers every input N times in this one process, a line of JSON each.
func runBatch(f flags, paths []string) error {
	inputs, err := inputFiles(paths)
	if err != nil {
		return err
	}
	w := os.Stdout
	if f.out != "" {
		if w, err = os.Create(f.out); err != nil {
			return err
		}
		defer w.Close()
	}
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	for _, path := range inputs {
		one := f
		one.input = path
		if err := enc.Encode(batchOne(one)); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// inputFiles replaces each directory by the *.json in it, leaving out the shared
// catalogues, which are no inputs.
func inputFiles(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			out = append(out, p)
			continue
		}
		names, err := filepath.Glob(filepath.Join(p, "*.json"))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if !strings.HasPrefix(filepath.Base(n), "types-") {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

func batchOne(f flags) (out batchOut) {
	start := time.Now()
	out = batchOut{Input: strings.TrimSuffix(filepath.Base(f.input), ".json"), Answers: []answerOut{}}
	defer func() {
		if r := recover(); r != nil {
			out.Error = fmt.Sprintf("panic: %v", r)
		}
		out.ElapsedSeconds = time.Since(start).Seconds()
	}()
	seen := map[string]int{}
	for i := 0; i < f.runs; i++ {
		w, err := newWorld(f)
		if err != nil {
			out.Error = err.Error()
			return out
		}
		got, err := w.schedule(f)
		if err != nil {
			out.Error = err.Error()
			return out
		}
		a := definite(got)
		key, err := json.Marshal(a)
		if err != nil {
			out.Error = err.Error()
			return out
		}
		if j, ok := seen[string(key)]; ok {
			out.Answers[j].Count++
		} else {
			seen[string(key)] = len(out.Answers)
			a.Count = 1
			out.Answers = append(out.Answers, a)
		}
		out.Runs++
	}
	return out
}

// definite sorts what upstream leaves in any order.
func definite(o *scheduleOut) answerOut {
	a := answerOut{
		NewNodeClaims: o.NewNodeClaims, ExistingNodes: o.ExistingNodes, Errors: o.Errors,
		ScheduledPods: o.ScheduledPods, TimedOut: o.TimedOut,
	}
	if a.ExistingNodes == nil {
		a.ExistingNodes = []existingOut{}
	}
	for i := range a.NewNodeClaims {
		sort.Strings(a.NewNodeClaims[i].Pods)
		sort.Strings(a.NewNodeClaims[i].InstanceTypes)
		// a random number stands for the value of a custom label
		a.NewNodeClaims[i].Labels = nil
	}
	sort.Slice(a.NewNodeClaims, func(i, j int) bool {
		return strings.Join(a.NewNodeClaims[i].Pods, ",") < strings.Join(a.NewNodeClaims[j].Pods, ",")
	})
	for _, c := range a.NewNodeClaims {
		if c.Cheapest != nil {
			a.TotalHourlyPrice += c.Cheapest.Price
		}
	}
	for i := range a.ExistingNodes {
		sort.Strings(a.ExistingNodes[i].Pods)
	}
	sort.Slice(a.ExistingNodes, func(i, j int) bool { return a.ExistingNodes[i].Name < a.ExistingNodes[j].Name })
	return a
}
