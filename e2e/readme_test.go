package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// short makes an experiment end soon.
var short = []string{"--set", "load.duration=300ms", "--set", "load.warmup=200ms", "--set", "cooldown=0s", "--repeat", "1", "-q"}

// hasty are further arguments of commands that would take long, by the words
// that they begin with.
var hasty = map[string][]string{
	"run experiments/nginx-scale.yaml":                 short,
	"run experiments/nginx-scale.yaml --driver docker": short,
	"run --resume": {"-q"},
	"noise":        {"--repeat", "2", "--set", "load.duration=300ms", "-q"},
	"calibrate":    {"--seconds", "1", "-q"},
	"demo":         {"--seconds", "0.3", "-q"},
}

// elsewhere are commands whose examples other tests run, all of them.
var elsewhere = []string{"load", "wrk", "ab", "target"}

var readmeLine = regexp.MustCompile(`(?m)^prony (.*?)(?:\s+#.*)?$`)

// TestReadme carries out every command line of the read-me from the root of the
// repository, as a newcomer would.
func TestReadme(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	needEngine(t)
	home := t.TempDir()
	folder := readmeFolder(t, home)
	lines := readmeLine.FindAllStringSubmatch(string(text), -1)
	if len(lines) < 20 {
		t.Fatalf("found %d lines only: are they still written as this test reads them?", len(lines))
	}
	for _, m := range lines {
		args := strings.Fields(strings.NewReplacer("'", "").Replace(m[1]))
		if slices.Contains(elsewhere, args[0]) {
			continue
		}
		if args[0] == "serve" {
			serveBriefly(t, home, folder)
			continue
		}
		t.Run(m[1], func(t *testing.T) {
			out := in(t, home, folder, append(args, hasty[strings.Join(args, " ")]...)...)
			if out.code != 0 && out.code != 1 {
				t.Errorf("status %d\n%s%s", out.code, out.stdout, out.stderr)
			}
		})
	}
}

// readmeFolder has what the examples name: the experiments, a file of one's own,
// results of two branches, and a pasted output.
func readmeFolder(t *testing.T, home string) string {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"experiments", "catalog"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	mine := in(t, home, folder, "demo", "--file")
	pasted, err := os.ReadFile("../internal/audit/testdata/published/S000-01.wrk.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mine.yaml": mine.stdout, "result.txt": string(pasted)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"main.json", "branch.json"} {
		in(t, home, folder, append([]string{"run", "mine.yaml", "--only", "instances=1", "--advisory", "--json", name}, short...)...)
	}
	return folder
}

// in runs prony in a folder.
func in(t *testing.T, home, folder string, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PRONY_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	return output{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// serveBriefly starts prony serve, waits until it listens, and interrupts it.
func serveBriefly(t *testing.T, home, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PRONY_HOME="+home)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 5*time.Second
	said := make(chan string, 1)
	cmd.Stdout = listener(func(text string) {
		if strings.Contains(text, "http://") {
			select {
			case said <- text:
				cancel()
			default:
			}
		}
	})
	if err := cmd.Run(); len(said) == 0 {
		t.Errorf("prony serve said no address: %v", err)
	}
}

// listener is a writer that is told what is written.
type listener func(string)

func (l listener) Write(p []byte) (int, error) {
	l(string(p))
	return len(p), nil
}
