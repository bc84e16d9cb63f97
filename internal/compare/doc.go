// Package compare says which of two sets of runs is better, by how much, and how
// sure that is.
//
// What it is for: two variants of an experiment, whose blocks pair their runs,
// or two lists of stored runs. For each metric it gives the effect with its
// interval, the test, and a verdict: better, worse, equivalent, small change, or
// cannot tell with the number of runs that would tell. It also compares the
// whole distributions, plans how many blocks an experiment needs, and measures
// the noise floor of a lab from a variant against itself.
//
// What it decides for you: one value per run and metric; ratios by logarithms,
// shares of errors by differences; pairs wherever blocks allow; margins within
// which a difference does not matter; the family of gates, whose intervals are
// widened together (method, sections 4.2 to 4.5). What differs between the
// machines is listed before any number.
//
// What it refuses: an open load against a closed one, invalid runs, verdicts
// from fewer runs than the test can use, and verdicts over stored runs that were
// made under different conditions, unless the caller accepts those.
package compare
