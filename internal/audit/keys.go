package audit

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"prony/internal/unit"
)

// factKey is one fact: how its text is read and what its value does.
type factKey struct {
	// read reads a scalar; nil when the key takes a list or a mapping.
	read func(text string) (func(*Block), error)
	// many reads "name=value" pairs or items, one at a time.
	many func(name, text string) (func(*Block), error)
	help string
}

// node reads the value of a key from YAML.
func (k factKey) node(d *decoder, n *yaml.Node) (func(*Block), error) {
	if k.read != nil {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return nil, errors.New("want a value")
		}
		return k.read(n.Value)
	}
	var sets []func(*Block)
	add := func(name, text string) error {
		set, err := k.many(name, text)
		sets = append(sets, set)
		return err
	}
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content) && err == nil; i += 2 {
			err = add(n.Content[i].Value, n.Content[i+1].Value)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if err == nil {
				err = add("", item.Value)
			}
		}
	default:
		err = add("", n.Value)
	}
	return func(b *Block) {
		for _, set := range sets {
			set(b)
		}
	}, err
}

// SetFact reads a fact from a flag: its key and its text. Facts with several
// values may be set repeatedly, "ab=99%".
func SetFact(key, text string) (func(*Block), error) {
	k, ok := factKeys()[key]
	if !ok {
		return nil, fmt.Errorf("unknown fact %q", key)
	}
	if k.read != nil {
		return k.read(text)
	}
	name, value, found := strings.Cut(text, "=")
	if !found {
		name, value = "", text
	}
	return k.many(name, value)
}

// FactKeys lists the facts of a result and what they are, for help.
func FactKeys() map[string]string {
	all := map[string]string{}
	for name, k := range factKeys() {
		all[name] = k.help
	}
	return all
}

// Kinds of quantities.
type quantity func(string) (Value, error)

// pick makes a key that sets a value.
func pick(q quantity, to func(*Block) *Value, help string) factKey {
	return factKey{help: help, read: func(s string) (func(*Block), error) {
		v, err := q(s)
		return func(b *Block) { *to(b) = v }, err
	}}
}

// word makes a key that sets a text.
func word(to func(*Block) *string, help string) factKey {
	return factKey{help: help, read: func(s string) (func(*Block), error) {
		return func(b *Block) { *to(b) = s }, nil
	}}
}

// yes makes a key that is true or false.
func yes(to func(*Block, bool), help string) factKey {
	return factKey{help: help, read: func(s string) (func(*Block), error) {
		v, err := truth(s)
		return func(b *Block) { to(b, v) }, err
	}}
}

