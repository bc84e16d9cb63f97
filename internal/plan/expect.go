package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"prony/internal/spec"
	"prony/internal/unit"
)

// Expectation is a goal such as "p99 < 50ms", parsed.
type Expectation struct {
	Text   string `json:"text"`
	Metric string `json:"metric"` // "p99", "errors", "rate", "mean", "max", …
	// Of names the histogram of a latency metric: "response" (default),
	// "service", "lag".
	Of string `json:"of,omitempty"`
	Op string `json:"op"` // "<", "<=", ">", ">=", "=="
	// Value in the metric's base unit: nanoseconds, ratio, per second, count.
	Value float64 `json:"value"`
}

// quantity is what a metric is counted in.
type quantity uint8

const (
	latency quantity = iota + 1 // nanoseconds, of a histogram
	share                       // a ratio
	perTime                     // per second
	number                      // a whole number
)

// Holds reports whether a value, in the metric's base unit, meets the goal.
func (e Expectation) Holds(value float64) bool {
	switch e.Op {
	case "<":
		return value < e.Value
	case "<=":
		return value <= e.Value
	case ">":
		return value > e.Value
	case ">=":
		return value >= e.Value
	}
	return value == e.Value
}

// Percentile returns the percentage of a percentile metric: 99.9 for "p99.9".
func (e Expectation) Percentile() (percent float64, ok bool) { return percentile(e.Metric) }

// ParseExpectation reads a goal: a metric, one of < <= > >= ==, and a value
// with its unit, with or without spaces between them.
//
// Metrics are latencies (p50, p99.9, mean, max, min, of the response time
// unless service. or lag. stands before them), shares (errors, of the requests
// that ended), rates (rate of all answers, goodput of the good ones), and
// counts (asked, started, completed, failed, cut-off, unsent, connections,
// reopened, and every kind of failure by its name, such as timeout).
//
// A duration needs its unit and a share its percent sign, since "p99 < 50"
// could mean two things; a plain 0 is clear. == is for counts and shares only:
// a measured time or rate never equals anything. Errors give the column, what
// was found there and what may stand there.
func ParseExpectation(s string) (Expectation, error) {
	text := strings.TrimSpace(s)
	p := goal{text: text}
	e, err := p.parse()
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q, column %d: %w", text, utf8.RuneCountInString(text[:p.at])+1, err)
	}
	return e, nil
}

// goal is a text under the parser; at is the byte it looks at.
type goal struct {
	text string
	at   int
}

func (g *goal) parse() (Expectation, error) {
	if g.text == "" {
		return Expectation{}, errors.New("nothing there; write a goal such as 'p99 < 50ms' or 'errors < 0.1%'")
	}
	name := g.word(func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	})
	e := Expectation{Text: g.text}
	kind, err := e.name(name)
	if err != nil {
		return e, err
	}
	g.skip(name)
	e.Op = g.word(func(r rune) bool { return strings.ContainsRune("<>=!≤≥~", r) })
	if err := checkOperator(e.Op, g.rest(), kind); err != nil {
		return e, err
	}
	g.skip(e.Op)
	e.Value, err = readValue(g.rest(), kind)
	return e, err
}

func (g *goal) rest() string { return g.text[g.at:] }

// word returns the runes from here on that belong, without moving.
func (g *goal) word(belongs func(rune) bool) string {
	rest := g.rest()
	if end := strings.IndexFunc(rest, func(r rune) bool { return !belongs(r) }); end >= 0 {
		return rest[:end]
	}
	return rest
}

// skip moves behind a word and the space after it.
func (g *goal) skip(word string) {
	rest := g.rest()[len(word):]
	g.at = len(g.text) - len(strings.TrimLeft(rest, " \t"))
}

// name reads the metric with its histogram and says what it is counted in.
func (e *Expectation) name(text string) (quantity, error) {
	low := strings.ReplaceAll(strings.ToLower(text), "_", "-")
	of, metric, dotted := strings.Cut(low, ".")
	if _, ok := percentile(of); !dotted || ok {
		of, metric = "", low
	}
	if of != "" && !slices.Contains(histograms(), of) {
		return 0, unknownName("histogram", text, of, histograms(), "")
	}
	kind := kindOf(metric)
	switch {
	case kind == 0 && looksLikePercentile(metric):
		return 0, fmt.Errorf("found %q; want a percentile above p0, up to p100, with at most four decimals, such as p99 or p99.9", text)
	case kind == 0:
		return 0, unknownName("metric", text, metric, metrics(), "a percentile such as p99.9")
	case of != "" && kind != latency:
		return 0, fmt.Errorf("found %q; %s is not a latency, and only those belong to a histogram", text, metric)
	}
	if kind == latency && of == "" {
		of = "response"
	}
	e.Metric, e.Of = canonical(metric), of
	return kind, nil
}

// unknownName is the error for a word that nothing is called.
func unknownName(what, found, word string, names []string, more string) error {
	if found == "" {
		return fmt.Errorf("no %s; want %s", what, list(names, more))
	}
	hint := ""
	if near, ok := spec.Nearest(word, names); ok {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("found %q, which is no %s; %swant %s", found, what, hint, list(names, more))
}

func list(names []string, more string) string {
	if more != "" {
		names = append([]string{more}, names...)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func checkOperator(op, rest string, kind quantity) error {
	allowed := []string{"<", "<=", ">", ">=", "=="}
	if kind == latency || kind == perTime {
		allowed = allowed[:4]
	}
	found := strconv.Quote(op)
	switch {
	case slices.Contains(allowed, op):
		return nil
	case rest == "":
		found = "the end"
	case op == "":
		found = strconv.Quote(firstWord(rest))
	case op == "==":
		return fmt.Errorf("found %q; a measured time or rate never equals a number: want %s", op, list(allowed, ""))
	}
	hint := map[string]string{"=<": "<=", "=>": ">=", "=": "==", "≤": "<=", "≥": ">="}[op]
	if slices.Contains(allowed, hint) {
		return fmt.Errorf("found %s; did you mean %s? want %s", found, hint, list(allowed, ""))
	}
	return fmt.Errorf("found %s; want %s", found, list(allowed, ""))
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// readValue reads the bound in the metric's base unit.
func readValue(text string, kind quantity) (float64, error) {
	if text == "" {
		return 0, fmt.Errorf("found the end; want %s", valueHint(kind))
	}
	if text == "0" { // the same in every unit
		return 0, nil
	}
	switch kind {
	case latency:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return 0, fmt.Errorf("found %q, a duration without unit; did you mean %sms or %ss?", text, text, text)
		}
		d, err := unit.ParseDuration(text)
		return float64(d), err
	case share:
		return unit.ParsePercent(text)
	case perTime:
		return unit.ParseRate(text)
	}
	n, err := unit.ParseCount(text)
	return float64(n), err
}

func valueHint(kind quantity) string {
	switch kind {
	case latency:
		return "a duration such as 50ms"
	case share:
		return "a percentage such as 0.1%"
	case perTime:
		return "a rate such as 5000/s"
	}
	return "a whole number such as 1000"
}
