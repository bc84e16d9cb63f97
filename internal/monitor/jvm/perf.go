package jvm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"
)

var (
	errMagic   = errors.New("it does not begin like performance data")
	errVersion = errors.New("performance data of another version than 2")
	errEarly   = errors.New("the virtual machine is still writing it")
	errCut     = errors.New("an entry does not fit")
)

// Layout of the file (hotspot/share/runtime/perfMemory.hpp).
const (
	magic       = 0xcafec0c0
	prologue    = 32
	entryHeader = 20
	entriesMax  = 1 << 14 // some hundred are usual
)

// Perf is the text of a file hsperfdata_USER/PID. The zero Perf is ready to
// parse; one that parses again and again indexes the entries once.
type Perf struct {
	text    []byte
	order   binary.ByteOrder
	layout  layout
	scalars map[string]int // to the offset of the value
	texts   map[string]extent
}

// layout is how far the file was filled. Entries are only ever added.
type layout struct {
	used, entries int32
	little        bool
}

type extent struct{ from, to int }

// Parse takes the text of the file, which stays the caller's until the next
// call, and fails on one that is not performance data of version 2.
func (p *Perf) Parse(text []byte) error {
	if len(text) < prologue || binary.BigEndian.Uint32(text) != magic {
		return errMagic
	}
	if text[5] != 2 {
		return errVersion
	}
	if text[7] == 0 {
		return errEarly
	}
	p.order = binary.BigEndian
	now := layout{little: text[4] == 1}
	if now.little {
		p.order = binary.LittleEndian
	}
	now.used, now.entries = int32(p.order.Uint32(text[8:])), int32(p.order.Uint32(text[28:]))
	first := int(int32(p.order.Uint32(text[24:])))
	if now != p.layout || p.scalars == nil || int(now.used) > len(text) {
		if err := p.index(text, now, first); err != nil {
			p.scalars = nil
			return err
		}
	}
	p.text, p.layout = text, now
	return nil
}

// index finds the entries.
func (p *Perf) index(text []byte, now layout, at int) error {
	if now.entries < 0 || now.entries > entriesMax || at < prologue {
		return errCut
	}
	p.scalars, p.texts = map[string]int{}, map[string]extent{}
	for range now.entries {
		if at > len(text)-entryHeader {
			return errCut
		}
		length := int(int32(p.order.Uint32(text[at:])))
		if length < entryHeader || length > len(text)-at {
			return errCut
		}
		if err := p.entry(text[at:at+length], at); err != nil {
			return err
		}
		at += length
	}
	return nil
}

// entry notes where the value of one entry is.
func (p *Perf) entry(e []byte, at int) error {
	name, value := int(int32(p.order.Uint32(e[4:]))), int(int32(p.order.Uint32(e[16:])))
	length, kind := int(int32(p.order.Uint32(e[8:]))), e[12]
	if name < entryHeader || name >= len(e) || value < entryHeader || value > len(e) || length < 0 {
		return errCut
	}
	end := bytes.IndexByte(e[name:], 0)
	if end < 0 {
		return errCut
	}
	key := string(e[name : name+end])
	switch {
	case kind == 'J' && length == 0:
		if value > len(e)-8 {
			return errCut
		}
		p.scalars[key] = at + value
	case kind == 'B' && length > 0:
		if length > len(e)-value {
			return errCut
		}
		p.texts[key] = extent{at + value, at + value + length}
	}
	return nil
}

// Number is a counter by its name; ok is false if this machine has none of it.
func (p *Perf) Number(name string) (n int64, ok bool) {
	at, ok := p.scalars[name]
	if !ok {
		return 0, false
	}
	return int64(p.order.Uint64(p.text[at:])), true
}

// Text is a text by its name, "" if this machine has none of it.
func (p *Perf) Text(name string) string {
	at, ok := p.texts[name]
	if !ok {
		return ""
	}
	text, _, _ := bytes.Cut(p.text[at.from:at.to], []byte{0})
	return string(text)
}

// Unknown stands for a figure that a machine does not have.
const Unknown = -1

// Figures are what the machine did since it began, or is now. One that the
// version of the JDK does not have is [Unknown].
type Figures struct {
	HeapUsed, HeapCapacity, HeapMax int64 // bytes now
	OldUsed, MetaspaceUsed          int64 // bytes now
	Collections                     int64
	CollectionTime                  time.Duration // of all collectors
	Safepoints                      int64
	SafepointTime                   time.Duration // collections that stop the world included
	Classes                         int64         // loaded so far
	Compilations                    int64         // methods compiled so far
	CompileTime                     time.Duration // of all compiler threads
	Threads                         int64         // now
}

