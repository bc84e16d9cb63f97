package audit

import (
	"regexp"
	"strings"
)

// toolFlags says how the flags of a tool are called. Letters not listed in
// values take no value.
type toolFlags struct {
	values string            // letters of short flags that take a value
	means  map[string]string // flag, short or long, to what it means
}

// What flags mean.
const (
	meansConnections = "connections"
	meansThreads     = "threads"
	meansDuration    = "duration"
	meansRequests    = "requests"
	meansRate        = "rate"
	meansKeepAlive   = "keepalive"
	meansNoKeepAlive = "no keepalive"
	meansScript      = "script"
	meansPipeline    = "pipeline"
)

// flagsOf returns the flags of a tool.
func flagsOf(tool string) (toolFlags, bool) {
	f, ok := map[string]toolFlags{
		"wrk": {"cdtsHTRr", map[string]string{"c": meansConnections, "connections": meansConnections, "t": meansThreads, "threads": meansThreads,
			"d": meansDuration, "duration": meansDuration, "R": meansRate, "rate": meansRate, "s": meansScript, "script": meansScript}},
		"ab": {"ncstbBpuTvxyzCHAPXgemZfE", map[string]string{"c": meansConnections, "n": meansRequests, "k": meansKeepAlive}},
		"h2load": {"nctiwWHdmpBDTNr", map[string]string{"c": meansConnections, "clients": meansConnections, "t": meansThreads, "threads": meansThreads,
			"n": meansRequests, "requests": meansRequests, "D": meansDuration, "duration": meansDuration, "m": meansPipeline, "max-concurrent-streams": meansPipeline}},
		"hey": {"ncqozmHtAdDTUax", map[string]string{"c": meansConnections, "n": meansRequests, "z": meansDuration, "q": meansRate,
			"disable-keepalive": meansNoKeepAlive}},
		"oha": {"ncqzmHtAdDTaoprw", map[string]string{"c": meansConnections, "n": meansRequests, "z": meansDuration, "q": meansRate,
			"disable-keepalive": meansNoKeepAlive}},
		"vegeta":     {"", map[string]string{"rate": meansRate, "duration": meansDuration, "keepalive": ""}},
		"bombardier": {"cntldmbfHrpo", map[string]string{"c": meansConnections, "connections": meansConnections, "n": meansRequests, "d": meansDuration, "r": meansRate, "rate": meansRate}},
		"fortio":     {"", map[string]string{"c": meansConnections, "qps": meansRate, "t": meansDuration, "n": meansRequests}},
		"k6":         {"udisoe", map[string]string{"u": meansConnections, "vus": meansConnections, "d": meansDuration, "duration": meansDuration}},
	}[tool]
	return f, ok
}

var commandLine = regexp.MustCompile(`(?:^|[\s$#>;|&/(])((wrk2?|ab|h2load|hey|vegeta attack|bombardier|oha|k6 run|fortio load)(?:\.exe)?\s+\S.*)$`)

// commands remembers the last command that stood in front of an output.
type commands struct {
	tool, text, url string
	line            int
}

var address = regexp.MustCompile(`https?://[^\s'"|<>]+`)

// commandReach is how many lines a command may stand in front of its output.
const commandReach = 60

