// Command bench measures Prony itself: against wrk and the other load
// generators that are installed or can be built, against nginx and against a
// faster responder, and against servers whose behaviour is known. It writes a
// page (docs/benchmarks.md) and the same as JSON beside it.
//
// What it decides for you: the servers have one core and the generators
// another; every comparison is made of rounds in which each generator runs
// once, in an order that is reversed from round to round; a ratio is that of
// two runs of one round, and its median over the rounds is printed with the
// smallest and the largest; processor time is what the kernel charged the
// process, start-up included; all runs are in the JSON.
//
// What it refuses: to rank by requests per second alone, to keep the best
// run, and to hide a generator that could not be run.
//
//	go run ./bench [-quick] [-only REGEXP] [-duration 3s] [-rounds 5] [-out docs/benchmarks.md]
package main
