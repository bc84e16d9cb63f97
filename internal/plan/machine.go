package plan

import "math"

// Machine is what a host has for the services that run on it.
type Machine struct {
	CPUs   int   // 0: not known
	Memory int64 // bytes; 0: not known
}

// Sockets are what the connections of the generator may take of its machine.
type Sockets struct {
	// Files that a process may have open at most (RLIMIT_NOFILE, the hard one);
	// 0: no bound, or not known.
	Files int
	// Ports that the system gives to outgoing connections
	// (net.ipv4.ip_local_port_range); 0: not known.
	Ports int
	// Reuse is net.ipv4.tcp_tw_reuse: whether a port that rests in TIME_WAIT is
	// used again after a second: 0 never, or not known; 1 always; 2 on loopback.
	Reuse int
}

// machine is what is known of a host; "" is this one.
func (f Facts) machine(host string) Machine {
	if host != "" {
		return f.Hosts[host]
	}
	m := Machine{CPUs: f.CPUs, Memory: f.Memory}
	if f.Quota > 0 && f.Quota < float64(f.CPUs) {
		m.CPUs = max(int(math.Floor(f.Quota)), 1)
	}
	return m
}
