package testserver

import (
	"maps"
	"sync"
)

// Stats are the counts of a [Server] since Start.
//
// The books balance when no request is in progress: Requests = Responses +
// Faults + Aborted. An answer is counted after it has been written, so a client
// may hold it a moment before.
type Stats struct {
	Accepted int64 // connections
	Open     int64 // connections open now

	Requests  int64 // received completely, head and body
	Responses int64 // whole answers, written completely
	Faults    int64 // requests answered wrongly, or not at all, because the path asks for it
	Aborted   int64 // requests whose answer could not be written, or that the end of the server cut off
	Malformed int64 // heads or bodies that are not HTTP, or over a limit; answered with 4xx or 5xx, in no other count
	Partial   int64 // requests the client left unfinished

	BytesIn  int64 // HTTP bytes read; under TLS, after decryption
	BytesOut int64 // HTTP bytes written; under TLS, before encryption

	TLSFull    int64 // full handshakes
	TLSResumed int64 // resumed handshakes
	TLSFailed  int64 // handshakes that failed

	// ByPath holds the first 1000 paths seen, without their queries and cut to
	// 256 bytes; the rest is counted under "*".
	ByPath map[string]PathStats
}

// PathStats are the counts of one path; see [Stats].
type PathStats struct{ Requests, Responses, Faults, Aborted int64 }

// Bounds of Stats.ByPath: paths, and bytes of a path's name.
const (
	maxPaths    = 1000
	maxPathName = 256
)

// ledger keeps the Stats. One lock for all counts keeps them consistent with
// each other.
type ledger struct {
	mu    sync.Mutex
	stats Stats // ByPath unused
	paths map[string]PathStats
}

// fate is what became of a request.
type fate int

const (
	answered fate = iota
	faulted
	aborted
)

func (l *ledger) accepted() {
	l.update(func(s *Stats) { s.Accepted++; s.Open++ })
}

func (l *ledger) left() { l.update(func(s *Stats) { s.Open-- }) }

func (l *ledger) update(change func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.stats)
}

// request counts a complete request of path.
func (l *ledger) request(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Requests++
	key, p := l.path(path)
	p.Requests++
	l.paths[key] = p
}

// settle counts what became of a request of path.
func (l *ledger) settle(path string, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, p := l.path(path)
	switch f {
	case answered:
		l.stats.Responses++
		p.Responses++
	case faulted:
		l.stats.Faults++
		p.Faults++
	case aborted:
		l.stats.Aborted++
		p.Aborted++
	}
	l.paths[key] = p
}

// path returns the key path is counted under, and its counts.
func (l *ledger) path(path string) (string, PathStats) {
	path = path[:min(len(path), maxPathName)]
	p, ok := l.paths[path]
	if !ok && len(l.paths) >= maxPaths {
		path = "*"
		p = l.paths[path]
	}
	return path, p
}

func (l *ledger) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.ByPath = maps.Clone(l.paths)
	return s
}
