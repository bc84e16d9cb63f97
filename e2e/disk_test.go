package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFullDisk: when the disk is full a campaign ends with that reason, what was
// finished before is there, and it goes on when there is room again.
func TestFullDisk(t *testing.T) {
	needRoot(t)
	disk := t.TempDir()
	mount := need(t, "mount", "apt-get install mount")
	if out := command(t, mount, "-t", "tmpfs", "-o", "size=160k", "none", disk); out.code != 0 {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("mount a small disk: %s", out.stderr)
		}
		t.Skipf("mount a small disk: %s", out.stderr)
	}
	t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
	home := t.TempDir()
	file := filepath.Join(home, "many.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, overheadFile, startTarget(t), 24), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--keep", filepath.Join(disk, "runs"), "--no-store", "-q"}
	full := withHome(t, home, append([]string{"run", file}, args...)...)
	if full.code != 3 || !strings.Contains(full.stderr, "no space left on device") {
		t.Fatalf("status %d\n%s%s", full.code, full.stdout, full.stderr)
	}
	finished, _ := filepath.Glob(filepath.Join(disk, "runs", "*", "*.prony"))
	if len(finished) == 0 {
		t.Fatal("nothing was kept before the disk was full")
	}
	if out := command(t, mount, "-o", "remount,size=64m", disk); out.code != 0 {
		t.Fatalf("make room: %s", out.stderr)
	}
	rest := withHome(t, home, append([]string{"run", "--resume"}, args...)...)
	if rest.code != 0 && rest.code != 1 {
		t.Fatalf("resume: status %d\n%s%s", rest.code, rest.stdout, rest.stderr)
	}
	all, _ := filepath.Glob(filepath.Join(disk, "runs", "*", "*.prony"))
	if len(all) != 24 {
		t.Errorf("%d trials are there, want 24", len(all))
	}
}
