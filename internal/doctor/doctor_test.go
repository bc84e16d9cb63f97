package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/doctor"
)

// machine is a tree with the files of a good machine, and those of a test.
func machine(t *testing.T, files map[string]string) doctor.Config {
	t.Helper()
	root := t.TempDir()
	good := map[string]string{
		"proc/stat":    "cpu  100 0 100 9000 0 0 0 0 0 0\n",
		"proc/meminfo": "MemTotal: 1000000 kB\nMemAvailable: 800000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
		"sys/devices/system/cpu/smt/active":                               "0\n",
		"proc/sys/net/core/somaxconn":                                     "4096\n",
		"proc/sys/net/ipv4/tcp_max_syn_backlog":                           "4096\n",
		"proc/sys/net/core/netdev_max_backlog":                            "1000\n",
		"proc/sys/net/ipv4/ip_local_port_range":                           "32768\t60999\n",
		"proc/sys/net/ipv4/tcp_tw_reuse":                                  "2\n",
		"sys/class/net/eth0/operstate":                                    "up\n",
		"sys/class/net/eth0/speed":                                        "1000\n",
	}
	for name, text := range files {
		good[name] = text
	}
	for name, text := range good {
		if text == "" {
			continue
		}
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return doctor.Config{Root: root, Sample: time.Millisecond,
		Engine: func() (string, string) { return "io_uring", "" },
		Groups: func() error { return nil },
		Docker: func(context.Context) (string, error) { return "28.0", nil },
		Files:  func() (uint64, uint64, bool) { return 1024, 1 << 20, true }}
}

func find(t *testing.T, all []doctor.Check, name string) doctor.Check {
	t.Helper()
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %s", name)
	return doctor.Check{}
}

func TestChecks(t *testing.T) {
	for _, tt := range []struct {
		name, check string
		files       map[string]string
		state       doctor.State
		found       string
	}{
		{"good clock", "clock", nil, doctor.Good, "tsc"},
		{"slow clock", "clock", map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, doctor.Warn, "hpet"},
		{"no clock", "clock", map[string]string{"sys/devices/system/clocksource/clocksource0/current_clocksource": ""}, doctor.Unknown, "cannot be read"},
		{"saving power", "governor", map[string]string{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}, doctor.Warn, "powersave on 1"},
		{"short accept queue", "accept-queue", map[string]string{"proc/sys/net/core/somaxconn": "128"}, doctor.Warn, "= 128"},
		{"few ports", "ports", map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "50000 59999"}, doctor.Warn, "10000 connections"},
		{"odd ports", "ports", map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "x"}, doctor.Unknown, ""},
		{"swapping", "swap", map[string]string{"proc/meminfo": "MemTotal: 100 kB\nMemAvailable: 90 kB\nSwapTotal: 50000 kB\nSwapFree: 40000 kB\n"}, doctor.Warn, "9 MiB used"},
		{"little memory", "memory", map[string]string{"proc/meminfo": "MemTotal: 1000000 kB\nMemAvailable: 100000 kB\n"}, doctor.Warn, "97 MiB of 976"},
		{"a link", "interfaces", nil, doctor.Good, "eth0 1000 Mbit/s"},
		{"a link of unknown speed", "interfaces", map[string]string{"sys/class/net/eth0/speed": "-1"}, doctor.Good, "eth0 speed unknown"},
		{"no time passed", "steal", nil, doctor.Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := find(t, doctor.Run(t.Context(), machine(t, tt.files)), tt.check)
			if got.State != tt.state || !strings.Contains(got.Found, tt.found) {
				t.Errorf("got %+v, want %s with %q", got, tt.state, tt.found)
			}
			if got.State == doctor.Warn && (got.Why == "" || got.Remedy == "") {
				t.Errorf("got %+v, want a reason and a remedy", got)
			}
		})
	}
}

// The sample sees what happens between two readings.
func TestBusyNeighbours(t *testing.T) {
	c := machine(t, nil)
	c.Sample = 200 * time.Millisecond
	go func() {
		time.Sleep(50 * time.Millisecond) //house:sleep between the two readings
		_ = os.WriteFile(filepath.Join(c.Root, "proc/stat"), []byte("cpu  160 0 100 9020 0 0 0 20 0 0\n"), 0o600)
	}()
	all := doctor.Run(t.Context(), c)
	if got := find(t, all, "neighbours"); got.State != doctor.Bad || !strings.HasPrefix(got.Found, "60.0%") {
		t.Errorf("got %+v", got)
	}
	if got := find(t, all, "steal"); got.State != doctor.Bad || !strings.HasPrefix(got.Found, "20.0%") {
		t.Errorf("got %+v", got)
	}
	if got := doctor.Worst(all); got != doctor.Bad {
		t.Errorf("got %s", got)
	}
}

func TestParts(t *testing.T) {
	c := machine(t, nil)
	c.Engine = func() (string, string) { return "epoll", "io_uring is forbidden" }
	c.Groups = func() error { return errors.New("read-only") }
	c.Docker = func(context.Context) (string, error) { return "", errors.New("refused") }
	c.Files = func() (uint64, uint64, bool) { return 1024, 2000, true }
	all := doctor.Run(t.Context(), c)
	for name, want := range map[string]doctor.State{"engine": doctor.Warn, "limits": doctor.Warn, "docker": doctor.Unknown, "open-files": doctor.Bad} {
		if got := find(t, all, name); got.State != want {
			t.Errorf("%s: got %+v, want %s", name, got, want)
		}
	}
}

func TestFixAndUndo(t *testing.T) {
	c := machine(t, map[string]string{"proc/sys/net/core/somaxconn": "128", "proc/sys/net/ipv4/tcp_tw_reuse": "0"})
	kept := filepath.Join(t.TempDir(), "sub", "settings.json")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(c.Root, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	done, err := doctor.Fix(c, doctor.Run(t.Context(), c), kept)
	if err != nil || len(done) != 2 || read("proc/sys/net/core/somaxconn") != "4096" || read("proc/sys/net/ipv4/tcp_tw_reuse") != "1" {
		t.Fatalf("got %v, %v", done, err)
	}
	if again, err := doctor.Fix(c, doctor.Run(t.Context(), c), kept); err != nil || len(again) != 0 {
		t.Errorf("a second time: got %v, %v", again, err)
	}
	// Somebody sets it back, and it is fixed again: the first value stays the old one.
	if err := os.WriteFile(filepath.Join(c.Root, "proc/sys/net/core/somaxconn"), []byte("256"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := doctor.Fix(c, doctor.Run(t.Context(), c), kept); err != nil {
		t.Fatal(err)
	}
	if _, err := doctor.Undo(c, kept); err != nil || read("proc/sys/net/core/somaxconn") != "128" || read("proc/sys/net/ipv4/tcp_tw_reuse") != "0" {
		t.Errorf("undo: got %s, %v", read("proc/sys/net/core/somaxconn"), err)
	}
	if left, err := doctor.Undo(c, kept); err != nil || len(left) != 0 {
		t.Errorf("a second undo: got %v, %v", left, err)
	}
	if err := os.WriteFile(kept, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := doctor.Undo(c, kept); err == nil {
		t.Error("a damaged file was taken")
	}
}
