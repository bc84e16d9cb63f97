// Package deps holds the house rules and the tests that enforce them.
//
// It is for whoever changes Prony: policy.txt states, a line a package, who
// may import whom and which third-party modules may come in, and the tests
// beside it compare that text, and the rules of style that a machine can
// check, with the syntax tree of the whole module.
//
// It decides that a new package, a new edge between packages and a new module
// are reviewed as text. Every Go file counts, whatever its build tags and
// operating system, because a policy that only holds on the machine it was
// tested on is none.
//
// It refuses to be imported: it has no exported identifiers, and everything
// that works is in its tests.
package deps
