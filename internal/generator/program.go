package generator

import (
	"slices"
	"time"
)

// Program is another load generator: what it is called, how it comes to a
// machine, and what it can do.
type Program struct {
	Name string // as in plan.Load.With
	// Install is a command that installs it.
	Install string
	Can     Ability
	// Doubt is what has to be known of its figures, for people; "" is nothing.
	Doubt string

	needs   []string // executables; the first is asked for its version
	version []string // arguments that make it say its version; nil: none does
	build   func(w work) (job, error)
}

// Ability is what a program can do of what a load may ask for. False is no.
type Ability struct {
	// NoOpen is why it cannot send by a rate; "" means that it can, at constant
	// gaps.
	NoOpen string
	// Count: it can end after an exact number of requests; CountAndTime: at
	// whichever of that and the duration comes first; CountEvenly: only if each
	// connection gets equally many.
	Count, CountAndTime, CountEvenly bool
	// Step is what a duration must be a multiple of; TimeoutStep the same for
	// the timeout of a request, 0 when it has none.
	Step, TimeoutStep time.Duration
	// OwnWarmup: it has a warm-up that its figures leave out.
	OwnWarmup bool
	// EvenThreads: connections must be a multiple of the threads, for it does
	// not open the rest.
	EvenThreads bool
	// HTTP10: it speaks HTTP/1.0 only.
	HTTP10 bool
	// NoKeepAlive: it can open a connection for each request. Pipeline: it can
	// have several requests in flight on one.
	NoKeepAlive, Pipeline bool
	// Body: it can send one. Head: it can send HEAD, whose answer has none.
	Body, Head bool
	// Host: it can ask for another host than it connects to.
	Host bool
	// SameHeader: a header field may stand there twice; EmptyHeader: without a
	// value.
	SameHeader, EmptyHeader bool
	// Script: it runs wrk's Lua scripts.
	Script bool
	// SameLength: it can count answers of another length as failures.
	SameLength bool
	// Source: it can connect from one given address.
	Source bool
	// Verifies: it verifies certificates unless told not to; the others never do.
	Verifies bool
	// ClientCert, CA, NoSNI: it can present a certificate, trust a file of
	// authorities, leave out the name of the server.
	ClientCert, CA, NoSNI bool
	// Interrupt: it reports what it has when it is interrupted.
	Interrupt bool
}

// Programs lists all, in the order in which people ask for them.
func Programs() []Program {
	return []Program{wrk(), ab(), h2load(), hey(), vegeta(), bombardier(), oha(), gatling()}
}

// Lookup finds a program by its name.
func Lookup(name string) (Program, bool) {
	all := Programs()
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return all[i], true
}
