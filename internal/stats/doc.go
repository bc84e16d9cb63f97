// Package stats judges few values, one per run: the run is the unit, never the
// request or the second (method, section 4.1).
//
// What it is for: medians and quantiles with intervals whose coverage is exact
// and printed; rank tests and shifts of two sets of runs, paired by block or
// not; families of tests; how many runs would tell; where in a run the steady
// part begins; the fit of the universal scalability law.
//
// What it decides for you: exact distributions wherever they can be counted,
// with a note of the method where they cannot; ratios through logarithms; the
// rules and constants of the method, which are parameters only where the method
// says so. Everything is deterministic: what is random takes a seed.
//
// What it refuses: intervals that the number of runs cannot give (Coverage 0
// stands for none), bootstraps of fewer than 6 runs, and ratios of values that
// are not above zero.
package stats
