//go:build unix

package drivertest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The roles of a test binary, as values of the variable role.
const (
	role       = "PRONY_DRIVERTEST"
	roleTarget = "target" // serves, and does what paths ask it to
	roleEarly  = "early"  // writes 30 lines and ends with status 7
	roleDeaf   = "deaf"   // serves, and does not hear SIGTERM
	roleMute   = "mute"   // writes a line and never listens
	roleRunner = "runner:"
)

// Usage is what the target says of itself at /usage; the times are monotonic.
type usage struct {
	CPU  time.Duration `json:"cpu_ns"`
	Wall time.Duration `json:"wall_ns"`
}

// serve is the target. Its arguments are where to listen: address and port.
func serve(how string) int {
	out := os.Stdout
	switch how {
	case roleEarly:
		for i := range 30 {
			fmt.Fprintf(out, "line %d\n", i+1)
		}
		return 7
	case roleMute:
		fmt.Fprintln(out, "thinking")
		select {}
	case roleDeaf:
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Fprintln(os.Stderr, "to stderr")
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Args[1], os.Args[2]))
	if err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	fmt.Fprintf(out, "listening on %s as %s\n", listener.Addr(), os.Getenv("PRONY_INSTANCE"))
	fmt.Fprintln(out, http.Serve(listener, routes()))
	return 1
}

// routes are what a target can be asked to do.
func routes() *http.ServeMux {
	begin := time.Now()
	var spinning atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "hello\n")
	})
	mux.HandleFunc("/run", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getenv("PRONY_RUN")) })
	mux.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) {
		fmt.Fprintln(os.Stdout, "about to crash")
		os.Exit(3)
	})
	mux.HandleFunc("/burn", func(http.ResponseWriter, *http.Request) {
		if !spinning.Swap(true) {
			for range runtime.NumCPU() {
				go burn()
			}
		}
	})
	mux.HandleFunc("/usage", func(w http.ResponseWriter, _ *http.Request) {
		var r syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		_ = json.NewEncoder(w).Encode(usage{time.Duration(r.Utime.Nano() + r.Stime.Nano()), time.Since(begin)})
	})
	mux.HandleFunc("/eat", func(http.ResponseWriter, *http.Request) { eat() })
	mux.HandleFunc("/spawn", spawn)
	return mux
}

func burn() {
	for n := uint64(1); n != 0; {
		n = n*6364136223846793005 | 1
	}
}

// eat takes a gigabyte, which no test allows it.
func eat() {
	var kept [][]byte
	for range 1 << 10 {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4 << 10 {
			piece[i] = 1
		}
		kept = append(kept, piece)
	}
	runtime.KeepAlive(kept)
}

// spawn starts a process that leaves the group and the session, as daemons do,
// and answers with its number.
func spawn(w http.ResponseWriter, r *http.Request) {
	c := exec.Command(os.Args[0])
	c.Env = append(without(os.Environ(), role), role+"="+roleMute)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, c.Process.Pid)
}

func without(env []string, name string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			kept = append(kept, e)
		}
	}
	return kept
}
