// Package capacity finds how much a system takes: the highest rate at which it
// meets its goals, the concurrency of its highest throughput, and where the knee
// of the curve is.
//
// What it is for: a [Search] is asked for the next trial and told how it went,
// until it ends; so is a [Sweep], over numbers of connections, and an [AIMD],
// for soak tests. The caller runs the trials.
//
// What it decides for you: the whole course (method, section 5): probe, double,
// bisect with the best of three, confirm by the rule of MLRsearch. Single trials
// near the limit are too noisy for plain bisection, which ends too high in 29 to
// 57 % of the cases.
//
// What it refuses: to call a rate a capacity that was not confirmed, or one at
// which the generator was the limit.
package capacity
