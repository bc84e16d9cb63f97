package audit

import "slices"

// Facts are what is known beside the output of a result: what was said in the
// text around it, read from a screen, or asked. Unknown is the zero value.
type Facts struct {
	// What the output may lack.
	Connections, Threads, Duration, Requests, Rate Value `json:"-"`
	// RateAs is how the rate was printed: "295,125 req/min".
	RateAs string `json:"rate_as,omitempty"`
	// AnswerBytes is the size of one answer on the wire.
	AnswerBytes Value `json:"answer_bytes,omitzero"`
	// Errors is the number of failures, known when it was printed, 0 included.
	Errors Value `json:"errors,omitzero"`

	// The load.
	Pipeline Value  `json:"pipeline,omitzero"`
	Script   string `json:"script,omitempty"`
	Warmup   Value  `json:"warmup_us,omitzero"`
	Repeats  Value  `json:"repeats,omitzero"`
	// Started is when the load began, seconds from any common moment.
	Started Value `json:"started_s,omitzero"`
	// Parallel names a group of loads that ran at the same time.
	Parallel string `json:"parallel,omitempty"`

	// The answers.
	ExpectBytes  Value  `json:"expect_bytes,omitzero"`  // of one answer, by a probe
	RequestBytes Value  `json:"request_bytes,omitzero"` // of one request
	ProxiedBytes Value  `json:"proxied_bytes,omitzero"` // of one answer on the inner side of a gateway
	Answer       string `json:"answer,omitempty"`       // what is answered, in words

	// The machines.
	Link           Value            `json:"link_bits,omitzero"` // bits per second
	Cores          Value            `json:"cores,omitzero"`     // of the target
	Memory         Value            `json:"memory_bytes,omitzero"`
	SeenCores      Value            `json:"seen_cores,omitzero"`
	SeenMemory     Value            `json:"seen_memory_bytes,omitzero"`
	Quota          Value            `json:"cpu_quota,omitzero"` // cores
	GeneratorCores Value            `json:"generator_cores,omitzero"`
	GeneratorCPU   []float64        `json:"generator_cpu,omitempty"` // share of each core
	SystemCPU      Value            `json:"system_cpu,omitzero"`     // share of all cores
	CPU            map[string]Value `json:"cpu,omitempty"`           // cores used, by process
	CPUTime        map[string]Value `json:"cpu_time_us,omitempty"`   // so far, by process
	SameHost       bool             `json:"same_host,omitempty"`     // generator and target share a machine
	Swap           bool             `json:"swap,omitempty"`
	VM             bool             `json:"vm,omitempty"`

	// The system.
	Kind      string   `json:"kind,omitempty"`  // nginx, jvm, go: what is known of its costs
	Probe     string   `json:"probe,omitempty"` // how it named itself when asked
	Via       Value    `json:"via,omitzero"`    // gateways between generator and target
	Network   string   `json:"network,omitempty"`
	Instances Value    `json:"instances,omitzero"`
	Upstreams []string `json:"upstreams,omitempty"`
	Host      string   `json:"host,omitempty"`
}

// File is a file of facts.
type File struct {
	All     Facts     // of every result
	Results []Known   // of single ones
	Compare []Compare // which results are held against each other
	Claims  []Claim   // what was concluded from them
	Shards  []Shard   // of a distributed run
	Limits  map[string]float64
	places  []place // of ids that are referred to, for messages
}

// place is where an id stands in the file.
type place struct {
	id           string
	line, column int
}

// Known is what is known of one result: an output that was read, by its id, its
// file or its number; or, when it has a rate, a result that is known by facts alone.
type Known struct {
	Block
	Nth   int // the Nth result of all texts, from 1; 0 means by id or file
	file  string
	set   []func(*Block) // applies the keys that were written, in order
	given bool           // it can stand alone
}

// Compare is a list of results that were held against each other; the first is
// what the others were compared with.
type Compare struct {
	IDs []string
	// Varies are the names of what was to differ; the rest should be the same.
	Varies []string
	// Scales says that the others have more instances of the first.
	Scales bool
}

// Shard is one part of a distributed run.
type Shard struct {
	Index, Of, Planned, Done int64
	StartUS, EndUS           float64
}

// matches reports whether these are facts of a result, the number-th that was
// read.
func (k Known) matches(b *Block, number int) bool {
	switch {
	case k.Nth > 0:
		return k.Nth == number
	case k.file != "":
		return b.File != "-" && sameFile(k.file, b.File)
	}
	return k.ID == b.ID
}

// Join lays facts over the results that were read: those of All first, then of
// each result, and adds the results that are known by facts alone. Flags are
// facts of every result and win over the file. Results keep their order.
func Join(read []Block, f File, flags func(*Block)) []Block {
	all := slices.Clone(read)
	for i := range all {
		all[i].Facts.over(f.All)
	}
	for _, k := range f.Results {
		found := false
		for i := range read {
			if k.matches(&read[i], i+1) {
				found = true
				k.apply(&all[i])
			}
		}
		if !found && k.given {
			b := Block{Tool: k.Tool}
			b.Facts.over(f.All)
			k.apply(&b)
			all = append(all, b)
		}
	}
	for i := range all {
		if flags != nil {
			flags(&all[i])
		}
		all[i].settle()
	}
	return all
}

// Unmatched lists the ids of facts that no result has and that cannot stand
// alone, with their lines.
func Unmatched(read []Block, f File) []string {
	var lost []string
	for _, k := range f.Results {
		found := k.given
		for i := range read {
			found = found || k.matches(&read[i], i+1)
		}
		if !found {
			lost = append(lost, k.ID)
		}
	}
	return lost
}

// apply lays the written keys over a block.
func (k Known) apply(b *Block) {
	for _, set := range k.set {
		set(b)
	}
}

// over takes the facts of every result; they are copied whole, since nothing
// was said before.
func (f *Facts) over(all Facts) {
	script := f.Script
	*f = all
	if f.Script == "" {
		f.Script = script
	}
}

// settle moves what facts say of the output into the output where it is silent.
func (b *Block) settle() {
	f := &b.Facts
	b.Connections = b.Connections.or(f.Connections)
	b.Threads = b.Threads.or(f.Threads)
	b.DurationStated = f.Duration.or(b.DurationStated)
	b.Requests = b.Requests.or(f.Requests)
	b.Rate = b.Rate.or(f.Rate)
	b.Pipeline = f.Pipeline.or(b.Pipeline)
	if b.Errors == nil && f.Errors.Known {
		b.fail("failed", f.Errors)
	}
	if b.Requests == (Value{}) && b.Asked.Known && b.Tool == "ab" {
		b.Requests = b.Asked // ab ends when it has them all
	}
	if b.Model == "" && closedTool(b.Tool) {
		b.Model = closedModel
	}
}

// closedTool reports whether a tool is a closed loop without pauses unless told
// otherwise. Gatling's and k6's scenarios may hold anything.
func closedTool(tool string) bool {
	return slices.Contains([]string{"wrk", "ab", "h2load", "hey", "bombardier", "oha"}, tool)
}
