// Package schedule says when requests are to be sent.
//
// It is for open models, in which the arrivals do not depend on the answers,
// and for the think times of closed ones. An [Arrivals] describes a timetable;
// [Arrivals.Shard] hands a worker its part of it, a [Timetable], which yields
// the planned times one by one. The package is pure: it starts nothing and
// reads no clock. Every time is a whole number of nanoseconds from the origin
// of the load, so what a worker does with a late request is visible as the
// difference between its clock and the plan, and can never move the plan.
//
// What it decides for you:
//
//   - A rate function λ(t) is piecewise linear, and Λ(t) is its integral, the
//     number of arrivals expected before t. A constant plan solves Λ(t_i) = i
//     and therefore starts at once; a Poisson plan solves Λ(t_i) = E_i, with E_i
//     a running sum of unit exponentials. That is the exact time change: nothing
//     is thinned, and a ramp of Poisson arrivals is as exact as a flat rate.
//   - Every time is computed from the index (or from E_i) and the origin, and
//     only the result is rounded, half up. Rounded gaps are never added up.
//   - There is one global plan. Part k of n owns the indices i ≡ k (mod n), so
//     the merged plan is the same for every n, and n workers at a constant rate
//     are staggered in phase and emit no bursts of n.
//   - A plan with an end at D holds times in [0, D). A boundary of Λ that misses
//     a whole number by no more than the dust of binary fractions is taken as
//     that number: 0.1/s for 30 s are three arrivals.
//   - The same seed gives the same plan, so that variants can be compared under
//     the same arrivals. Processors whose compilers fuse multiplication and
//     addition may differ by a nanosecond.
//
// What it refuses: rates that are negative, not finite or above one arrival a
// nanosecond; a segment without an end anywhere but in the last place, or one
// that is a ramp; replayed times that descend. It does not pace, wait, drop or
// respace: late is the business of whoever holds the clock.
package schedule
