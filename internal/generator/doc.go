// Package generator makes load with other programs: wrk, ab, h2load, hey,
// vegeta, bombardier, oha and Gatling.
//
// What it is for: a published command can be repeated to the letter inside an
// experiment, and generators can be compared on one target. A [Program] says
// what it can do; [Check] holds a load against that before anything starts;
// [Run] starts it as its users would type it, and reads what it printed.
//
// What it decides for you: the command line, redirects that are not followed,
// a warm-up as a run of its own where the program has none, and SIGINT before
// SIGKILL, so that a program that is stopped can still print what it has.
// Percentiles that a program prints stay what they are, figures in
// result.Load.Printed; the histograms of the result stay empty, for nobody can
// make a distribution of four percentiles, and those of wrk are not even of the
// requests that it sent.
//
// What it refuses: a load that the program cannot make as it is described, with
// all reasons at once; and a result from a program that printed none.
package generator
