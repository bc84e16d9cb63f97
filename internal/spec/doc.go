// Package spec is what the user wrote: the experiment file, version 1.
//
// It is for the door alone. [Load] reads a file with the changes that flags ask
// for, [Experiment.Resolve] gives its services and loads for one combination of
// what is varied, [Schema] describes the format for editors and [Write] writes
// a file. One table of keys (see table.go) drives all of them and the messages,
// so that they cannot drift apart. After the plan is made nobody looks back at
// what was typed.
//
// It decides that a file is right as a whole or refused as a whole: every
// combination is resolved and checked before anything runs, and all mistakes
// are reported at once, each with its position, what may stand there and what
// to do.
//
// It refuses keys it does not know, keys that stand twice, values of a wrong
// kind, variables that nothing gives a value, axes that change nothing, merge
// keys of YAML, and files it would take long to read. It opens no file and asks
// nobody: what a file names is looked at by whoever needs it.
package spec
