package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestServeScripts runs the scripts that talk to prony serve, which have commands
// for it beside the usual ones.
func TestServeScripts(t *testing.T) {
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"serve": cmdServe, "unserve": cmdUnserve, "http": cmdHTTP, "follow": cmdFollow, "started": cmdStarted, "stop": cmdStop}
	maps.Copy(commands, scriptCommands())
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script", "serve"), Cmds: commands, Condition: condition,
		RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Values[servedHistory{}] = &servedHistory{}
			return setup(e)
		}})
}

// servedHistory is the server of a script; its zero value is the key of the
// script's own.
type servedHistory struct {
	cmd  *exec.Cmd
	url  string
	live string // the path of the events of what was started last
}

func historyOf(ts *testscript.TestScript) *servedHistory {
	return ts.Value(servedHistory{}).(*servedHistory)
}

// cmdServe starts "prony serve" with the flags given on a free port.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, true, "serve [flags]")
	cmd := exec.Command(program(ts, "prony"), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+ts.Getenv("PRONY_HOME"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	h := historyOf(ts)
	h.cmd = cmd
	ts.Defer(func() { h.end() })
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	h.url = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "listening on "), "/")
}

// end interrupts the server and waits for it; its status is 0.
func (h *servedHistory) end() error {
	if h.cmd == nil {
		return nil
	}
	cmd := h.cmd
	h.cmd = nil
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	return cmd.Wait()
}

// cmdUnserve ends the server.
func cmdUnserve(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "unserve")
	ts.Check(historyOf(ts).end())
}

// cmdHTTP makes a request as a page of the server would; the status has to be
// that, and the answer goes to the file of that name. FILE is an experiment, with
// variables of the script.
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	usage := "http METHOD PATH STATUS [FILE]"
	plain(ts, neg, len(args) == 3 || len(args) == 4, usage)
	want, err := strconv.Atoi(args[2])
	plain(ts, neg, err == nil, usage)
	var body []byte
	if len(args) == 4 {
		body, err = json.Marshal(map[string]string{"experiment": os.Expand(ts.ReadFile(args[3]), ts.Getenv)})
		ts.Check(err)
	}
	h := historyOf(ts)
	status, answer := h.send(ts, args[0], args[1], body)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), answer, 0o600))
	if status != want {
		ts.Fatalf("%s %s: status %d, want %d: %s", args[0], args[1], status, want, answer)
	}
	var live struct{ Events string }
	if json.Unmarshal(answer, &live) == nil && live.Events != "" {
		h.live = live.Events
	}
}

func (h *servedHistory) send(ts *testscript.TestScript, method, path string, body []byte) (status int, answer []byte) {
	resp := h.open(ts, method, path, body)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	return resp.StatusCode, answer
}

// open sends a request; whoever asks closes the answer.
func (h *servedHistory) open(ts *testscript.TestScript, method, path string, body []byte) *http.Response {
	r, err := http.NewRequest(method, h.url+path, bytes.NewReader(body))
	ts.Check(err)
	r.Header.Set("X-Prony", "1")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Timeout: 3 * patience}).Do(r)
	ts.Check(err)
	return resp
}

// cmdFollow writes the events of what was started last to a file of that name,
// to the end.
func cmdFollow(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "follow")
	h := historyOf(ts)
	_, events := h.send(ts, "GET", h.live, nil)
	ts.Check(os.WriteFile(ts.MkAbs("events"), events, 0o600))
	ts.Logf("%s", events)
}

// cmdStarted waits for the load of what was started last.
func cmdStarted(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "started")
	h := historyOf(ts)
	resp := h.open(ts, "GET", h.live, nil)
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "event: progress") {
			return
		}
	}
	ts.Fatalf("it ended without a load")
}

// cmdStop waits for the load of what was started last, and tells it to stop.
func cmdStop(ts *testscript.TestScript, neg bool, args []string) {
	cmdStarted(ts, neg, args)
	h := historyOf(ts)
	id := filepath.Base(h.live)
	if status, answer := h.send(ts, "POST", "/api/runs/"+id+"/stop", nil); status != http.StatusAccepted {
		ts.Fatalf("status %d: %s", status, answer)
	}
}

func TestEventLine(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	for name, c := range map[string]struct {
		data any
		want string
	}{
		"keys":    {phaseEvent{"over\ntwo <lines>"}, `{"event":"phase","at":"2026-03-01T12:00:00.000000005Z","text":"over\ntwo \u003clines\u003e"}` + "\n"},
		"no keys": {struct{}{}, `{"event":"phase","at":"2026-03-01T12:00:00.000000005Z"}` + "\n"},
	} {
		got, err := eventLine("phase", at, c.data)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
	if _, err := eventLine("phase", at, func() {}); err == nil {
		t.Error("got no error of what JSON cannot hold")
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.8.9.1": true, "localhost": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.168.1.1": false, "localhost.example": false, "myhost": false} {
		if got := loopback(host); got != want {
			t.Errorf("loopback(%q) = %v, want %v", host, got, want)
		}
	}
}

// TestStartedReads: events are passed on, the campaign is heard of, and what is
// too long does not stop the listening.
func TestStartedReads(t *testing.T) {
	var told []string
	r := &started{tell: func(e []byte) { told = append(told, string(e)) }}
	in := strings.NewReader("{\"event\":\"campaign\",\"id\":\"c1\"}\n{\"event\":\"phase\"}\n" + strings.Repeat("x", 2*eventMost) + "\n{\"event\":\"phase\"}\n")
	r.read(in)
	if len(told) != 2 || r.campaign != "c1" || in.Len() != 0 {
		t.Errorf("got %q, the campaign %q, and %d bytes left", told, r.campaign, in.Len())
	}
}

func TestTail(t *testing.T) {
	var w tail
	for i := range 10_000 {
		fmt.Fprintf(&w, "line %d\n", i)
	}
	fmt.Fprint(&w, "prony: \x1b[31mred\n")
	if got := w.String(); len(got) > tailMost+10 || !strings.HasSuffix(got, "line 9999\nprony: \uFFFD[31mred") {
		t.Errorf("got %d bytes that end in %q", len(got), got[max(0, len(got)-40):])
	}
}