// see takes a line that may be a command. A backslash at its end joins the next.
func (k *commands) see(line string, c *cursor) {
	if len(line) > 2048 || !namesTool(line) {
		return
	}
	m := commandLine.FindStringSubmatch(strings.TrimRight(line, " `\t"))
	if m == nil {
		return
	}
	text, ahead := m[1], *c
	for range 20 {
		head, more := strings.CutSuffix(text, `\`)
		if !more {
			break
		}
		next, _ := ahead.next()
		text = strings.TrimRight(head, " ") + " " + strings.TrimSpace(next)
	}
	if !strings.Contains(text, " -") && !strings.Contains(text, "://") && !strings.HasPrefix(text, "k6 run ") {
		return // prose that names the tool
	}
	tool, _, _ := strings.Cut(m[2], " ")
	k.tool, k.text, k.url, k.line = tool, text, address.FindString(line), c.line
}

// namesTool reports whether any tool is named at all, which is quickly seen.
func namesTool(line string) bool {
	for _, name := range []string{"wrk", "ab ", "h2load", "hey", "vegeta", "bombardier", "oha", "k6", "fortio", "ab.exe"} {
		if strings.Contains(line, name) {
			return true
		}
	}
	return false
}

// give hands the command to the output behind it, once.
func (k *commands) give(b *Block) {
	same := k.tool == b.Tool || k.tool == "wrk" && b.Tool == "wrk2" || k.tool == "wrk2" && b.Tool == "wrk"
	if k.text == "" || !same || b.FirstLine-k.line > commandReach {
		return
	}
	b.take(k.text)
	if b.URL == "" {
		b.URL = k.url // echo GET http://… | vegeta attack
	}
	k.text = ""
}

// take reads what a command says and its output does not.
func (b *Block) take(text string) {
	b.Command = text
	tool, _, _ := strings.Cut(text, " ")
	tool = strings.TrimSuffix(strings.TrimSuffix(tool, ".exe"), "2")
	flags, ok := flagsOf(tool)
	if !ok {
		return
	}
	words := strings.Fields(text)[1:]
	if len(words) == 0 {
		return
	}
	for i := 0; i < len(words); i++ {
		if strings.Contains(words[i], "://") && b.URL == "" {
			b.URL = strings.Trim(words[i], `'"`)
		}
		name, value, has := flags.split(words[i])
		if name == "" {
			continue
		}
		if !has && i+1 < len(words) {
			value = words[i+1]
		}
		b.means(tool, flags.means[name], value)
	}
	if tool == "ab" && b.KeepAlive == "" {
		b.KeepAlive = "off"
	}
	if last := words[len(words)-1]; tool == "ab" && b.URL == "" && !strings.HasPrefix(last, "-") && strings.Contains(last, "/") {
		b.URL = last // ab needs no scheme
	}
}

// split parts a word into flag and attached value.
func (f toolFlags) split(word string) (name, value string, has bool) {
	long, dashes := strings.CutPrefix(word, "--")
	if dashes {
		return cutFlag(long)
	}
	short, dash := strings.CutPrefix(word, "-")
	if !dash || short == "" {
		return "", "", false
	}
	if _, known := f.means[short]; known || f.values == "" {
		return cutFlag(short)
	}
	if strings.Contains(f.values, short[:1]) && len(short) > 1 {
		return short[:1], strings.TrimPrefix(short[1:], "="), true
	}
	return cutFlag(short)
}

func cutFlag(s string) (name, value string, has bool) { return strings.Cut(s, "=") }

// means takes the value of a flag; what the output printed stays, and what it
// contradicts is kept.
func (b *Block) means(tool, meaning, value string) {
	value = strings.Trim(value, `'"`)
	switch meaning {
	case meansConnections:
		b.command(tool, &b.Connections, count(value), "connections")
	case meansThreads:
		b.command(tool, &b.Threads, si(value), "threads")
	case meansRequests:
		b.Asked = b.Asked.or(count(value))
	case meansDuration:
		if v := number(value); v.Known {
			value += "s"
		}
		b.commandTime(duration(strings.ToLower(value)))
	case meansKeepAlive:
		b.KeepAlive = "on"
	case meansNoKeepAlive:
		b.KeepAlive = "off"
	case meansRate:
		b.rateLimited(tool, value)
	case meansPipeline:
		b.Pipeline = count(value)
	case meansScript:
		b.Facts.Script = value
	}
}

// command takes a count of the command, which the output may contradict.
func (b *Block) command(tool string, to *Value, v Value, what string) {
	if v.Known && to.Known && v.V != to.V && tool != "k6" { // its users may come in stages
		b.Odd = append(b.Odd, trimmed(v.V, 0)+" "+what+" in the command, "+trimmed(to.V, 0)+" in the output")
	}
	*to = to.or(v)
}

// commandTime takes the duration of the command. "Running 1m test" is rounded to
// a minute, -d60s is not.
func (b *Block) commandTime(v Value) {
	d := &b.DurationStated
	switch {
	case !v.Known:
	case d.Known && (v.High() < d.Low() || v.Low() > d.High()):
		b.Odd = append(b.Odd, trimmed(v.V/1e6, 0)+" s in the command, "+trimmed(d.V/1e6, 0)+" s in the output")
	case !d.Known || v.Half < d.Half:
		*d = v
	}
}

// rateLimited takes a rate that a tool was told to keep. hey's is per worker.
func (b *Block) rateLimited(tool, value string) {
	value, _, _ = strings.Cut(value, "/")
	v := si(value)
	if !v.positive() {
		return // 0 and max: as fast as it goes
	}
	if tool == "hey" {
		v = product(v, b.Connections)
	}
	b.Model, b.OfferedRate = openModel, b.OfferedRate.or(v)
}