// Figures reads them out of what was parsed last.
func (p *Perf) Figures() Figures {
	f := Figures{
		HeapUsed: p.spaces("used"), HeapCapacity: p.spaces("capacity"), HeapMax: p.heapMax(),
		OldUsed: p.number("sun.gc.generation.1.space.0.used"), MetaspaceUsed: p.number("sun.gc.metaspace.used"),
		Safepoints: p.number("sun.rt.safepoints"), SafepointTime: p.ticks("sun.rt.safepointTime"),
		Compilations: p.number("sun.ci.totalCompiles"), CompileTime: p.ticks("java.ci.totalTime"),
		Threads: p.number("java.threads.live"),
		Classes: p.number("java.cls.loadedClasses"),
	}
	if shared := p.number("java.cls.sharedLoadedClasses"); f.Classes != Unknown && shared > 0 {
		f.Classes += shared
	}
	f.Collections, f.CollectionTime = p.collectors()
	return f
}

func (p *Perf) number(name string) int64 {
	if n, ok := p.Number(name); ok && n >= 0 {
		return n
	}
	return Unknown
}

// ticks is a time; Unknown if there is none.
func (p *Perf) ticks(name string) time.Duration {
	n, ok := p.Number(name)
	frequency, known := p.Number("sun.os.hrt.frequency")
	if !ok || n < 0 || !known || frequency <= 0 {
		return Unknown
	}
	return time.Duration(float64(n) / float64(frequency) * 1e9)
}

// spaces sums a figure over the spaces of all generations.
func (p *Perf) spaces(what string) int64 {
	sum := int64(Unknown)
	for generation := range 2 {
		for space := range 3 {
			n := p.number("sun.gc.generation." + strconv.Itoa(generation) + ".space." + strconv.Itoa(space) + "." + what)
			if n != Unknown {
				sum = max(sum, 0) + n
			}
		}
	}
	return sum
}

// heapMax is how far the heap may grow. Collectors with regions say of each
// generation that it may have all of it.
func (p *Perf) heapMax() int64 {
	young, old := p.number("sun.gc.generation.0.maxCapacity"), p.number("sun.gc.generation.1.maxCapacity")
	switch p.Text("sun.gc.policy.name") {
	case "GarbageFirst", "ZGC", "Shenandoah":
		return max(young, old)
	}
	if young == Unknown || old == Unknown {
		return max(young, old)
	}
	return young + old
}

// collectors sums up the collectors. What one does beside the program is not
// counted there: of concurrent collectors these are the pauses.
func (p *Perf) collectors() (count int64, spent time.Duration) {
	count, spent = Unknown, Unknown
	for i := range 8 {
		prefix := "sun.gc.collector." + strconv.Itoa(i) + "."
		n, took := p.number(prefix+"invocations"), p.ticks(prefix+"time")
		if n == Unknown || took == Unknown {
			continue
		}
		count, spent = max(count, 0)+n, max(spent, 0)+took
	}
	return count, spent
}

// Facts are what does not change: version, command, collector.
func (p *Perf) Facts() map[string]string {
	facts := map[string]string{}
	for key, name := range map[string]string{
		"jvm_version": "java.property.java.vm.version", "jvm_name": "java.property.java.vm.name",
		"collector": "sun.gc.policy.name", "command": "sun.rt.javaCommand", "vm_args": "java.rt.vmArgs",
	} {
		if text := p.Text(name); text != "" {
			facts[key] = text
		}
	}
	return facts
}

// Files lists where the performance data of a process may be: user is the name
// of its effective user, inner its number inside its container, 0 if it is not
// in one. HotSpot on Linux always uses /tmp.
func Files(pid, inner int, user string) []string {
	if inner <= 0 {
		inner = pid
	}
	root := "/proc/" + strconv.Itoa(pid) + "/root"
	return []string{fmt.Sprintf("%s/tmp/hsperfdata_%s/%d", root, user, inner)}
}

// UserName finds a user in the text of a file passwd, "" if there is none.
func UserName(passwd []byte, uid int64) string {
	want := strconv.FormatInt(uid, 10)
	for line := range bytes.Lines(passwd) {
		fields := bytes.Split(line, []byte{':'})
		if len(fields) > 3 && string(fields[2]) == want {
			return string(fields[0])
		}
	}
	return ""
}
