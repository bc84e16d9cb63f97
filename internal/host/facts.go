package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Facts is what a host says of itself. What it does not tell stays zero.
type Facts struct {
	OS, Arch string // by their Go names: linux, amd64
	Kernel   string // its release
	CPUs     int    // online
	Memory   int64  // bytes
	Hostname string
	BootID   string // another one after each start of the machine
	User     string // who commands run as
	UID      int    // -1 if unknown
	Loopback string // the address of the host to itself: 127.0.0.1, or ::1 where there is no other
	TempDir  string
	Cgroups  Cgroups
}

// Cgroups is what control groups there are.
type Cgroups struct {
	// Version is 1, 2, or 0 without any. A host that mounts both (hybrid)
	// has its controllers in version 1, and counts as such.
	Version int
	// Hybrid says that version 2 is mounted beside version 1.
	Hybrid bool
	// Writable says that the user may make groups at the top: where the cpu and
	// the memory controller are, or the tree of version 2.
	Writable bool
}

// probe asks with what every system has, a line a fact. Other things may write
// to the output too (a login script), so the lines are marked.
const probe = `say() { echo "prony:$1=$2"; }
say os "$(uname -s)"; say arch "$(uname -m)"; say kernel "$(uname -r)"; say hostname "$(uname -n)"
say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null || sysctl -n hw.ncpu)"
say user "$(id -un)"; say uid "$(id -u)"; say temp "${TMPDIR:-/tmp}"
if [ -r /proc/meminfo ]; then
  while read -r name value rest; do [ "$name" != MemTotal: ] || say memory "$value"; done </proc/meminfo
else say bytes "$(sysctl -n hw.memsize 2>/dev/null || sysctl -n hw.physmem)"; fi
if [ -r /proc/sys/kernel/random/boot_id ]; then read -r boot </proc/sys/kernel/random/boot_id; say boot "$boot"
else say boot "$(sysctl -n kern.bootsessionuuid 2>/dev/null || sysctl -n kern.boottime)"; fi
four=yes
if [ -r /proc/net/fib_trie ]; then four=; while read -r a b rest; do [ "$b" != 127.0.0.1 ] || four=yes; done </proc/net/fib_trie; fi
[ -z "$four" ] || say loopback 127.0.0.1
can() { for d; do [ -w "$d" ] || return 0; done; say writable yes; }
one=; two=; cpu=; memory=
if [ -r /proc/self/mounts ]; then
  while read -r dev at kind options rest; do case $kind in
    cgroup) one=yes; case ",$options," in *,cpu,*) cpu=$at;; esac; case ",$options," in *,memory,*) memory=$at;; esac;;
    cgroup2) two=$at;; esac; done </proc/self/mounts
fi
if [ -n "$cpu$memory" ]; then say version 1; [ -z "$two" ] || say hybrid yes; can "$cpu" "$memory"
elif [ -n "$two" ]; then say version 2; can "$two" "$two/cgroup.procs"
elif [ -n "$one" ]; then say version 1; fi
`

// factsPatience bounds the asking.
const factsPatience = 30 * time.Second

var errMute = errors.New("its shell did not answer as a POSIX shell does")

// facts asks this machine; without a shell (Windows, an empty container) it
// takes what the runtime knows.
func facts(ctx context.Context, l *local) (Facts, error) {
	f, err := Probe(ctx, l)
	if err != nil && context.Cause(ctx) == nil && !l.shell() {
		return known(), nil
	}
	return f, err
}

// Probe asks a host what it is through a POSIX shell. It is for those who write
// a host; others call [Host].Facts.
func Probe(ctx context.Context, h Host) (Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, factsPatience)
	defer cancel()
	text, err := h.Command("sh", "-c", probe).Output(ctx)
	if err != nil {
		return Facts{}, fmt.Errorf("ask for the facts of the host: %w", err)
	}
	f, err := ParseFacts(string(text))
	if err != nil {
		return Facts{}, fmt.Errorf("ask for the facts of the host: %w", err)
	}
	return f, nil
}

// ParseFacts reads the answer to the probe: lines "prony:name=value" among
// others. The last of a name wins; unknown names are skipped.
func ParseFacts(text string) (Facts, error) {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if fact, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "prony:"); ok {
			name, value, _ := strings.Cut(fact, "=")
			said[name] = strings.TrimSpace(value)
		}
	}
	if said["os"] == "" {
		return Facts{}, errMute
	}
	f := Facts{
		OS: goOS(said["os"]), Arch: goArch(said["arch"]), Kernel: said["kernel"], Hostname: said["hostname"],
		CPUs: int(number(said["cpus"], 0)), Memory: number(said["bytes"], 0), BootID: said["boot"],
		User: said["user"], UID: int(number(said["uid"], -1)), TempDir: said["temp"], Loopback: said["loopback"],
	}
	if kib := number(said["memory"], 0); kib > 0 {
		f.Memory = kib << 10
	}
	if f.Loopback == "" {
		f.Loopback = "::1"
	}
	f.Cgroups = Cgroups{Version: int(number(said["version"], 0)), Hybrid: said["hybrid"] != "", Writable: said["writable"] != ""}
	return f, nil
}

// number is a whole number that fits, or what stands for none.
func number(text string, none int64) int64 {
	n, err := strconv.ParseInt(text, 10, 52)
	if err != nil || n < 0 {
		return none
	}
	return n
}

// goOS and goArch translate uname's names into Go's.
func goOS(name string) string { return strings.ToLower(name) }

func goArch(name string) string {
	names := map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i386": "386", "i686": "386",
		"armv6l": "arm", "armv7l": "arm", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64", "loongarch64": "loong64",
	}
	if known, ok := names[name]; ok {
		return known
	}
	return name
}

// known is what this program knows of its machine without asking.
func known() Facts {
	return Facts{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), UID: -1, Loopback: "127.0.0.1"}
}