func truth(s string) (bool, error) {
	switch s {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("want true or false, found %q", s)
}

// factKeys returns every fact of a result.
func factKeys() map[string]factKey {
	return map[string]factKey{
		"tool":    word(func(b *Block) *string { return &b.Tool }, "wrk, ab, gatling, …"),
		"system":  word(func(b *Block) *string { return &b.Label }, "what was loaded"),
		"command": {help: "the command of the tool", read: func(s string) (func(*Block), error) { return func(b *Block) { b.take(s) }, nil }},
		"model": {help: "closed (each user waits for its answer and does not pause) or open", read: func(s string) (func(*Block), error) {
			if s != closedModel && s != openModel {
				return nil, fmt.Errorf("want closed or open, found %q", s)
			}
			return func(b *Block) { b.Model = s }, nil
		}},
		"url":         word(func(b *Block) *string { return &b.URL }, "what was asked for"),
		"connections": pick(quantityCount, func(b *Block) *Value { return &b.Facts.Connections }, "connections, or users, at one time"),
		"threads":     pick(quantityCount, func(b *Block) *Value { return &b.Facts.Threads }, "threads of the generator"),
		"duration":    pick(quantityTime, func(b *Block) *Value { return &b.Facts.Duration }, "as stated"),
		"requests":    pick(quantityCount, func(b *Block) *Value { return &b.Facts.Requests }, "that were answered"),
		"rate": {help: "requests per second, or 300/m", read: func(s string) (func(*Block), error) {
			v, err := quantityRate(s)
			return func(b *Block) {
				b.Facts.Rate = v
				if strings.Contains(s, "/m") {
					b.Facts.RateAs = s
				}
			}, err
		}},
		"rate_as":         word(func(b *Block) *string { return &b.Facts.RateAs }, "the rate as it was printed"),
		"mean":            pick(quantityTime, func(b *Block) *Value { return &b.Latency.Mean }, "mean latency"),
		"max":             pick(quantityTime, func(b *Block) *Value { return &b.Latency.Max }, "largest latency"),
		"percentiles":     {help: "latency, p90=94.61ms", many: setPercentile},
		"errors":          pick(quantityCount, func(b *Block) *Value { return &b.Facts.Errors }, "failures that were printed, 0 included"),
		"answer_bytes":    pick(quantitySize, func(b *Block) *Value { return &b.Facts.AnswerBytes }, "bytes of one answer, head included"),
		"expect_bytes":    pick(quantitySize, func(b *Block) *Value { return &b.Facts.ExpectBytes }, "the same by a probe"),
		"request_bytes":   pick(quantitySize, func(b *Block) *Value { return &b.Facts.RequestBytes }, "bytes of one request"),
		"proxied_bytes":   pick(quantitySize, func(b *Block) *Value { return &b.Facts.ProxiedBytes }, "bytes of one answer behind the gateway"),
		"answer":          word(func(b *Block) *string { return &b.Facts.Answer }, "what is answered, in words"),
		"pipeline":        pick(quantityCount, func(b *Block) *Value { return &b.Facts.Pipeline }, "requests in flight on one connection"),
		"warmup":          pick(quantityTime, func(b *Block) *Value { return &b.Facts.Warmup }, "load before the measurement"),
		"repeats":         pick(quantityCount, func(b *Block) *Value { return &b.Facts.Repeats }, "runs of the same"),
		"start":           pick(quantityTime, func(b *Block) *Value { return &b.Facts.Started }, "when the load began"),
		"parallel":        word(func(b *Block) *string { return &b.Facts.Parallel }, "name of a group of loads at the same time"),
		"keepalive":       yes(setKeepAlive, "connections are used again"),
		"link":            pick(quantityLink, func(b *Block) *Value { return &b.Facts.Link }, "slowest link, 1gbit"),
		"cores":           pick(quantityCPUs, func(b *Block) *Value { return &b.Facts.Cores }, "of the target's machine"),
		"memory":          pick(quantitySize, func(b *Block) *Value { return &b.Facts.Memory }, "of the target's machine, as stated"),
		"seen_cores":      pick(quantityCPUs, func(b *Block) *Value { return &b.Facts.SeenCores }, "as a screen shows them"),
		"seen_memory":     pick(quantitySize, func(b *Block) *Value { return &b.Facts.SeenMemory }, "as a screen shows it"),
		"cpu_quota":       pick(quantityCPUs, func(b *Block) *Value { return &b.Facts.Quota }, "CPU limit of the target, 200m"),
		"generator_cores": pick(quantityCPUs, func(b *Block) *Value { return &b.Facts.GeneratorCores }, "of the generator's machine"),
		"generator_cpu":   {help: "use of the generator's cores, a list of percentages", many: addGeneratorCPU},
		"system_cpu":      pick(quantityPercent, func(b *Block) *Value { return &b.Facts.SystemCPU }, "use of all cores of the target's machine"),
		"cpu":             {help: "CPU by process, ab=99% (100% is one core)", many: setCPU},
		"cpu_time":        {help: "CPU time by process, wrk=46.77s", many: setCPUTime},
		"same_host":       yes(func(b *Block, v bool) { b.Facts.SameHost = v }, "generator and target share a machine"),
		"swap":            yes(func(b *Block, v bool) { b.Facts.Swap = v }, "swap was on"),
		"vm":              yes(func(b *Block, v bool) { b.Facts.VM = v }, "in a virtual machine"),
		"kind":            word(func(b *Block) *string { return &b.Facts.Kind }, "nginx, jvm or go"),
		"probe":           word(func(b *Block) *string { return &b.Facts.Probe }, "how the target named itself"),
		"via":             pick(quantityCount, func(b *Block) *Value { return &b.Facts.Via }, "gateways between generator and target"),
		"network":         word(func(b *Block) *string { return &b.Facts.Network }, "host, bridge, …"),
		"instances":       pick(quantityCount, func(b *Block) *Value { return &b.Facts.Instances }, "of the target"),
		"upstreams":       {help: "hosts behind the gateway", many: addUpstream},
		"host":            word(func(b *Block) *string { return &b.Facts.Host }, "of the target"),
	}
}

func setPercentile(name, text string) (func(*Block), error) {
	v, err := quantityTime(text)
	p := number(strings.TrimPrefix(name, "p"))
	if err == nil && (!p.positive() || p.V >= 100) {
		err = fmt.Errorf("want p50=…, found %q", name)
	}
	return func(b *Block) { b.Latency.add(p.V/100, v) }, err
}

func setKeepAlive(b *Block, v bool) {
	b.KeepAlive = "off"
	if v {
		b.KeepAlive = "on"
	}
}

func addGeneratorCPU(_, text string) (func(*Block), error) {
	var shares []float64
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		v, err := quantityPercent(s)
		if err != nil {
			return nil, err
		}
		shares = append(shares, v.V)
	}
	return func(b *Block) { b.Facts.GeneratorCPU = append(b.Facts.GeneratorCPU, shares...) }, nil
}

