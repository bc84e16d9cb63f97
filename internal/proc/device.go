package proc

import "bytes"

// Link is a network interface in /proc/net/dev: counts since it came up, as its
// driver makes them.
type Link struct {
	Name                                  string
	BytesIn, PacketsIn, ErrorsIn, DropsIn int64
	BytesOut, PacketsOut, ErrorsOut       int64
	DropsOut                              int64
}

// Links is /proc/net/dev.
type Links []Link

// Parse reads, behind two headings, lines like
//
//	lo: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop fifo colls carrier compressed
//
// (proc_pid_net(5)). The names of an earlier reading are used again.
func (l *Links) Parse(text []byte) error {
	old := *l
	*l = old[:0]
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		name, rest, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			continue
		}
		var one Link
		rest, err := numbers(rest, &one.BytesIn, &one.PacketsIn, &one.ErrorsIn, &one.DropsIn)
		if err == nil {
			_, err = numbers(skipFields(rest, 4), &one.BytesOut, &one.PacketsOut, &one.ErrorsOut, &one.DropsOut)
		}
		if err != nil {
			return bad(line, err)
		}
		one.Name = again(old, len(*l), bytes.TrimSpace(name))
		*l = append(*l, one)
	}
	return nil
}

// again is the name at the same place, if it is still the same.
func again(old Links, at int, name []byte) string {
	if at < len(old) && old[at].Name == string(name) {
		return old[at].Name
	}
	return string(name)
}

// Disk is a block device in /proc/diskstats.
type Disk struct {
	Name       string
	Reads      int64 // since boot
	Writes     int64 // since boot
	InFlight   int64 // requests now
	BusyMS     int64 // in which there was at least one request
	WeightedMS int64 // the same, times the number of requests
}

// Disks is /proc/diskstats without partitions of no use: see Parse.
type Disks []Disk

// Parse reads lines of major, minor, name and at least eleven counters
// (Documentation/admin-guide/iostats.rst). Devices that were never used are
// left out: a machine has dozens of loop and ram devices. The times have 32
// bits and wrap. Kernels before 2.6.25 have shorter lines for partitions, which
// are skipped.
func (d *Disks) Parse(text []byte) error {
	old := *d
	*d = old[:0]
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		name, rest := cutField(skipFields(line, 2))
		if len(name) == 0 || short(rest) {
			continue
		}
		var one Disk
		rest, err := numbers(rest, &one.Reads)
		if err == nil {
			rest, err = numbers(skipFields(rest, 3), &one.Writes)
		}
		if err == nil {
			_, err = numbers(skipFields(rest, 3), &one.InFlight, &one.BusyMS, &one.WeightedMS)
		}
		if err != nil {
			return bad(line, err)
		}
		if one.Reads+one.Writes == 0 {
			continue
		}
		if at := len(*d); at < len(old) && old[at].Name == string(name) {
			one.Name = old[at].Name
		} else {
			one.Name = string(name)
		}
		*d = append(*d, one)
	}
	return nil
}

func short(rest []byte) bool {
	word, _ := cutField(skipFields(rest, 10))
	return len(word) == 0
}

// Listener is a listening socket.
type Listener struct {
	Port  int
	Inode int64
	Queue int64 // connections that wait to be accepted
	Limit int64 // how many may; [Absent] where it is not told
}

// Listeners is the listening part of /proc/net/tcp or tcp6.
type Listeners []Listener

// Add reads lines like
//
//	0: 0100007F:492D 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 10951644 ...
//
// as far as they listen (state 0A): the second half of the fifth word is the
// accept queue (tcp_ipv4.c, get_tcp4_sock). The file lists listeners first, so
// a text that was cut behind them is good; a last line without its end is not
// looked at. Done says that a line of another state was seen.
func (l *Listeners) Add(text []byte) (done bool, err error) {
	_, text = cutLine(text) // the heading
	for {
		line, rest, ok := bytes.Cut(text, []byte{'\n'})
		if !ok {
			return false, nil
		}
		text = rest
		_, words := cutField(line)
		local, words := cutField(words)
		_, words = cutField(words)
		state, words := cutField(words)
		if string(state) != "0A" {
			return true, nil
		}
		one, err := listener(local, words)
		if err != nil {
			return false, bad(line, err)
		}
		*l = append(*l, one)
	}
}

func listener(local, words []byte) (Listener, error) {
	one := Listener{Limit: Absent}
	port, err := hex(local[bytes.LastIndexByte(local, ':')+1:])
	if err != nil {
		return one, err
	}
	one.Port = int(port)
	queues, words := cutField(words)
	_, waiting, _ := bytes.Cut(queues, []byte{':'})
	if one.Queue, err = hex(waiting); err != nil {
		return one, err
	}
	_, err = numbers(skipFields(words, 4), &one.Inode)
	return one, err
}
