package proc

import (
	"bytes"
	"errors"
)

// Absent stands for a counter that the kernel does not have: absent is not
// zero.
const Absent = -1

// TCP is what we read of /proc/net/snmp and /proc/net/netstat: counts since
// boot of a network namespace, but for Established, which is now. What a kernel
// does not count is [Absent]. The meaning is in
// Documentation/networking/snmp_counter.rst.
type TCP struct {
	OutSegments, RetransSegments, ActiveOpens, PassiveOpens, Established int64
	Timeouts                                                             int64 // retransmission timers that ran out
	ListenOverflows, ListenDrops                                         int64
	SynCookies                                                           int64 // sent
	RequestFullDrop, RequestFullCookie                                   int64 // the queue of half-open connections was full
	TimeWaitOverflow                                                     int64
}

// wanted names the target of a column, nil for those that are not ours.
func (t *TCP) wanted(group, name []byte) *int64 {
	if string(group) == "Tcp:" {
		return t.basic(name)
	}
	if string(group) != "TcpExt:" {
		return nil
	}
	switch string(name) {
	case "TCPTimeouts":
		return &t.Timeouts
	case "ListenOverflows":
		return &t.ListenOverflows
	case "ListenDrops":
		return &t.ListenDrops
	case "SyncookiesSent":
		return &t.SynCookies
	case "TCPReqQFullDrop":
		return &t.RequestFullDrop
	case "TCPReqQFullDoCookies":
		return &t.RequestFullCookie
	case "TCPTimeWaitOverflow":
		return &t.TimeWaitOverflow
	}
	return nil
}

func (t *TCP) basic(name []byte) *int64 {
	switch string(name) {
	case "OutSegs":
		return &t.OutSegments
	case "RetransSegs":
		return &t.RetransSegments
	case "ActiveOpens":
		return &t.ActiveOpens
	case "PassiveOpens":
		return &t.PassiveOpens
	case "CurrEstab":
		return &t.Established
	}
	return nil
}

// NoTCP is a TCP of which nothing is known, to be filled by one text after the
// other.
func NoTCP() TCP {
	return TCP{Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent}
}

// Add reads the columns of snmp or netstat that are ours, without allocating:
// pairs of lines, names and then values. Values of others are not looked at.
func (t *TCP) Add(text []byte) error {
	for len(text) > 0 {
		var names, values []byte
		names, text = cutLine(text)
		values, text = cutLine(text)
		if err := t.pair(names, values); err != nil {
			return bad(names, err)
		}
	}
	return nil
}

func (t *TCP) pair(names, values []byte) error {
	group, names := cutField(names)
	same, values := cutField(values)
	if !bytes.Equal(group, same) {
		return errNoColumn
	}
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
		into := t.wanted(group, name)
		if into == nil {
			continue
		}
		n, err := number(value)
		if err != nil {
			return err
		}
		*into = n
	}
}

// VM is what we read of /proc/vmstat: pages and events since boot; [Absent]
// where the kernel does not count.
type VM struct {
	SwapIn, SwapOut, MajorFaults, OOMKills int64
}

// Parse reads lines "pswpin 12".
func (v *VM) Parse(text []byte) error {
	*v = VM{Absent, Absent, Absent, Absent}
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		name, rest := cutField(line)
		var into *int64
		switch string(name) {
		case "pswpin":
			into = &v.SwapIn
		case "pswpout":
			into = &v.SwapOut
		case "pgmajfault":
			into = &v.MajorFaults
		case "oom_kill":
			into = &v.OOMKills
		default:
			continue
		}
		if err := first(rest, into); err != nil {
			return bad(line, err)
		}
	}
	return nil
}

// Softnet is /proc/net/softnet_stat, summed over the cores: packets since boot.
type Softnet struct {
	Processed int64
	Dropped   int64 // the backlog was full
	Squeezed  int64 // times that work was left because budget or time was used up
}

// Parse reads a line a core of hexadecimal columns, of which the first three
// are ours (net/core/net-procfs.c). The columns have 32 bits and wrap.
func (s *Softnet) Parse(text []byte) error {
	*s = Softnet{}
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		rest := line
		for _, into := range []*int64{&s.Processed, &s.Dropped, &s.Squeezed} {
			var word []byte
			word, rest = cutField(rest)
			n, err := hex(word)
			if err != nil {
				return bad(line, err)
			}
			*into += n
		}
	}
	return nil
}

// Conntrack is /proc/net/stat/nf_conntrack, summed over the cores: entries that
// did not come to be, since boot.
type Conntrack struct {
	Dropped, EarlyDropped, InsertFailed int64
}

// Parse reads a line of names and a line a core of hexadecimal values.
func (c *Conntrack) Parse(text []byte) error {
	*c = Conntrack{}
	names, text := cutLine(text)
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		if err := c.add(names, line); err != nil {
			return bad(line, err)
		}
	}
	return nil
}

func (c *Conntrack) add(names, values []byte) error {
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
		n, err := hex(value)
		if err != nil {
			return err
		}
		switch string(name) {
		case "drop":
			c.Dropped += n
		case "early_drop":
			c.EarlyDropped += n
		case "insert_failed":
			c.InsertFailed += n
		}
	}
}

var errHex = errors.New("not a hexadecimal number of 32 bits")

// hex reads up to eight hexadecimal digits.
func hex(word []byte) (int64, error) {
	if len(word) == 0 || len(word) > 8 {
		return 0, errHex
	}
	var n int64
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | int64(c-'A'+10)
		default:
			return 0, errHex
		}
	}
	return n, nil
}
