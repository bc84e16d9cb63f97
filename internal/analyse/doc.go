// Package analyse judges the result of a load: can the number be used, what
// stopped it from being higher, and were the goals met.
//
// It is for one result ([Run]) with its generator's figures, its ledger and
// whatever was watched of hosts and services, and for an experiment
// ([Experiment]), whose trials say of each other what none says alone.
// Everything is computed from what the result already holds, so that a result
// from last year can be judged again and gives the same bytes. No rule reads a
// clock or a file. Each has a page in docs/findings.
//
// It decides for you the order of the questions: first whether the books
// balance and the laws of queueing hold, then whether the generator was able
// and the machines quiet, then whether the answers were good and the work the
// same, then the path, the target and the chain behind it. It decides the
// severity of every finding from [Thresholds], and prints the threshold with
// the finding. What is used up is a note, not a doubt: a server at its limit is
// what many came to measure.
//
// # When a limit is named
//
// The bottleneck answers one question: why not double? A limiter is named only
// where the load was at its limit:
//
//   - Open load: when the rate was not sustained (requests were never sent, or
//     the number of unfinished ones grew), or 1 % of the requests failed.
//     Otherwise: no limit reached at this load.
//   - Closed load with think time: when 95 % of its users wait for an answer.
//     Otherwise their think time sets the rate.
//   - Closed load without: it is as high as its connections allow. If another
//     run of the experiment with at least twice the connections, alike in all
//     else, gave 5 % more, it was not at a limit, whatever was busy. If it gave
//     less than that, or this run gave less than 5 % more than one with half the
//     connections, it was at a plateau. If no other run tells, it counts as at
//     its limit only when a rule sees something of the target or the path used
//     up; else the time of an answer sets the rate, and the message says that
//     only a run with more connections can show a limit.
//
// Of several things used up, the one that explains the others is named (the
// order is in limit.go): a connection for each request before the CPU that it
// costs, a full CPU before the accept queue that fills behind it. Where 1 % of
// the requests failed, only events that were counted are named. At a limit where
// nothing was used up the limiter is "not identified", with the list of what was
// looked at and exonerated.
//
// It refuses to name a bottleneck of the target while a finding makes the
// result invalid (limits of the generator, and others who took the cores, are
// named all the same), to take a figure that could not be read for zero (the rule is
// listed as not run instead), and to guess.
package analyse
