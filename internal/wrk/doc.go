// Package wrk is wrk's command line and report: what its users type, and what
// their scripts read.
//
// What it is for: [Parse] takes wrk's arguments with its rules, [Options.Plan]
// turns them into the plan that the engine runs, and [Render] prints the result
// line by line as wrk does. [Latency], [Rates] and [Count] are the same figures
// for a script's done function.
//
// What it decides for you: the layout is wrk's, to the column; the figures are
// true. Latencies are those that were measured. A request older than --timeout
// is given up and counted. Exactly the connections asked for are opened. Where
// such a difference changes a printed figure, a line that starts with "Note: "
// says so. Options.Quirks prints the figures wrk would print, and
// Options.Plain leaves out the notes. docs/compat.md lists every
// difference.
//
// What it refuses: what wrk refuses, with the same messages and exit codes,
// and a timeout of zero, with which wrk counts nearly every answer as late.
package wrk
