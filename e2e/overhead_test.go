package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const overheadFile = `prony: 1
name: many
services:
  app: {url: %s}
load: {target: app, connections: 2, duration: 200ms, warmup: 0s}
repeat: %d
cooldown: 0s
`

// TestManyTrials: what the lab takes for a trial beside the measurement is under
// 100 ms, and its memory does not grow with the trials.
func TestManyTrials(t *testing.T) {
	const trials = 200
	url := startTarget(t)
	file := filepath.Join(t.TempDir(), "many.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, overheadFile, url, trials), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "run", file)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	memory := map[int]int64{}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		var n, of int
		if _, err := fmt.Sscanf(lines.Text(), "trial %d of %d", &n, &of); err == nil {
			memory[n] = resident(cmd.Process.Pid)
		}
	}
	_ = cmd.Wait() // a busy machine gives no valid result
	if len(memory) != trials {
		t.Fatalf("%d trials were seen, want %d", len(memory), trials)
	}
	each := (time.Since(begin) - trials*200*time.Millisecond) / trials
	t.Logf("%v a trial beside the measurement; %d MiB at trial 50, %d MiB at the end", each, memory[50]>>20, memory[trials]>>20)
	if slow := syncTime(t); slow > 2*time.Millisecond {
		// Each trial is on disk, and in the history, before the next one begins.
		t.Logf("this disk takes %v to keep a small file: the time of a trial is the disk's", slow)
	} else if each > 100*time.Millisecond {
		t.Errorf("the lab took %v a trial, want at most 100 ms", each)
	}
	if memory[trials] > memory[50]*3/2 {
		t.Errorf("memory grew from %d to %d bytes", memory[50], memory[trials])
	}
}

// syncTime is how long this disk takes to keep a small file: the median of some.
func syncTime(t *testing.T) time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range 21 {
		begin := time.Now()
		f, err := os.Create(filepath.Join(t.TempDir(), strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write(make([]byte, 20_000))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// startTarget runs the embedded target until the test ends.
func startTarget(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(binary, "target", "--fast", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// resident is the memory of a process, in bytes; 0 if it cannot be read.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("VmRSS:"))
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10
}
