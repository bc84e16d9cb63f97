package e2e_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// kills is how often the runner is killed in one campaign.
const kills = 20

// TestKilledRunnerIsResumed kills prony at random moments of a campaign, again
// and again: each time the cleanup leaves nothing, and the campaign ends with
// every trial once, as an undisturbed one does.
func TestKilledRunnerIsResumed(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	home := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	args := scaled("--repeat", "3", "-q")
	for i := range kills {
		after := time.Duration(random.Int64N(int64(2200 * time.Millisecond)))
		killAfter(t, home, after, args)
		checkNothingLeft(t, home, i, after)
		if campaigns, _ := filepath.Glob(filepath.Join(home, "runs", "*", "plan.json")); len(campaigns) > 0 {
			args = []string{"run", "--resume", "-q"}
		}
	}
	file := filepath.Join(home, "result.json")
	out := withHome(t, home, append(args, "--json", file)...)
	if out.code != 0 && out.code != 1 {
		t.Fatalf("resume: status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	seen := map[int]int{}
	for _, trial := range readExperiment(t, file).Trials {
		seen[trial.Number]++
		checkTrial(t, trial)
	}
	for number := range 9 {
		if seen[number+1] != 1 {
			t.Errorf("trial %d is there %d times, want once", number+1, seen[number+1])
		}
	}
	for _, want := range []string{`instances=1 +(3|[12] of 3) `, `instances=2 +(3|[12] of 3) `, `instances=3 +(3|[12] of 3) `} {
		if !regexp.MustCompile(want).MatchString(out.stdout) {
			t.Errorf("no %q in\n%s", want, out.stdout)
		}
	}
}

func checkNothingLeft(t *testing.T, home string, i int, after time.Duration) {
	t.Helper()
	if left := withHome(t, home, "cleanup"); left.code != 0 {
		t.Fatalf("kill %d after %v: cleanup: status %d\n%s%s", i, after, left.code, left.stdout, left.stderr)
	}
	if left := withHome(t, home, "cleanup", "--dry-run"); left.stdout != "" {
		t.Fatalf("kill %d after %v: left after the cleanup:\n%s", i, after, left.stdout)
	}
	runs, _ := filepath.Glob(filepath.Join(home, "runs", "*"))
	for _, run := range runs {
		name := filepath.Base(run)
		for _, pattern := range []string{"/sys/fs/cgroup/*/prony-" + name + "*", "/sys/fs/cgroup/prony-" + name + "*",
			filepath.Join(os.TempDir(), "prony-"+name+"*")} {
			if left, _ := filepath.Glob(pattern); len(left) > 0 {
				t.Fatalf("kill %d after %v: left: %v", i, after, left)
			}
		}
		if pids := labelled(name); len(pids) > 0 {
			t.Fatalf("kill %d after %v: processes %v still run", i, after, pids)
		}
	}
}

// labelled are the processes that carry a run's label.
func labelled(run string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		env, err := os.ReadFile(file)
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00PRONY_RUN="+run+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func killAfter(t *testing.T, home string, after time.Duration, args []string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+home)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after) //house:sleep the moment of the kill is what is tested
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// withHome runs prony with a data folder that outlives the call.
func withHome(t *testing.T, home string, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	return output{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}
