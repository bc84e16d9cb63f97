package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"prony/internal/store"
	"prony/internal/web"
)

// Config is what a server serves. Only the store is required.
type Config struct {
	Store   *store.Store
	Version string
	// Pages are index.html and what it loads; nil serves a plain list of runs.
	Pages fs.FS
	// Public says that the address is reachable from other machines. It demands a
	// token of at least [TokenLeast] letters.
	Public bool
	// Hosts are further names by which requests may call this server.
	Hosts []string
	Token string
	// Schema is the JSON Schema of the experiment file; nil is not found.
	Schema []byte
	// Plan drafts an experiment from the text of its file; nil is not found.
	Plan func(ctx context.Context, text string) (Draft, error)
	// Run carries an experiment out, until it is over or the context ends, and
	// returns the runs that it kept. It tells each event as a JSON object with a
	// key "event". Nil refuses every start.
	Run func(ctx context.Context, text string, tell func(event []byte)) ([]store.RunID, error)
	// Complete adds to a report what follows from its result; nil adds nothing.
	Complete func(*web.Document)
	// Now tells the time of notes and baselines; nil is the clock.
	Now    func() time.Time
	Limits Limits
}

// Limits bound what one request may cost. Zero fields are defaults.
type Limits struct {
	Body     int64 // bytes of a JSON body, default 1 MiB
	Audit    int64 // bytes of an audit request, default 8 MiB
	Upload   int64 // bytes of a bundle as it is sent, default 64 MiB
	Unpacked int64 // bytes of a bundle's files together, default 256 MiB
	Streams  int64 // readers of events at once, default 100
	// Stall is how long a reader of events may take nothing, default 10 s; and
	// Ping how often a stream that has no news shows that it lives, default 15 s.
	Stall, Ping time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{Body: cmp.Or(l.Body, 1<<20), Audit: cmp.Or(l.Audit, 8<<20), Upload: cmp.Or(l.Upload, 64<<20), Unpacked: cmp.Or(l.Unpacked, 256<<20),
		Streams: cmp.Or(l.Streams, 100), Stall: cmp.Or(l.Stall, 10*time.Second), Ping: cmp.Or(l.Ping, 15*time.Second)}
}

// Draft is what an experiment file amounts to: the plan in words, or the
// mistakes in it.
type Draft struct {
	Name     string    `json:"name,omitempty"`
	Plan     string    `json:"plan,omitempty"`
	Trials   int       `json:"trials,omitempty"`
	Variants []string  `json:"variants,omitempty"`
	Mistakes []Mistake `json:"mistakes"`
}

// Mistake is one thing that is wrong with an experiment file. Line and Column
// count from 1; 0 is the file as a whole.
type Mistake struct {
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Path    string   `json:"path,omitempty"`
	Message string   `json:"message"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
	Remedy  string   `json:"remedy,omitempty"`
}

// TokenLeast is the length of the shortest token, in bytes: 80 bits of random
// base 32, which nobody guesses over a network.
const TokenLeast = 16

var (
	errStore = errors.New("serve: a store is needed")
	// ErrToken says that a token is missing or too short.
	ErrToken = fmt.Errorf("a token of at least %d letters is needed", TokenLeast)
)

// Server answers requests. Close ends what it began.
type Server struct {
	c       Config
	handler http.Handler
	lives   lives
	uploads chan struct{} // holds a token while a bundle is unpacked
	streams atomic.Int64
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
}

// New makes a server. It fails without a store and, where one is demanded or
// given, with too short a token ([ErrToken]).
func New(c Config) (*Server, error) {
	switch {
	case c.Store == nil:
		return nil, errStore
	case (c.Public || c.Token != "") && len(c.Token) < TokenLeast:
		return nil, ErrToken
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Limits = c.Limits.withDefaults()
	s := &Server{c: c, uploads: make(chan struct{}, 1)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.handler = s.guarded(s.mux())
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the experiment that runs and all streams, and waits for them.
func (s *Server) Close() {
	s.stop()
	s.lives.wait()
}

// Bounds of a connection. A request has to be read in the time of an upload; an
// answer that takes longer is one of events, which sets its own.
const (
	headerWithin = 10 * time.Second
	bodyWithin   = 2 * time.Minute
	idleWithin   = time.Minute
	stopWithin   = 5 * time.Second
	headerBytes  = 64 << 10
)

// Serve answers on a listener until the context ends. Then it ends the
// experiment that runs and the streams, lets requests finish for five seconds,
// and returns. The error is the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: headerWithin, ReadTimeout: bodyWithin, WriteTimeout: bodyWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: headerBytes}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.stop()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if h.Shutdown(limit) != nil {
		_ = h.Close() // they had their time
	}
	s.Close()
	if err == nil {
		err = <-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve on %s: %w", l.Addr(), err)
}

// version is the answer to who is there.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]any{"version": s.c.Version, "api": 1, "store": s.c.Store.Address(), "allow_run": s.c.Run != nil})
}

// schema is the JSON Schema of the experiment file.
func (s *Server) schema(w http.ResponseWriter, _ *http.Request) error {
	if s.c.Schema == nil {
		return notFound("no schema is served here")
	}
	return writeJSON(w, http.StatusOK, json.RawMessage(s.c.Schema))
}
