package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"prony/internal/result"
)

// contract is the list of keys that programs may rely on.
var contract = filepath.Join("testdata", "contract.txt")

// cmdJSONCheck holds a file (or stdout) against the contract of results: one
// JSON document and nothing else, every key with its type, a ledger that adds
// up, percentiles in order. Further arguments are figures it must have, as
// load.requests.asked=500; the value is JSON.
func cmdJSONCheck(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 1, "jsoncheck FILE [KEY=VALUE...]")
	text := []byte(ts.ReadFile(args[0]))
	problems := checkJSON(text)
	for _, want := range args[1:] {
		problems = append(problems, checkFigure(text, want)...)
	}
	for _, p := range problems {
		ts.Logf("%s: %s", args[0], p)
	}
	if len(problems) > 0 {
		ts.Fatalf("%s breaks the contract in %d places", args[0], len(problems))
	}
}

// cmdSame compares one value of two results.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 3, "same KEY FILE FILE")
	var texts [2]string
	for i, file := range args[1:] {
		document, err := parseAlone([]byte(ts.ReadFile(file)))
		ts.Check(err)
		value, ok := lookup(document, args[0])
		if !ok {
			ts.Fatalf("%s has no %s", file, args[0])
		}
		b, err := json.Marshal(value)
		ts.Check(err)
		texts[i] = string(b)
	}
	if texts[0] != texts[1] {
		ts.Fatalf("%s is %s in %s and %s in %s", args[0], texts[0], args[1], texts[1], args[2])
	}
}

// checkJSON lists what is wrong with a result.
func checkJSON(text []byte) (problems []string) {
	document, err := parseAlone(text)
	if err != nil {
		return []string{err.Error()}
	}
	problems = checkKeys(document)
	var run result.Run
	if err := json.Unmarshal(text, &run); err != nil {
		return append(problems, err.Error())
	}
	return append(problems, checkBooks(&run)...)
}

// parseAlone parses one JSON document with nothing around it.
func parseAlone(text []byte) (document map[string]any, err error) {
	if !bytes.HasPrefix(text, []byte("{")) || !bytes.HasSuffix(text, []byte("}\n")) {
		return nil, fmt.Errorf("starts with %.20q: want a JSON object and a line end, alone", text)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return document, nil
}

// checkKeys compares a document with the list of keys.
func checkKeys(document map[string]any) (problems []string) {
	list, err := os.ReadFile(contract)
	if err != nil {
		return []string{err.Error()}
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		key, optional := strings.CutSuffix(fields[0], "?")
		value, ok := lookup(document, key)
		switch {
		case !ok && !optional:
			problems = append(problems, "no key "+key)
		case ok && !slices.Contains(strings.Split(fields[1], "|"), typeOf(value)):
			problems = append(problems, fmt.Sprintf("%s is of type %s, want %s", key, typeOf(value), fields[1]))
		}
	}
	return problems
}

// lookup follows a dotted key.
func lookup(document any, key string) (value any, ok bool) {
	value = document
	for part := range strings.SplitSeq(key, ".") {
		object, is := value.(map[string]any)
		if value, ok = object[part]; !is || !ok {
			return nil, false
		}
	}
	return value, true
}

// typeOf names the type of a JSON value; a number without a part is an int.
func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "int"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// checkFigure holds one value against KEY=VALUE.
func checkFigure(text []byte, want string) []string {
	key, value, ok := strings.Cut(want, "=")
	if !ok {
		return []string{want + ": want KEY=VALUE"}
	}
	var document map[string]any
	var expected any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil // told already
	}
	if err := json.Unmarshal([]byte(value), &expected); err != nil {
		return []string{want + ": the value is no JSON"}
	}
	got, _ := lookup(document, key)
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(expected)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return []string{fmt.Sprintf("%s is %s, want %s", key, a, b)}
	}
	return nil
}

// checkBooks lists sums that do not come out.
func checkBooks(run *result.Run) (problems []string) {
	l := &run.Load
	bad := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	q := l.Requests
	bad(!q.Balanced(), "asked %d is not completed %d + failed %d + cut off %d + unsent %d", q.Asked, q.Completed, q.Failed, q.CutOff, q.Unsent)
	bad(q.Started > q.Asked, "%d started of %d asked", q.Started, q.Asked)
	bad(q.Completed > 0 && q.Started < q.Completed, "%d completed of %d started", q.Completed, q.Started)
	bad(count(l.Latency.Response) != q.Completed, "%d response times of %d completed", count(l.Latency.Response), q.Completed)
	bad(count(l.Latency.Service) != count(l.Latency.Response), "%d service times, %d response times", count(l.Latency.Service), count(l.Latency.Response))
	early := clockErrors(l.Latency.Lag)
	bad(count(l.Latency.Lag)+early != count(l.Latency.Response), "%d lags, %d response times", count(l.Latency.Lag), count(l.Latency.Response))
	// A goroutine of that engine may tell of a send after the answer to it.
	bad(early > 0 && l.Engine != "goroutines", "%d requests were sent before their planned time", early)
	answered := q.Completed + l.Failures[result.HTTPStatus.String()] + l.Failures[result.BodyDiffers.String()]
	bad(sum(l.Statuses) != answered, "%d statuses for %d answers", sum(l.Statuses), answered)
	bad(sum(l.Failures) < q.Failed, "%d failures by kind, %d failed", sum(l.Failures), q.Failed)
	bad(l.Connections.Opened > l.Connections.Asked, "%d connections opened of %d asked", l.Connections.Opened, l.Connections.Asked)
	bad(l.Rate < 0 || l.DurationUS < 0, "rate %g over %g us", l.Rate, l.DurationUS)
	return problems
}

func count(h result.Histogram) int64 {
	if h.Empty() {
		return 0
	}
	return h.Count()
}

// clockErrors are values below zero, which a histogram counts apart.
func clockErrors(h result.Histogram) int64 {
	if h.Histogram == nil {
		return 0
	}
	return h.ClockErrors()
}

func sum(counts map[string]int64) (all int64) {
	for _, n := range counts {
		all += n
	}
	return all
}

// figures are numbers with their units.
var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(us|ms|s|m|h|k|M|G|KB|MB|GB|B)?\b *`)

// cmdShape writes the shape of a file to another: "#" for each number with its
// unit and the blanks around it, so that two reports can be compared.
func cmdShape(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 2, "shape FROM TO")
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("URL"), "URL")
	text = regexp.MustCompile(` *`+figures.String()).ReplaceAllString(text, "#")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}
