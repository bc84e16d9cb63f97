package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// least is a setting that should be at least so large.
type least struct {
	name, key string
	want      int64
	why       string
}

func settings() []least {
	return []least{
		{"accept-queue", "net.core.somaxconn", 4096,
			"connections that come faster than the target accepts them are dropped, and their clients try again after 1, 3 and 7 seconds"},
		{"syn-queue", "net.ipv4.tcp_max_syn_backlog", 4096, "handshakes under way beyond that are dropped or answered with cookies"},
		{"receive-queue", "net.core.netdev_max_backlog", 1000, "packets that come faster than a core takes them are dropped"},
	}
}

// sockets looks at the settings of TCP.
func sockets(_ context.Context, c Config) []Check {
	var all []Check
	for _, l := range settings() {
		all = append(all, l.check(c))
	}
	return append(all, ports(c), reuse(c))
}

func file(key string) string { return "proc/sys/" + strings.ReplaceAll(key, ".", "/") }

func (l least) check(c Config) Check {
	n, ok := c.number(file(l.key))
	if !ok {
		return unknown(l.name, l.key)
	}
	k := Check{Name: l.name, State: Good, Found: fmt.Sprintf("%s = %d", l.key, n), Want: fmt.Sprintf("%d or more", l.want)}
	if n < l.want {
		k.State, k.Why = Warn, l.why
		k.fixable(l.key, strconv.FormatInt(l.want, 10))
	}
	return k
}

// fixable names the setting, with the command that does the same.
func (k *Check) fixable(key, value string) {
	k.Setting = &Setting{key, value}
	k.Remedy = fmt.Sprintf("sysctl -w %s=%q", key, value)
}

// portsGood is the default range of Linux, 32768 to 60999.
const portsGood = 28_000

func ports(c Config) Check {
	text, ok := c.text(file("net.ipv4.ip_local_port_range"))
	fields := strings.Fields(text)
	if !ok || len(fields) != 2 {
		return unknown("ports", "the range of local ports")
	}
	low, err1 := strconv.Atoi(fields[0])
	high, err2 := strconv.Atoi(fields[1])
	if err1 != nil || err2 != nil || high < low {
		return unknown("ports", "the range of local ports")
	}
	n := high - low + 1
	k := Check{Name: "ports", State: Good, Found: fmt.Sprintf("%d to %d: %d connections to one address and port", low, high, n), Want: "28,000 or more"}
	if n < portsGood {
		k.State, k.Why = Warn, fmt.Sprintf("with a new connection for each request, more than %d a second run out of ports (60 s in TIME_WAIT)", n/60)
		k.fixable("net.ipv4.ip_local_port_range", "10240\t65535")
	}
	return k
}

func reuse(c Config) Check {
	n, ok := c.number(file("net.ipv4.tcp_tw_reuse"))
	if !ok {
		return unknown("port-reuse", "net.ipv4.tcp_tw_reuse")
	}
	k := Check{Name: "port-reuse", State: Good, Found: fmt.Sprintf("net.ipv4.tcp_tw_reuse = %d", n), Want: "1, or 2 (loopback alone)"}
	if n == 0 {
		k.State, k.Why = Warn, "ports in TIME_WAIT are not used again, so that loads without keep-alive end after a minute"
		k.fixable("net.ipv4.tcp_tw_reuse", "1")
	}
	return k
}

// network looks at the interfaces that are up.
func network(_ context.Context, c Config) []Check {
	names, _ := filepath.Glob(filepath.Join(c.Root, "sys/class/net/*"))
	var found []string
	for _, full := range names {
		name := filepath.Base(full)
		base := filepath.Join("sys/class/net", name)
		if state, _ := c.text(filepath.Join(base, "operstate")); name == "lo" || state == "down" {
			continue
		}
		speed := "speed unknown"
		if n, ok := c.number(filepath.Join(base, "speed")); ok && n > 0 {
			speed = fmt.Sprintf("%d Mbit/s", n)
		}
		found = append(found, name+" "+speed)
	}
	if len(found) == 0 {
		return []Check{{Name: "interfaces", State: Good, Found: "loopback alone"}}
	}
	return []Check{{Name: "interfaces", State: Good, Found: strings.Join(found, ", ")}}
}