func setCPU(name, text string) (func(*Block), error) {
	v, err := quantityPercent(text)
	if err == nil && name == "" {
		err = errors.New("want NAME=PERCENT, such as ab=99%")
	}
	return func(b *Block) { put(&b.Facts.CPU, name, v) }, err
}

func setCPUTime(name, text string) (func(*Block), error) {
	v, err := quantityTime(text)
	if err == nil && name == "" {
		err = errors.New("want NAME=TIME, such as wrk=46.77s")
	}
	return func(b *Block) { put(&b.Facts.CPUTime, name, v) }, err
}

// put sets a key of a map that blocks may share, in a copy.
func put(m *map[string]Value, name string, v Value) {
	own := map[string]Value{}
	for k, old := range *m {
		own[k] = old
	}
	own[name] = v
	*m = own
}

func addUpstream(_, text string) (func(*Block), error) {
	return func(b *Block) { b.Facts.Upstreams = append(b.Facts.Upstreams, text) }, nil
}

func quantityCount(s string) (Value, error) {
	n, err := unit.ParseCount(s)
	return Value{V: float64(n), Known: err == nil}, err
}

// quantityTime reads a time in microseconds, with the rounding of its digits.
func quantityTime(s string) (Value, error) {
	if v := duration(s); v.Known {
		return v, nil
	}
	d, err := unit.ParseDuration(s)
	return Value{V: float64(d) / 1e3, Known: err == nil}, err
}

func quantityRate(s string) (Value, error) {
	s = strings.ReplaceAll(s, ",", "")
	v, err := unit.ParseRate(s)
	half := 0.0
	if printed, _ := leading(s); printed.positive() {
		half = printed.Half * v / printed.V
	}
	return Value{V: v, Half: half, Known: err == nil}, err
}

func quantitySize(s string) (Value, error) {
	if v := number(s); v.Known { // 205.99 bytes on average are possible
		return Value{V: v.V, Known: true}, nil
	}
	n, err := unit.ParseSize(s)
	return Value{V: float64(n), Known: err == nil}, err
}

func quantityCPUs(s string) (Value, error) {
	v, err := unit.ParseCPUs(s)
	return Value{V: v, Known: err == nil}, err
}

func quantityPercent(s string) (Value, error) {
	v, err := unit.ParsePercent(s)
	return Value{V: v, Known: err == nil}, err
}

// quantityLink reads the speed of a link in bits per second: "1gbit", "100Mbit/s".
func quantityLink(s string) (Value, error) {
	text := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(s), "/s"))
	text = strings.TrimSuffix(text, "ps")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "it"), "b")
	v, rest := leading(text)
	f, ok := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}[strings.TrimSpace(rest)]
	if !v.positive() || !ok {
		return Value{}, fmt.Errorf("link %q: write 1gbit, 10gbit or 100mbit", s)
	}
	return Value{V: v.V * f, Known: true}, nil
}
