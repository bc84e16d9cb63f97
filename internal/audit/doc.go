// Package audit reads the printed results of other load generators and says
// what in them cannot be true.
//
// What it is for: a number in a blog post or a pull request, pasted with
// whatever stood around it. It finds the outputs of wrk, wrk2, ab, Gatling,
// h2load, hey, vegeta, bombardier, oha, k6 and fortio, takes what the reader
// knows beside them (facts), and holds all of it against arithmetic that every
// closed loop, link and table must obey: rules E1 to E31.
//
// What it decides for you: a figure that is not printed is unknown, never zero;
// a printed figure is an interval as wide as its last digit; a rule that lacks
// an input says which, and a rule that finds nothing says nothing. Only what
// arithmetic excludes is invalid; what has an innocent reading too is suspect.
//
// What it refuses: texts above a limit, facts with unknown keys, and any
// judgement on a figure it would have to guess.
//
// The steps: Read finds blocks in texts, ParseFacts reads what is known beside
// them, Run applies the rules to each block, to the pairs that are compared and
// to the claims, Text and JSON tell it.
package audit
