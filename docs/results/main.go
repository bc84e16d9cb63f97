// Results makes the pages of docs/results: the published benchmarks beside
// Prony's own measurements of the real systems.
//
//	prony run experiments/NAME.yaml --json /tmp/NAME.json
//	go run ./docs/results -take /tmp/NAME.json -note "what --set changed"
//	go run ./docs/results
//
// What it is for: the first form keeps what the tables need of an experiment,
// in data/NAME.json, without series and histograms; the second writes every
// page anew from its text in pages/, the summaries, the published figures and
// their audit.
//
// What it decides for you: which figures a table has, and that trials which are
// invalid count for nothing while there are others.
//
// What it refuses: a page that names an experiment, a variant, a service or a
// published result that is not there, so that no number in a text is typed by
// hand and goes stale.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	take := flag.String("take", "", "keep the summary of this experiment's JSON, and stop")
	note := flag.String("note", "", "with -take: what was changed against the file, for the page")
	root := flag.String("root", ".", "the module's folder")
	flag.Parse()
	err := pages(*root)
	if *take != "" {
		err = keep(*root, *take, *note)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}
