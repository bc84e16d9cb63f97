// Package analyse judges a result: verdict, bottleneck and expectations.
package analyse

import (
	"prony/internal/result"
)

// Thresholds are the limits that the rules apply.
type Thresholds struct{}

// DefaultThresholds returns the limits of the method.
func DefaultThresholds() Thresholds { return Thresholds{} }

// Run fills the verdict, the bottleneck and the expectations of r.
func Run(r *result.Run, t Thresholds) {
	r.Validity.Verdict = result.Valid
}

// Suggestions says what would make the number more trustworthy.
func Suggestions(r *result.Run) []string { return nil }
