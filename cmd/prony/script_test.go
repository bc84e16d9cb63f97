package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/testserver"
)

// scriptCommands are the commands of scripts beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"target":     cmdTarget,
		"gateway":    cmdGateway,
		"unixtarget": cmdUnixTarget,
		"counted":    cmdCounted,
		"exits":      cmdExits,
		"measure":    cmdMeasure,
		"conduct":    cmdConduct,
		"judged":     cmdJudged,
		"interrupt":  cmdInterrupt,
		"jsoncheck":  cmdJSONCheck,
		"hdrcheck":   cmdHDRCheck,
		"shape":      cmdShape,
		"lines":      cmdLines,
		"same":       cmdSame,
		"which":      cmdWhich,
	}
}

// plain refuses "!" in front of a command that has no use for it.
func plain(ts *testscript.TestScript, neg bool, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// program finds a command in the script's own path.
func program(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 {
			return file
		}
	}
	ts.Fatalf("%s is not in the path", name)
	return ""
}

// cmdTarget starts "prony target" with the flags given on a free port, sets
// URL (without a slash at the end) and HOST (with the port), and ends it with
// the script.
func cmdTarget(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, true, "target [flags]")
	serveFor(ts, "target", args)
}

// cmdGateway does the same with "prony gateway".
func cmdGateway(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, true, "gateway [flags]")
	serveFor(ts, "gateway", args)
}

// serveFor starts a command that serves, and says where on its first line.
func serveFor(ts *testscript.TestScript, command string, args []string) {
	cmd := exec.Command(program(ts, "prony"), append([]string{command, "--addr", "127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // a server that was killed has ended too
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		ts.Fatalf("prony %s said %q", command, line)
	}
	setURL(ts, strings.TrimSuffix(address, "/"))
}

// cmdWhich sets a variable to the file of a command.
func cmdWhich(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 2, "which PROGRAM VARIABLE")
	ts.Setenv(args[1], program(ts, args[0]))
}

func setURL(ts *testscript.TestScript, address string) {
	u, err := url.Parse(address)
	ts.Check(err)
	ts.Setenv("URL", address)
	ts.Setenv("HOST", u.Host)
	ts.Setenv("PORT", u.Port())
}

// cmdUnixTarget serves on a unix socket; its path is in SOCKET. The path is
// short, since the system allows about a hundred letters.
func cmdUnixTarget(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "unixtarget")
	dir, err := os.MkdirTemp("", "prony")
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	s, err := testserver.Start(testserver.Config{Network: "unix", Address: socket})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv("SOCKET", socket)
}

// cmdCounted serves from the test itself, which can see what has arrived; see
// interrupt -after. It sets URL and its relatives.
func cmdCounted(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "counted")
	s, err := testserver.Start(testserver.Config{})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	ts.Value(served{}).(*served).server = s
	setURL(ts, s.URL())
}

// served is what a script's server has seen; its zero value is the key of the
// script's own.
type served struct{ server *testserver.Server }

// cmdExits runs a program that must end with exactly that status.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	usage := "exits STATUS PROGRAM [ARG...]"
	plain(ts, neg, len(args) >= 2, usage)
	want, err := strconv.Atoi(args[0])
	plain(ts, neg, err == nil, usage)
	if got := exitCode(ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("%s ended with status %d, want %d", args[1], got, want)
	}
}

// cmdMeasure runs "prony load" with the arguments given. The machine may be too
// busy for a valid result, so the status may be 0 or 1; it must be the one that
// the result in JSON calls for. The result is in last.json unless the arguments
// send it elsewhere.
func cmdMeasure(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 1, "measure [ARG...]")
	file := "last.json"
	if i := slices.Index(args, "--json"); i >= 0 && i+1 < len(args) {
		file = args[i+1]
	} else {
		args = append(args, "--json", file)
	}
	if file == "-" {
		file = "stdout"
	}
	got := exitCode(ts.Exec("prony", append([]string{"load"}, args...)...))
	if got != 0 && got != 1 {
		ts.Fatalf("prony load ended with status %d, want 0 or 1", got)
	}
	if want := calledFor(ts, file); got != want {
		ts.Fatalf("prony load ended with status %d, its result calls for %d", got, want)
	}
}

// cmdConduct runs "prony run" with the arguments given; the machine may be too
// busy for valid results, so the status may be 0 or 1.
func cmdConduct(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 1, "conduct [ARG...]")
	if got := exitCode(ts.Exec("prony", append([]string{"run"}, args...)...)); got != 0 && got != 1 {
		ts.Fatalf("prony run ended with status %d, want 0 or 1", got)
	}
}

// cmdJudged runs prony with a command whose verdict may be bad: on a busy machine
// it often is.
func cmdJudged(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 1, "judged COMMAND [ARG...]")
	if got := exitCode(ts.Exec("prony", args...)); got != 0 && got != 1 {
		ts.Fatalf("prony %s ended with status %d, want 0 or 1", args[0], got)
	}
}

// calledFor is the exit status that a result amounts to.
func calledFor(ts *testscript.TestScript, file string) int {
	var run result.Run
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &run))
	missed := func(e result.Expectation) bool { return !e.Met }
	if run.Validity.Verdict == result.Invalid || slices.ContainsFunc(run.Expect, missed) {
		return 1
	}
	return 0
}

