package driver_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

func TestPorts(t *testing.T) {
	var p driver.Ports
	s := driver.Site{Host: host.Local()}
	seen := map[int]bool{}
	for range 50 {
		port, err := p.Take(t.Context(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("got %d twice", port)
		}
		seen[port] = true
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	busy := l.Addr().(*net.TCPAddr).Port
	if _, err := p.Take(t.Context(), s, busy); err == nil || !strings.Contains(err.Error(), "it is in use") {
		t.Errorf("a port in use: got %v", err)
	}
	var one int
	for one = range seen {
		break
	}
	if _, err := p.Take(t.Context(), s, one); err == nil || !strings.Contains(err.Error(), "another instance of this run has it") {
		t.Errorf("a port handed out: got %v", err)
	}
	p.Give(s, one)
	if got, err := p.Take(t.Context(), s, one); err != nil || got != one {
		t.Errorf("a port given back: got %d, %v", got, err)
	}
}

func TestPortsBesideOutgoing(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Skip(err)
	}
	var p driver.Ports
	port, err := p.Take(t.Context(), driver.Site{Host: host.Local()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, last := driver.ParseRange(string(text))
	if port < first || port > last {
		t.Errorf("got %d, want it in %d to %d", port, first, last)
	}
}

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		first, last int
	}{
		{"default", "32768\t60999\n", 20000, 32767},
		{"wide", "15000 65000\n", 10000, 14999},
		{"low", "1024 60000\n", 60001, 65535},
		{"all", "1024 65535\n", 20000, 32767},
		{"at the bottom", "0 0", 10000, 65535},
		{"nonsense", "x y\n", 20000, 32767},
		{"empty", "", 20000, 32767},
	} {
		if first, last := driver.ParseRange(c.text); first != c.first || last != c.last {
			t.Errorf("%s: got %d to %d, want %d to %d", c.name, first, last, c.first, c.last)
		}
	}
}

func TestParseSockets(t *testing.T) {
	text := "  sl  local_address rem_address   st tx_queue rx_queue\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n" +
		"   1: 00000000000000000000000001000000:0050 0000:0000 01\n" +
		"   2: nonsense 00000000:0000\n\n   3: 0100007F:10000 x\n"
	if got, want := driver.ParseSockets(text), []int{8080, 80}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("   0: 0100007F:1F90 00000000:0000 0A\n32768 60999")
	f.Fuzz(func(t *testing.T, text string) {
		for _, port := range driver.ParseSockets(text) {
			if port < 1 || port > 65535 {
				t.Errorf("got port %d", port)
			}
		}
		if first, last := driver.ParseRange(text); first < 10000 || last > 65535 || last-first < 500 {
			t.Errorf("got range %d to %d", first, last)
		}
	})
}

func TestLogRing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := driver.NewLog(name, nil)
	line := strings.Repeat("x", 99) + "\n"
	lines := 3 * driver.LogBytes / len(line)
	for i := range lines {
		n := strconv.Itoa(i)
		if _, err := l.Write([]byte(n + line[len(n):])); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		text := l.Text()
		if len(text) > driver.LogBytes || len(text) < driver.LogBytes/2-len(line) {
			t.Errorf("%s: got %d bytes, want half to all of %d", when, len(text), driver.LogBytes)
		}
		if last := strconv.Itoa(lines-1) + "x"; !strings.HasPrefix(string(text[len(text)-len(line):]), last) {
			t.Errorf("%s: got end %q, want the last line", when, text[len(text)-len(line):])
		}
		if got := l.Tail(2); len(got) != 2 || !strings.HasPrefix(got[1], strconv.Itoa(lines-1)+"x") {
			t.Errorf("%s: got tail %q", when, got)
		}
	}
	check("open")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check("closed")
	if left, _ := filepath.Glob(name + "*"); len(left) != 0 {
		t.Errorf("got %v left", left)
	}
	if err := l.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

func TestLogWithoutFile(t *testing.T) {
	l := driver.NewLog(filepath.Join(t.TempDir(), "missing", "log"), nil)
	if n, err := l.Write([]byte("one\ntwo")); n != 7 || err != nil {
		t.Errorf("got %d, %v, want the target to be held up by nothing", n, err)
	}
	if got := string(l.Text()); !strings.Contains(got, "prony: the log is not complete: ") || !strings.HasSuffix(got, "one\ntwo") {
		t.Errorf("got %q, want the reason and the end", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLogSeen(t *testing.T) {
	seen := func(l *driver.Log) bool {
		select {
		case <-l.Seen():
			return true
		default:
			return false
		}
	}
	for _, c := range []struct {
		name   string
		ready  string
		writes []string
		want   bool
	}{
		{"a line", "^up$", []string{"down\nup\n"}, true},
		{"in pieces", "^up and running$", []string{"x\nup a", "nd run", "ning\r\n"}, true},
		{"without an end", "^ready> $", []string{"ready> "}, true},
		{"not the line before", "^up$", []string{"x", "up\n"}, false},
		{"beyond the bound", "z", []string{strings.Repeat("y", 9000), "z\n"}, false},
		{"after a long line", "^z$", []string{strings.Repeat("y", 9000), "\n", "z\n"}, true},
	} {
		pattern, err := driver.Pattern(readyLog(c.ready))
		if err != nil {
			t.Fatal(err)
		}
		l := driver.NewLog("", pattern)
		for _, w := range c.writes {
			_, _ = l.Write([]byte(w))
		}
		if got := seen(l); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

func readyLog(pattern string) plan.Ready { return plan.Ready{Log: pattern} }

func TestPatternWrong(t *testing.T) {
	if _, err := driver.Pattern(readyLog("(")); err == nil || !strings.Contains(err.Error(), "ready when a line matches: ") {
		t.Errorf("got %v", err)
	}
}
