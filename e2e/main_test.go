package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binary is prony, built once for all tests.
var binary string

// TestMain builds the binary.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withBinary(m))
}

func withBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "prony-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "prony")
	build := exec.Command("go", "build", "-o", binary, "prony/cmd/prony")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build prony: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// need skips a test where a part is missing, or fails it where the environment
// demands that all parts are there. It returns the part's file.
func need(t *testing.T, name, install string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	if os.Getenv("PRONY_E2E") == "require" {
		t.Fatalf("%s is missing: %s", name, install)
	}
	t.Skipf("%s is missing: %s", name, install)
	return ""
}

// patience bounds every program and every wait.
const patience = 30 * time.Second

// output is what a program left behind.
type output struct {
	stdout, stderr string
	code           int
}

// command runs a program to its end.
func command(t *testing.T, file string, args ...string) output {
	t.Helper()
	return launch(t, file, args...)()
}

// launch starts a program; the function it returns waits for the end.
func launch(t *testing.T, file string, args ...string) (wait func() output) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	return func() output {
		t.Helper()
		defer cancel()
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
			t.Fatalf("%s %s: %v\n%s%s", filepath.Base(file), strings.Join(args, " "), err, &out, &errs)
		}
		return output{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
}

// figures are the parts of the JSON that these tests read.
type figures struct {
	Validity struct{ Verdict string }
	Load     struct {
		Engine   string
		EndedBy  string `json:"ended_by"`
		Requests struct {
			Asked, Started, Completed, Failed, Unsent, Warmup int64
			CutOff                                            int64 `json:"cut_off"`
		}
		Connections struct{ Opened, Peak, Connects, Failed, Reopened, Resent int64 }
		Failures    map[string]int64
		Statuses    map[string]int64
		Intervals   []struct{ Completed, Failed int64 }
	}
}

// sent is how many requests reached a target that takes all it is sent.
func (f figures) sent() int64 {
	q := f.Load.Requests
	return q.Completed + q.Failed + q.CutOff + q.Warmup + f.Load.Connections.Resent
}

// prony runs a command with its result as JSON and checks that. The machine
// may be too busy for a valid result, so status 1 is no mistake.
func prony(t *testing.T, args ...string) (figures, output) {
	t.Helper()
	return launchProny(t, args...)()
}

// launchProny starts a command; the function it returns waits for the end and
// checks the result.
func launchProny(t *testing.T, args ...string) (wait func() (figures, output)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	args = append([]string{args[0], "--json", file}, args[1:]...)
	ended := launch(t, binary, args...)
	return func() (figures, output) {
		t.Helper()
		out := ended()
		return readResult(t, file, args, out), out
	}
}

func readResult(t *testing.T, file string, args []string, out output) figures {
	t.Helper()
	if out.code != 0 && out.code != 1 {
		t.Fatalf("prony %s: status %d\n%s%s", strings.Join(args, " "), out.code, out.stdout, out.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f figures
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	checkContract(t, text)
	checkLedger(t, f)
	return f
}

func checkLedger(t *testing.T, f figures) {
	t.Helper()
	if q := f.Load.Requests; q.Asked != q.Completed+q.Failed+q.CutOff+q.Unsent {
		t.Errorf("got a ledger that does not add up: %+v", q)
	}
	var answered int64
	for _, n := range f.Load.Statuses {
		answered += n
	}
	if q := f.Load.Requests; answered != q.Completed+f.Load.Failures["http-status"]+f.Load.Failures["body-differs"] {
		t.Errorf("got %d statuses for %+v and failures %v", answered, q, f.Load.Failures)
	}
}

// checkContract holds a result against the list of keys that programs may rely
// on; the tests of the command explain its form.
func checkContract(t *testing.T, text []byte) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("..", "cmd", "prony", "testdata", "contract.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" || strings.HasSuffix(fields[0], "?") {
			continue
		}
		value := document
		for part := range strings.SplitSeq(fields[0], ".") {
			object, _ := value.(map[string]any)
			next, ok := object[part]
			if !ok {
				t.Errorf("got no key %s", fields[0])
				break
			}
			value = next
		}
	}
}

// eventually polls until ok, for as long as patience lasts.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}