// exitCode is the status of a command that was run, -1 after a signal.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -2
}

// patience bounds every wait for a process.
const patience = 20 * time.Second

// cmdInterrupt runs a program in the work folder and sends it SIGINT when its
// first line has come, on either stream (of load: the progress), or, with
// -after N, when the server of "counted" has seen that many more requests. With
// -again it goes on sending until the program has ended. Output goes to the
// files out and err. STATUS is the exit status, or "killed" for a death by that
// signal. The program must end within SECONDS of the first signal.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	var again bool
	var after int64
	flags := flag.NewFlagSet("interrupt", flag.ContinueOnError)
	flags.BoolVar(&again, "again", false, "")
	flags.Int64Var(&after, "after", 0, "")
	ts.Check(flags.Parse(args))
	args = flags.Args()
	usage := "interrupt [-again] [-after N] STATUS SECONDS PROGRAM [ARG...]"
	plain(ts, neg, len(args) >= 3, usage)
	seconds, err := strconv.ParseFloat(args[1], 64)
	plain(ts, neg, err == nil, usage)
	p := start(ts, args[2], args[3:])
	p.await(ts, after)
	took := p.interrupt(again)
	ts.Check(os.WriteFile(ts.MkAbs("out"), p.out.text.Bytes(), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("err"), p.err.text.Bytes(), 0o666))
	if got := p.status(); got != args[0] {
		ts.Fatalf("status %s (%v), want %s", got, p.cmd.ProcessState, args[0])
	}
	if took.Seconds() > seconds {
		ts.Fatalf("it ended %v after the signal, want %vs at most", took, seconds)
	}
}

// process is a program that runs.
type process struct {
	cmd      *exec.Cmd
	out, err listener
	spoke    chan struct{}
}

func start(ts *testscript.TestScript, name string, args []string) *process {
	p := &process{cmd: exec.Command(program(ts, name), args...), spoke: make(chan struct{}, 2)}
	p.out.spoke, p.err.spoke = p.spoke, p.spoke
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = ts.MkAbs("."), &p.out, &p.err
	p.cmd.Env = append(os.Environ(), "PRONY_HOME="+ts.Getenv("PRONY_HOME"))
	ts.Check(p.cmd.Start())
	return p
}

// await waits for the first line or for the server's requests.
func (p *process) await(ts *testscript.TestScript, requests int64) {
	limit := time.After(patience)
	if requests == 0 {
		select {
		case <-p.spoke:
		case <-limit:
		}
		return
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	server := ts.Value(served{}).(*served).server
	for before := server.Stats().Requests; server.Stats().Requests < before+requests; {
		select {
		case <-tick.C:
		case <-limit:
			return
		}
	}
}

// interrupt sends the signal, once or again and again, and waits for the end,
// which it forces when it does not come.
func (p *process) interrupt(again bool) (took time.Duration) {
	begin := time.Now()
	_ = p.cmd.Process.Signal(os.Interrupt) // the status tells if it had ended
	if again {
		defer repeatedly(func() { _ = p.cmd.Process.Signal(os.Interrupt) })()
	}
	stop := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer stop.Stop()
	_ = p.cmd.Wait() // the state tells how it ended
	return time.Since(begin)
}

func (p *process) status() string {
	if strings.Contains(p.cmd.ProcessState.String(), "signal: interrupt") {
		return "killed"
	}
	return strconv.Itoa(p.cmd.ProcessState.ExitCode())
}

// listener keeps what is written and tells when the first line is whole.
type listener struct {
	text  bytes.Buffer
	told  bool
	spoke chan<- struct{} // has room
}

// Write keeps p.
func (l *listener) Write(p []byte) (int, error) {
	if !l.told && bytes.IndexByte(p, '\n') >= 0 {
		l.told = true
		l.spoke <- struct{}{}
	}
	return l.text.Write(p)
}

// repeatedly calls f every 20 ms until the function it returns is called.
func repeatedly(f func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				f()
			}
		}
	}()
	return func() { close(done); <-ended }
}

// cmdHDRCheck reads a histogram log, which must hold that many values.
func cmdHDRCheck(ts *testscript.TestScript, neg bool, args []string) {
	usage := "hdrcheck FILE COUNT"
	plain(ts, neg, len(args) == 2, usage)
	want, err := strconv.ParseInt(args[1], 10, 64)
	plain(ts, neg, err == nil, usage)
	var got int64
	for interval, err := range hdr.ReadLog(strings.NewReader(ts.ReadFile(args[0]))) {
		ts.Check(err)
		if interval.Length <= 0 || interval.Start.Year() < 2020 {
			ts.Fatalf("interval from %v for %v: want a real time and length", interval.Start, interval.Length)
		}
		got += interval.Histogram.Count()
	}
	if got != want {
		ts.Fatalf("%s holds %d values, want %d", args[0], got, want)
	}
}

// cmdLines checks how many lines a file has.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	usage := "lines FILE COUNT"
	plain(ts, neg, len(args) == 2, usage)
	want, err := strconv.Atoi(args[1])
	plain(ts, neg, err == nil, usage)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
	}
}
