package proc

import "bytes"

// Sockets is /proc/net/sockstat and sockstat6: TCP sockets of our network
// namespace, now.
type Sockets struct {
	InUse    int64 // IPv4, listeners and both ends of loopback connections included
	TimeWait int64 // in TIME_WAIT, of IPv4 and IPv6
	Orphans  int64 // without a process
	InUse6   int64 // IPv6
}

// Sockets reads both files. A host without IPv6 has no second one; it then
// counts as 0, which is true.
func (f FS) Sockets() (Sockets, error) {
	s, err := read(f.path("net", "sockstat"), parseSockets)
	if err != nil {
		return s, err
	}
	if six, err := read(f.path("net", "sockstat6"), parseSockets); err == nil {
		s.InUse6 = six.InUse6
	}
	return s, nil
}

// OpenSockets opens /proc/net/sockstat for many readings; InUse6 stays 0.
func (f FS) OpenSockets() (*Reader[Sockets], error) {
	return open(f.path("net", "sockstat"), parseSockets)
}

// OpenSockets6 opens /proc/net/sockstat6 for many readings; only InUse6 is
// filled. It fails on a host without IPv6.
func (f FS) OpenSockets6() (*Reader[Sockets], error) {
	return open(f.path("net", "sockstat6"), parseSockets)
}

// parseSockets reads the lines
//
//	TCP: inuse 11 orphan 0 tw 9 alloc 11 mem 0
//	TCP6: inuse 0
//
// (net/ipv4/proc.c, net/ipv6/proc.c): names and values in turn.
func parseSockets(text []byte, s *Sockets) error {
	*s = Sockets{}
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		word, rest := cutField(line)
		var err error
		switch string(word) {
		case "TCP:":
			err = pairs(rest, s.four)
		case "TCP6:":
			err = pairs(rest, s.six)
		}
		if err != nil {
			return bad(line, err)
		}
	}
	return nil
}

func (s *Sockets) four(name []byte, n int64) {
	switch string(name) {
	case "inuse":
		s.InUse = n
	case "tw":
		s.TimeWait = n
	case "orphan":
		s.Orphans = n
	}
}

func (s *Sockets) six(name []byte, n int64) {
	if string(name) == "inuse" {
		s.InUse6 = n
	}
}

// pairs calls visit with each "name number" of a line.
func pairs(line []byte, visit func(name []byte, n int64)) error {
	for {
		var name []byte
		if name, line = cutField(line); len(name) == 0 {
			return nil
		}
		var n int64
		var err error
		if line, err = numbers(line, &n); err != nil {
			return err
		}
		visit(name, n)
	}
}

// Counters are protocol counters since boot, or now for the few that are
// gauges, by "Group.Name": "Tcp.RetransSegs", "TcpExt.ListenOverflows". What a
// kernel does not count is not in the map: absent is not zero.
type Counters map[string]int64

// Counters reads /proc/net/snmp and /proc/net/netstat.
func (f FS) Counters() (Counters, error) {
	all, err := read(f.path("net", "snmp"), parseCounters)
	if err != nil {
		return nil, err
	}
	more, err := read(f.path("net", "netstat"), parseCounters)
	if err != nil {
		return nil, err
	}
	for name, n := range more {
		all[name] = n
	}
	return all, nil
}

// parseCounters reads pairs of lines, names and then values:
//
//	TcpExt: SyncookiesSent SyncookiesRecv ...
//	TcpExt: 0 0 ...
//
// (Documentation/networking/snmp_counter.rst). A value that is no number of 63
// bits is an error, and so are lines of different length.
func parseCounters(text []byte, c *Counters) error {
	*c = Counters{}
	for len(text) > 0 {
		var names, values []byte
		names, text = cutLine(text)
		values, text = cutLine(text)
		if len(bytes.TrimSpace(names)) == 0 {
			continue
		}
		if err := c.add(names, values); err != nil {
			return bad(names, err)
		}
	}
	return nil
}

func (c Counters) add(names, values []byte) error {
	group, names := cutField(names)
	same, values := cutField(values)
	if !bytes.Equal(group, same) {
		return errNoColumn
	}
	prefix := string(bytes.TrimSuffix(group, []byte{':'})) + "."
	for {
		var name, value []byte
		name, names = cutField(names)
		value, values = cutField(values)
		switch {
		case len(name) == 0 && len(value) == 0:
			return nil
		case len(name) == 0 || len(value) == 0:
			return errNoColumn
		}
		n, err := number(value)
		if err != nil {
			return err
		}
		c[prefix+string(name)] = n
	}
}
