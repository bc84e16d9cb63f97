package audit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Source is a text to look through.
type Source struct {
	File string // its name in messages; "-" is standard input
	Text string
}

// parser is how the output of one tool is recognised and read. It is asked at
// every line that begins one of its marks.
type parser struct {
	tool string
	// begins reports whether an output begins with the line.
	begins func(line string) bool
	// read reads on from behind that line; false means that it was none.
	read func(line string, c *cursor, b *Block) bool
}

// parsers returns all, in the order in which they are asked.
func parsers() []parser {
	return []parser{
		{"wrk", wrkBegins, readWrk},
		{"ab", abBegins, readAB},
		{"gatling", gatlingBegins, readGatling},
		{"h2load", h2loadBegins, readH2load},
		{"vegeta", vegetaBegins, readVegeta},
		{"bombardier", bombardierBegins, readBombardier},
		{"hey", heyBegins, readHey}, // and oha, which prints alike
		{"k6", k6Begins, readK6},
	}
}

// Read finds the results in the texts, in their order. It returns an error for
// a text that is too long or holds too many results; that nothing was found is
// no error, but an empty list.
func Read(sources []Source, l Limits) ([]Block, error) {
	l = l.withDefaults()
	var all []Block
	for _, s := range sources {
		if len(s.Text) > l.Bytes {
			return nil, tooLong(s.File, len(s.Text), l.Bytes)
		}
		found, err := s.read(l.Blocks - len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	name(all)
	return all, nil
}

// read finds the results in one text, at most limit.
func (s Source) read(limit int) ([]Block, error) {
	if isTable(s.Text) {
		return readTable(s, limit)
	}
	var all []Block
	var said commands
	tools := parsers()
	budget := jsonBudget{left: 2*len(s.Text) + 1<<20}
	c := cursor{text: strings.TrimPrefix(s.Text, "\ufeff")}
	for {
		start := c
		line, ok := c.next()
		if !ok {
			return all, nil
		}
		if line == "" {
			continue
		}
		said.see(line, &c)
		b, found := readOne(tools, line, start, &c, &budget)
		if !found {
			continue
		}
		if len(all) == limit {
			return nil, fmt.Errorf("%s:%d: more than %d results: audit fewer at once", s.File, start.line+1, limit)
		}
		b.Latency.Percentiles = sortedPercentiles(b.Latency)
		b.File, b.FirstLine, b.LastLine = s.File, start.line+1, c.line
		said.give(&b)
		all = append(all, b)
	}
}

// readOne asks each parser whether an output begins here.
func readOne(tools []parser, line string, start cursor, c *cursor, budget *jsonBudget) (Block, bool) {
	if b, ok := readJSON(line, start, c, budget); ok {
		return b, true
	}
	t := bare(line)
	if t == "" {
		return Block{}, false
	}
	for _, p := range tools {
		if !p.begins(t) {
			continue
		}
		b, after := Block{Tool: p.tool}, *c
		if p.read(t, &after, &b) && b.printed() {
			*c = after
			return b, true
		}
	}
	return Block{}, false
}

// outputLines bounds how far one output may reach.
const outputLines = 400

// follow calls f for each further line of an output, without its marks, until f
// is done, another output begins, or it got too long. The line that ended it is
// not consumed, unless f was done with it.
func (c *cursor) follow(f func(line string) (done bool)) {
	for range outputLines {
		mark := *c
		line, ok := c.next()
		if !ok {
			return
		}
		t := bare(line)
		if begins(t) {
			*c = mark
			return
		}
		if f(t) {
			return
		}
	}
}

// begins reports whether any tool's output begins with the line.
func begins(line string) bool {
	if line == "" || strings.IndexByte("RTBSDC-sf", line[0]) < 0 { // their first letters
		return false
	}
	return wrkBegins(line) || abBegins(line) || gatlingBegins(line) || h2loadBegins(line) ||
		vegetaBegins(line) || bombardierBegins(line) || heyBegins(line)
}

// name gives each block an id: its file's name where that holds one result, its
// file's name and number where it holds several.
func name(all []Block) {
	inFile := map[string]int{}
	for i := range all {
		inFile[all[i].File]++
	}
	seen, taken := map[string]int{}, map[string]bool{}
	for i := range all {
		b := &all[i]
		seen[b.File]++
		if b.ID != "" {
			continue
		}
		base := shortName(b.File)
		b.ID = base
		for n := seen[b.File]; b.ID == base && inFile[b.File] > 1 || taken[b.ID]; n++ {
			b.ID = base + "#" + strconv.Itoa(n)
		}
		taken[b.ID] = true
	}
}

// shortName is a file's name up to its first dot.
func shortName(file string) string {
	short, _, _ := strings.Cut(filepath.Base(file), ".")
	if file == "-" || short == "" {
		return "text"
	}
	return short
}
