//go:build unix

package drivertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"prony/internal/driver"
)

// started is what a runner says once its instance is ready.
type started struct {
	Endpoint string `json:"endpoint"`
	Daemon   int    `json:"daemon"` // a process that left the group; a number on its host
	Error    string `json:"error,omitempty"`
}

// runVariable carries the run id to a runner.
const runVariable = "PRONY_DRIVERTEST_RUN"

// runner starts an instance and waits to be killed.
func runner(suite func() (Suite, error)) int {
	said := begin(suite)
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil || said.Error != "" {
		return 1
	}
	select {}
}

func begin(suite func() (Suite, error)) started {
	s, err := suite()
	if err != nil {
		return started{Error: err.Error()}
	}
	if s.Service == nil {
		s.Service = Program
	}
	q := trial{Suite: s, run: driver.RunID(os.Getenv(runVariable)), ports: new(driver.Ports)}.request(roleTarget)
	ctx := context.Background()
	r, err := driver.Start(ctx, s.Driver, q)
	if err != nil {
		return started{Error: err.Error()}
	}
	text, err := get(ctx, r.Endpoint(), "/spawn")
	if err != nil {
		return started{Error: err.Error()}
	}
	daemon, err := strconv.Atoi(text)
	if err != nil {
		return started{Error: err.Error()}
	}
	return started{Endpoint: r.Endpoint(), Daemon: daemon}
}

// spawnRunner starts a runner in a process of its own and waits for its word.
func spawnRunner(t *testing.T, s trial) (*exec.Cmd, started) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), role+"="+roleRunner+s.name, runVariable+"="+string(s.run))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said started
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil || said.Error != "" {
		_ = c.Process.Kill()
		_ = c.Wait()
		t.Fatalf("start a runner: %v %s", err, said.Error)
	}
	return c, said
}

func testRunnerKilled(t *testing.T, s trial) {
	c, said := spawnRunner(t, s)
	if !listens(t, said.Endpoint) {
		t.Error("nobody listens at the runner's endpoint")
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	left, err := driver.Find(ctx, s.Driver, s.Site, s.run)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(left, func(l driver.Leftover) bool { return l.Kind == "container" || hasPID(l, said.Daemon) }) {
		t.Errorf("got %v, want the process %d that left the group among them, or its container", left, said.Daemon)
	}
	removed, err := driver.Cleanup(ctx, s.Driver, s.Site, s.run)
	if err != nil || len(removed) == 0 {
		t.Errorf("clean up: got %v, %v", removed, err)
	}
	t.Logf("removed %v", removed)
	if listens(t, said.Endpoint) {
		t.Error("somebody still listens at the runner's endpoint")
	}
	again, err := driver.Cleanup(ctx, s.Driver, s.Site, s.run)
	if err != nil || len(again) != 0 {
		t.Errorf("clean up again: got %v, %v, want nothing to do", again, err)
	}
}

// hasPID reports whether a leftover is that process.
func hasPID(l driver.Leftover, pid int) bool {
	var n int
	_, err := fmt.Sscanf(l.Name, "%d ", &n)
	return err == nil && n == pid
}
