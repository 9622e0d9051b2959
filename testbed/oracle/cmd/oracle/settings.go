package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Settings are the controller's settings that an input carries with it.
type Settings struct {
	PreferencePolicy string       `json:"preferencePolicy"`
	MinValuesPolicy  string       `json:"minValuesPolicy"`
	FeatureGates     FeatureGates `json:"featureGates"`
}

// FeatureGates is upstream's comma list "Name=bool,…"; an object of booleans reads as the same.
type FeatureGates string

// UnmarshalJSON takes either form.
func (g *FeatureGates) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*g = FeatureGates(text)
		return nil
	}
	var table map[string]bool
	if err := json.Unmarshal(raw, &table); err != nil {
		return fmt.Errorf("settings.featureGates: want text or an object of booleans: %w", err)
	}
	var parts []string
	for k, v := range table {
		parts = append(parts, fmt.Sprintf("%s=%t", k, v))
	}
	sort.Strings(parts)
	*g = FeatureGates(strings.Join(parts, ","))
	return nil
}

// override puts the input's settings in the place of the flags that nobody gave.
func (s Settings) override(f *flags) {
	if s.PreferencePolicy != "" && !f.given["preference-policy"] {
		f.preferences = s.PreferencePolicy
	}
	if s.MinValuesPolicy != "" && !f.given["min-values-policy"] {
		f.minValues = s.MinValuesPolicy
	}
	if s.FeatureGates != "" && !f.given["feature-gates"] {
		f.gates = string(s.FeatureGates)
	}
}
