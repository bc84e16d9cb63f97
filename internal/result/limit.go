package result

import (
	"regexp"
	"strings"
)

// Short is the limit in a few words, for a heading or a column: "CPU quota of
// app". The instance is left to the message; what has no words of its own is
// shown as it is named, and nothing is "not identified".
func (b *Bottleneck) Short() string {
	if b == nil {
		return "not identified"
	}
	return LimitName(b.What, b.Where)
}

// instanceNumber is what tells one instance of a service from another.
var instanceNumber = regexp.MustCompile(`\[\d+\]$`)

// LimitName is Short from the two parts of a Bottleneck; where may be "".
// web/src/data/limits.ts says the same, held to it by a file of answers.
func LimitName(what, where string) string {
	name, whole := limitWords(what)
	where = instanceNumber.ReplaceAllString(where, "")
	if whole || where == "" {
		return name
	}
	return name + " of " + where
}

// limitWords are those of what ran out; whole says that they need no place.
func limitWords(what string) (words string, whole bool) {
	switch what {
	case "", "not-identified":
		return "not identified", true
	case "cpu-quota", "target-quota":
		return "CPU quota", false
	case "target-cpu", "host-cpu":
		return "CPU", false
	case "one-thread":
		return "one full thread", false
	case "memory":
		return "memory", false
	case "foreign-cpu":
		return "other programs", true
	case "generator":
		return "the generator", true
	case "generator-cpu":
		return "CPU of the generator", true
	case "generator-quota":
		return "CPU quota of the generator", true
	case "file-limit":
		return "open files of the generator", true
	case "ports":
		return "ports of the generator", true
	}
	return limitElsewhere(what)
}

// limitElsewhere are the words of limits of the way and of the load.
func limitElsewhere(what string) (words string, whole bool) {
	switch what {
	case "connections", "concurrency":
		return "number of connections", true
	case "rate":
		return "the asked rate", true
	case "think-time":
		return "think time of the users", true
	case "target-or-path":
		return "the target or the way to it", true
	case "admission":
		return "circuit breaker or limiter", true
	case "pool":
		return "connection pool", false
	case "softirq":
		return "network interrupts", false
	case "loss":
		return "packet loss", false
	case "bandwidth":
		return "bandwidth", false
	case "upstream-connections":
		return "new upstream connections", false
	case "conntrack":
		return "connection tracking", false
	case "syn-queue":
		return "SYN queue", false
	}
	return strings.ReplaceAll(what, "-", " "), false
}
