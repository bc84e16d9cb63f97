// Package analyse judges the result of a load: can the number be used, what
// stopped it from being higher, and were the goals met.
//
// It is for one result with its generator's figures and its ledger; everything
// is computed from what the result already holds, so that a result from last
// year can be judged again and gives the same bytes. No rule reads a clock or a
// file.
//
// It decides for you the order of the questions: first whether the books
// balance and the laws of queueing hold, then whether the generator was able
// and its machine quiet, then whether the answers were good, then the path. It
// decides the severity of every finding from [Thresholds], and prints the
// threshold with the finding.
//
// It refuses to name a bottleneck of the target while a finding makes the
// result invalid, to take a figure that could not be read for zero (the rule is
// listed as not run instead), and to guess: a limiter that no figure shows is
// "not identified".
package analyse
